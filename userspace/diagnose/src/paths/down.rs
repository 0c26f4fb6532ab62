//! Links that flows crossed in one run and none crosses in the other.
//!
//! Switches hash flows over the links that are in their routes. A link without a flow is out of them, or chance left it
//! empty: of `n` flows over `m` links none takes it in `(1 - 1/m)^n` of the cases, and then flows beside it have moved too
//! (`stayed`). Of many links chance leaves some empty, so each is listed with how likely that is for all links together. A link that is down is empty in both
//! directions; one that only one end has taken out of its routes is so in one.

use super::compare::Run;
use super::load::{Imbalance, LinkLoad};
use super::stayed::Stayed;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::json;
use serde::Serialize;

/// A link between switches that flows crossed in one run only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmptyLink {
    /// `node:port` where the empty direction starts; one end of a link that is empty in both.
    pub from: String,
    /// `node:port` of the other end.
    pub to: String,
    /// Whether it is empty in both directions.
    pub both: bool,
    /// Flows in the run with some, in the empty directions.
    pub flows: u64,
    /// Flows in the run without: as many as the links beside it have in the mean.
    #[serde(serialize_with = "json::float")]
    pub expected: f64,
    /// How often chance leaves one of all the links so empty, and as many flows beside it where they were, in percent: at
    /// most.
    #[serde(serialize_with = "json::float")]
    pub chance_percent: f64,
}

/// How likely chance leaves a listed link empty, at most.
const MAX_CHANCE: f64 = 0.05;
/// Up to this percentage of runs in which chance leaves one of all links so empty, a link is out of the routes.
const OUT_PERCENT: f64 = 5.0;

impl EmptyLink {
    /// Whether chance is an unlikely reason.
    #[must_use]
    pub fn is_out(&self) -> bool {
        self.chance_percent <= OUT_PERCENT
    }
}

type End<'a> = (&'a str, &'a str);

/// What hashing puts on a link.
#[derive(Debug, Clone, Copy)]
struct Expected {
    /// Flows in the mean.
    mean: f64,
    /// The probability of none.
    chance: f64,
}

/// The links of `before` that are empty in `after`, the least likely first.
#[must_use]
pub fn emptied(before: Run<'_>, after: Run<'_>) -> Vec<EmptyLink> {
    let stayed = Stayed::new(before.paths, after.paths);
    let (before, after) = (before.imbalance, after.imbalance);
    let beside = Beside::new(after);
    let of_after: BTreeMap<(End<'_>, End<'_>), &LinkLoad> = directions(after).collect();
    // By direction: flows before, and those expected after, of directions that are empty after.
    let empty = directions(before).filter_map(|(way, there)| {
        let now = of_after.get(&way).filter(|now| now.flows == 0)?;
        let mut expected = beside.of(now);
        if beside.leads_up(now) {
            expected.chance *= stayed.chance(&now.from, &ports(after, now), &now.from_port);
        }
        Some((way, (there.flows, expected)))
    });
    let empty: BTreeMap<(End<'_>, End<'_>), (u64, Expected)> = empty.collect();
    // Every direction with flows could have become empty.
    let looked_at = directions(before).filter(|(_, there)| there.flows > 0).count();
    let mut found = Vec::new();
    for ((from, to), one) in &empty {
        let back = empty.get(&(*to, *from));
        // Each link once.
        if from > to && back.is_some() {
            continue;
        }
        // A direction that was empty before proves nothing.
        let changed = [Some(one), back].into_iter().flatten().filter(|(flows, _)| *flows > 0);
        let (flows, expected, chance) = changed.fold((0, 0.0, 1.0), |(flows, mean, chance), (more, expected)| {
            (flows + more, mean + expected.mean, chance * expected.chance)
        });
        #[expect(clippy::cast_precision_loss, reason = "links are far below 2^53")]
        let chance_percent = (chance * looked_at as f64 * 100.0).min(100.0);
        if flows > 0 && chance <= MAX_CHANCE {
            found.push(EmptyLink {
                from: format!("{}:{}", from.0, from.1),
                to: format!("{}:{}", to.0, to.1),
                both: back.is_some(),
                flows,
                expected,
                chance_percent,
            });
        }
    }
    found.sort_by(|a, b| b.expected.total_cmp(&a.expected));
    found
}

fn directions(imbalance: &Imbalance) -> impl Iterator<Item = ((End<'_>, End<'_>), &LinkLoad)> {
    imbalance.link_loads.iter().map(|link| {
        let ends = ((&*link.from, &*link.from_port), (&*link.to, &*link.to_port));
        (ends, link)
    })
}

/// The ports of the links beside a link, and its own: from its node to the same tier.
fn ports<'a>(imbalance: &'a Imbalance, link: &LinkLoad) -> BTreeSet<&'a str> {
    let links = imbalance.link_loads.iter();
    let beside = links.filter(|other| other.from == link.from && other.to_tier == link.to_tier);
    beside.map(|other| &*other.from_port).collect()
}

/// Flows and links beside a link: those among which flows are spread.
struct Beside<'a> {
    /// Upward from a node, by its name and the tier above.
    from_node: BTreeMap<(&'a str, &'a str), (u64, u32)>,
    /// Downward to a node, by the tier above and its name.
    to_node: BTreeMap<(&'a str, &'a str), (u64, u32)>,
    /// By the tiers of a layer between switches: whether it leads upward.
    is_up: BTreeMap<(&'a str, &'a str), bool>,
}

impl<'a> Beside<'a> {
    fn new(imbalance: &'a Imbalance) -> Self {
        let mut beside = Self {
            from_node: BTreeMap::new(),
            to_node: BTreeMap::new(),
            is_up: BTreeMap::new(),
        };
        for link in &imbalance.link_loads {
            let from_node = beside.from_node.entry((&*link.from, &*link.to_tier)).or_default();
            let to_node = beside.to_node.entry((&*link.from_tier, &*link.to)).or_default();
            for (flows, links) in [from_node, to_node] {
                *flows += link.flows;
                *links += 1;
            }
        }
        // Layers are in the order of tiers: those upward come first.
        for layer in imbalance.layers.iter().filter(|layer| !layer.at_hosts) {
            let is_first = !beside.is_up.contains_key(&(&*layer.to, &*layer.from));
            beside.is_up.insert((&*layer.from, &*layer.to), is_first);
        }
        beside
    }

    /// Whether a node below chooses this link.
    fn leads_up(&self, link: &LinkLoad) -> bool {
        self.is_up.get(&(&*link.from_tier, &*link.to_tier)) == Some(&true)
    }

    /// What is expected on a link of those flows that may take it.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 flows")]
    fn of(&self, link: &LinkLoad) -> Expected {
        let sums = match self.is_up.get(&(&*link.from_tier, &*link.to_tier)) {
            None => None,
            Some(true) => self.from_node.get(&(&*link.from, &*link.to_tier)),
            Some(false) => self.to_node.get(&(&*link.from_tier, &*link.to)),
        };
        let (flows, links) = sums.copied().unwrap_or_default();
        match links {
            // A link at a host, which has no choice.
            0 => Expected { mean: 0.0, chance: 1.0 },
            _ => {
                let (flows, share) = (flows as f64, 1.0 / f64::from(links));
                Expected {
                    mean: flows * share,
                    chance: libm::pow(1.0 - share, flows),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EmptyLink;
    use crate::paths::compare::Run;
    use crate::paths::{End, Fabric, Hop, Imbalance, Loads};
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Two leaves, two spines and two links between each; `flows` from leaf 0 to leaf 1 over the links in turn, except over
    /// link `down` of leaf 0.
    fn run(flows: usize, down: Option<usize>) -> Imbalance {
        let mut fabric = Fabric::new(["host", "leaf", "spine"].map(String::from).to_vec());
        let mut ups = Vec::new();
        for leaf in 0..2 {
            for port in 0..4 {
                let near = fabric.add_node(&format!("leaf{leaf}"), Some(1), &[]);
                let far = fabric.add_node(&format!("spine{}", port / 2), Some(2), &[]);
                let ends = [(near, format!("e{port}")), (far, format!("{leaf}-{port}"))];
                fabric.add_link(ends.map(|(node, port)| End { node, port }));
                ups.push(fabric.egress(near, &format!("e{port}")).unwrap());
            }
        }
        let mut loads = Loads::new(&fabric);
        let open: Vec<usize> = (0..4).filter(|port| Some(*port) != down).collect();
        for flow in 0..flows {
            let up = open[flow % open.len()];
            let down = up / 2 * 2 + flow / open.len() % 2;
            loads.add(&[ups[up], ups[4 + down].reversed()], None);
        }
        loads.imbalance(&fabric)
    }

    /// What the numbers of flows alone tell.
    fn emptied(before: &Imbalance, after: &Imbalance) -> Vec<EmptyLink> {
        let paths = BTreeMap::new();
        let run = |imbalance| Run {
            imbalance,
            paths: &paths,
        };
        super::emptied(run(before), run(after))
    }

    #[test]
    fn flows_that_stayed_beside_an_empty_link_show_that_it_is_out() {
        let (before, after) = (run(16, None), run(16, Some(3)));
        // Four flows of the link moved, and the other twelve did not.
        let path = |port: usize| vec![Hop("leaf0".into(), format!("e{port}"))];
        let paths = |is_after: bool| -> BTreeMap<String, Vec<Hop>> {
            let port = |flow: usize| match flow % 4 {
                3 if is_after => flow / 4 % 3,
                port => port,
            };
            (0..16).map(|flow| (format!("{flow}"), path(port(flow)))).collect()
        };
        let (paths_before, paths_after) = (paths(false), paths(true));
        let run = |imbalance, paths| Run { imbalance, paths };
        let down = super::emptied(run(&before, &paths_before), run(&after, &paths_after));
        assert_eq!((down.len(), down[0].is_out()), (1, true), "{down:?}");
        let chance_percent = 0.75_f64.powi(16) * 3.0_f64.powi(-12) * 8.0 * 100.0;
        assert!((down[0].chance_percent - chance_percent).abs() < 1e-9, "{down:?}");
    }

    #[test]
    fn a_link_that_chance_would_not_empty_is_reported() {
        let (before, after) = (run(40, None), run(40, Some(3)));
        let down = emptied(&before, &after);
        let names: Vec<_> = down.iter().map(|link| (&*link.from, &*link.to, link.flows)).collect();
        // It had no flows back in either run.
        assert_eq!((names, down[0].both), (vec![("leaf0:e3", "spine1:0-3", 10)], true));
        assert!((down[0].expected - 10.0).abs() < 1e-9, "{down:?}");
        // 40 flows over four links, and 8 directions with flows.
        let chance_percent = 0.75_f64.powi(40) * 8.0 * 100.0;
        assert!((down[0].chance_percent - chance_percent).abs() < 1e-9, "{down:?}");
        assert!(down[0].is_out());
        // Of 16 flows, chance leaves one of the eight directions empty in 8 of 100 runs.
        let down = emptied(&run(16, None), &run(16, Some(3)));
        assert_eq!((down.len(), down[0].is_out()), (1, false), "{down:?}");
        assert_eq!(emptied(&after, &before), []);
    }

    #[test]
    fn a_link_that_few_flows_leave_empty_by_chance_is_not() {
        assert_eq!(emptied(&run(8, None), &run(8, Some(3))), []);
        // No flows at all: the workload is another one.
        assert_eq!(emptied(&run(40, None), &run(0, None)), []);
    }
}
