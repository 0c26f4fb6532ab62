//! Paths of flows over the links of a fabric: those of the last run. Without a run, the last loads of links.

mod fabric;

use crate::series::{Join, Series};
use rocescope_diagnose::paths::{Direction, Fabric, Hop, Imbalance, Loads, Walk};
use rocescope_model::{FlowPathRow, FlowRow, LinkLoadRow};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Flows of a run that are kept; further ones are only counted.
const MAX_FLOWS: usize = 65_536;
/// Hops of a path that are kept: `paths discover` ends after 16 nodes.
const MAX_HOPS: u16 = 64;
/// Directions of links that are kept.
const MAX_LINKS: usize = 131_072;
/// Name of the tier of nodes whose tier is unknown.
const UNKNOWN_TIER: &str = "unknown";

/// The paths of a run.
#[derive(Debug)]
pub struct PathFigures {
    /// Start of the run, or without one of the window of the loads, in nanoseconds since 1970.
    pub time_ns: i64,
    /// Flows by outcome; empty without a run.
    pub outcomes: BTreeMap<String, u64>,
    /// Nodes and links of the table `link_loads`; without links if the dataset has none.
    pub fabric: Fabric,
    /// Flows whose path is complete.
    pub flows: Vec<PathFlow>,
    /// Loads of the links, and the Flow Imbalance Metric.
    pub imbalance: Imbalance,
    /// Hops that contradict the links, by reason.
    pub problems: BTreeMap<&'static str, u64>,
    /// Imbalance of windows over time, if `paths fim --windows` stored it.
    pub over_time: Option<Series<Unevenness>>,
    /// Flows beyond the largest number that is kept.
    pub unfollowed: u64,
}

/// A flow and its links.
#[derive(Debug)]
pub struct PathFlow {
    /// Addresses and ports.
    pub name: String,
    /// The links in order.
    pub ways: Vec<Direction>,
    /// Mean rate over the time of the captured flows, in bit/s; otherwise the rate that the run knew, if any.
    pub bps: Option<f64>,
}

/// Deviations of links from their ideal, of one or several windows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unevenness {
    deviations: f64,
    links: f64,
}

impl Unevenness {
    /// The mean deviation, as a ratio.
    #[must_use]
    pub fn fim(&self) -> f64 {
        self.deviations / self.links.max(1.0)
    }
}

impl Join for Unevenness {
    fn join(&mut self, other: Self) {
        self.deviations += other.deviations;
        self.links += other.links;
    }
}

/// Addresses, protocol and ports.
type Key = (IpAddr, IpAddr, u8, u16, u16, Option<u32>);
/// A flow as a capture sees it.
type CapturedKey = (IpAddr, IpAddr, u16);

#[derive(Debug)]
struct Path {
    outcome: String,
    hops: BTreeMap<u16, Hop>,
    /// The rate that the run knew.
    bps: Option<f64>,
}

/// Where a direction of a link ends, and the tiers of both ends.
#[derive(Debug)]
struct Far {
    node: String,
    port: String,
    tiers: [String; 2],
    flows: u64,
    bps: Option<f64>,
}

/// The rows collected so far.
#[derive(Debug, Default)]
pub(super) struct Paths {
    time_ns: Option<i64>,
    paths: BTreeMap<Key, Path>,
    unfollowed: u64,
    links_ns: Option<i64>,
    links: BTreeMap<(String, String), Far>,
    /// Deviations by the tiers of both ends.
    over_time: BTreeMap<[String; 2], Series<Unevenness>>,
    bytes: BTreeMap<CapturedKey, u64>,
    captured: Option<(i64, i64)>,
}

impl Paths {
    /// Adds a hop; those of an earlier run are dropped.
    pub(super) fn hop(&mut self, row: &FlowPathRow) {
        if self.time_ns.is_some_and(|time_ns| row.time_ns < time_ns) {
            return;
        }
        if self.time_ns != Some(row.time_ns) {
            self.time_ns = Some(row.time_ns);
            self.paths.clear();
            self.unfollowed = 0;
        }
        let key = (row.src, row.dst, row.protocol, row.src_port, row.dst_port, row.dst_qpn);
        let is_first = row.hop <= 1;
        if self.paths.len() >= MAX_FLOWS && !self.paths.contains_key(&key) {
            self.unfollowed += u64::from(is_first);
            return;
        }
        let path = self.paths.entry(key).or_insert_with(|| Path {
            outcome: row.outcome.to_string(),
            hops: BTreeMap::new(),
            bps: row.flow_bps,
        });
        if let Some(egress) = row.egress.as_ref().filter(|_| (1..=MAX_HOPS).contains(&row.hop)) {
            path.hops.insert(row.hop, Hop(row.node.to_string(), egress.to_string()));
        }
    }

    /// Adds a link; those of an earlier window or run only count over time.
    pub(super) fn link(&mut self, row: &LinkLoadRow) {
        if let Some(deviation) = row.deviation_ratio.filter(|_| row.window_ns > 0) {
            let layer = [&row.from_tier, &row.to_tier].map(ToString::to_string);
            let series = self
                .over_time
                .entry(layer)
                .or_insert_with(|| Series::new(row.window_ns));
            let deviations = deviation.abs();
            series.add(row.window_start_ns, Unevenness { deviations, links: 1.0 });
        }
        if self.links_ns.is_some_and(|time_ns| row.window_start_ns < time_ns) {
            return;
        }
        if self.links_ns != Some(row.window_start_ns) {
            self.links_ns = Some(row.window_start_ns);
            self.links.clear();
        }
        let key = (row.from.to_string(), row.from_port.to_string());
        if self.links.len() < MAX_LINKS || self.links.contains_key(&key) {
            let far = Far {
                node: row.to.to_string(),
                port: row.to_port.to_string(),
                tiers: [row.from_tier.to_string(), row.to_tier.to_string()],
                flows: row.flows,
                bps: row.flow_bps,
            };
            self.links.insert(key, far);
        }
    }

    /// Adds the captured flows of a window, after all hops. Of observers that saw the same flow, the one that saw most
    /// of it counts.
    pub(super) fn window(&mut self, rows: &[FlowRow]) {
        if self.paths.is_empty() {
            return;
        }
        let mut of_window: BTreeMap<CapturedKey, BTreeMap<&str, u64>> = BTreeMap::new();
        for row in rows {
            let end_ns = row.window_start_ns.saturating_add(row.window_ns);
            let (first, last) = self.captured.get_or_insert((row.window_start_ns, end_ns));
            (*first, *last) = ((*first).min(row.window_start_ns), (*last).max(end_ns));
            if let Some(port) = row.udp_src_port {
                let seen = of_window.entry((row.src, row.dst, port)).or_default();
                *seen.entry(&row.observer).or_default() += row.frame_bytes;
            }
        }
        for (key, seen) in of_window {
            let is_known = self.bytes.contains_key(&key) || self.bytes.len() < MAX_FLOWS;
            if let Some(most) = seen.into_values().max().filter(|_| is_known) {
                *self.bytes.entry(key).or_default() += most;
            }
        }
    }

    /// Returns the paths; `None` without a run and loads.
    pub(super) fn finish(self) -> Option<PathFigures> {
        let time_ns = self.time_ns.or(self.links_ns)?;
        let fabric = self.fabric();
        let span_ns = self
            .captured
            .map_or(1, |(first, last)| last.saturating_sub(first).max(1));
        let mut found = PathFigures {
            time_ns,
            outcomes: BTreeMap::new(),
            flows: Vec::new(),
            imbalance: Imbalance::default(),
            problems: BTreeMap::new(),
            over_time: self.over_time(&fabric),
            unfollowed: self.unfollowed,
            fabric,
        };
        if self.time_ns.is_none() {
            let links = self.links.iter().filter_map(|((node, port), far)| {
                let way = found.fabric.egress(found.fabric.find(node)?, port)?;
                Some((way, far.flows, far.bps))
            });
            let links: Vec<(Direction, u64, Option<f64>)> = links.collect();
            found.imbalance = Loads::of_links(&found.fabric, &links).imbalance(&found.fabric);
            return Some(found);
        }
        let mut loads = Loads::new(&found.fabric);
        for ((src, dst, protocol, src_port, dst_port, _), path) in self.paths {
            // A part of a path would look like an uneven load.
            let is_complete = path.outcome == "complete" && !path.hops.is_empty();
            *found.outcomes.entry(path.outcome).or_default() += 1;
            if !is_complete {
                continue;
            }
            let hops: Vec<Hop> = path.hops.into_values().collect();
            let walk = Walk::new(&found.fabric, &hops);
            if found.fabric.links() > 0 {
                for problem in &walk.problems {
                    *found.problems.entry(problem.reason()).or_default() += 1;
                }
            }
            let bytes = self.bytes.get(&(src, dst, src_port));
            let bps = bytes.map(|bytes| *bytes as f64 * 8e9 / span_ns as f64).or(path.bps);
            loads.add(&walk.ways, bps);
            let (from, to) = (SocketAddr::new(src, src_port), SocketAddr::new(dst, dst_port));
            let protocol = if protocol == 17 {
                String::new()
            } else {
                format!(" (protocol {protocol})")
            };
            found.flows.push(PathFlow {
                name: format!("{from} → {to}{protocol}"),
                ways: walk.ways,
                bps,
            });
        }
        found.imbalance = loads.imbalance(&found.fabric);
        Some(found)
    }

    /// The deviations of all layers between switches.
    fn over_time(&self, fabric: &Fabric) -> Option<Series<Unevenness>> {
        let is_host = |tier: &String| fabric.tiers.first() == Some(tier);
        let between = |tiers: &[String; 2]| !tiers.iter().any(is_host);
        let layers = self.over_time.iter().filter(|(tiers, _)| between(tiers));
        let layers: Vec<&Series<Unevenness>> = layers.map(|(_, series)| series).collect();
        let longest = layers.iter().max_by_key(|series| series.period_ns())?;
        let window_ns = longest.period_ns() / longest.joined();
        let mut all = Series::new(window_ns).no_finer_than(longest.period_ns());
        for (time_ns, unevenness) in layers.iter().flat_map(|series| series.iter()) {
            all.add(time_ns, *unevenness);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{PathFigures, Paths};
    use rocescope_model::{FlowPathRow, FlowRow, LinkLoadRow};

    fn link(from: (&str, &str), to: (&str, &str), tiers: [&str; 2]) -> [LinkLoadRow; 2] {
        let row = |from: (&str, &str), to: (&str, &str), tiers: [&str; 2]| LinkLoadRow {
            from: from.0.to_owned().into(),
            from_port: from.1.to_owned().into(),
            to: to.0.to_owned().into(),
            to_port: to.1.to_owned().into(),
            from_tier: tiers[0].to_owned().into(),
            to_tier: tiers[1].to_owned().into(),
            ..LinkLoadRow::default()
        };
        [row(from, to, tiers), row(to, from, [tiers[1], tiers[0]])]
    }

    fn hop(time_ns: i64, port: u16, hop: u16, node: &str, egress: &str) -> FlowPathRow {
        FlowPathRow {
            time_ns,
            protocol: 17,
            src_port: port,
            dst_port: 4791,
            outcome: "complete".into(),
            hop,
            node: node.to_owned().into(),
            egress: Some(egress.to_owned().into()),
            ..FlowPathRow::default()
        }
    }

    /// Two hosts below two leaves with two links to one spine; tiers with names of their own.
    fn figures(hops: &[FlowPathRow], flows: &[FlowRow]) -> PathFigures {
        let mut paths = Paths::default();
        hops.iter().for_each(|row| paths.hop(row));
        for leaf in ["1", "2"] {
            let tor = format!("tor{leaf}");
            let links = [
                link((&format!("gpu{leaf}"), "e0"), (&tor, "down"), ["server", "access"]),
                link((&tor, "a"), ("core", &format!("{leaf}a")), ["access", "top"]),
                link((&tor, "b"), ("core", &format!("{leaf}b")), ["access", "top"]),
            ];
            links.iter().flatten().for_each(|row| paths.link(row));
        }
        paths.window(flows);
        paths.finish().unwrap()
    }

    #[test]
    fn the_last_run_gives_tiers_links_and_loads() {
        let path = |time, port, up: &str, down: &str| {
            [
                hop(time, port, 1, "gpu1", "e0"),
                hop(time, port, 2, "tor1", up),
                hop(time, port, 3, "core", down),
                hop(time, port, 4, "tor2", "down"),
            ]
        };
        let hops = [
            path(1, 1, "a", "2b"),
            path(2, 1, "b", "2b"),
            path(2, 2, "b", "2a"),
            path(1, 3, "a", "2a"),
        ];
        let captured = |observer: &str, port, frame_bytes| FlowRow {
            observer: observer.to_owned().into(),
            udp_src_port: Some(port),
            window_ns: 1_000_000_000,
            frame_bytes,
            ..FlowRow::default()
        };
        let flows = [
            captured("x", 1, 1_000),
            captured("y", 1, 900),
            captured("x", 2, 3_000),
            captured("x", 9, 1),
        ];
        let found = figures(&hops.concat(), &flows);
        assert_eq!(
            (found.time_ns, found.flows.len(), found.outcomes["complete"]),
            (2, 2, 2)
        );
        assert_eq!(found.fabric.tiers, ["server", "access", "top"]);
        assert_eq!((found.fabric.links(), found.problems.len()), (6, 0));
        let rates: Vec<Option<f64>> = found.flows.iter().map(|flow| flow.bps).collect();
        assert_eq!(rates, [Some(8_000.0), Some(24_000.0)]);
        // Both flows on one of four uplinks: deviations 300, 100, 100 and 100 %.
        let layers = &found.imbalance.layers;
        let up = layers
            .iter()
            .find(|layer| layer.from == "access" && layer.to == "top")
            .unwrap();
        assert_eq!((up.links, up.flows, up.fim_percent), (4, 2, Some(150.0)));
    }

    #[test]
    fn neither_layers_at_hosts_nor_parts_of_paths_count() {
        let mut paths = Paths::default();
        let deviation = |tiers: [&str; 2], ratio| {
            let [row, _] = link((tiers[0], "1"), (tiers[1], "2"), tiers);
            LinkLoadRow {
                window_ns: 1_000,
                deviation_ratio: Some(ratio),
                ..row
            }
        };
        for row in [
            deviation(["host", "leaf"], 1.0),
            deviation(["leaf", "spine"], 0.25),
            deviation(["spine", "leaf"], -0.75),
        ] {
            paths.link(&row);
        }
        paths.hop(&hop(1, 1, 1, "host", "1"));
        let cut = FlowPathRow {
            outcome: "dead_end".into(),
            ..hop(1, 2, 1, "host", "1")
        };
        paths.hop(&cut);
        let found = paths.finish().unwrap();
        assert_eq!((found.flows.len(), found.outcomes["dead_end"]), (1, 1));
        let points: Vec<f64> = found.over_time.unwrap().iter().map(|(_, point)| point.fim()).collect();
        assert_eq!(points, [0.5]);
    }

    /// Two uplinks with 3 and 1 flows, and hosts whose tier has a name of its own, or no hosts.
    #[test]
    fn loads_without_a_run_have_their_imbalance() {
        for has_hosts in [true, false] {
            let mut paths = Paths::default();
            let mut add = |from, to, tiers, flows| {
                let [up, down] = link(from, to, tiers);
                paths.link(&LinkLoadRow {
                    flows,
                    flow_bps: Some(8.0),
                    window_start_ns: 7,
                    ..up
                });
                paths.link(&LinkLoadRow {
                    flow_bps: Some(0.0),
                    window_start_ns: 7,
                    ..down
                });
            };
            add(("tor1", "a"), ("core", "1"), ["access", "top"], 3);
            add(("tor1", "b"), ("core", "2"), ["access", "top"], 1);
            if has_hosts {
                add(("gpu1", "e0"), ("tor1", "c"), ["server", "access"], 4);
            }
            let found = paths.finish().unwrap();
            assert_eq!((found.time_ns, found.outcomes.len(), found.flows.len()), (7, 0, 0));
            let imbalance = &found.imbalance;
            assert_eq!(
                (imbalance.flows, imbalance.fim_percent),
                (4, Some(50.0)),
                "{:?}",
                found.fabric.tiers
            );
            assert_eq!(imbalance.bytes_fim_percent, Some(0.0));
        }
    }

    #[test]
    fn a_run_without_links_has_its_flows_only() {
        let mut paths = Paths::default();
        paths.hop(&hop(1, 1, 1, "leaf1", "e1"));
        let found = paths.finish().unwrap();
        assert_eq!(
            (found.fabric.links(), found.flows.len(), found.problems.len()),
            (0, 1, 0)
        );
        assert_eq!(found.imbalance.fim_percent, None);
        assert!(Paths::default().finish().is_none());
    }
}
