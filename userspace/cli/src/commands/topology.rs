//! `rocescope topology`: reads, checks and converts the topology of a fabric.

use crate::arguments::{ConvertArguments, LinkArguments, Output, TopologyAction, TopologyArguments, TopologyFormat};
use anyhow::{Result, anyhow};
use rocescope_analysis::topology::{folder, load};
use rocescope_model::human::{plural, visible_lines};
use rocescope_model::{json, render};
use rocescope_paths::topology::{self, Contradiction, Format, NodeKind, Topology, check, tiers};
use rocescope_runtime::status;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(action: &TopologyAction) -> Result<ExitCode> {
    match action {
        TopologyAction::Check(arguments) => checked(arguments),
        TopologyAction::Show(arguments) => show(arguments),
        TopologyAction::Convert(arguments) => convert(arguments),
    }
}

/// Reads a topology, and warns if it contradicts itself.
pub(super) fn read_and_warn(path: &Path) -> Result<Topology> {
    let topology = load(path)?;
    warn_of_management(&topology, path);
    warn_of_contradictions(&topology, path);
    Ok(topology)
}

fn warn_of_contradictions(topology: &Topology, path: &Path) {
    let contradictions = check(topology, folder(path)).len() as u64;
    if contradictions > 0 {
        status!(
            "rocescope: warning: {} has {}: `rocescope topology check` lists them",
            path.display(),
            plural(contradictions, "contradiction")
        );
    }
}

/// Names links at management ports, which are left out.
fn warn_of_management(topology: &Topology, path: &Path) {
    let ends = topology.management.iter().flat_map(|link| link.ends.first());
    let ends: Vec<String> = ends.map(ToString::to_string).collect();
    if let [first, others @ ..] = &ends[..] {
        let others = match others.len() as u64 {
            0 => String::new(),
            count => format!(" and {}", plural(count, "other")),
        };
        status!(
            "rocescope: warning: {}: {} at management ports left out ({first}{others}): `rocescope topology convert \
             --management` keeps them",
            path.display(),
            plural(ends.len() as u64, "link"),
        );
    }
}

/// Reads a topology, with the links that the arguments choose.
fn read_chosen(path: &Path, links: &LinkArguments) -> Result<Topology> {
    let mut topology = load(path)?;
    topology
        .leave_out(&links.leave_out)
        .map_err(|error| anyhow!("{}: {error}", path.display()))?;
    if links.management {
        topology.keep_management();
    }
    warn_of_management(&topology, path);
    Ok(topology)
}

#[derive(Serialize)]
struct CheckDocument<'a> {
    nodes: usize,
    links: usize,
    contradictions: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    line: Option<usize>,
    kind: &'a str,
    message: &'a str,
}

fn items(found: &[Contradiction]) -> Vec<Item<'_>> {
    let items = found.iter().map(|found| Item {
        line: found.line,
        kind: found.kind,
        message: &found.message,
    });
    items.collect()
}

fn checked(arguments: &TopologyArguments) -> Result<ExitCode> {
    let topology = read_chosen(&arguments.topology, &arguments.links)?;
    let found = check(&topology, folder(&arguments.topology));
    let (nodes, links) = (topology.nodes.len(), topology.links.len());
    let text = match arguments.output {
        Output::Json => {
            let contradictions = items(&found);
            json::pretty(&CheckDocument {
                nodes,
                links,
                contradictions,
            }) + "\n"
        }
        Output::Table => {
            let path = arguments.topology.display();
            let at = |line: Option<usize>| line.map_or(String::new(), |line| format!(":{line}"));
            let lines = found
                .iter()
                .map(|found| format!("{path}{}: {}\n", at(found.line), found.message));
            let sum = format!(
                "{}, {}, {}\n",
                plural(nodes as u64, "node"),
                plural(links as u64, "link"),
                plural(found.len() as u64, "contradiction")
            );
            visible_lines(&lines.chain([sum]).collect::<String>())
        }
    };
    crate::print(&text)?;
    Ok(match found.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

#[derive(Serialize)]
struct ShowDocument {
    tiers: Vec<String>,
    nodes: Vec<ShownNode>,
    links: Vec<ShownLink>,
    contradictions: usize,
}

#[derive(Serialize)]
struct ShownNode {
    name: String,
    kind: &'static str,
    tier: Option<String>,
    tier_origin: &'static str,
    links: usize,
    addresses: Vec<String>,
    management: Option<String>,
    driver: Option<String>,
}

#[derive(Serialize)]
struct ShownLink {
    from: String,
    to: String,
}

fn show(arguments: &TopologyArguments) -> Result<ExitCode> {
    let topology = read_chosen(&arguments.topology, &arguments.links)?;
    let names = topology.tier_names();
    let tier_name = |tier: usize| names.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
    let mut links_of: HashMap<&str, usize> = HashMap::new();
    for end in topology.links.iter().flat_map(|link| &link.ends) {
        *links_of.entry(&end.node).or_default() += 1;
    }
    let mut nodes = Vec::new();
    for (node, tiered) in topology.nodes.iter().zip(tiers(&topology)) {
        nodes.push(ShownNode {
            name: node.name.clone(),
            kind: match (node.kind, tiered.tier) {
                (Some(NodeKind::Host), _) | (None, Some(0)) => "host",
                _ => "switch",
            },
            tier: tiered.tier.map(tier_name),
            tier_origin: tiered.origin.name(),
            links: links_of.get(&*node.name).copied().unwrap_or_default(),
            addresses: node.addresses.iter().map(ToString::to_string).collect(),
            management: node.management.clone(),
            driver: node.driver.clone(),
        });
    }
    let links = topology.links.iter().filter_map(|link| match &link.ends[..] {
        [from, to] => Some(ShownLink {
            from: from.to_string(),
            to: to.to_string(),
        }),
        _ => None,
    });
    let document = ShowDocument {
        nodes,
        links: links.collect(),
        contradictions: check(&topology, folder(&arguments.topology)).len(),
        tiers: names.clone(),
    };
    crate::print(&match arguments.output {
        Output::Json => json::pretty(&document) + "\n",
        Output::Table => visible_lines(&text(&document)),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text(document: &ShowDocument) -> String {
    let heading = ["Node", "Kind", "Tier", "Known by", "Links", "Management", "Driver"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(document.nodes.iter().map(|node| {
        let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        vec![
            node.name.clone(),
            node.kind.to_owned(),
            dash(&node.tier),
            node.tier_origin.to_owned(),
            node.links.to_string(),
            dash(&node.management),
            dash(&node.driver),
        ]
    }));
    let mut text = render::align(&lines, &[false, false, false, false, true, false, false]);
    let mut lines = vec![vec![String::from("Link"), String::new()]];
    lines.extend(
        document
            .links
            .iter()
            .map(|link| vec![link.from.clone(), link.to.clone()]),
    );
    text.push('\n');
    text.push_str(&render::align(&lines, &[false, false]));
    if document.contradictions > 0 {
        let count = plural(document.contradictions as u64, "contradiction");
        text.push_str(&format!("\n{count}: `rocescope topology check` lists them\n"));
    }
    text
}

fn convert(arguments: &ConvertArguments) -> Result<ExitCode> {
    let topology = read_chosen(&arguments.topology, &arguments.links)?;
    warn_of_contradictions(&topology, &arguments.topology);
    let (text, format) = match arguments.to {
        TopologyFormat::Toml => (topology::to_toml(&topology), Format::Toml),
        TopologyFormat::Dot => (topology::to_dot(&topology), Format::Dot),
    };
    for lost in topology::lost(&topology, &text, format) {
        status!("rocescope: warning: not in the converted topology: {lost}");
    }
    crate::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
