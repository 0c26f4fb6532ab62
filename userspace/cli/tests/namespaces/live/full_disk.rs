//! A disk that is full for a while: what the dataset states is what was captured, in stored windows and named gaps.

use crate::live::namespace::{Namespace, SENDER};
use crate::live::running::Live;
use rocescope_model::{EventRow, WindowRow};
use rocescope_store::scan;
use rocescope_testkit::{Ballast, SmallDisk, binary, until};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const SCENARIO: &str = "../generate/scenarios/demo.toml";
const WINDOW_NS: i64 = 100_000_000;

#[test]
fn a_disk_full_for_5_seconds_costs_named_windows() {
    full_for(Duration::from_secs(5), "native");
}

/// The notice is repeated after a minute.
#[test]
#[ignore = "takes 75 s; `cargo xtask ci --full` runs it"]
fn a_disk_full_for_65_seconds_costs_named_windows() {
    full_for(Duration::from_secs(65), "af-packet");
}

fn full_for(time: Duration, mode: &str) {
    let (Some(namespace), Some(disk)) = (Namespace::new(), SmallDisk::mount("64m")) else {
        return;
    };
    namespace.ip(&["link", "set", "dev", "lo", "up"]);
    let root = disk.path().join("data");
    let options = [
        "--mode",
        mode,
        "--metrics",
        "127.0.0.1:0",
        "--segment-age",
        "1s",
        "--keep-free",
        "1",
    ];
    let windows = [
        "--window",
        "100ms",
        "--lateness",
        "100ms",
        "--out",
        root.to_str().unwrap(),
    ];
    let mut live = Live::begin(&namespace, &[&options[..], &windows].concat());
    let address = live.line().trim().strip_prefix("metrics at ").unwrap().to_owned();
    let read = |series: &str| -> Option<u64> {
        let output = namespace.command("curl").args(["-s", &address]).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("rocescope_{series}{{")))?;
        line.rsplit(' ').next()?.parse::<f64>().ok().map(|value| value as u64)
    };
    assert_eq!(
        (read("not_stored_windows_total"), read("storing_stopped")),
        (Some(0), Some(0))
    );
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCENARIO);
    let seconds = format!("{}s", time.as_secs() + 5);
    let mut generator = namespace.command(binary());
    let generator = generator
        .arg("generate")
        .arg(scenario)
        .args(["--iface", SENDER, "-o", "json"]);
    let generator = generator.args(["--pps", "2000", "--duration", &seconds]);
    let generator = generator.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let sealed = || scan(&root).map_or(0, |found| found.row_count("windows"));
    until("segments are sealed", || sealed() > 0);

    let ballast = Ballast::fill(disk.path().join("ballast"));
    until("storing stops", || read("storing_stopped") == Some(1));
    sleep(time);
    until("a window that is not stored ends every 100 ms", || {
        read("not_stored_windows_total") > Some(time.as_secs() * 9)
    });
    drop(ballast);
    until("storing resumes", || read("storing_stopped") == Some(0));
    let sent: Value = serde_json::from_slice(&generator.wait_with_output().unwrap().stdout).unwrap();
    until("every window is exported", || {
        read("frames_total") == sent["accepted"].as_u64()
    });
    let missing = read("not_stored_windows_total").unwrap();
    let (summary, said, status) = live.end_with_signal();

    assert_eq!(status, Some(1), "{said}");
    assert_eq!(
        said.matches("not stored so far").count() as u64,
        1 + time.as_secs() / 60,
        "{said}"
    );
    assert!(
        said.contains("the disk is full") && said.contains("the dataset is written again"),
        "{said}"
    );
    let found = scan(&root).unwrap();
    assert_eq!((found.open.len(), found.unreadable.len()), (0, 0));
    let mut windows: Vec<WindowRow> = found.rows().unwrap();
    windows.sort_by_key(|row| row.window_start_ns);
    let mut gaps: Vec<EventRow> = found.rows().unwrap();
    gaps.retain(|event| &*event.kind == "not_stored");
    gaps.sort_by_key(|event| event.time_ns);
    // Between two windows that are not adjacent is one gap, which names exactly these windows.
    let mut named = gaps.iter();
    for two in windows.windows(2) {
        let (end_ns, next_ns) = (two[0].window_start_ns + WINDOW_NS, two[1].window_start_ns);
        if end_ns != next_ns {
            let gap = named.next().unwrap();
            assert_eq!((gap.time_ns, gap.value), (end_ns, Some((next_ns - end_ns) as f64)));
            assert_eq!(gap.count, ((next_ns - end_ns) / WINDOW_NS).unsigned_abs());
        }
    }
    assert_eq!(named.next(), None);
    let lost: u64 = gaps.iter().map(|gap| gap.count).sum();
    assert_eq!(lost, missing);
    assert_eq!(summary["dataset"]["refused_windows"].as_u64(), Some(lost));
    assert_eq!(summary["windows"].as_u64(), Some(windows.len() as u64 + lost));
    let stored: u64 = windows.iter().map(|row| row.frames).sum();
    let captured = summary["frames"].as_u64().unwrap();
    println!(
        "full for {time:?}: {} windows = {} stored + {lost} in {} named gaps; {captured} frames captured, of {} sent, {stored} stored",
        summary["windows"],
        windows.len(),
        gaps.len(),
        sent["accepted"],
    );
    assert_eq!(Some(captured), sent["accepted"].as_u64());
    assert!(stored < captured);
    let output = Command::new(binary())
        .args(["dataset", "verify"])
        .arg(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = Command::new(binary())
        .args(["report", "-o", "json"])
        .arg(&root)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false, "{}", report["findings"]);
    assert!(
        report["findings"].to_string().contains("The disk was full or failed"),
        "{}",
        report["findings"]
    );
}
