//! The command over a dataset: the same verdicts as the analysis of its rows, as text and JSON, stored and reported.

use rocescope_lab::hosts::{START_NS, slow_receiver};
use rocescope_model::{CAPTURE_TABLES, COUNTER_TABLES, HostVerdictRow, Table, Time};
use rocescope_store::{Options, Writer, scan};
use rocescope_testkit::binary;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

fn writer(root: &Path, observer: &str, tables: &'static [&'static Table]) -> Writer {
    let options = Options {
        tables,
        ..Options::new(observer)
    };
    Writer::create(root, options).unwrap()
}

fn rocescope(arguments: &[&str], root: &Path) -> Result<String, String> {
    let output = Command::new(binary()).args(arguments).arg(root).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    }
}

#[test]
fn the_command_finds_in_a_dataset_what_the_analysis_finds_in_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    let mut run = slow_receiver();
    assert_eq!(run.verdicts.len(), 1);
    for (host, rows) in &run.counters {
        let mut writer = writer(&root, host, COUNTER_TABLES);
        writer.append_cells(rows, Instant::now()).unwrap();
        writer.finish().unwrap();
    }
    let captured = &mut run.captured;
    let mut writer = writer(&root, "box", CAPTURE_TABLES);
    captured.connections.sort_by_key(|row| row.time_ns);
    for table in captured.tables() {
        writer.append_cells(table, Instant::now()).unwrap();
    }
    writer.finish().unwrap();

    let json = rocescope(&["diagnose", "hosts", "-o", "json"], &root).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let found = json["verdicts"].as_array().unwrap();
    assert_eq!(found.len(), 1);
    let verdict = &run.verdicts[0];
    assert_eq!(found[0]["class"], "slow_receiver");
    assert_eq!(found[0]["host"], verdict.host.as_deref().unwrap());
    assert_eq!(found[0]["since_ns"], verdict.since_ns);
    assert_eq!(found[0]["until_ns"], verdict.until_ns);
    assert_eq!(found[0]["evidence"], serde_json::to_value(&verdict.evidence).unwrap());
    assert_eq!(
        (&json["windows"], &json["late_rows"]),
        (&Value::from(14), &Value::from(0))
    );
    assert_eq!(json["ports"], run.counters.len());

    let text = rocescope(&["diagnose", "hosts"], &root).unwrap();
    assert!(
        text.starts_with(&format!("slow_receiver  {}\n", verdict.sentence)),
        "{text}"
    );
    assert!(text.contains(&format!("    {}\n", verdict.confidence)), "{text}");
    assert!(
        text.contains(&format!("    evidence: {}\n", verdict.evidence_text())),
        "{text}"
    );
    assert!(text.contains(&format!("    do: {}\n", verdict.action)), "{text}");
    assert!(
        text.contains("windows   14 of 10.0 s, 2025-12-31T23:59:50Z to 2026-01-01T00:02:10Z"),
        "{text}"
    );
    assert!(text.contains("\nunknown   ") || !run.lacks_metrics);

    // A part of the time before the fault.
    let before = (START_NS / 1_000_000_000 + run.from as i64 - 20).to_string();
    let before = format!(
        "2026-01-01T00:00:{:02}Z",
        before.parse::<i64>().unwrap() - START_NS / 1_000_000_000
    );
    let text = rocescope(&["diagnose", "hosts", "--to", &before], &root).unwrap();
    assert!(text.starts_with("no faults found\n"), "{text}");
    // A time without rows is no time without faults.
    let later = [
        "diagnose",
        "hosts",
        "--from",
        "2026-01-01T00:40:00Z",
        "--to",
        "2026-01-01T00:50:00Z",
    ];
    let error = rocescope(&later, &root).unwrap_err();
    assert!(
        error.contains("has no rows in") && error.contains("its rows are from 2026-01-01T00:00:"),
        "{error}"
    );

    rocescope(&["diagnose", "hosts", "--write"], &root).unwrap();
    let stored = scan(&root).unwrap().rows::<HostVerdictRow>().unwrap();
    let states: Vec<&str> = stored.iter().map(|row| &*row.state).collect();
    assert_eq!(states, ["began", "ended"]);
    assert!(
        stored
            .iter()
            .all(|row| row.since_ns == verdict.since_ns && *row.place == *verdict.place)
    );
    // The fault goes on in the window of its begin, and has ended at the end of the dataset.
    let top = |at: &str| {
        let line = ["top", "--once", "-o", "json", "--at", at];
        let window: Value = serde_json::from_str(&rocescope(&line, &root).unwrap()).unwrap();
        window["incidents"].clone()
    };
    let at = top(&format!("{:.0}", Time(stored[0].time_ns)));
    assert_eq!(
        (at[0]["class"].as_str(), at[0]["state"].as_str()),
        (Some("slow_receiver"), Some("open"))
    );
    assert_eq!(at[0]["action"], *verdict.action);
    assert_eq!(top("2026-01-01T00:02:09Z")[0]["state"], "ended");
    assert_eq!(top("2026-01-01T00:00:01Z"), Value::Null);
    // Without a time, the table is that of the window of the worst incident.
    let table = rocescope(&["top", "--once", "--table", "incidents"], &root).unwrap();
    assert!(
        table.contains("\nincidents: ") && table.contains("open   slow_receiver  gpu-"),
        "{table}"
    );
    let again = rocescope(&["diagnose", "hosts", "--write"], &root).unwrap_err();
    assert!(again.contains("already has a diagnosis by diagnose-hosts"), "{again}");

    let report = rocescope(&["report"], &root).unwrap();
    assert!(report.contains("Faults of hosts and network"), "{report}");
    assert!(report.contains("slow_receiver: gpu-"), "{report}");
    let report = rocescope(&["report", "-o", "json"], &root).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["host_faults"]["verdicts"][0]["class"], "slow_receiver");
}

/// Without counters, a report has the faults that the wire shows, as `diagnose hosts` has them, and `top` too.
#[test]
fn a_report_and_top_agree_with_the_diagnosis_of_a_capture_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    let mut captured = slow_receiver().captured;
    let mut writer = writer(&root, "box", CAPTURE_TABLES);
    captured.connections.sort_by_key(|row| row.time_ns);
    for table in captured.tables() {
        writer.append_cells(table, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    let json = |line: &[&str]| -> Value { serde_json::from_str(&rocescope(line, &root).unwrap()).unwrap() };
    let found = json(&["diagnose", "hosts", "-o", "json"]);
    assert_eq!(found["verdicts"][0]["class"], "slow_receiver");
    let report = json(&["report", "-o", "json"]);
    assert_eq!(report["host_faults"]["verdicts"], found["verdicts"]);
    assert_eq!(report["host_faults"]["unknown"], found["unknown"]);

    let table = rocescope(&["top", "--once", "--table", "incidents"], &root).unwrap();
    let place = found["verdicts"][0]["place"].as_str().unwrap();
    assert!(table.contains(&format!("open   slow_receiver  {place} ")), "{table}");
}

#[test]
fn a_dataset_without_counters_and_flows_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".open")).unwrap();
    let error = rocescope(&["diagnose", "hosts"], folder.path()).unwrap_err();
    assert!(
        error.contains("has no rows in `counters` and `flows`") && error.lines().count() == 1,
        "{error}"
    );
    let error = rocescope(&["diagnose", "hosts", "--window", "1h"], folder.path()).unwrap_err();
    assert!(error.contains("expected a duration from 1s to 10m"), "{error}");
}
