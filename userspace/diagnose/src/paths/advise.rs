//! Which source ports would make the layers even.
//!
//! Each flow has candidates: a source port, and the links that it would cross. The search starts from the ports that the
//! flows have, and moves one flow after the other to the candidate that lowers the sum of |flows - ideal| / ideal over
//! all links the most, until no move lowers it. The sum of a layer's flows does not change, so neither do its ideals.

use super::fabric::{Direction, Fabric};
use super::imbalance::Loads;
use super::load::Imbalance;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A source port that a flow could have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The port.
    pub port: u16,
    /// The links that the flow would cross.
    pub ways: Vec<Direction>,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// By flow: the index of its candidate.
    pub chosen: Vec<usize>,
    /// With the first candidate of each flow.
    pub before: Imbalance,
    /// With the chosen ones.
    pub after: Imbalance,
}

/// Passes over all flows, at most.
const MAX_PASSES: usize = 100;

/// Chooses a candidate for each flow; the first of each is the port it has. A flow without candidates counts nowhere.
#[must_use]
pub fn advise(fabric: &Fabric, flows: &[Vec<Candidate>]) -> Advice {
    let mut chosen = vec![0; flows.len()];
    let before = loads(fabric, flows, &chosen);
    let imbalance = before.imbalance(fabric);
    let mut search = Search {
        counts: fabric.directions().map(|way| f64_of(before.on(way))).collect(),
        ideals: ideals(fabric, &before),
    };
    for _ in 0..MAX_PASSES {
        let mut has_moved = false;
        for (flow, place) in flows.iter().zip(&mut chosen) {
            let Some(current) = flow.get(*place) else { continue };
            search.add(&current.ways, -1.0);
            let costs = flow.iter().map(|candidate| search.cost(&candidate.ways));
            let best = costs.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((best, cost)) = best
                && cost < search.cost(&current.ways) - 1e-9
            {
                *place = best;
                has_moved = true;
            }
            search.add(&flow[*place].ways, 1.0);
        }
        if !has_moved {
            break;
        }
    }
    let after = loads(fabric, flows, &chosen).imbalance(fabric);
    Advice {
        chosen,
        before: imbalance,
        after,
    }
}

fn loads(fabric: &Fabric, flows: &[Vec<Candidate>], chosen: &[usize]) -> Loads {
    let mut loads = Loads::new(fabric);
    for (flow, place) in flows.iter().zip(chosen) {
        if let Some(candidate) = flow.get(*place) {
            loads.add(&candidate.ways, None);
        }
    }
    loads
}

/// The ideal of each direction: the mean of its layer.
fn ideals(fabric: &Fabric, loads: &Loads) -> Vec<f64> {
    let mut layers: HashMap<_, (f64, f64)> = HashMap::new();
    for way in fabric.directions() {
        let (flows, links) = layers.entry(fabric.layer(way)).or_default();
        *flows += f64_of(loads.on(way));
        *links += 1.0;
    }
    let ideal = |way| {
        layers
            .get(&fabric.layer(way))
            .map_or(0.0, |(flows, links)| flows / links)
    };
    fabric.directions().map(ideal).collect()
}

struct Search {
    counts: Vec<f64>,
    ideals: Vec<f64>,
}

impl Search {
    fn add(&mut self, ways: &[Direction], change: f64) {
        for way in ways {
            if let Some(count) = self.counts.get_mut(way.index()) {
                *count += change;
            }
        }
    }

    /// How much a flow on these links would add to the sum. The squares decide between links that are all below or all
    /// above their ideal, and lead the search out of flat places.
    fn cost(&self, ways: &[Direction]) -> f64 {
        let costs = ways.iter().map(|way| {
            let (count, ideal) = (self.counts[way.index()], self.ideals[way.index()]);
            if ideal <= 0.0 {
                return 0.0;
            }
            let before = (count - ideal) / ideal;
            let after = (count + 1.0 - ideal) / ideal;
            after.abs() - before.abs() + 0.01 * (after * after - before * before)
        });
        costs.sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 flows")]
const fn f64_of(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Candidate, advise};
    use crate::paths::{End, Fabric};
    use alloc::format;
    use alloc::vec::Vec;

    /// The paper's fabric: 4 leaves with 16 uplinks each to 4 spines; static routes reached 6.2 %.
    #[test]
    fn sixteen_candidates_for_each_of_256_flows_are_enough_for_7_percent() {
        let mut fabric = Fabric::new(["host", "leaf", "spine"].map(alloc::string::String::from).to_vec());
        let leaves: Vec<usize> = (0..4)
            .map(|i| fabric.add_node(&format!("leaf{i}"), Some(1), &[]))
            .collect();
        let spines: Vec<usize> = (0..4)
            .map(|i| fabric.add_node(&format!("spine{i}"), Some(2), &[]))
            .collect();
        for (leaf, node) in leaves.iter().enumerate() {
            for port in 0..16 {
                let end = |node, port| End { node, port };
                let far = end(spines[port % 4], format!("{leaf}-{port}"));
                fabric.add_link([end(*node, format!("{port}")), far]);
            }
        }
        let hash = |words: [u64; 3]| {
            let mut mixed = words[0] << 40 ^ words[1] << 20 ^ words[2];
            for _ in 0..3 {
                mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            }
            usize::try_from(mixed >> 40).unwrap()
        };
        let mut flows = Vec::new();
        for flow in 0..256_u64 {
            let (from, to) = (
                usize::try_from(flow % 4).unwrap(),
                usize::try_from((flow + 2) % 4).unwrap(),
            );
            let candidates = (0..16_u16).map(|port| {
                // The leaf chooses one of 16 links, the spine one of its four links to the other leaf.
                let up = hash([flow, port.into(), 1]) % 16;
                let down = up % 4 + 4 * (hash([flow, port.into(), 2]) % 4);
                let up = fabric.egress(leaves[from], &format!("{up}")).unwrap();
                let down = fabric.egress(leaves[to], &format!("{down}")).unwrap().reversed();
                let ways = [up, down].to_vec();
                Candidate { port, ways }
            });
            flows.push(candidates.collect::<Vec<Candidate>>());
        }
        let advice = advise(&fabric, &flows);
        let (before, after) = (advice.before.fim_percent.unwrap(), advice.after.fim_percent.unwrap());
        assert!(before > 30.0 && after < 7.0, "{before} {after}");
        assert_eq!(advice.before.flows, 256);
    }
}
