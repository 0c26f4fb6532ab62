//! The nodes, links and tiers of the fabric, from the rows of loads.

use super::{Paths, UNKNOWN_TIER};
use rocescope_diagnose::paths::{End, Fabric};
use std::collections::{BTreeMap, BTreeSet};

impl Paths {
    /// The nodes and links, with tiers in their order.
    pub(super) fn fabric(&self) -> Fabric {
        let tiers = self.tiers();
        let number = |name: &str| tiers.iter().position(|tier| tier == name);
        let mut fabric = Fabric::new(tiers.clone());
        for (start @ (from, from_port), far) in &self.links {
            // Each direction has a row.
            let end = (far.node.clone(), far.port.clone());
            if end < *start && self.links.contains_key(&end) {
                continue;
            }
            let [near, other] = far.tiers.each_ref().map(|tier| number(tier));
            let ends = [(from, from_port, near), (&far.node, &far.port, other)];
            let ends = ends.map(|(name, port, tier)| End {
                node: fabric.add_node(name, tier, &[]),
                port: port.clone(),
            });
            fabric.add_link(ends);
        }
        fabric
    }

    /// The tier whose nodes have one link each: that of hosts, where no path shows it.
    fn tier_of_single_links(&self) -> Option<&str> {
        let mut nodes: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for ((from, _), far) in &self.links {
            nodes.entry(from).or_insert((&far.tiers[0], 0)).1 += 1;
        }
        let is_single = |tier: &str| nodes.values().all(|(of, links)| *of != tier || *links == 1);
        let mut tiers = nodes.values().map(|(tier, _)| *tier);
        tiers.find(|tier| *tier != UNKNOWN_TIER && is_single(tier))
    }

    /// Names of the tiers from the hosts up: hosts are where flows begin, and links lead from tier to tier.
    fn tiers(&self) -> Vec<String> {
        let mut next_to: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut of_node: BTreeMap<&str, &str> = BTreeMap::new();
        for ((from, _), far) in &self.links {
            let [near, other] = far.tiers.each_ref().map(String::as_str);
            of_node.insert(from, near);
            next_to.entry(near).or_default().insert(other);
            next_to.entry(other).or_default().insert(near);
        }
        next_to.remove(UNKNOWN_TIER);
        let firsts = self.paths.values().filter_map(|path| path.hops.get(&1));
        let firsts: BTreeSet<&str> = firsts.filter_map(|hop| of_node.get(&*hop.0).copied()).collect();
        // A path of a file may begin at a leaf.
        let named = next_to.keys().find(|name| **name == "host").copied();
        let start: Vec<&str> = match named {
            Some(name) => vec![name],
            None if self.time_ns.is_none() => vec![self.tier_of_single_links().unwrap_or("host")],
            None => firsts.into_iter().filter(|name| *name != UNKNOWN_TIER).collect(),
        };
        let mut order = start;
        let mut at = 0;
        loop {
            while let Some(name) = order.get(at) {
                let others = next_to.get(name).into_iter().flatten();
                let new: Vec<&str> = others.filter(|other| !order.contains(other)).copied().collect();
                order.extend(new.into_iter().filter(|name| *name != UNKNOWN_TIER));
                at += 1;
            }
            match next_to.keys().find(|name| !order.contains(name)) {
                Some(name) => order.push(name),
                None => return order.into_iter().map(String::from).collect(),
            }
        }
    }
}
