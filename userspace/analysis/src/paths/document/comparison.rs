//! The loads of links and the paths of two runs.

use crate::paths::measured::Measured;
use crate::paths::runs::Run;
use rocescope_diagnose::paths::down::EmptyLink;
use rocescope_diagnose::paths::{Comparison, Hop, compare};
use rocescope_model::human::plural;
use rocescope_model::{Time, json, render};
use rocescope_paths::document::fim::percent;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// Flows of A and of B whose path is not known to its end.
    flows_without_path: [u64; 2],
    /// Entries of flows beside their first, of A and of B.
    flows_listed_again: [u64; 2],
    /// Start of run A and of run B; a file does not contain it.
    times: [Option<Time>; 2],
    /// Hops of A and of B that contradict the topology, by reason.
    problem_counts: [&'a BTreeMap<&'static str, u64>; 2],
}

/// Two runs and their loads: A, then B.
#[derive(Debug)]
pub struct Compared<'a> {
    runs: [(&'a Run, &'a Measured); 2],
    comparison: Comparison,
}

impl<'a> Compared<'a> {
    /// Compares them.
    #[must_use]
    pub fn new(runs: [(&'a Run, &'a Measured); 2]) -> Self {
        let [paths_a, paths_b] = runs.map(|(run, _)| paths(run));
        let [(_, of_a), (_, of_b)] = runs;
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
        Self { runs, comparison }
    }

    /// One JSON object.
    #[must_use]
    pub fn document(&self) -> String {
        json::pretty(&Document {
            comparison: &self.comparison,
            flows_without_path: self.runs.map(|(run, _)| run.unknown),
            flows_listed_again: self.runs.map(|(run, _)| run.repeated),
            times: self.runs.map(|(run, _)| run.time),
            problem_counts: self.runs.map(|(_, measured)| &measured.counts),
        }) + "\n"
    }

    /// The layers, and the `top` links and flows that differ.
    #[must_use]
    pub fn text(&self, top: usize) -> String {
        let [(a, of_a), (b, of_b)] = self.runs;
        let text = text(&self.comparison, [a.unknown, b.unknown], top);
        let times = [("A", a.time), ("B", b.time)].map(|(name, time)| match time {
            Some(time) => format!("{name} started at {time:.0}\n"),
            None => String::new(),
        });
        let repeated = [a.repetition(" of A"), b.repetition(" of B")].concat();
        let problems = [of_a.lines(" of A"), of_b.lines(" of B")].concat();
        [times.concat(), text, repeated, problems].concat()
    }
}

fn paths(run: &Run) -> BTreeMap<String, Vec<Hop>> {
    let known = run.paths.iter().filter(|path| !path.hops.is_empty());
    let paths = known.map(|path| (path.name.clone(), path.hops.clone()));
    paths.collect()
}

fn text(comparison: &Comparison, unknown: [u64; 2], top: usize) -> String {
    let points = |change: Option<f64>| change.map_or_else(|| "-".into(), |change| format!("{change:+.1} points"));
    let mut lines = vec![["Layer", "FIM of A", "FIM of B", "Change"].map(String::from).to_vec()];
    let all = [(String::from("all"), &comparison.fim)];
    let layers = comparison.layers.iter().map(|layer| {
        let within = layer
            .within
            .map_or(String::new(), |within| format!(" ({})", within.name()));
        (format!("{} → {}{within}", layer.from, layer.to), &layer.fim)
    });
    for (name, fim) in all.into_iter().chain(layers) {
        lines.push(vec![
            name,
            percent(fim.fim_a_percent),
            percent(fim.fim_b_percent),
            points(fim.change_points),
        ]);
    }
    let mut text = render::align(&lines, &[false, true, true, true]);
    text.push_str(&emptied(
        &comparison.down,
        "down, or no longer in the routes",
        ("A", "B"),
        top,
    ));
    text.push_str(&emptied(&comparison.up, "up, or back in the routes", ("B", "A"), top));
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
    for (side, unknown) in ["A", "B"].into_iter().zip(unknown) {
        if unknown > 0 {
            text.push_str(&format!(
                "{} of {side} left out: the path is not known to its end\n",
                plural(unknown, "flow")
            ));
        }
    }
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

/// Links with flows in one run and none in the other.
fn emptied(links: &[EmptyLink], what: &str, (with, without): (&str, &str), top: usize) -> String {
    let mut text = String::new();
    for link in links.iter().take(top) {
        let what = match link.is_out() {
            true => format!("in B {what}"),
            false => format!("in {without} perhaps empty at random"),
        };
        let (arrow, ways) = if link.both {
            ("–", "")
        } else {
            ("→", " in this direction alone")
        };
        text.push_str(&format!(
            "\n{} {arrow} {} {what}{ways}: {} in {with}, none in {without} of {:.0} expected: at random in {:.1} % of runs",
            link.from,
            link.to,
            plural(link.flows, "flow"),
            link.expected,
            link.chance_percent
        ));
    }
    if links.len() > top {
        text.push_str(&format!("\nand {} more: -o json has all", links.len() - top));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{EmptyLink, emptied};

    #[test]
    fn a_link_without_flows_is_told_of_the_run_that_has_none() {
        let link = |chance_percent| EmptyLink {
            from: "leaf1:eth5".into(),
            to: "spine1:eth1".into(),
            both: true,
            flows: 4,
            expected: 4.0,
            chance_percent,
        };
        let text = |chance, what, runs| emptied(&[link(chance)], what, runs, 5);
        let down = text(0.1, "down, or no longer in the routes", ("A", "B"));
        assert!(
            down.contains("spine1:eth1 in B down, or no longer in the routes: 4 flows in A, none in B"),
            "{down}"
        );
        let up = text(0.1, "up, or back in the routes", ("B", "A"));
        assert!(
            up.contains("spine1:eth1 in B up, or back in the routes: 4 flows in B, none in A"),
            "{up}"
        );
        let random = text(40.0, "up, or back in the routes", ("B", "A"));
        assert!(
            random.contains("spine1:eth1 in A perhaps empty at random: 4 flows in B, none in A"),
            "{random}"
        );
    }
}
