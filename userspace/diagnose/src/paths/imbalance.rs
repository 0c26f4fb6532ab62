//! Flows per link, and the Flow Imbalance Metric.
//!
//! FIM is the mean over links of |actual - ideal| / ideal (`FlowTracer`, equation 1). A layer is one direction between two
//! tiers; its ideal is the number of flows that cross it divided by the number of its links, used or not. A layer
//! without flows has no ideal and no FIM; neither has one whose tiers are unknown. The FIM of the fabric is the mean
//! over the links of all layers between switches that have one: the loads of links at and within hosts follow from which
//! hosts send, not from the choice of paths. Links within a tier are two layers, one for each direction.
//!
//! Flows are whole, so that FIM cannot be 0 unless their number is a multiple of that of the links. Of F flows on L links,
//! with r = F mod L, the most even loads are F div L + 1 on r links and F div L on the others: a FIM of
//! 2 r (L - r) / (L F).

use super::fabric::{Direction, Fabric, Layer, Within};
use super::load::{Imbalance, LayerLoad, LinkLoad};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The flows on each direction of each link.
#[derive(Debug, Clone)]
pub struct Loads {
    total: u64,
    rated: u64,
    flows: Vec<u64>,
    bps: Vec<f64>,
}

impl Loads {
    /// No flows yet.
    #[must_use]
    pub fn new(fabric: &Fabric) -> Self {
        Self {
            total: 0,
            rated: 0,
            flows: vec![0; fabric.links() * 2],
            bps: vec![0.0; fabric.links() * 2],
        }
    }

    /// The loads of links whose flows are not known one by one: each direction with its flows, and their rate in bit/s if it
    /// is known. The number of flows is that of the layer with the most, which is that at hosts where every path starts.
    #[must_use]
    pub fn of_links(fabric: &Fabric, links: &[(Direction, u64, Option<f64>)]) -> Self {
        let mut loads = Self::new(fabric);
        let mut layers: BTreeMap<Layer, u64> = BTreeMap::new();
        for (way, flows, bps) in links {
            if let (Some(count), Some(sum)) = (loads.flows.get_mut(way.index()), loads.bps.get_mut(way.index())) {
                *count = *flows;
                *sum = bps.unwrap_or(0.0);
                *layers.entry(fabric.layer(*way)).or_default() += flows;
            }
        }
        loads.total = layers.into_values().max().unwrap_or(0);
        let is_rated = links.iter().all(|(.., bps)| bps.is_some());
        loads.rated = if is_rated { loads.total } else { 0 };
        loads
    }

    /// Adds a flow that crosses these links, with its rate in bit/s if it is known.
    pub fn add(&mut self, ways: &[Direction], bps: Option<f64>) {
        self.total += 1;
        self.rated += u64::from(bps.is_some());
        for way in ways {
            let index = way.index();
            if let (Some(flows), Some(sum)) = (self.flows.get_mut(index), self.bps.get_mut(index)) {
                *flows += 1;
                *sum += bps.unwrap_or(0.0);
            }
        }
    }

    /// Removes a flow that [`add`](Self::add) added without a rate.
    pub fn remove(&mut self, ways: &[Direction]) {
        self.total = self.total.saturating_sub(1);
        for way in ways {
            if let Some(flows) = self.flows.get_mut(way.index()) {
                *flows = flows.saturating_sub(1);
            }
        }
    }

    /// The number of flows on a direction.
    #[must_use]
    pub fn on(&self, way: Direction) -> u64 {
        self.flows.get(way.index()).copied().unwrap_or(0)
    }

    /// The number of flows that were added.
    #[must_use]
    pub const fn flows(&self) -> u64 {
        self.total
    }

    /// Computes the metric.
    #[must_use]
    pub fn imbalance(&self, fabric: &Fabric) -> Imbalance {
        let has_rates = self.total > 0 && self.rated == self.total;
        let mut layers: BTreeMap<_, Vec<Direction>> = BTreeMap::new();
        for way in fabric.directions() {
            layers.entry(order(fabric.layer(way))).or_default().push(way);
        }
        let mut found = Imbalance {
            flows: self.total,
            ..Imbalance::default()
        };
        let (mut all, mut all_bytes, mut all_min) = (Mean::default(), Mean::default(), Mean::default());
        for ways in layers.values() {
            let Some(first) = ways.first() else { continue };
            let Layer { from, to, within } = fabric.layer(*first);
            let is_known = from.is_some() && to.is_some();
            let at_hosts = [from, to].contains(&Some(0));
            let counts: Vec<f64> = ways.iter().map(|way| as_float(self.on(*way))).collect();
            let rates: Vec<f64> = ways.iter().map(|way| self.bps[way.index()]).collect();
            let flows: u64 = ways.iter().map(|way| self.on(*way)).sum();
            let ideal = Some(mean(&counts)).filter(|ideal| is_known && *ideal > 0.0);
            let ideal_bps = Some(mean(&rates)).filter(|ideal| is_known && has_rates && *ideal > 0.0);
            let of_layer = all.layer(&counts, ideal, at_hosts);
            let of_bytes = all_bytes.layer(&rates, ideal_bps, at_hosts);
            let min_fim = all_min.layer(&most_even(flows, ways.len()), ideal, at_hosts);
            found.layers.push(LayerLoad {
                from: fabric.tier_name(from),
                to: fabric.tier_name(to),
                within,
                at_hosts,
                links: ways.len(),
                flows,
                ideal,
                fim_percent: of_layer,
                min_fim_percent: min_fim,
                bytes_fim_percent: of_bytes,
                unused_links: ways.iter().filter(|way| self.on(**way) == 0).count(),
                min_flows: ways.iter().map(|way| self.on(*way)).min().unwrap_or(0),
                max_flows: ways.iter().map(|way| self.on(*way)).max().unwrap_or(0),
            });
            for way in ways {
                let (start, end) = (fabric.from(*way), fabric.to(*way));
                let flows = self.on(*way);
                found.link_loads.push(LinkLoad {
                    from: fabric.name(start.node).to_owned(),
                    from_port: start.port.clone(),
                    to: fabric.name(end.node).to_owned(),
                    to_port: end.port.clone(),
                    from_tier: fabric.tier_name(from),
                    to_tier: fabric.tier_name(to),
                    within,
                    flows,
                    ideal,
                    deviation_percent: ideal.map(|ideal| (as_float(flows) - ideal) / ideal * 100.0),
                    bps: has_rates.then(|| self.bps[way.index()]),
                });
            }
        }
        found.fim_percent = all.percent();
        found.min_fim_percent = all_min.percent();
        found.bytes_fim_percent = all_bytes.percent();
        found
    }
}

/// The most even loads of links: flows are whole.
fn most_even(flows: u64, links: usize) -> Vec<f64> {
    let count = links.max(1) as u64;
    let (each, more) = (flows / count, flows % count);
    (0..count).map(|link| as_float(each + u64::from(link < more))).collect()
}

/// From the hosts up, then down.
fn order(Layer { from, to, within }: Layer) -> (bool, usize, usize, Option<Within>) {
    let (from, to) = (from.unwrap_or(usize::MAX), to.unwrap_or(usize::MAX));
    match from <= to {
        true => (false, from, to, within),
        false => (true, usize::MAX - from, usize::MAX - to, within),
    }
}

/// The mean deviation over the links of layers.
#[derive(Debug, Default)]
struct Mean {
    deviations: f64,
    links: usize,
}

impl Mean {
    /// Adds a layer unless it is at hosts, and returns its own value.
    fn layer(&mut self, loads: &[f64], ideal: Option<f64>, at_hosts: bool) -> Option<f64> {
        let ideal = ideal?;
        let deviations: f64 = loads.iter().map(|load| ((load - ideal) / ideal).abs()).sum();
        if !at_hosts {
            self.deviations += deviations;
            self.links += loads.len();
        }
        Some(deviations / size(loads.len()) * 100.0)
    }

    fn percent(&self) -> Option<f64> {
        (self.links > 0).then(|| self.deviations / size(self.links) * 100.0)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / size(values.len().max(1))
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 links and flows")]
const fn size(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 links and flows")]
const fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::Loads;
    use crate::paths::{Direction, End, Fabric, Imbalance};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;
    use rocescope_sketches::random::SplitMix64;

    /// `leaves` leaves with `links` links to each of `spines` spines, and their directions up.
    fn fabric(leaves: usize, spines: usize, links: usize) -> (Fabric, Vec<Direction>) {
        let mut fabric = Fabric::new(["host", "leaf", "spine"].map(String::from).to_vec());
        let nodes = |fabric: &mut Fabric, name: &str, count: usize, tier| {
            let each = (0..count).map(|i| fabric.add_node(&format!("{name}{i}"), Some(tier), &[]));
            each.collect::<Vec<usize>>()
        };
        let leaves = nodes(&mut fabric, "leaf", leaves, 1);
        let spines = nodes(&mut fabric, "spine", spines, 2);
        let mut up = Vec::new();
        for leaf in &leaves {
            for spine in &spines {
                for link in 0..links {
                    let port = format!("e{}", fabric.links());
                    let ends = [*leaf, *spine].map(|node| End {
                        node,
                        port: port.clone(),
                    });
                    fabric.add_link(ends);
                    up.push(fabric.egress(*leaf, &port).unwrap());
                    assert!(link < links);
                }
            }
        }
        (fabric, up)
    }

    fn fim(imbalance: &Imbalance) -> f64 {
        imbalance.fim_percent.unwrap()
    }

    #[test]
    fn equal_loads_have_no_imbalance() {
        let (fabric, up) = fabric(4, 4, 4);
        let mut loads = Loads::new(&fabric);
        assert_eq!(loads.imbalance(&fabric).fim_percent, None);
        for _ in 0..4 {
            up.iter().for_each(|way| loads.add(&[*way], None));
        }
        let found = loads.imbalance(&fabric);
        assert_eq!((fim(&found), found.flows), (0.0, 256));
        let [upward, downward] = &found.layers[..] else {
            panic!("{found:?}")
        };
        assert_eq!((upward.links, upward.flows, upward.ideal), (64, 256, Some(4.0)));
        assert_eq!(
            (&*downward.from, downward.fim_percent, downward.ideal),
            ("spine", None, None)
        );
    }

    #[test]
    fn five_and_three_alternating_are_25_percent() {
        let (fabric, up) = fabric(4, 4, 4);
        let mut loads = Loads::new(&fabric);
        for (way, count) in up.iter().zip([5, 3].into_iter().cycle()) {
            (0..count).for_each(|_| loads.add(&[*way], Some(1e9)));
        }
        let found = loads.imbalance(&fabric);
        assert_eq!((fim(&found), found.bytes_fim_percent), (25.0, Some(25.0)));
        assert_eq!(found.link_loads[0].deviation_percent, Some(25.0));
        // Unused links count: the same flows on half of the links.
        let mut loads = Loads::new(&fabric);
        up.iter().step_by(2).for_each(|way| loads.add(&[*way], None));
        assert_eq!(fim(&loads.imbalance(&fabric)), 100.0);
    }

    /// 5 flows on 4 links: 2, 1, 1 and 1 are |2 - 1.25| + 3 × |1 - 1.25| = 1.5 flows from the ideal.
    #[test]
    fn whole_flows_have_a_least_imbalance() {
        let (fabric, up) = fabric(1, 2, 2);
        let found = |counts: [usize; 4]| {
            let mut loads = Loads::new(&fabric);
            for (way, count) in up.iter().zip(counts) {
                (0..count).for_each(|_| loads.add(&[*way], None));
            }
            loads.imbalance(&fabric)
        };
        for (counts, fim, min) in [
            ([2, 1, 1, 1], 30.0, 30.0),
            ([5, 0, 0, 0], 150.0, 30.0),
            ([1, 0, 0, 0], 150.0, 150.0),
            ([5, 3, 5, 3], 25.0, 0.0),
            ([3, 3, 3, 2], 100.0 * 1.5 / 11.0, 100.0 * 1.5 / 11.0),
        ] {
            let imbalance = found(counts);
            let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
            assert!(close(imbalance.fim_percent, fim), "{counts:?}: {imbalance:?}");
            assert!(close(imbalance.min_fim_percent, min), "{counts:?}: {imbalance:?}");
            assert!(close(imbalance.layers[0].min_fim_percent, min), "{counts:?}");
            assert_eq!(imbalance.layers[1].min_fim_percent, None);
        }
        assert_eq!(found([0; 4]).min_fim_percent, None);
    }

    #[test]
    fn rates_weigh_flows_and_all_must_be_known() {
        let (fabric, up) = fabric(1, 2, 1);
        let mut loads = Loads::new(&fabric);
        loads.add(&up[..1], Some(3e9));
        loads.add(&up[1..], Some(1e9));
        let found = loads.imbalance(&fabric);
        assert_eq!((fim(&found), found.bytes_fim_percent), (0.0, Some(50.0)));
        loads.add(&up[1..], None);
        assert_eq!(loads.imbalance(&fabric).bytes_fim_percent, None);
    }

    #[test]
    fn layers_of_unknown_tiers_have_no_ideal() {
        let mut fabric = Fabric::new(vec!["host".into()]);
        let nodes = ["a", "b"].map(|name| fabric.add_node(name, None, &[]));
        fabric.add_link(nodes.map(|node| End { node, port: "1".into() }));
        let mut loads = Loads::new(&fabric);
        loads.add(&[fabric.egress(nodes[0], "1").unwrap()], None);
        let found = loads.imbalance(&fabric);
        assert_eq!((found.fim_percent, &*found.layers[0].from), (None, "unknown"));
        assert_eq!(found.layers[0].flows, 1);
    }

    /// Four flows from one of two hosts to the other, spread badly by the leaf: host links are as uneven as the workload,
    /// which no choice of paths changes.
    #[test]
    fn links_at_hosts_have_a_fim_of_their_own() {
        let (mut fabric, up) = fabric(1, 2, 1);
        let hosts = ["h1", "h2"].map(|name| fabric.add_node(name, Some(0), &[]));
        let leaf = fabric.find("leaf0").unwrap();
        for (number, host) in (0..).zip(hosts) {
            let end = |node, port: String| End { node, port };
            fabric.add_link([end(host, "eth0".into()), end(leaf, format!("host{number}"))]);
        }
        let mut loads = Loads::new(&fabric);
        let sent = fabric.egress(hosts[0], "eth0").unwrap();
        for way in [up[0], up[0], up[0], up[1]] {
            loads.add(&[sent, way], Some(1e9));
        }
        let found = loads.imbalance(&fabric);
        assert_eq!((found.fim_percent, found.bytes_fim_percent), (Some(50.0), Some(50.0)));
        let layers: Vec<_> = found
            .layers
            .iter()
            .map(|layer| (layer.name(), layer.at_hosts, layer.fim_percent))
            .collect();
        let expected = [
            ("host → leaf", true, Some(100.0)),
            ("leaf → spine", false, Some(50.0)),
            ("spine → leaf", false, None),
            ("leaf → host", true, None),
        ];
        assert_eq!(layers, expected.map(|(name, at, fim)| (name.into(), at, fim)));
    }

    /// Two leaves with two links: all flows go one way, evenly.
    #[test]
    fn each_direction_of_links_within_a_tier_is_a_layer() {
        let mut fabric = Fabric::new(["host", "leaf"].map(String::from).to_vec());
        let [b, a] = ["leaf2", "leaf1"].map(|name| fabric.add_node(name, Some(1), &[]));
        let end = |node, port: &str| End {
            node,
            port: port.into(),
        };
        // The ends of links have any order.
        fabric.add_link([end(a, "e1"), end(b, "e1")]);
        fabric.add_link([end(b, "e2"), end(a, "e2")]);
        let mut loads = Loads::new(&fabric);
        for port in ["e1", "e2"] {
            loads.add(&[fabric.egress(a, port).unwrap()], None);
        }
        let found = loads.imbalance(&fabric);
        assert_eq!(fim(&found), 0.0);
        let layers: Vec<_> = found
            .layers
            .iter()
            .map(|layer| (layer.name(), layer.links, layer.flows))
            .collect();
        let expected = [("leaf → leaf (forth)", 2, 2), ("leaf → leaf (back)", 2, 0)];
        assert_eq!(layers, expected.map(|(name, links, flows)| (name.into(), links, flows)));
        loads.add(&[fabric.egress(b, "e2").unwrap()], None);
        let back = &loads.imbalance(&fabric).layers[1];
        assert_eq!((back.ideal, back.fim_percent), (Some(0.5), Some(100.0)));
    }

    /// The paper's testbed: ECMP reached 36.5 %.
    #[test]
    fn hashing_256_flows_over_4_leaves_of_16_uplinks_is_37_6_percent_in_the_mean() {
        let (fabric, up) = fabric(4, 4, 4);
        let mut random = SplitMix64::new(1);
        let mut next = || usize::try_from(random.bits() >> 33).unwrap();
        let runs = 2_000;
        let mut sum = 0.0;
        for _ in 0..runs {
            let mut loads = Loads::new(&fabric);
            for flow in 0..256 {
                // 64 flows of every leaf choose among its 16 uplinks.
                let leaf = flow % 4;
                loads.add(&[up[leaf * 16 + next() % 16]], None);
            }
            sum += fim(&loads.imbalance(&fabric));
        }
        let mean = sum / f64::from(runs);
        assert!((37.4..37.9).contains(&mean), "{mean}");
    }
}
