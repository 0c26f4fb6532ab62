//! Times, observers and filters.

use super::{Bench, count, list, refused};

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
    let text = bench.report(&["--from", "2030-01-01"]);
    assert!(text.contains("There are no windows in the requested time."), "{text}");
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
