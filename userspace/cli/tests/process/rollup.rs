//! `dataset rollup`, and what reports that are read from rollups state.

use rocescope_testkit::{command, json, text};
use serde_json::Value;
use std::path::Path;

fn report(dataset: &str, further: &[&str]) -> Value {
    let output = command(["report", dataset, "-o", "json"]).args(further).output();
    json(&output.unwrap())
}

#[test]
fn a_report_from_rollups_has_the_incidents_that_the_dataset_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d");
    let dataset = dataset.to_str().unwrap();
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/loss1_egress_node1.pcap.gz");
    let read = ["capture", "-q", "-r", capture.to_str().unwrap(), "--out", dataset];
    assert!(command(read).output().unwrap().status.success());
    let captured = report(dataset, &[]);
    assert_eq!(captured["incidents"][0]["class"], "network_loss");

    text(&command(["dataset", "rollup", dataset]).output().unwrap());
    let before = report(dataset, &["--resolution", "1m"]);
    assert!(
        before["resolution"].to_string().contains("1m from"),
        "{}",
        before["resolution"]
    );
    assert_eq!(before["totals"]["frames"], captured["totals"]["frames"]);
    assert_eq!(before["incidents"].as_array().unwrap().len(), 0);
    let notes = before["findings"].to_string();
    assert!(notes.contains("of rollups are not judged"), "{notes}");
    assert!(!notes.contains("No incidents"), "{notes}");
    // The same by its path.
    let by_path = report(&format!("{dataset}/rollups/1m"), &[]);
    assert_eq!(by_path["incidents"].as_array().unwrap().len(), 0);
    let notes = by_path["findings"].to_string();
    assert!(notes.contains("of rollups are not judged"), "{notes}");

    text(&command(["diagnose", dataset, "--write"]).output().unwrap());
    let after = report(dataset, &["--resolution", "1m"]);
    let (kept, judged) = (&after["incidents"], &captured["incidents"]);
    assert_eq!((kept.as_array().unwrap().len(), &kept[0]["id"]), (1, &judged[0]["id"]));
    assert_eq!(kept[0]["place"]["name"], judged[0]["place"]["name"]);
    text(&command(["dataset", "verify", dataset]).output().unwrap());
}
