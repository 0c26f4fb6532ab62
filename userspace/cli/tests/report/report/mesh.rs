//! The mesh of probes: in every form of the report, and nothing else if the dataset has only probes.

use super::{Bench, list};
use crate::simulated;

/// A bench whose dataset `data` has only probes, with or without an analysis.
pub(crate) fn bench(analysed: bool) -> Bench {
    let bench = Bench::new();
    let (fabric, _) = simulated::dataset(&bench.path("data"));
    if analysed {
        simulated::analyse(&fabric, bench.folder.path(), "data");
    }
    bench
}

#[test]
fn every_form_has_the_mesh() {
    let bench = bench(true);
    let text = bench.report(&[]);
    for part in [
        "Mesh\n",
        "SLA of the mesh\n",
        "Verdicts\n",
        "Link coverage\n",
        "! loss: r1>s0: ",
        "48 pairs of NICs on 4 hosts",
        "From",
        "h3/rail3",
        "Crossed      48 of 48 links",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for part in ["Connections\n", "There are no windows", "Congestion\n"] {
        assert!(!text.contains(part), "{part}\n{text}");
    }
    let markdown = bench.report(&["-o", "markdown"]);
    assert!(
        markdown.contains("## Verdicts") && markdown.contains("| h1/rail0 |"),
        "{markdown}"
    );
    let page = bench.html(&[]);
    assert_eq!(page.matches("data-kind=\"heat\"").count(), 3);
    assert!(page.contains("Failures in the mesh"));
}

#[test]
fn json_and_csv_equal_the_tables() {
    let bench = bench(true);
    let json = bench.json(&[]);
    let mesh = &json["mesh"];
    let pairs = list(&mesh["pairs"]);
    assert_eq!(pairs.len(), 48);
    let probes: u64 = pairs.iter().map(|pair| pair["probes"].as_u64().unwrap()).sum();
    assert_eq!(probes, 6 * 3_200);
    let sla = list(&mesh["sla"]);
    assert_eq!(
        (sla.len(), &mesh["windows"], &mesh["joined_windows"]),
        (6, &6.into(), &1.into())
    );
    let drops: u64 = sla.iter().map(|row| row["timeouts"].as_u64().unwrap()).sum();
    let timeouts: u64 = pairs.iter().map(|pair| pair["timeouts"].as_u64().unwrap()).sum();
    assert_eq!(drops, timeouts);
    assert!(drops > 0);
    let problems = list(&mesh["problems"]);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (&problems[0]["windows"], &problems[0]["verdict"]["link"]),
        (&4.into(), &"r1>s0".into())
    );
    assert_eq!(list(&mesh["links"]).len(), 48);
    for (table, rows, first) in [
        ("pairs", 48, "observer,window_start,"),
        ("sla", 6, "observer,window_start,"),
        ("verdicts", 1, "observer,window_start,"),
        ("links", 48, "observer,window_start,"),
    ] {
        let csv = bench.report(&["-o", "csv", "--table", table]);
        assert!(csv.starts_with(first), "{csv}");
        assert_eq!(csv.lines().count(), 1 + rows, "{table}");
    }
    // A time and a host.
    let part = ["--from", "2026-11-20T19:00:00Z", "--observer", "h2"];
    let part = bench.json(&part);
    let pairs = list(&part["mesh"]["pairs"]);
    assert_eq!((pairs.len(), list(&part["mesh"]["sla"]).len()), (12, 4));
    assert!(pairs.iter().all(|pair| pair["observer"] == "h2"));
}

#[test]
fn without_an_analysis_the_report_names_the_command_and_without_probes_there_is_no_mesh() {
    let text = bench(false).report(&[]);
    assert!(text.contains("run `rocescope diagnose mesh data --write`"), "{text}");
    assert!(!text.contains("SLA of the mesh") && !text.contains("Link coverage"));
    let captured = Bench::with_dataset();
    assert!(captured.json(&[])["mesh"].is_null());
    assert!(!captured.report(&[]).contains("Mesh"));
}
