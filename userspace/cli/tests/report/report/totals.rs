//! A report equals its capture.

use super::{Bench, count, list};
use serde_json::Value;

#[test]
fn totals_opcodes_and_flows_are_those_of_the_capture() {
    let bench = Bench::new();
    let captured = bench.capture("data", &["--top", "1000"]);
    let report = bench.json(&["--top", "1000"]);
    let totals = &report["totals"];
    for (ours, theirs) in [
        ("frames", "frames"),
        ("roce_packets", "roce_packets"),
        ("malformed_frames", "malformed"),
        ("fragment_frames", "fragments"),
        ("filtered_frames", "filtered"),
        ("snapped_frames", "snapped"),
        ("not_roce_frames", "not_roce"),
        ("capture_lost_packets", "lost"),
        ("late_packets", "late"),
        ("frame_bytes", "frame_bytes"),
        ("payload_bytes", "payload_bytes"),
        ("messages", "messages"),
        ("ecn_ce_packets", "ecn_ce_packets"),
    ] {
        assert_eq!(totals[ours], captured[theirs], "{ours}");
    }
    assert!(count(&totals["not_roce_frames"]) > 0 && count(&totals["ecn_ce_packets"]) > 0);
    assert_eq!(report["windows"], captured["windows"]);
    assert_eq!(report["complete"], true);
    assert_eq!(report["unaccounted_frames"], 0);

    let opcodes = captured["opcodes"].as_object().unwrap();
    assert_eq!(list(&report["opcodes"]).len(), opcodes.len());
    for row in list(&report["opcodes"]) {
        let theirs = &opcodes[row["opcode"].as_str().unwrap()];
        for key in ["packets", "frame_bytes", "payload_bytes"] {
            assert_eq!(row[key], theirs[key], "{}: {key}", row["opcode"]);
        }
    }

    let flows = list(&report["flows"]["top"]);
    let theirs = list(&captured["top_flows"]);
    assert_eq!(report["flows"]["distinct"], captured["flows"]);
    assert_eq!(report["flows"]["distinct_exact"], true);
    assert_eq!(flows.len(), theirs.len());
    let sorted = |flows: &[Value]| {
        let mut rows: Vec<String> = flows
            .iter()
            .map(|flow| {
                let keys = [
                    "src",
                    "dst",
                    "udp_src_port",
                    "dst_qpn",
                    "vlan",
                    "packets",
                    "frame_bytes",
                    "payload_bytes",
                    "messages",
                    "error_frame_bytes",
                    "ecn_ce_packets",
                    "first_ns",
                    "last_ns",
                ];
                keys.map(|key| flow[key].to_string()).join(" ")
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(flows), sorted(theirs));
}

#[test]
fn connections_and_events_are_those_of_the_dataset() {
    let bench = Bench::with_dataset();
    let report = bench.json(&[]);
    let output = super::printed(&bench.run(&["connections", "data", "-o", "json"]));
    let connections: Value = serde_json::from_str(&output).unwrap();
    let all = list(&connections["connections"]);
    assert_eq!(count(&report["connections"]["count"]), all.len() as u64);
    for key in ["packets", "retransmitted_packets", "nak_psn_sequence", "rtt_samples"] {
        let directions = all.iter().flat_map(|c| [&c["a_to_b"], &c["b_to_a"]]);
        let sum: u64 = directions.map(|row| count(&row[key])).sum();
        assert!(sum > 0, "{key}");
        assert_eq!(count(&report["connections"]["totals"][key]), sum, "{key}");
    }
    let rows = rocescope_store::scan(&bench.path("data")).unwrap().row_count("events");
    let kinds = list(&report["events"]["kinds"]).iter();
    assert_eq!(kinds.map(|kind| count(&kind["events"])).sum::<u64>(), rows);
}

/// Windows list only their two largest flows: sizes are bounds, and the report states that.
#[test]
fn flows_that_windows_do_not_list_widen_the_bounds() {
    let bench = Bench::new();
    let captured = bench.capture("data", &["--flow-rows", "2", "--top", "1000"]);
    let report = bench.json(&[]);
    assert_eq!(report["flows"]["distinct_exact"], false);
    let flows = list(&report["flows"]["top"]);
    assert!(flows.iter().any(|flow| count(&flow["error_frame_bytes"]) > 0));
    for flow in flows {
        let same = |other: &&Value| other["dst_qpn"] == flow["dst_qpn"] && other["src"] == flow["src"];
        let truth = list(&captured["top_flows"]).iter().find(same).unwrap();
        for (size, error) in [("frame_bytes", "error_frame_bytes"), ("packets", "error_packets")] {
            let (most, error, truth) = (count(&flow[size]), count(&flow[error]), count(&truth[size]));
            assert!(most >= truth && most - error <= truth, "{size}: {flow}");
        }
    }
    assert!(
        bench
            .report(&[])
            .contains("the sizes shown exceed the true ones by at most")
    );
}

/// More windows than points: neighbours are joined, and sums stay.
#[test]
fn long_spans_are_down_sampled_without_losing_sums() {
    let bench = Bench::new();
    bench.capture("data", &["--window", "1ms"]);
    let report = bench.json(&[]);
    let periods = list(&report["series"]["periods"]);
    assert!(count(&report["windows"]) > 2_000 && periods.len() <= 1_000);
    assert!(count(&report["series"]["joined_windows"]) >= 4);
    for key in ["frames", "roce_packets", "frame_bytes", "messages"] {
        let sum: u64 = periods.iter().map(|period| count(&period[key])).sum();
        assert_eq!(sum, count(&report["totals"][key]), "{key}");
    }
    let peaks = periods.iter().map(|period| period["peak_frame_bps"].as_f64().unwrap());
    let peak = report["rates"]["frame_bps"]["peak"].as_f64().unwrap();
    assert_eq!(peaks.fold(0.0, f64::max), peak);
    let page = bench.html(&[]);
    assert!(page.contains("windows per point"));
}
