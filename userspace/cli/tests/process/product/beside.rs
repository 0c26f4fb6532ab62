//! Readers beside a live capture that seals a segment every few windows, and after its `kill -9`: they never contradict
//! themselves, never call a dataset complete that lacks rows, and state that it is being written.

use crate::product::{captures, rocescope, traffic};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::{scope, sleep};
use std::time::Duration;

const FRAMES: usize = 3_000;

/// Reads the dataset with every command. Returns whether segments are open.
fn read(root: &Path) -> bool {
    let root = root.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let output = rocescope::run(arguments);
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains("than are accounted for"), "{arguments:?}: {said}");
        assert!(!said.contains("contradict"), "{arguments:?}: {said}");
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    };
    run(&["dataset", "verify", root]);
    run(&["top", "--once", root]);
    run(&["compare", root, root]);
    let report: Value = serde_json::from_str(&run(&["report", "-o", "json", root])).unwrap();
    let is_open = report["open_segments"].as_u64().unwrap() > 0;
    assert_eq!(report["complete"].as_bool(), Some(!is_open), "{}", report["findings"]);
    assert_eq!(report["findings"].to_string().contains("being written"), is_open);
    is_open
}

#[test]
#[ignore = "takes 55 s; `cargo xtask ci --full` runs it"]
fn readers_beside_a_writer_and_after_its_kill_never_contradict_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    let pcap = traffic::repeated(&captures::named("cm_rping"), FRAMES, 1_795_226_400, 100_000);
    let capture = [
        "capture",
        "-q",
        "-r",
        "-",
        "--lateness",
        "0s",
        "--segment-age",
        "20ms",
        "--no-sketches",
        "--out",
    ];
    let mut child = rocescope::command(&[&capture[..], &[out.to_str().unwrap()]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut open = 0;
    scope(|scope| {
        let feeder = scope.spawn(|| {
            for part in pcap.chunks(4_000) {
                stdin.write_all(part).unwrap();
                sleep(Duration::from_millis(10));
            }
        });
        let sealed = || rocescope_store::scan(&out).is_ok_and(|found| found.row_count("windows") > 0);
        while !sealed() {
            assert!(!feeder.is_finished(), "the capture ended before it sealed a segment");
            sleep(Duration::from_millis(10));
        }
        while !feeder.is_finished() {
            open += u32::from(read(&out));
        }
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(open > 0, "no reader met an open segment");
    read(&out);
    let repaired = rocescope::run(&["dataset", "repair", out.to_str().unwrap()]);
    assert!(repaired.status.success());
    assert!(!read(&out), "nothing is open after the repair");
}
