//! Times, observers and filters.

use super::{Bench, count, list, refused};
use rocescope_model::Time;

#[test]
fn two_time_ranges_make_the_whole() {
    let bench = Bench::with_dataset();
    let middle = "2026-01-01T00:00:02Z";
    let whole = bench.json(&[]);
    let (before, behind) = (bench.json(&["--to", middle]), bench.json(&["--from", middle]));
    assert_eq!((count(&before["windows"]), count(&whole["windows"])), (2, 4));
    assert_eq!(behind["start"], "2026-01-01T00:00:02.000000000Z");
    for key in ["frames", "roce_packets", "frame_bytes", "ecn_ce_packets"] {
        let of = |report: &serde_json::Value| count(&report["totals"][key]);
        assert_eq!(of(&before) + of(&behind), of(&whole), "{key}");
    }
    let events = |report: &serde_json::Value| -> u64 {
        list(&report["events"]["kinds"])
            .iter()
            .map(|kind| count(&kind["events"]))
            .sum()
    };
    assert_eq!(events(&before) + events(&behind), events(&whole));
    let nothing = refused(&bench.run(&["report", "data", "--from", "2030-01-01"]));
    assert!(nothing.contains("data has no rows in --from 2030-01-01"), "{nothing}");
    let last = bench.json(&["--last", "2s", "--to", "2026-01-01T00:00:04Z"]);
    assert_eq!(last["totals"], behind["totals"]);
    assert_eq!(
        bench.json(&["--last", "9999d", "--to", "now"])["totals"],
        whole["totals"]
    );
    let wrong = refused(&bench.run(&["report", "data", "--from", middle, "--to", "2026-01-01"]));
    assert!(wrong.contains("--from must be earlier than --to"));
}

#[test]
fn a_capture_point_is_chosen_by_name() {
    let bench = Bench::with_dataset();
    bench.capture("data", &["--observer", "rail4"]);
    let both = bench.json(&[]);
    let one = bench.json(&["--observer", "rail3"]);
    assert_eq!(both["observers"], serde_json::json!(["rail3", "rail4"]));
    assert_eq!(one["observers"], serde_json::json!(["rail3"]));
    // Both captured the same second: one window, twice the frames, half the rate each.
    assert_eq!(both["windows"], one["windows"]);
    assert_eq!(count(&both["totals"]["frames"]), 2 * count(&one["totals"]["frames"]));
    assert_eq!(both["flows"]["distinct"], one["flows"]["distinct"]);
    // Each point has its own flow, as fast as at that point alone.
    let flows = list(&both["flows"]["top"]);
    let alone = &list(&one["flows"]["top"])[0];
    assert_eq!(
        (&flows[0]["observer"], &flows[1]["observer"]),
        (&"rail3".into(), &"rail4".into())
    );
    for flow in &flows[..2] {
        assert_eq!(flow["frame_bps"], alone["frame_bps"]);
        assert_eq!(flow["src"], alone["src"]);
    }
    assert!(bench.report(&[]).contains("Totals are sums over several observers"));
    let unknown = refused(&bench.run(&["report", "data", "--observer", "rail5"]));
    assert!(unknown.contains("unknown observer rail5; the dataset has rail3, rail4"));
}

#[test]
fn a_filter_chooses_rows_of_the_tables_that_have_its_columns() {
    let bench = Bench::with_dataset();
    let whole = bench.json(&[]);
    let found = bench.json(&["--filter", "host 10.10.0.11", "--top", "1000"]);
    let flows = list(&found["flows"]["top"]);
    assert!(!flows.is_empty() && count(&found["flows"]["distinct"]) < count(&whole["flows"]["distinct"]));
    for flow in flows {
        assert!(flow["src"] == "10.10.0.11" || flow["dst"] == "10.10.0.11");
    }
    assert_eq!(found["totals"], whole["totals"]);

    let slow = bench.report(&["--filter", "rtt_p99_ns > 5us"]);
    assert!(
        slow.contains("flows and events lack a column of the filter and are not filtered."),
        "{slow}"
    );
    let wrong = refused(&bench.run(&["report", "data", "--filter", "opcode_number = 4"]));
    assert!(wrong.contains("opcode_number"), "{wrong}");
}

/// Every command with a time range states what the dataset has when nothing of it is in the range.
#[test]
fn an_old_dataset_says_so_when_nothing_is_in_the_last_minutes() {
    let bench = Bench::with_dataset();
    let why = |said: &str| {
        assert!(said.contains("data has no rows in --last 10m (before now): "), "{said}");
        assert!(
            said.contains("its rows are from 2026-01-01T00:00:00Z to 2026-01-01T00:00:0"),
            "{said}"
        );
        assert!(said.contains(", and now is 2"), "{said}");
    };
    for refused_one in [
        &["report", "data", "--last", "10m"][..],
        &["connections", "data", "--last", "10m"],
        &["top", "data", "--once", "--last", "10m"],
        &["dataset", "merge", "data", "--out", "merged", "--last", "10m"],
        &["diagnose", "hostmesh", "data", "--last", "10m"],
    ] {
        why(&refused(&bench.run(refused_one)));
    }
    assert!(!bench.path("merged").exists());
}

/// The commands with a time range read the same part of a dataset.
#[test]
fn each_command_reads_the_requested_time_only() {
    let bench = Bench::with_dataset();
    let (from, to) = ("2026-01-01T00:00:01Z", "2026-01-01T00:00:03Z");
    let part = bench.json(&["--from", from, "--to", to]);
    assert_eq!(count(&part["windows"]), 2);

    let merged = bench.run(&[
        "dataset", "merge", "data", "--out", "merged", "--from", from, "--to", to,
    ]);
    assert!(merged.status.success());
    let merged = bench.run(&["report", "merged", "-o", "json"]);
    let merged: serde_json::Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(merged["totals"]["frames"], part["totals"]["frames"]);

    let top = [
        "top",
        "data",
        "--once",
        "--windows",
        "9",
        "-o",
        "json",
        "--from",
        from,
        "--to",
        to,
    ];
    let top = String::from_utf8(bench.run(&top).stdout).unwrap();
    let starts = |line: &str| {
        let window: serde_json::Value = serde_json::from_str(line).unwrap();
        window["windows"][0]["window_start"].as_str().unwrap()[..19].to_owned()
    };
    let starts: Vec<String> = top.lines().map(starts).collect();
    assert_eq!(starts, ["2026-01-01T00:00:01", "2026-01-01T00:00:02"]);

    let connections = |time: &[&str]| -> serde_json::Value {
        let call = [&["connections", "data", "-o", "json"], time].concat();
        let output = bench.run(&call);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (all, some) = (connections(&[]), connections(&["--from", from, "--to", to]));
    assert!(!list(&some["events"]).is_empty() && list(&some["events"]).len() < list(&all["events"]).len());
    for event in list(&some["events"]) {
        let time = event["time"].as_str().unwrap();
        assert!((&from[..19]..&to[..19]).contains(&&time[..19]), "{time}");
    }
    // The connections that began before the last one did.
    let first = |connection: &serde_json::Value| -> i64 {
        let directions = [&connection["a_to_b"]["first_ns"], &connection["b_to_a"]["first_ns"]];
        directions.iter().filter_map(|first| first.as_i64()).min().unwrap()
    };
    let starts: Vec<i64> = list(&all["connections"]).iter().map(first).collect();
    let last = *starts.iter().max().unwrap();
    let early = connections(&["--to", &Time(last).to_string()]);
    let expected = starts.iter().filter(|start| **start < last).count();
    assert!(expected > 0);
    assert_eq!(list(&early["connections"]).len(), expected);

    for refused_one in [
        &["connections", "-r", "demo.pcap", "--last", "1m"][..],
        &["top", "-r", "demo.pcap", "--from", "-1h"],
        &["top", "-i", "lo", "--to", "now"],
    ] {
        assert!(refused(&bench.run(refused_one)).contains("cannot be used with"));
    }
}

#[test]
fn groups_sum_to_the_report() {
    let bench = Bench::with_dataset();
    for by in ["src", "dst", "qp", "opcode"] {
        let report = bench.json(&["--by", by]);
        assert_eq!(report["groups"]["by"], by);
        let rows = list(&report["groups"]["rows"]);
        let sum: u64 = rows.iter().map(|row| count(&row["frame_bytes"])).sum();
        assert_eq!(sum, count(&report["totals"]["frame_bytes"]), "{by}");
    }
    let text = bench.report(&["--by", "src"]);
    assert!(
        text.contains("Traffic by src\n") && text.contains("The largest src, 10.10.0.1"),
        "{text}"
    );
    let csv = bench.report(&["-o", "csv", "--table", "groups", "--by", "qp"]);
    assert!(
        csv.starts_with("observer,window_start,") && csv.contains(" QP "),
        "{csv}"
    );
    let filtered = bench.json(&["--by", "src", "--filter", "src = 10.10.0.11"]);
    let rows = list(&filtered["groups"]["rows"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["group"], "10.10.0.11");
    assert!(!bench.report(&[]).contains("Traffic by"));
}
