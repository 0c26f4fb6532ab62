//! The tier of every node.
//!
//! A file may state it. Otherwise hosts are at tier 0, known by their kind or name, and a switch is at its distance
//! from the nearest host. Without hosts the names of the nodes decide.

use super::{Node, NodeKind, Topology};
use std::collections::{BTreeMap, VecDeque};

/// The tier of a node, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiered {
    /// The tier, from the hosts up; `None` if it is unknown.
    pub tier: Option<usize>,
    /// Where it is from.
    pub origin: Origin,
}

/// Where the tier of a node is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The file states it.
    Stated,
    /// The name of the node, or of its group.
    Name,
    /// Its links: the distance from the nearest host, or a single link for a host.
    Links,
    /// It is unknown.
    Unknown,
}

impl Origin {
    /// The word for output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Name => "name",
            Self::Links => "links",
            Self::Unknown => "unknown",
        }
    }
}

/// The tiers of all nodes, in their order.
#[must_use]
pub fn tiers(topology: &Topology) -> Vec<Tiered> {
    let names = topology.tier_names();
    let numbers: BTreeMap<&str, usize> = (0..).zip(&topology.nodes).map(|(i, node)| (&*node.name, i)).collect();
    let mut neighbors = vec![Vec::new(); topology.nodes.len()];
    for link in &topology.links {
        if let [a, b] = &link.ends[..]
            && let (Some(a), Some(b)) = (numbers.get(&*a.node), numbers.get(&*b.node))
        {
            neighbors[*a].push(*b);
            neighbors[*b].push(*a);
        }
    }
    let mut tiered: Vec<Tiered> = topology.nodes.iter().map(|node| stated(node, &names)).collect();
    let any_known = tiered.iter().any(|node| node.tier.is_some());
    let is_named = |node: &Node| by_name(&node.name).is_some();
    if !any_known && !topology.nodes.iter().any(is_named) {
        for ((found, node), neighbors) in tiered.iter_mut().zip(&topology.nodes).zip(&neighbors) {
            if neighbors.len() == 1 && node.kind != Some(NodeKind::Switch) {
                *found = Tiered {
                    tier: Some(0),
                    origin: Origin::Links,
                };
            }
        }
    }
    let mut queue: VecDeque<(usize, usize)> = VecDeque::new();
    let mut distance = vec![None; tiered.len()];
    for (number, node) in tiered.iter().enumerate() {
        if node.tier == Some(0) {
            distance[number] = Some(0);
            queue.push_back((number, 0));
        }
    }
    while let Some((number, far)) = queue.pop_front() {
        for next in &neighbors[number] {
            if distance[*next].is_none() {
                distance[*next] = Some(far + 1);
                queue.push_back((*next, far + 1));
            }
        }
    }
    for ((found, node), far) in tiered.iter_mut().zip(&topology.nodes).zip(distance) {
        if found.tier.is_some() {
            continue;
        }
        let named = by_name(&node.name);
        (found.tier, found.origin) = match (far, named) {
            (Some(far), _) => (Some(far), Origin::Links),
            (None, Some(tier)) => (Some(tier), Origin::Name),
            (None, None) => (None, Origin::Unknown),
        };
    }
    tiered
}

/// What the file states, or the name of a host.
fn stated(node: &Node, names: &[String]) -> Tiered {
    let known = |tier, origin| Tiered {
        tier: Some(tier),
        origin,
    };
    if let Some(tier) = &node.tier {
        let tier = number(tier, names);
        return tier.map_or(UNKNOWN, |tier| known(tier, Origin::Stated));
    }
    match node.kind {
        Some(NodeKind::Host) => known(0, Origin::Stated),
        None if by_name(&node.name) == Some(0) => known(0, Origin::Name),
        _ => UNKNOWN,
    }
}

const UNKNOWN: Tiered = Tiered {
    tier: None,
    origin: Origin::Unknown,
};

/// The number of a tier that a file gives by name or number.
pub(super) fn number(tier: &str, names: &[String]) -> Option<usize> {
    let by_name = names.iter().position(|name| name == tier);
    by_name.or_else(|| tier.parse().ok())
}

/// The tier that a name suggests: `leaf1`, `spine-2`, `host03`, `h0`.
pub(super) fn by_name(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphabetic()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    if has(&["superspine", "sspine", "core"]) || has(&["super"]) && has(&["spine"]) {
        return Some(3);
    }
    if has(&["spine", "agg", "aggregation"]) {
        return Some(2);
    }
    if has(&["leaf", "tor"]) {
        return Some(1);
    }
    has(&["host", "server", "srv", "gpu", "client", "compute", "dgx", "hgx", "h"]).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn names_suggest_tiers() {
        let names = [
            ("leaf01", 1),
            ("dc1-spine-2", 2),
            ("superspine1", 3),
            ("super-spine1", 3),
            ("h0", 0),
            ("gpu7", 0),
        ];
        for (name, tier) in names {
            assert_eq!(by_name(name), Some(tier), "{name}");
        }
        assert_eq!(by_name("r0"), None);
    }
}
