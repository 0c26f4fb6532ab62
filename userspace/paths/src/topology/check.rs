//! What a topology contradicts.

use super::tiers::{self, Origin};
use super::{Link, Node, Port, Topology};
use crate::driver::Driver;
use crate::ssh::Address;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contradiction {
    /// Line in the file, where the format has lines.
    pub line: Option<usize>,
    /// The kind, by which contradictions are counted.
    pub kind: &'static str,
    /// What it is, and what to do.
    pub message: String,
}

impl Contradiction {
    pub(crate) fn new(line: Option<usize>, kind: &'static str, message: String) -> Self {
        Self { line, kind, message }
    }
}

/// Every contradiction, in the order of lines. Files of drivers are seen from `folder`.
#[must_use]
pub fn check(topology: &Topology, folder: &Path) -> Vec<Contradiction> {
    let mut found = topology.notes.clone();
    nodes(topology, &mut found);
    links(topology, &mut found);
    reach(topology, &mut found);
    drivers(topology, folder, &mut found);
    found.sort();
    found
}

fn nodes(topology: &Topology, found: &mut Vec<Contradiction>) {
    let names = topology.tier_names();
    if topology.nodes.is_empty() && topology.links.is_empty() {
        let message = "the topology is empty: it has no nodes and no links";
        found.push(Contradiction::new(None, "empty", message.into()));
    }
    let mut owners = BTreeMap::new();
    for node in &topology.nodes {
        let mut add = |kind, message| found.push(Contradiction::new(node.line, kind, message));
        for address in &node.addresses {
            let owner = owners.insert(*address, &node.name);
            if let Some(owner) = owner.filter(|owner| **owner != node.name) {
                let name = &node.name;
                add(
                    "address_repeated",
                    format!("{address} belongs to both {owner} and {name}"),
                );
            }
        }
        if let Some(Err(error)) = node.management.as_deref().map(Address::parse) {
            add(
                "management_invalid",
                format!("the management address of {}: {error}", node.name),
            );
        }
        if let Some(tier) = &node.tier
            && tiers::number(tier, &names).is_none()
        {
            let known = names.join(", ");
            add(
                "unknown_tier",
                format!(
                    "{} is in tier `{tier}`, which is unknown: choose one of {known}, or list it in `tiers`",
                    node.name
                ),
            );
        }
        let mut channels: BTreeMap<&str, &str> = BTreeMap::new();
        for (channel, members) in &node.channels {
            for member in members {
                if let Some(other) = channels.insert(member, channel) {
                    let name = &node.name;
                    add(
                        "two_channels",
                        match other == channel {
                            true => format!("{name}:{channel} lists {member} twice"),
                            false => format!("{name}:{member} is in two port channels, {other} and {channel}"),
                        },
                    );
                }
                if node.ports.as_ref().is_some_and(|ports| !ports.contains(member)) {
                    add(
                        "unknown_port",
                        format!(
                            "{}:{channel} has the member {member}, which is no port of {}",
                            node.name, node.name
                        ),
                    );
                }
            }
        }
    }
}

fn links(topology: &Topology, found: &mut Vec<Contradiction>) {
    let nodes: BTreeMap<&str, &Node> = topology.nodes.iter().map(|node| (&*node.name, node)).collect();
    let mut used: BTreeMap<&Port, &Link> = BTreeMap::new();
    for link in &topology.links {
        let mut add = |kind, message| found.push(Contradiction::new(link.line, kind, message));
        match &link.ends[..] {
            [] => add("link_without_ends", "a link has no end: it needs two".into()),
            [end] => add("one_end", format!("the link at {end} has one end: name the other port")),
            [a, b] if a == b => add("same_port", format!("both ends of a link are {a}")),
            [_, _] => {}
            [a, .., z] => add(
                "many_ends",
                format!("the link from {a} to {z} has {} ends: it needs two", link.ends.len()),
            ),
        }
        for end in &link.ends {
            let node = nodes.get(&*end.node);
            if topology.declares_nodes && node.is_none() {
                add(
                    "unknown_node",
                    format!("{end} is at a node that is not declared: declare {}", end.node),
                );
            }
            let ports = node.and_then(|node| node.ports.as_ref());
            if ports.is_some_and(|ports| !ports.contains(&end.port)) {
                add("unknown_port", format!("{} has no port {}", end.node, end.port));
            }
            let Some(before) = used.get(end) else {
                used.insert(end, link);
                continue;
            };
            if std::ptr::eq(*before, link) {
                continue;
            }
            let at = before
                .line
                .map_or(String::new(), |line| format!(", first in line {line}"));
            let is_same = before.ends.iter().all(|end| link.ends.contains(end)) && before.ends.len() == link.ends.len();
            match is_same {
                // Reported once, at the first of its ends.
                true if Some(end) == link.ends.first() => {
                    add("link_repeated", format!("the link at {end} is listed again{at}"));
                }
                true => {}
                false => add("two_links", format!("{end} has two links{at}: a port has one")),
            }
        }
    }
}

/// Drivers that are none.
fn drivers(topology: &Topology, folder: &Path, found: &mut Vec<Contradiction>) {
    let mut known: BTreeMap<&str, Result<(), String>> = BTreeMap::new();
    for node in &topology.nodes {
        let Some(driver) = node.driver.as_deref() else { continue };
        let result = known
            .entry(driver)
            .or_insert_with(|| Driver::find(driver, folder).map(drop));
        if let Err(error) = result {
            let message = format!("the driver of {}: {error}", node.name);
            found.push(Contradiction::new(node.line, "unknown_driver", message));
        }
    }
}

/// Nodes without links, nodes that no host reaches, and links that connect no neighboring tiers.
fn reach(topology: &Topology, found: &mut Vec<Contradiction>) {
    let tiered = tiers::tiers(topology);
    let names = topology.tier_names();
    let name = |tier: usize| names.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
    let with_word = |tier: usize| match names.get(tier) {
        Some(name) => format!("tier {name}"),
        None => format!("tier {tier}"),
    };
    let place: BTreeMap<&str, usize> = topology
        .nodes
        .iter()
        .enumerate()
        .map(|(i, node)| (&*node.name, i))
        .collect();
    let mut neighbors: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); topology.nodes.len()];
    for link in &topology.links {
        let [a, b] = &link.ends[..] else { continue };
        let (Some(from), Some(to)) = (place.get(&*a.node).copied(), place.get(&*b.node).copied()) else {
            continue;
        };
        if from == to {
            if a == b {
                continue;
            }
            let message = format!("the link from {a} to {b} leads from a node to itself");
            found.push(Contradiction::new(link.line, "tiers_not_adjacent", message));
            continue;
        }
        neighbors[from].insert(to);
        neighbors[to].insert(from);
        if let (Some(low), Some(high)) = (tiered[from].tier, tiered[to].tier)
            && low.abs_diff(high) != 1
        {
            let (low, high) = (name(low), name(high));
            found.push(Contradiction::new(
                link.line,
                "tiers_not_adjacent",
                format!("the link from {a} ({low}) to {b} ({high}) does not connect neighboring tiers: state `tier` of the nodes"),
            ));
        }
    }
    let mut reached: Vec<bool> = tiered.iter().map(|node| node.tier == Some(0)).collect();
    let has_hosts = reached.contains(&true);
    let mut queue: Vec<usize> = (0..reached.len()).filter(|node| reached[*node]).collect();
    while let Some(node) = queue.pop() {
        for next in &neighbors[node] {
            if !std::mem::replace(&mut reached[*next], true) {
                queue.push(*next);
            }
        }
    }
    for (number, node) in topology.nodes.iter().enumerate() {
        let mut add = |kind, message| found.push(Contradiction::new(node.line, kind, message));
        if neighbors[number].is_empty() {
            add("no_links", format!("{} has no link to another node", node.name));
        } else if has_hosts && !reached[number] {
            add(
                "unreachable",
                format!("no host reaches {}: a link below it is missing", node.name),
            );
        }
        if tiered[number].origin == Origin::Unknown && node.tier.is_none() {
            add(
                "tier_unknown",
                format!(
                    "the tier of {} is unknown: state `tier`, or the hosts that its links lead to",
                    node.name
                ),
            );
        }
    }
    let mut by_tier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, node) in tiered.iter().enumerate() {
        if let Some(tier) = node.tier {
            by_tier.entry(tier).or_default().push(number);
        }
    }
    for (tier, members) in &by_tier {
        let Some(below) = tier.checked_sub(1) else { continue };
        // Only where there are hosts: a fabric may be described without them.
        if by_tier.contains_key(&0)
            && !members
                .iter()
                .any(|node| neighbors[*node].iter().any(|next| tiered[*next].tier == Some(below)))
        {
            let (this, below) = (with_word(*tier), with_word(below));
            found.push(Contradiction::new(
                None,
                "unreachable_tier",
                format!("{this} is unreachable: it has no link to {below}"),
            ));
        }
    }
}
