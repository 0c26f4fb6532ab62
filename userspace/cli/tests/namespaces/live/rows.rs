//! The rows of a live capture: whole, without gaps in time, and honest about what the capture lost.

use crate::live::namespace::{Namespace, SENDER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_model::{ConnectionRow, EventRow, Row, WindowRow};
use rocescope_testkit::{binary, until};
use rustix::thread::sched_getcpu;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const MODES: [&str; 3] = ["native", "generic", "af-packet"];

/// Connections without any fault.
const CLEAN: &str = r#"
name = "clean"
duration = "9s"
[truth]
connections = 10
series = 4
[[flows]]
name = "a"
count = 20
src = "10.50.0.0/24"
dst = "10.51.0.0/24"
group_rate = "300Mbit/s"
message = 65536
"#;

/// The rows of a table, in the order of the dataset's segments.
pub(crate) fn rows<R: Row>(root: &Path) -> Vec<R> {
    let scan = rocescope_store::scan(root).unwrap();
    let mut rows = Vec::new();
    for segment in scan.table(R::TABLE.name) {
        for batch in segment.batches(|_| true).unwrap() {
            rows.extend(batch.unwrap().typed::<R>().unwrap());
        }
    }
    rows
}

fn windows(root: &Path) -> Vec<WindowRow> {
    let mut windows: Vec<WindowRow> = rows(root);
    windows.sort_by_key(|row| row.window_start_ns);
    windows
}

/// Checks that every window has a row, and that every row accounts for its frames.
fn check(windows: &[WindowRow], mode: &str) {
    for row in windows {
        let parts = row.roce_packets
            + row.not_roce_frames
            + row.malformed_frames
            + row.fragment_frames
            + row.filtered_frames
            + row.snapped_frames
            + row.capture_lost_packets;
        assert_eq!(row.frames, parts, "{mode}: {row:?}");
        // One tick of the kernel is at least a millisecond.
        let slack_ns = if mode == "af-packet" {
            0..=0
        } else {
            1_000_000..=i64::MAX
        };
        assert!(slack_ns.contains(&row.boundary_slack_ns), "{mode}: {row:?}");
    }
    for two in windows.windows(2) {
        let next_ns = two[0].window_start_ns + two[0].window_ns;
        assert_eq!(two[1].window_start_ns, next_ns, "{mode}: a window has no row");
    }
}

fn sum(windows: &[WindowRow], of: fn(&WindowRow) -> u64) -> u64 {
    windows.iter().map(of).sum()
}

/// Sends frames. On one processor: those that wait on another one could reach the capture later, which no cable does.
fn generate(namespace: &Namespace, scenario: &Path, arguments: &[&str]) -> Child {
    let mut command = namespace.command("taskset");
    command
        .args(["-c", &sched_getcpu().to_string(), binary(), "generate"])
        .arg(scenario);
    command.args(["--iface", SENDER, "-o", "json"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn sent(generator: Child) -> Value {
    serde_json::from_slice(&generator.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn every_row_of_a_live_capture_is_whole() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("clean.toml");
    std::fs::write(&scenario, CLEAN).unwrap();
    for mode in MODES {
        let root = folder.path().join(mode);
        let more = ["--mode", mode, "--window", "50ms", "--lateness", "100ms", "--out"];
        let live = Live::begin(&namespace, &[&more[..], &[root.to_str().unwrap()]].concat());
        let generator = generate(&namespace, &scenario, &["--pps", "3000", "--duration", "3s"]);
        // TCP among RoCEv2 packets: frames of several classes arrive around every boundary.
        for _ in 0..10 {
            replay(&namespace, &capture("rc_pingpong").unwrap());
            sleep(Duration::from_millis(200));
        }
        sent(generator);
        let (summary, _) = live.stop();
        let windows = windows(&root);
        check(&windows, mode);
        for (key, of) in [
            ("frames", (|row| row.frames) as fn(&WindowRow) -> u64),
            ("roce_packets", |row| row.roce_packets),
            ("not_roce", |row| row.not_roce_frames),
        ] {
            let sum = sum(&windows, of);
            assert!(sum > 0, "{mode}: {key}");
            assert_eq!(summary[key].as_u64(), Some(sum), "{mode}: {key}");
        }
    }
}

/// A dead mirror must not look like the traffic before it died: windows end by the clock, gauges fall to 0, series of
/// flows expire, and segments are sealed.
#[test]
fn silence_has_windows_and_gauges_of_zero() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip(&["link", "set", "dev", "lo", "up"]);
    let folder = tempfile::tempdir().unwrap();
    for mode in MODES {
        let root = folder.path().join(mode);
        let more = ["--mode", mode, "--metrics", "127.0.0.1:0", "--segment-age", "1s"];
        let windows_of = [
            "--window",
            "100ms",
            "--lateness",
            "100ms",
            "--out",
            root.to_str().unwrap(),
        ];
        let mut live = Live::begin(&namespace, &[&more[..], &windows_of].concat());
        let address = live.line().trim().strip_prefix("metrics at ").unwrap().to_owned();
        let page = || {
            let output = namespace.command("curl").args(["-s", &address]).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let has_rate = |page: &str| {
            let mut lines = page.lines();
            let line = lines.find(|line| line.starts_with("rocescope_frame_bps"));
            line.is_some_and(|line| !line.ends_with(" 0") && !line.ends_with(" 0.0"))
        };
        until("a rate while frames arrive", || {
            replay(&namespace, &capture("vlan100_write_bw").unwrap());
            let page = page();
            has_rate(&page) && page.contains("rocescope_flow_frame_bps{")
        });
        until("a rate of 0, and no flow", || {
            let page = page();
            !has_rate(&page) && !page.contains("rocescope_flow_frame_bps{")
        });
        // All packets are in sealed segments although none arrives any more.
        let packets = || {
            let scan = rocescope_store::scan(&root);
            scan.map_or(0, |_| sum(&windows(&root), |row| row.roce_packets))
        };
        // Asked for each time: on a busy machine the last packets may be counted after the rate was 0.
        let counted = || -> u64 {
            let page = page();
            let mut lines = page.lines();
            let line = lines.find(|line| line.starts_with("rocescope_roce_packets_total"));
            line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
        };
        until("sealed segments", || counted() > 0 && packets() == counted());
        let (summary, _) = live.stop();
        let windows = windows(&root);
        check(&windows, mode);
        assert_eq!(summary["windows"].as_u64(), Some(windows.len() as u64));
        assert_eq!(windows.last().unwrap().frames, 0);
    }
}

/// Without a window that ends, only the clock can seal.
#[test]
fn a_long_window_does_not_keep_segments_open() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let more = ["--window", "4s", "--lateness", "0s", "--segment-age", "500ms", "--out"];
    let live = Live::begin(&namespace, &[&more[..], &[root.to_str().unwrap()]].concat());
    replay(&namespace, &capture("vlan100_write_bw").unwrap());
    // If only a window sealed the one before it, one would be open at any time.
    let sealed = || {
        let scan = rocescope_store::scan(root);
        scan.is_ok_and(|scan| scan.row_count("windows") > 0 && scan.open.is_empty())
    };
    until("the window closes and is sealed", sealed);
    live.stop();
}

/// A capture that does not run for five seconds: the dataset states what the kernel counted, and claims no fabric loss
/// for what the capture did not see.
#[test]
fn a_stopped_capture_states_what_it_lost() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("clean.toml");
    std::fs::write(&scenario, CLEAN).unwrap();
    for mode in MODES {
        let root = folder.path().join(mode);
        let more = ["--mode", mode, "--ring-bytes", "64Ki", "--out"];
        let live = Live::begin(&namespace, &[&more[..], &[root.to_str().unwrap()]].concat());
        // At its own rate, because a given rate repeats the PSNs: 36,000 frames/s.
        let (before, _) = namespace.received();
        let generator = generate(&namespace, &scenario, &[]);
        namespace.until_received(before + 36_000);
        live.signal("-STOP");
        sleep(Duration::from_secs(5));
        live.signal("-CONT");
        let sent = sent(generator);
        namespace.until_received(before + sent["accepted"].as_u64().unwrap());
        let (summary, _) = live.stop();
        let windows = windows(&root);
        check(&windows, mode);
        let frames = sum(&windows, |row| row.frames);
        let lost = sum(&windows, |row| row.capture_lost_packets);
        let dropped = sum(&windows, |row| row.capture_dropped_frames.unwrap_or(0));
        // The dataset, the summary and the kernels of both ends agree.
        assert_eq!(Some(frames + dropped), sent["accepted"].as_u64(), "{mode}: {sent}");
        assert_eq!(summary["frames"].as_u64(), Some(frames), "{mode}");
        assert_eq!(summary["lost"].as_u64(), Some(lost), "{mode}");
        assert_eq!(summary["live"]["socket_dropped"].as_u64(), Some(dropped), "{mode}");
        let is_socket = mode == "af-packet";
        assert!(lost + dropped > 1_000, "{mode}: {lost} lost, {dropped} dropped");
        assert_eq!((lost == 0, dropped == 0), (is_socket, !is_socket), "{mode}");
        assert!(
            windows
                .iter()
                .all(|row| row.capture_dropped_frames.is_some() == is_socket)
        );

        let events: Vec<EventRow> = rows(&root);
        let of_kind = |kind: &str| -> u64 {
            let events = events.iter().filter(|event| &*event.kind == kind);
            events.map(|event| event.count).sum()
        };
        assert_eq!(of_kind("capture_loss"), lost + dropped, "{mode}");
        assert_eq!(of_kind("loss") + of_kind("retransmission"), 0, "{mode}");
        let connections: Vec<ConnectionRow> = rows(&root);
        let claimed = |row: &ConnectionRow| {
            let claimed = row.unfilled_gaps_acknowledged + row.unfilled_gaps_nak + row.unfilled_gaps_unanswered;
            claimed + row.fabric_lost_upstream_packets + row.fabric_lost_downstream_packets + row.unanswered_packets
        };
        let claims: Vec<&ConnectionRow> = connections.iter().filter(|row| claimed(row) > 0).collect();
        assert!(claims.is_empty(), "{mode}: {:?}", claims[0]);
        assert!(connections.iter().any(|row| row.unfilled_gaps_unknown > 0), "{mode}");

        let mut report = Command::new(binary());
        report.args(["report", "-o", "json"]).arg(&root);
        let report: Value = serde_json::from_slice(&report.output().unwrap().stdout).unwrap();
        assert!(report.to_string().contains("\"complete\":false"), "{mode}");
    }
}
