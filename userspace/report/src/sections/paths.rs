//! How evenly do flows load the links of the fabric?

use super::grid::{Cell, Grid, Head};
use super::paths_drawn;
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::PathFigures;
use crate::words::{instant, list, plural};
use rocescope_diagnose::paths::LinkLoad;
use rocescope_model::Unit;
use rocescope_model::Value;
use rocescope_model::human::{self, grouped};

/// FIM up to which loads count as even, beyond what whole flows allow: the paper reached 6.2 % with static routes.
const EVEN_PERCENT: f64 = 10.0;
/// Maximum number of outcomes that a sentence names.
const NAMED: usize = 8;

pub(super) fn section(report: &Report, paths: &PathFigures) -> Section {
    let imbalance = &paths.imbalance;
    let mut facts = match paths.outcomes.is_empty() {
        false => vec![
            ("Run".to_owned(), instant(paths.time_ns)),
            ("Flows".to_owned(), flows(paths)),
        ],
        true => vec![("Loads of".to_owned(), instant(paths.time_ns))],
    };
    facts.push(("FIM".to_owned(), percent(imbalance.fim_percent)));
    if let Some(fim) = imbalance.bytes_fim_percent {
        facts.push(("FIM by rate".to_owned(), percent(Some(fim))));
    }
    let grids = match imbalance.layers.is_empty() {
        true => Vec::new(),
        false => vec![layers(paths), links(report, paths)],
    };
    let grids = grids.into_iter().chain(jobs(report, paths)).collect();
    Section {
        id: "paths",
        title: "Paths of flows",
        findings: findings(paths),
        facts,
        grids,
        charts: paths_drawn::charts(paths),
    }
}

fn percent(value: Option<f64>) -> String {
    value.map_or("unknown".into(), |value| format!("{value:.1} %"))
}

fn flows(paths: &PathFigures) -> String {
    let outcomes = paths.outcomes.iter();
    let outcomes: Vec<String> = outcomes
        .map(|(outcome, count)| format!("{} {outcome}", grouped(*count)))
        .collect();
    list(&outcomes, NAMED)
}

fn findings(paths: &PathFigures) -> Vec<Finding> {
    let imbalance = &paths.imbalance;
    let links = plural(paths.fabric.links() as u64, "link");
    let mut findings = Vec::new();
    findings.push(match imbalance.fim_percent {
        None if paths.fabric.links() == 0 => Finding::note(
            "The dataset has paths and no links: `rocescope paths fim --topology FILE --paths DATASET --out DATASET` adds them.",
        ),
        None => Finding::note("FIM is unknown: no flow crosses a link between switches of known tiers."),
        Some(fim) => {
            let min = imbalance.min_fim_percent.unwrap_or_default();
            let at_best = match min >= 0.05 {
                true => format!(" Whole flows allow {min:.1} % at best."),
                false => String::new(),
            };
            let text = format!("FIM is {fim:.1} %: {} on {links}.{at_best}", plural(imbalance.flows, "flow"));
            match fim <= min + EVEN_PERCENT {
                true => Finding::good(text),
                false => Finding::note(text),
            }
        }
    });
    if paths.outcomes.is_empty() {
        findings.push(Finding::note(
            "The dataset has the loads of links and no paths: `rocescope paths discover --out DATASET` adds them.",
        ));
    }
    let incomplete = paths.outcomes.iter().filter(|(outcome, _)| *outcome != "complete");
    let incomplete: Vec<String> = incomplete
        .map(|(outcome, count)| format!("{} {outcome}", grouped(*count)))
        .collect();
    if !incomplete.is_empty() {
        findings.push(Finding::bad(format!(
            "Paths of some flows end early: {}.",
            list(&incomplete, NAMED)
        )));
    }
    let switched = imbalance
        .link_loads
        .iter()
        .filter(|link| link.deviation_percent.is_some());
    let fullest = switched.max_by(|a, b| deviation(a).total_cmp(&deviation(b)));
    if let Some(link) = fullest.filter(|link| deviation(link) >= 100.0) {
        findings.push(Finding::note(format!(
            "{} carries {}, {:.1} times its ideal.",
            name(link),
            plural(link.flows, "flow"),
            1.0 + deviation(link) / 100.0
        )));
    }
    let problems: u64 = paths.problems.values().sum();
    if problems > 0 {
        let reasons = paths
            .problems
            .iter()
            .map(|(reason, count)| format!("{} {reason}", grouped(*count)));
        let reasons: Vec<String> = reasons.collect();
        findings.push(Finding::bad(format!(
            "{} contradict the links: {}.",
            plural(problems, "hop"),
            list(&reasons, NAMED)
        )));
    }
    if paths.left_out_of_jobs > 0 {
        findings.push(Finding::bad(format!(
            "{} of windows are of jobs beyond the largest number that a report keeps.",
            plural(paths.left_out_of_jobs, "flow")
        )));
    }
    if paths.unfollowed > 0 {
        findings.push(Finding::bad(format!(
            "{} beyond the largest number that a report keeps are missing here.",
            plural(paths.unfollowed, "flow")
        )));
    }
    findings
}

fn deviation(link: &LinkLoad) -> f64 {
    link.deviation_percent.unwrap_or_default()
}

fn name(link: &LinkLoad) -> String {
    format!("{}:{} → {}:{}", link.from, link.from_port, link.to, link.to_port)
}

fn head(title: &str, help: &str, right: bool) -> Head {
    Head {
        title: title.into(),
        help: help.into(),
        right,
        is_prose: false,
    }
}

fn optional(value: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
    value.map_or_else(|| Cell::text(""), |value| Cell::number(value, text(value)))
}

#[expect(clippy::cast_precision_loss, reason = "a number to sort by")]
fn count(value: u64) -> Cell {
    Cell::number(value as f64, grouped(value))
}

fn layers(paths: &PathFigures) -> Grid {
    let heads = [
        ("From", "Tier where the layer starts", false),
        ("To", "Tier where it ends", false),
        ("Links", "Links, used or not", true),
        ("Flows", "Flows on all of them", true),
        ("Ideal", "Flows per link if all were equal", true),
        ("Min", "Flows of the link with the fewest", true),
        ("Max", "Flows of the link with the most", true),
        ("Unused", "Links without a flow", true),
        ("FIM", "Mean deviation of the links from the ideal", true),
        ("Min FIM", "FIM if flows lay as evenly as whole flows can", true),
        ("FIM by rate", "FIM by the rates of the flows", true),
    ];
    let rows = paths.imbalance.layers.iter().map(|layer| {
        vec![
            Cell::text(&*layer.from),
            Cell::text(layer.far()),
            count(layer.links as u64),
            count(layer.flows),
            optional(layer.ideal, |ideal| format!("{ideal:.2}")),
            count(layer.min_flows),
            count(layer.max_flows),
            count(layer.unused_links as u64),
            optional(layer.fim_percent, |fim| format!("{fim:.1} %")),
            optional(layer.min_fim_percent, |fim| format!("{fim:.1} %")),
            optional(layer.bytes_fim_percent, |fim| format!("{fim:.1} %")),
        ]
    });
    Grid {
        title: "Layers".into(),
        heads: heads.map(|(title, help, right)| head(title, help, right)).into(),
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}

/// The jobs with the most flows.
fn jobs(report: &Report, paths: &PathFigures) -> Option<Grid> {
    let heads = [
        ("Job", "The job; without one the pod, the unit or the process", false),
        ("Flows", "Flows in the window with the most", true),
        (
            "Links",
            "Directions of links that lead up from its senders or down to its receivers",
            true,
        ),
        (
            "FIM",
            "Mean deviation of these links from the ideal, over all windows",
            true,
        ),
        (
            "Min FIM",
            "The same if its flows lay as evenly as whole flows can",
            true,
        ),
    ];
    let shown = paths.jobs.iter().take(report.scope.top);
    let rows: Vec<Vec<Cell>> = shown
        .map(|job| {
            vec![
                Cell::text(&*job.name),
                count(job.flows),
                count(job.links as u64),
                optional(Some(job.fim() * 100.0), |fim| format!("{fim:.1} %")),
                optional(Some(job.least.fim() * 100.0), |fim| format!("{fim:.1} %")),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Grid {
        title: match rows.len() < paths.jobs.len() {
            true => format!("The {} of {} jobs with the most flows", rows.len(), paths.jobs.len()),
            false => "Flows of jobs on the links that they may take".into(),
        },
        heads: heads.map(|(title, help, right)| head(title, help, right)).into(),
        rows,
        is_drawn: true,
        ..Grid::default()
    })
}

fn links(report: &Report, paths: &PathFigures) -> Grid {
    let mut links: Vec<&LinkLoad> = paths.imbalance.link_loads.iter().collect();
    links.retain(|link| link.deviation_percent.is_some());
    links.sort_by(|a, b| deviation(b).abs().total_cmp(&deviation(a).abs()));
    let of = links.len();
    links.truncate(report.scope.top);
    let heads = [
        ("Link", "Node and port of both ends", false),
        ("Flows", "Flows that cross it", true),
        ("Ideal", "Flows per link of the layer if all were equal", true),
        ("Deviation", "How far it is from the ideal", true),
        ("Rate", "Rate of its flows, if all are known", true),
    ];
    let rows = links.iter().map(|link| {
        vec![
            Cell::text(name(link)),
            count(link.flows),
            optional(link.ideal, |ideal| format!("{ideal:.2}")),
            optional(link.deviation_percent, |percent| format!("{percent:+.0} %")),
            optional(link.bps, |bps| human::readable(&Value::F64(bps), Unit::BitsPerSecond)),
        ]
    });
    Grid {
        title: format!(
            "{} of {of} directions of links, the furthest from their ideal first",
            rows.len()
        ),
        heads: heads.map(|(title, help, right)| head(title, help, right)).into(),
        rows: rows.collect(),
        is_drawn: true,
        ..Grid::default()
    }
}
