//! Windows that list all their flows have no Count-Min tables: what follows from their flows is what windows that do not
//! list them store.

use rocescope_model::{FlowRow, Row, WindowRow};
use rocescope_pipeline::sketch_columns::CountMinColumns;
use rocescope_store::scan;
use rocescope_testkit::{command, text};
use std::path::Path;

/// The windows of a capture, each with its flows.
fn windows(capture: &Path, out: &Path, options: &[&str]) -> Vec<(WindowRow, Vec<FlowRow>)> {
    let mut capturing = command(["capture", "--quiet", "--read"]);
    capturing.arg(capture).arg("--out").arg(out).args(options);
    text(&capturing.output().unwrap());
    let found = scan(out).unwrap();
    let flows: Vec<FlowRow> = found.rows().unwrap();
    let windows: Vec<WindowRow> = found.rows().unwrap();
    let with_flows = |window: WindowRow| {
        let own = flows.iter().filter(|row| row.window_start_ns == window.window_start_ns);
        let own = own.cloned().collect();
        (window, own)
    };
    windows.into_iter().map(with_flows).collect()
}

#[test]
fn tables_that_follow_from_flows_are_those_that_are_stored_otherwise() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let mut files: Vec<_> = captures
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.to_string_lossy().ends_with(".pcap.gz"));
    assert!(files.len() > 20, "{captures:?}");
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo.pcap");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generate/scenarios/demo.toml");
    let mut generate = command(["generate"]);
    generate.arg(scenario).args(["--seed", "7", "--write"]).arg(&demo);
    text(&generate.output().unwrap());
    files.push(demo);
    let mut compared = 0;
    for (number, file) in files.iter().enumerate() {
        let out = |kind: &str| folder.path().join(format!("{number}-{kind}"));
        let all = windows(file, &out("all"), &["--flow-rows", "100000"]);
        let few = windows(file, &out("few"), &["--flow-rows", "1"]);
        assert_eq!(all.len(), few.len(), "{file:?}");
        for ((window, flows), (other, listed)) in all.iter().zip(&few) {
            assert_eq!(window.window_start_ns, other.window_start_ns);
            assert_eq!(
                (&window.count_min_packets, &window.count_min_bytes),
                (&None, &None),
                "{file:?}"
            );
            assert_eq!(
                other.count_min_packets.is_some(),
                flows.len() > listed.len(),
                "{file:?}"
            );
            let found = CountMinColumns::stored(window, flows).unwrap();
            assert_eq!(
                Some(&found),
                CountMinColumns::stored(other, listed).as_ref(),
                "{file:?}"
            );
            if let (Some(packets), Some(frame_bytes)) = (&other.count_min_packets, &other.count_min_bytes) {
                assert_eq!((&found.packets, &found.frame_bytes), (packets, frame_bytes), "{file:?}");
                compared += 1;
            }
            // Without its tables, a window that does not list its flows has none.
            let without = other.without_sketches();
            assert_eq!(
                CountMinColumns::stored(&without, listed).is_some(),
                flows.len() == listed.len()
            );
        }
    }
    assert!(compared > 90, "{compared} windows");
}
