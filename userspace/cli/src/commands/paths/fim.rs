//! `rocescope paths fim`: flows per link, and the Flow Imbalance Metric of each layer.

use super::input::{self, Measured, Problem, Which};
use super::windows::{self, WindowFim};
use crate::arguments::{FimArguments, Output, SpanArguments};
use crate::commands::{span, topology};
use anyhow::{Result, anyhow};
use rocescope_analysis::paths::runs::Run;
use rocescope_diagnose::paths::{Imbalance, LinkLoad};
use rocescope_model::human::{plural, visible_lines};
use rocescope_model::{LINK_LOAD_TABLES, LinkLoadRow, Time, json, render};
use rocescope_runtime::clock::now;
use rocescope_store::{Options, Writer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    imbalance: &'a Imbalance,
    /// Start of the run.
    time: Option<Time>,
    /// Flows whose path is not known to its end.
    flows_without_path: u64,
    /// Entries of a flow beside its first: they count too.
    flows_listed_again: u64,
    problem_counts: &'a BTreeMap<&'static str, u64>,
    problems: &'a [Problem],
    windows: Option<&'a [WindowFim]>,
}

pub(super) fn run(arguments: &FimArguments) -> Result<ExitCode> {
    let time = span::range(&arguments.span)?;
    let which = match (arguments.span == SpanArguments::default(), arguments.windows) {
        (true, _) => Which::Newest,
        (false, false) => Which::Within(time),
        (false, true) => Which::HeldIn(time),
    };
    let fabric = topology::read_and_warn(&arguments.topology)?.fabric();
    input::ensure_links(&fabric, &arguments.topology)?;
    let run = input::read(&arguments.paths, which)?;
    let measured = input::measure(&fabric, &run);
    let mut rows = Vec::new();
    let windows = match arguments.windows {
        true => Some(windows::each(
            &fabric,
            &arguments.paths,
            time,
            |start_ns, window_ns, imbalance| {
                if arguments.out.is_some() {
                    rows.extend(self::rows(&arguments.observer, start_ns, window_ns, imbalance));
                }
            },
        )?),
        false => None,
    };
    if windows.as_ref().is_some_and(Vec::is_empty) {
        let nothing = span::nothing(&arguments.paths, &arguments.span)?;
        return Err(nothing.unwrap_or_else(|| anyhow!("{} has no windows of flows", arguments.paths.display())));
    }
    if let Some(root) = &arguments.out {
        if windows.is_none() {
            let time = run.time.unwrap_or_else(now);
            rows = self::rows(&arguments.observer, time.0, 0, &measured.imbalance);
        }
        let options = Options {
            tables: LINK_LOAD_TABLES,
            ..Options::new(&arguments.observer)
        };
        let mut writer = Writer::create(root, options)?;
        writer.append_cells(&rows, Instant::now())?;
        writer.finish()?;
    }
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(
            &(json::pretty(&Document {
                imbalance: &measured.imbalance,
                time: run.time,
                flows_without_path: run.unknown,
                flows_listed_again: run.repeated,
                problem_counts: &measured.counts,
                problems: &measured.problems,
                windows: windows.as_deref(),
            }) + "\n"),
        ),
        Output::Table => visible_lines(&hosts.text(&text(&run, &measured, windows.as_deref(), arguments.top))),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The loads of a window, or of a run if it has no length.
pub(super) fn rows(observer: &str, start_ns: i64, window_ns: i64, imbalance: &Imbalance) -> Vec<LinkLoadRow> {
    let rows = imbalance.link_loads.iter().map(|link| LinkLoadRow {
        observer: observer.to_owned().into(),
        window_start: Time(start_ns),
        window_start_ns: start_ns,
        window_ns,
        from: link.from.clone().into(),
        from_port: link.from_port.clone().into(),
        to: link.to.clone().into(),
        to_port: link.to_port.clone().into(),
        from_tier: link.from_tier.clone().into(),
        to_tier: link.to_tier.clone().into(),
        flows: link.flows,
        ideal_flows: link.ideal,
        deviation_ratio: link.deviation_percent.map(|percent| percent / 100.0),
        flow_bps: link.bps,
    });
    rows.collect()
}

/// A percentage, or why there is none.
pub(super) fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.1} %"))
}

/// Names the lowest possible FIM, unless it is 0.
pub(super) fn lower_bound(imbalance: &Imbalance) -> String {
    match imbalance.min_fim_percent {
        Some(min) if min >= 0.05 => format!("; whole flows allow {min:.1} % at best"),
        _ => String::new(),
    }
}

fn text(run: &Run, measured: &Measured, windows: Option<&[WindowFim]>, top: usize) -> String {
    let imbalance = &measured.imbalance;
    let flows = plural(imbalance.flows, "flow");
    let mut text = match imbalance.fim_percent {
        Some(fim) => format!("FIM {fim:.1} %: {flows}{}\n", lower_bound(imbalance)),
        None => format!("FIM unknown: {flows}, none on links between switches of known tiers\n"),
    };
    if let Some(fim) = imbalance.bytes_fim_percent {
        text.push_str(&format!("weighted by rate {fim:.1} %\n"));
    }
    if run.unknown > 0 {
        text.push_str(&format!(
            "{} left out: the path is not known to its end\n",
            plural(run.unknown, "flow")
        ));
    }
    text.push_str(&run.repetition(""));
    let heading = [
        "From",
        "To",
        "Links",
        "Flows",
        "Ideal",
        "Min",
        "Max",
        "Unused",
        "FIM",
        "Min FIM",
        "FIM by rate",
    ];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(imbalance.layers.iter().map(|layer| {
        vec![
            layer.from.clone(),
            layer.far(),
            layer.links.to_string(),
            layer.flows.to_string(),
            layer.ideal.map_or_else(|| "-".into(), |ideal| format!("{ideal:.2}")),
            layer.min_flows.to_string(),
            layer.max_flows.to_string(),
            layer.unused_links.to_string(),
            percent(layer.fim_percent),
            percent(layer.min_fim_percent),
            percent(layer.bytes_fim_percent),
        ]
    }));
    text.push('\n');
    let right = [false, false, true, true, true, true, true, true, true, true, true];
    text.push_str(&render::align(&lines, &right));
    if imbalance.layers.iter().any(|layer| layer.at_hosts && layer.flows > 0) {
        text.push_str("Layers at hosts have a FIM of their own, which is not part of that above.\n");
    }
    let mut far: Vec<&LinkLoad> = imbalance
        .link_loads
        .iter()
        .filter(|link| link.ideal.is_some())
        .collect();
    far.sort_by(|a, b| deviation(b).total_cmp(&deviation(a)));
    if !far.is_empty() && top > 0 {
        let mut lines = vec![["Link", "To", "Flows", "Ideal", "Deviation"].map(String::from).to_vec()];
        lines.extend(far.iter().take(top).map(|link| {
            vec![
                format!("{}:{}", link.from, link.from_port),
                format!("{}:{}", link.to, link.to_port),
                link.flows.to_string(),
                format!("{:.2}", link.ideal.unwrap_or_default()),
                format!("{:+.0} %", link.deviation_percent.unwrap_or_default()),
            ]
        }));
        text.push('\n');
        text.push_str(&render::align(&lines, &[false, false, true, true, true]));
    }
    if let Some(windows) = windows {
        text.push('\n');
        text.push_str(&windows::text(windows));
    }
    if !measured.counts.is_empty() {
        text.push('\n');
        text.push_str(&measured.lines(""));
    }
    text
}

fn deviation(link: &LinkLoad) -> f64 {
    link.deviation_percent.unwrap_or_default().abs()
}
