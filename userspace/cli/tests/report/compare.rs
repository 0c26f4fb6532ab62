//! `rocescope compare`, over captures and over times of one dataset.

use rocescope_testkit::run_in;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn text(arguments: &[&str], folder: &Path) -> String {
    rocescope_testkit::text(&run_in(arguments, folder))
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    serde_json::from_str(&text(&[&["compare", "-o", "json"], arguments].concat(), folder)).unwrap()
}

fn captured(folder: &Path, name: &str, out: &str, options: &[&str]) {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{name}.pcap.gz"));
    let call = ["capture", "-q", "-r", file.to_str().unwrap(), "--out", out];
    text(&[&call, options].concat(), folder);
}

fn changes<'a>(comparison: &'a Value, table: &str) -> &'a Vec<Value> {
    let tables = comparison["tables"].as_array().unwrap();
    let found = tables.iter().find(|found| found["table"] == table).unwrap();
    found["changes"].as_array().unwrap()
}

fn change<'a>(comparison: &'a Value, table: &str, figure: &str) -> &'a Value {
    let found = changes(comparison, table)
        .iter()
        .find(|change| change["figure"] == figure);
    found.unwrap_or_else(|| panic!("{table}: no {figure} in {comparison:#}"))
}

#[test]
fn a_dataset_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    captured(folder.path(), "rnr_nak", "a", &[]);
    let same = json(&["a", "a"], folder.path());
    for table in same["tables"].as_array().unwrap() {
        let unequal = table["changes"].as_array().unwrap().iter();
        let known: Vec<&Value> = unequal.filter(|change| change["change"] != "unknown").collect();
        assert_eq!(known, Vec::<&Value>::new(), "{table}");
        assert!(
            table["table"] == "pairs" || table["equal"].as_u64().unwrap() > 0,
            "{table}"
        );
    }
    assert_eq!(same["a"], same["b"]);
    assert_eq!(same["notes"], serde_json::json!([]));
}

#[test]
fn losses_flows_and_round_trips_are_compared_and_missing_evidence_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    captured(folder, "write_bw_rc_bidir_q2", "before", &[]);
    captured(folder, "loss1_egress_node1", "after", &[]);
    captured(folder, "loss1_egress_node1", "bare", &["--no-connections"]);
    let worse = json(&["before", "after", "--top", "100"], folder);
    let ratio = change(&worse, "connections", "retransmission ratio");
    assert_eq!((&ratio["change"], &ratio["a"]), (&"new".into(), &0.0.into()));
    assert!(ratio["b"].as_f64().unwrap() > 0.001, "{ratio}");
    assert!(change(&worse, "connections", "RTT p50")["relative"].is_number());
    let flows: Vec<&str> = changes(&worse, "flows")
        .iter()
        .map(|flow| flow["change"].as_str().unwrap())
        .collect();
    assert!(flows.contains(&"new") && flows.contains(&"gone"), "{flows:?}");
    let rates = changes(&worse, "flows").iter().map(|flow| {
        let of = |side: &str| flow[side].as_f64().unwrap();
        (of("a") - of("b")).abs()
    });
    assert!(rates.collect::<Vec<f64>>().is_sorted_by(|one, other| one >= other));
    // The other way round, what was new is gone.
    let better = json(&["after", "before", "--top", "100"], folder);
    assert_eq!(change(&better, "connections", "retransmission ratio")["change"], "gone");
    let became = |comparison: &Value| {
        let all = comparison["incidents"].as_array().unwrap().iter();
        let of_loss = all.filter(|change| {
            let of = |side: &str| change[side]["incident"]["class"] == "network_loss";
            of("a") || of("b")
        });
        let all: Vec<String> = of_loss
            .map(|change| change["change"].as_str().unwrap().to_owned())
            .collect();
        all
    };
    assert_eq!(
        (became(&worse), became(&better)),
        (vec!["new".into()], vec!["gone".into()])
    );
    assert_eq!(became(&json(&["after", "after"], folder)), ["same"]);
    // Which connection: the one that lost half of the 16.
    let worst = &changes(&worse, "connections, each")[0];
    assert!(
        worst["figure"].as_str().unwrap().contains("QP 244: retransmitted"),
        "{worst}"
    );
    let shown = text(&["compare", "before", "after"], folder);
    assert!(
        shown.contains("! New: network_loss: 10.77.0.1 > 10.77.0.2: 16 of"),
        "{shown}"
    );
    // Without connections no losses were looked for: that is not zero losses.
    let unknown = json(&["bare", "after", "--top", "100"], folder);
    assert_eq!(became(&unknown), ["unknown_before"]);
    let ratio = change(&unknown, "connections", "fabric loss ratio");
    assert_eq!((&ratio["a"], &ratio["change"]), (&Value::Null, &"unknown".into()));
    let notes = unknown["notes"].to_string();
    assert!(notes.contains("A has no row of `connections`"), "{notes}");
    let printed = text(&["compare", "bare", "after"], folder);
    assert!(
        printed.contains("unknown") && printed.starts_with("What changed from A to B\n"),
        "{printed}"
    );
}

#[test]
fn two_times_of_a_dataset_are_compared_as_rates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    text(&["demo", "--out", "d"], folder);
    let second = |n: u32| format!("2026-01-01T00:00:0{n}Z");
    let (zero, one, three) = (second(0), second(1), second(3));
    let call = [
        "d",
        "--observer",
        "scenario",
        "--from",
        &zero,
        "--to",
        &one,
        "--with-from",
        &one,
        "--with-to",
        &three,
    ];
    let found = json(&[&call[..], &["--top", "100"]].concat(), folder);
    assert_eq!((&found["a"]["windows"], &found["b"]["windows"]), (&1.into(), &2.into()));
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("The lengths differ: windows of A cover 1 s, those of B 2 s"),
        "{notes}"
    );
    // The windows themselves have the same rates.
    let of = |at: &str| -> f64 {
        let call = [
            "top",
            "d",
            "--at",
            at,
            "--once",
            "-o",
            "json",
            "--filter",
            "observer = scenario",
        ];
        let window: Value = serde_json::from_str(&text(&call[..7], folder)).unwrap();
        let rows = window["windows"].as_array().unwrap().iter();
        rows.filter(|row| row["observer"] == "scenario")
            .map(|row| row["frames"].as_f64().unwrap())
            .sum()
    };
    let frames = change(&found, "windows", "frames");
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-6;
    assert!(close(&frames["a"], of(&zero)), "{frames}");
    assert!(close(&frames["b"], (of(&one) + of(&second(2))) / 2.0), "{frames}");
    assert_eq!(frames["per_second"], true);
    let empty = run_in(&["compare", "d", "--with-from", "2027-01-01T00:00:00Z"], folder);
    let said = String::from_utf8(empty.stderr).unwrap();
    assert!(
        !empty.status.success() && said.contains("has no rows in --from 2027-01-01"),
        "{said}"
    );
    let alone = run_in(&["compare", "d"], folder);
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        String::from_utf8(alone.stderr)
            .unwrap()
            .contains("Usage: rocescope compare")
    );
}
