//! The imbalance of each job over time: how its flows alone lie on the links that they may take.
//!
//! These are the links that lead up from where its flows start, and those that lead down to where they end. On all links of the
//! fabric, a small job would never be even.

use super::{CapturedKey, Unevenness};
use crate::collect::owners::OwnedBy;
use crate::series::Series;
use rocescope_diagnose::owners::{End as Asked, Owners};
use rocescope_diagnose::paths::{End, Fabric, Hop, Loads, Walk};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Jobs that are kept: those with the first flows. The flows of further ones are counted.
const MAX_JOBS: usize = 64;

/// The imbalance of a job.
#[derive(Debug)]
pub struct JobImbalance {
    /// The job; without one the pod, the unit or the process.
    pub name: String,
    /// Flows in the window with the most.
    pub flows: u64,
    /// Directions of links between switches that they may take, in the window with the most.
    pub links: usize,
    /// Its imbalance in each window.
    pub over_time: Series<Unevenness>,
    /// The same if its flows lay as evenly as whole flows can.
    pub least: Unevenness,
}

impl JobImbalance {
    /// The mean over all windows.
    #[must_use]
    pub fn fim(&self) -> f64 {
        let all = self.over_time.iter().map(|(_, window)| *window);
        all.fold(Unevenness::default(), Unevenness::and).fim()
    }
}

/// The jobs of the windows so far.
#[derive(Debug)]
pub(super) struct Jobs {
    by: OwnedBy,
    fabric: Fabric,
    /// The paths that are complete.
    paths: HashMap<CapturedKey, Vec<Hop>>,
    jobs: BTreeMap<String, Job>,
    left_out: u64,
}

impl Jobs {
    pub(super) fn new(by: OwnedBy, fabric: Fabric, paths: HashMap<CapturedKey, Vec<Hop>>) -> Self {
        Self {
            by,
            fabric,
            paths,
            jobs: BTreeMap::new(),
            left_out: 0,
        }
    }

    /// Adds the flows of a window, by 5-tuple, with the queue pair that they lead to.
    pub(super) fn window(
        &mut self,
        (start_ns, window_ns): (i64, i64),
        flows: &BTreeMap<CapturedKey, u32>,
        owners: &Owners,
    ) {
        let mut of_jobs: BTreeMap<String, Vec<&[Hop]>> = BTreeMap::new();
        for (key, qpn) in flows {
            let Some(hops) = self.paths.get(key) else { continue };
            // A capture knows the number of the receiver, which belongs to the same job.
            let asked = Asked {
                address: key.1,
                qpn: *qpn,
                peer: key.0,
                peer_qpn: None,
                first_ns: start_ns,
                last_ns: start_ns.saturating_add(window_ns),
            };
            if let Some(owner) = owners.of(&asked).owner() {
                of_jobs.entry(self.by.group(owner)).or_default().push(hops);
            }
        }
        for (name, flows) in of_jobs {
            if self.jobs.len() >= MAX_JOBS && !self.jobs.contains_key(&name) {
                self.left_out += flows.len() as u64;
                continue;
            }
            let job = self.jobs.entry(name).or_insert_with(|| Job::new(window_ns));
            job.window(&self.fabric, start_ns, &flows);
        }
    }

    /// Those with flows between switches, the most first; and the flows of jobs that were left out.
    pub(super) fn finish(self) -> (Vec<JobImbalance>, u64) {
        let jobs = self.jobs.into_iter().filter(|(_, job)| job.over_time.iter().len() > 0);
        let jobs = jobs.map(|(name, job)| JobImbalance {
            name,
            flows: job.flows,
            links: job.directions,
            over_time: job.over_time,
            least: job.least,
        });
        let mut jobs: Vec<JobImbalance> = jobs.collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.flows));
        (jobs, self.left_out)
    }
}

/// A job and its links.
#[derive(Debug)]
struct Job {
    /// The links above where its flows start, and above where they end.
    up: Side,
    down: Side,
    directions: usize,
    flows: u64,
    over_time: Series<Unevenness>,
    least: Unevenness,
}

impl Job {
    fn new(window_ns: i64) -> Self {
        Self {
            up: Side::default(),
            down: Side::default(),
            directions: 0,
            flows: 0,
            over_time: Series::new(window_ns),
            least: Unevenness::default(),
        }
    }

    fn window(&mut self, fabric: &Fabric, start_ns: i64, flows: &[&[Hop]]) {
        let mut starts = BTreeSet::new();
        let mut ends = BTreeSet::new();
        for hops in flows {
            let ways = Walk::new(fabric, hops).ways;
            starts.extend(ways.first().map(|way| fabric.from(*way).node));
            ends.extend(ways.last().map(|way| fabric.to(*way).node));
        }
        self.up.reach(fabric, starts);
        self.down.reach(fabric, ends);
        let (up, least_up) = self.up.imbalance(flows, |from, to| from < to);
        let (down, least_down) = self.down.imbalance(flows, |from, to| from > to);
        let all = up.and(down);
        if all.links > 0.0 {
            self.over_time.add(start_ns, all);
            self.least = self.least.and(least_up).and(least_down);
            self.directions = self.directions.max(all.links as usize);
            self.flows = self.flows.max(flows.len() as u64);
        }
    }
}

/// Nodes, and the links above them.
#[derive(Debug, Default)]
struct Side {
    nodes: BTreeSet<usize>,
    links: Fabric,
}

impl Side {
    /// Adds nodes: hosts, or leaves where the paths have no hosts.
    fn reach(&mut self, fabric: &Fabric, nodes: BTreeSet<usize>) {
        let known = self.nodes.len();
        self.nodes.extend(nodes);
        if self.nodes.len() > known {
            self.links = above(fabric, &self.nodes);
        }
    }

    /// The deviations on layers between switches in this direction of tiers, and the least that whole flows allow.
    fn imbalance(&self, flows: &[&[Hop]], is_wanted: fn(usize, usize) -> bool) -> (Unevenness, Unevenness) {
        let mut loads = Loads::new(&self.links);
        for hops in flows {
            loads.add(&Walk::new(&self.links, hops).ways, None);
        }
        let tier = |name: &str| self.links.tiers.iter().position(|tier| tier == name);
        let imbalance = loads.imbalance(&self.links);
        let switched = imbalance.layers.iter().filter(|layer| !layer.at_hosts);
        let wanted = switched.filter(|layer| {
            let tiers = tier(&layer.from).zip(tier(&layer.to));
            tiers.is_some_and(|(from, to)| is_wanted(from, to))
        });
        let mut found = (Unevenness::default(), Unevenness::default());
        for layer in wanted {
            let links = layer.links as f64;
            let of = |percent: f64| Unevenness {
                deviations: percent / 100.0 * links,
                links,
            };
            if let Some(fim) = layer.fim_percent {
                found.0 = found.0.and(of(fim));
                found.1 = found.1.and(of(layer.min_fim_percent.unwrap_or(0.0)));
            }
        }
        found
    }
}

/// The links that lead up from these nodes, and from where they lead.
fn above(fabric: &Fabric, ends: &BTreeSet<usize>) -> Fabric {
    let mut found = Fabric::new(fabric.tiers.clone());
    let tier = |node: usize| fabric.nodes().get(node).and_then(|node| node.tier);
    let mut seen = ends.clone();
    let mut next: Vec<usize> = ends.iter().copied().collect();
    while let Some(node) = next.pop() {
        for way in fabric.leaving(node) {
            let (start, end) = (fabric.from(way), fabric.to(way));
            if !(tier(start.node).is_some() && tier(start.node) < tier(end.node)) {
                continue;
            }
            let ends = [start, end].map(|end| End {
                node: found.add_node(fabric.name(end.node), tier(end.node), &[]),
                port: end.port.clone(),
            });
            found.add_link(ends);
            if seen.insert(end.node) {
                next.push(end.node);
            }
        }
    }
    found
}
