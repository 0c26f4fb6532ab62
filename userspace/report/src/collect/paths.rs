//! Paths of flows over the links of a fabric: those of the last run. Without a run, the last loads of links.

mod fabric;
mod jobs;
#[cfg(test)]
mod tests;

pub use jobs::JobImbalance;

use super::owners::OwnedBy;
use crate::series::{Join, Series};
use jobs::Jobs;
use rocescope_diagnose::owners::Owners;
use rocescope_diagnose::paths::{Direction, Fabric, Hop, Imbalance, Loads, Walk};
use rocescope_model::{FlowPathRow, FlowRow, LinkLoadRow};
use std::collections::{BTreeMap, HashMap};
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
    /// Imbalance of each job, if agents reported queue pairs.
    pub jobs: Vec<JobImbalance>,
    /// Flows of windows that are of further jobs.
    pub left_out_of_jobs: u64,
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

    fn and(self, other: Self) -> Self {
        Self {
            deviations: self.deviations + other.deviations,
            links: self.links + other.links,
        }
    }
}

impl Join for Unevenness {
    fn join(&mut self, other: Self) {
        *self = self.and(other);
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
    jobs: Option<Jobs>,
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
    /// of it counts. `owners` are those of queue pairs, by job or what else.
    pub(super) fn window(&mut self, rows: &[FlowRow], owners: &Owners, by: OwnedBy) {
        if self.paths.is_empty() {
            return;
        }
        self.window_of_jobs(rows, owners, by);
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

    /// Adds the window to the jobs, if any are known.
    fn window_of_jobs(&mut self, rows: &[FlowRow], owners: &Owners, by: OwnedBy) {
        let Some(first) = rows.first().filter(|_| !owners.is_empty() && !self.links.is_empty()) else {
            return;
        };
        let mut jobs = self.jobs.take().unwrap_or_else(|| {
            let complete = self.paths.iter().filter(|(_, path)| path.outcome == "complete");
            let paths: HashMap<CapturedKey, Vec<Hop>> = complete
                .map(|((src, dst, _, port, ..), path)| ((*src, *dst, *port), path.hops.values().cloned().collect()))
                .collect();
            Jobs::new(by, self.fabric(), paths)
        });
        let numbered = rows
            .iter()
            .filter_map(|row| Some(((row.src, row.dst, row.udp_src_port?), row.dst_qpn)));
        let flows: BTreeMap<CapturedKey, u32> = numbered.collect();
        jobs.window((first.window_start_ns, first.window_ns), &flows, owners);
        self.jobs = Some(jobs);
    }

    /// Returns the paths; `None` without a run and loads.
    pub(super) fn finish(mut self) -> Option<PathFigures> {
        let time_ns = self.time_ns.or(self.links_ns)?;
        let fabric = self.fabric();
        let span_ns = self
            .captured
            .map_or(1, |(first, last)| last.saturating_sub(first).max(1));
        let (jobs, left_out_of_jobs) = self.jobs.take().map(Jobs::finish).unwrap_or_default();
        let mut found = PathFigures {
            time_ns,
            jobs,
            left_out_of_jobs,
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
