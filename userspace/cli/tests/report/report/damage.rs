//! Datasets that are empty, torn or missing.

use super::{Bench, list, refused, tear};
use std::fs;

/// The header of a pcap file without frames.
const NO_FRAMES: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0,
];

#[test]
fn an_empty_dataset_has_an_empty_report() {
    let bench = Bench::new();
    fs::write(bench.path("none.pcap"), NO_FRAMES).unwrap();
    let refusal = refused(&bench.run(&["capture", "-q", "-r", "none.pcap", "--out", "data"]));
    assert_eq!(refusal, "rocescope: none.pcap has no frames\n");
    assert!(bench.report(&[]).contains("There are no windows in this dataset."));
    assert_eq!(bench.json(&[])["windows"], 0);
    assert_eq!(bench.json(&[])["start"], serde_json::Value::Null);
    assert!(
        bench
            .report(&["-o", "markdown"])
            .starts_with("# rocescope report: data\n")
    );
    assert_eq!(bench.report(&["-o", "csv"]).lines().count(), 1);
    assert!(bench.html(&[]).contains("There are no windows in this dataset."));
}

#[test]
fn a_torn_segment_is_named_and_the_rest_is_reported() {
    let bench = Bench::with_dataset();
    let whole = bench.json(&[]);
    let torn = bench.segment("opcodes");
    tear(&torn);
    let report = bench.json(&[]);
    assert_eq!(report["totals"], whole["totals"]);
    assert_eq!(report["flows"], whole["flows"]);
    assert!(list(&report["opcodes"]).is_empty());
    let unreadable = list(&report["unreadable"]);
    assert_eq!(unreadable.len(), 1);
    let name = torn.file_name().unwrap().to_str().unwrap();
    assert!(unreadable[0]["path"].as_str().unwrap().ends_with(name));
    for document in [bench.report(&[]), bench.report(&["-o", "markdown"]), bench.html(&[])] {
        assert!(document.contains("1 segment is unreadable"));
    }
}

#[test]
fn a_dataset_without_windows_still_reports_events() {
    let bench = Bench::with_dataset();
    tear(&bench.segment("windows"));
    let report = bench.json(&[]);
    assert_eq!(report["windows"], 0);
    assert!(list(&report["events"]["kinds"]).len() > 3);
    assert!(bench.html(&[]).contains("data-kind=\"lanes\""));
}

#[test]
fn a_dataset_without_connections_is_refused() {
    let bench = Bench::new();
    bench.capture("plain", &["--no-connections"]);
    let refusal = refused(&bench.run(&["connections", "plain"]));
    assert_eq!(
        refusal,
        "rocescope: plain has no connections: captured with --no-connections, or the capture was killed before their first \
         rows, which come a minute after its start\n"
    );
}

#[test]
fn a_directory_without_a_dataset_is_refused() {
    let bench = Bench::new();
    let missing = refused(&bench.run(&["report", "nowhere"]));
    assert_eq!(missing, "rocescope: nowhere: no such directory\n");
    fs::create_dir(bench.path("folder")).unwrap();
    for command in [&["report"][..], &["top", "--once"], &["connections"]] {
        let folder = refused(&bench.run(&[command, &["folder"]].concat()));
        assert_eq!(
            folder,
            "rocescope: folder contains no dataset: `rocescope capture`, `counters` and `probe` write one with --out, and `rocescope collector run` that of all hosts\n",
            "{command:?}"
        );
    }
    bench.capture("data", &[]);
    let page = refused(&bench.run(&["report", "data", "--html", "no/such/page.html"]));
    assert!(page.contains("no/such/page.html") && page.lines().count() == 1);
}
