//! `rocescope paths compare`: the loads of links and the paths of two runs.

use super::fim::percent;
use super::input::{self, Run};
use crate::arguments::{ComparePathsArguments, Output};
use crate::commands::topology;
use anyhow::Result;
use rocescope_diagnose::paths::{Comparison, Hop, compare};
use rocescope_model::human::plural;
use rocescope_model::{json, render};
use rocescope_store::TimeRange;
use std::collections::BTreeMap;
use std::process::ExitCode;

pub(super) fn run(arguments: &ComparePathsArguments) -> Result<ExitCode> {
    let fabric = topology::read_and_warn(&arguments.topology)?.fabric();
    input::ensure_links(&fabric, &arguments.topology)?;
    let sides = [&arguments.a, &arguments.b].map(|path| input::read(path, TimeRange::default()));
    let [a, b] = sides;
    let (a, b) = (a?, b?);
    let [of_a, of_b] = [&a, &b].map(|run| input::measure(&fabric, run));
    let [paths_a, paths_b] = [&a, &b].map(paths);
    let comparison = Comparison::new(
        compare::Run {
            imbalance: &of_a.imbalance,
            paths: &paths_a,
        },
        compare::Run {
            imbalance: &of_b.imbalance,
            paths: &paths_b,
        },
    );
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&(json::pretty(&comparison) + "\n")),
        Output::Table => hosts.text(&text(&comparison, arguments.top)),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn paths(run: &Run) -> BTreeMap<String, Vec<Hop>> {
    let paths = run.paths.iter().map(|path| (path.name.clone(), path.hops.clone()));
    paths.collect()
}

fn text(comparison: &Comparison, top: usize) -> String {
    let points = |change: Option<f64>| change.map_or_else(|| "-".into(), |change| format!("{change:+.1} points"));
    let mut lines = vec![["Layer", "FIM of A", "FIM of B", "Change"].map(String::from).to_vec()];
    let all = [(String::from("all"), &comparison.fim)];
    let layers = comparison
        .layers
        .iter()
        .map(|layer| (format!("{} → {}", layer.from, layer.to), &layer.fim));
    for (name, fim) in all.into_iter().chain(layers) {
        lines.push(vec![
            name,
            percent(fim.fim_a_percent),
            percent(fim.fim_b_percent),
            points(fim.change_points),
        ]);
    }
    let mut text = render::align(&lines, &[false, true, true, true]);
    if !comparison.links.is_empty() {
        let mut lines = vec![["Link", "To", "Flows of A", "Flows of B"].map(String::from).to_vec()];
        lines.extend(comparison.links.iter().take(top).map(|link| {
            vec![
                link.from.clone(),
                link.to.clone(),
                link.flows_a.to_string(),
                link.flows_b.to_string(),
            ]
        }));
        text.push('\n');
        text.push_str(&render::align(&lines, &[false, false, true, true]));
    }
    let flows = |count: usize| plural(count as u64, "flow");
    text.push_str(&format!(
        "\n{} in both, {} on another path, {} only in A, {} only in B\n",
        plural(comparison.common_flows, "flow"),
        flows(comparison.moved.len()),
        flows(comparison.only_a.len()),
        flows(comparison.only_b.len()),
    ));
    let path = |hops: &[Hop]| {
        let hops: Vec<String> = hops.iter().map(|Hop(node, port)| format!("{node}:{port}")).collect();
        hops.join(" ")
    };
    for moved in comparison.moved.iter().take(top) {
        text.push_str(&format!(
            "{}\n  A {}\n  B {}\n",
            moved.flow,
            path(&moved.a),
            path(&moved.b)
        ));
    }
    text
}
