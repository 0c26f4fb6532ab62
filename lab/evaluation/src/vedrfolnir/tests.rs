//! The authors' data: what this analysis finds in them, beside what their own program prints.
//!
//! The data are not part of the project. Where they lie beside it, in `../shared/vedrfolnir`, the tests run over them;
//! elsewhere they state that they do not.

use super::{node, read};
use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::causes::{Cause, Kind};
use rocescope_collective::document::Document;
use rocescope_collective::steps::{Builder, FlowKey};
use rocescope_collective::telemetry::Source;
use rocescope_collective::trace::Trace;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the data, if it is there.
fn data() -> Option<PathBuf> {
    rocescope_testkit::shared("vedrfolnir")
}

fn analysis(folder: &Path) -> Analysis {
    let (steps, telemetry) = read(folder);
    let mut builder = Builder::default();
    for row in &steps {
        builder.add(row);
    }
    analyze(builder.finish(), &telemetry.as_slice().telemetry())
}

fn of_kind(analysis: &Analysis, kind: Kind) -> &Cause {
    let causes: Vec<&Cause> = analysis.causes.iter().filter(|cause| cause.kind == kind).collect();
    assert_eq!(causes.len(), 1, "{:#?}", analysis.causes);
    causes[0]
}

/// Their program cuts the time of each step to milliseconds, and has the end of the collective in the place of that of its
/// last step.
#[test]
fn critical_paths_and_contributors_are_those_of_the_authors() {
    let Some(root) = data() else { return };
    for (name, other) in [
        ("ring_e1_two_bg_dc71403", Some((12, 15))),
        ("ring_e1_first_af0e9ea", Some((14, 18))),
        ("hd_allreduce_dc71403", None),
    ] {
        let analysis = analysis(&root.join(name));
        assert_eq!(analysis.complaints.lines(), [] as [&str; 0], "{name}");
        let golden = fs::read_to_string(root.join(format!("golden/{name}.critical_path.txt"))).unwrap();
        let path = Document::of(&analysis).critical_path;
        let mut ours: Vec<String> = path
            .vertices
            .iter()
            .map(|vertex| format!("F{}S{}", vertex.host, vertex.step))
            .collect();
        ours.dedup();
        let mut theirs: Vec<&str> = golden.lines().next().unwrap().split('\'').collect();
        theirs.retain(|word| word.starts_with('F'));
        let mut theirs: Vec<&str> = theirs.iter().map(|word| word.split('_').next().unwrap()).collect();
        theirs.dedup();
        let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
        assert!(
            ours.ends_with(&theirs) && ours.len() <= theirs.len() + 1,
            "{name}: {ours:?}, {theirs:?}"
        );
        let total_ms: i64 = golden.lines().last().unwrap().parse().unwrap();
        let lost_ns = path.total_ns - total_ms * 1_000_000;
        assert!(
            (0..1_000_000 * path.parts.len() as i64).contains(&lost_ns),
            "{name}: {lost_ns}"
        );
        let first = analysis.contributors.first();
        println!("{name}: {} ns, {first:?}", path.total_ns);
        assert_eq!(first.map(|(flow, _)| (node(flow.src), node(flow.dst))), other, "{name}");
    }
}

#[test]
fn the_deadlock_is_one_circle_over_four_switches() {
    let Some(root) = data() else { return };
    let analysis = analysis(&root.join("mix_deadlock_af0e9ea"));
    let mut switches: Vec<&str> = of_kind(&analysis, Kind::Deadlock)
        .path
        .iter()
        .map(|port| &*port.switch)
        .collect();
    println!("circle: {switches:?}");
    switches.sort_unstable();
    assert_eq!(switches, ["0", "1", "2", "3"]);
    let wrong = |cause: &Cause| matches!(cause.kind, Kind::RoutingLoop | Kind::PfcStorm);
    assert!(!analysis.causes.iter().any(wrong));
}

#[test]
fn the_incast_is_found_with_its_victim() {
    let Some(root) = data() else { return };
    let analysis = analysis(&root.join("mix_af0e9ea"));
    let incast = of_kind(&analysis, Kind::Incast);
    let ports: Vec<String> = incast
        .path
        .iter()
        .map(|port| format!("{}:{}", port.switch, port.port))
        .collect();
    assert_eq!(ports, ["9:1", "10:3", "12:2"]);
    let nodes = |flows: &[FlowKey]| {
        let ends = |flow: &FlowKey| (node(flow.src), node(flow.dst));
        flows.iter().map(ends).collect::<Vec<_>>()
    };
    assert_eq!(nodes(&incast.flows), [(5, 3), (6, 3), (1, 3), (8, 3), (7, 3)]);
    assert_eq!(nodes(&incast.victims), [(2, 4)]);
}

/// Every step is a slice, every wait for another host an arrow of two events.
#[test]
fn every_run_is_a_trace() {
    let Some(root) = data() else { return };
    let mut runs = 0;
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() || path.ends_with("golden") {
            continue;
        }
        let analysis = analysis(&path);
        let text = Trace::of(&analysis, &[]).to_string();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let of_phase = |phase: &str| {
            let events = trace["traceEvents"].as_array().unwrap().iter();
            events.filter(|event| event["ph"] == phase).count()
        };
        let steps = &analysis.steps.steps;
        let awaited = steps.iter().filter(|step| step.awaited().is_some()).count();
        assert_eq!(
            (of_phase("X"), of_phase("s"), of_phase("f")),
            (steps.len(), awaited, awaited)
        );
        runs += usize::from(!steps.is_empty());
    }
    assert!(runs > 0, "no run has steps");
}
