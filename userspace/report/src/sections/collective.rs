//! Which step, which flow and which port made a collective slow?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::chart::graph::GraphPlot;
use crate::chart::steps::StepsPlot;
use crate::chart::{Chart, Plot};
use crate::collect::CollectiveFigures;
use crate::report::Report;
use crate::words::plural;
use rocescope_collective::document::{CauseDocument, ContributorDocument, PartDocument};

/// Maximum number of notes on the input.
const NOTES: usize = 6;

pub(super) fn section(report: &Report, figures: &CollectiveFigures) -> Section {
    let document = &figures.document;
    let is_slow = !document.contributors.is_empty() || !document.root_causes.is_empty();
    let mut findings: Vec<Finding> = document
        .summary
        .iter()
        .enumerate()
        .map(|(at, line)| match is_slow && at > 0 {
            true => Finding::bad(line.clone()),
            false => Finding::note(line.clone()),
        })
        .collect();
    findings.extend(
        document
            .complaints
            .iter()
            .take(NOTES)
            .map(|line| Finding::note(format!("{line}."))),
    );
    let top = report.scope.top;
    let mut grids = Vec::new();
    if !document.root_causes.is_empty() {
        grids.push(causes(&document.root_causes, top));
    }
    if !document.contributors.is_empty() {
        grids.push(contributors(&document.contributors, top));
    }
    if !document.critical_path.parts.is_empty() {
        grids.push(path(&document.critical_path.parts, top));
    }
    Section {
        id: "collective",
        title: "Collective",
        findings,
        facts: vec![
            ("Hosts".into(), document.hosts.to_string()),
            ("Steps".into(), document.steps.to_string()),
        ],
        grids,
        charts: charts(figures),
    }
}

fn charts(figures: &CollectiveFigures) -> Vec<Chart> {
    let mut charts = Vec::new();
    if !figures.timeline.lanes.is_empty() {
        let mut note = "the line is the critical path".to_owned();
        if figures.joined > 1 {
            note += &format!("; a bar is {} consecutive steps", figures.joined);
        }
        if figures.omitted > 0 {
            note += &format!("; without {} off the path", plural(figures.omitted as u64, "rank"));
        }
        charts.push(Chart {
            title: "Steps".into(),
            note: Some(note),
            plot: Plot::Steps(StepsPlot {
                lanes: figures.timeline.lanes.clone(),
                path: figures.timeline.path.clone(),
            }),
        });
    }
    if let Some((graph, start_ns)) = &figures.graph {
        let note = format!(
            "the 10 ms from {:.0} ms on, in which other flows delayed the collective most; what is at the left \
             waits for what is at the right, the wider the line the longer",
            *start_ns as f64 / 1e6
        );
        charts.push(Chart {
            title: "What the flows waited for".into(),
            note: Some(note),
            plot: Plot::Graph(GraphPlot {
                columns: graph.columns.clone(),
                edges: graph.edges.clone(),
            }),
        });
    }
    charts
}

fn head(title: &str, right: bool, is_prose: bool) -> Head {
    Head {
        title: title.into(),
        help: String::new(),
        right,
        is_prose,
    }
}

fn shown(title: &str, shown: usize, all: usize) -> String {
    match shown < all {
        true => format!("{title}, the first {shown} of {all}"),
        false => title.into(),
    }
}

fn causes(causes: &[CauseDocument], top: usize) -> Grid {
    let rows = causes.iter().take(top).map(|cause| {
        vec![
            Cell::text(cause.kind.replace('_', " ").replace("pfc", "PFC")),
            Cell::text(cause.switch.as_str()),
            Cell::text(cause.port.as_str()),
            Cell::number(cause.windows as f64, cause.windows.to_string()),
            Cell::text(cause.text.as_str()),
        ]
    });
    Grid {
        title: shown("Root causes", top, causes.len()),
        heads: vec![
            head("Cause", false, false),
            head("Switch", false, false),
            head("Port", false, false),
            head("Windows", true, false),
            head("What happened", false, true),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}

fn contributors(flows: &[ContributorDocument], top: usize) -> Grid {
    let rows = flows.iter().take(top).map(|one| {
        let port = one
            .flow
            .src_port
            .map_or_else(|| "unknown".into(), |port| port.to_string());
        vec![
            Cell::text(one.flow.src.to_string()),
            Cell::text(one.flow.dst.to_string()),
            Cell::text(port),
            Cell::number(one.rating, format!("{:.1}", one.rating)),
        ]
    });
    Grid {
        title: shown("Flows outside the collective that delayed it", top, flows.len()),
        heads: vec![
            head("Source", false, false),
            head("Destination", false, false),
            head("Source port", true, false),
            head("Rating (packets)", true, false),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}

fn path(parts: &[PartDocument], top: usize) -> Grid {
    let ms = |ns: i64| Cell::number(ns as f64, format!("{:.3} ms", ns as f64 / 1e6));
    let rows = parts.iter().take(top).map(|part| {
        let waited = match (&part.waited_for_host, part.waited_for_step) {
            (Some(host), Some(step)) => format!("{host}, step {step}"),
            _ => "its own step before".into(),
        };
        vec![
            Cell::text(part.host.as_str()),
            Cell::number(f64::from(part.step), part.step.to_string()),
            Cell::text(part.to.as_str()),
            ms(part.duration_ns),
            part.expected_ns.map_or_else(|| Cell::text("unknown"), ms),
            Cell::text(waited),
        ]
    });
    Grid {
        title: shown("Critical path, from the end to the start", top, parts.len()),
        heads: vec![
            head("Host", false, false),
            head("Step", true, false),
            head("To", false, false),
            head("Took", true, false),
            head("Alone", true, false),
            head("Waited for", false, false),
        ],
        rows: rows.collect(),
        is_drawn: true,
        ..Grid::default()
    }
}
