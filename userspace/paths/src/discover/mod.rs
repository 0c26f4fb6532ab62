//! The paths of flows, hop by hop: each node is asked for the egress port, whose link leads to the next one.
//!
//! | module | what it does |
//! |---|---|
//! | `trace` | one flow: the next question, and what an answer means |
//! | `ask` | one question: sessions, commands, answers |
//! | `parallel` | all flows at once, over several sessions a node |
//! | `until` | a run that something else may end early |

mod ask;
mod parallel;
mod trace;
mod until;

pub use trace::{Outcome, Trace};
pub use until::discover_until;

use crate::driver::Driver;
use crate::flow::Flow;
use crate::transport::{Device, Transport};
use rocescope_diagnose::paths::{Direction, Fabric};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// What a run does.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Questions at the same time.
    pub threads: usize,
    /// Sessions of a node, at most; each runs one command at a time.
    pub sessions: usize,
    /// Sessions of all nodes, at most.
    pub open_sessions: usize,
    /// Time for the answer to a command.
    pub limit: Duration,
    /// Nodes of a path, at most.
    pub max_hops: usize,
    /// Whether devices that do not state what they hash are taken to hash what questions carry.
    pub assume_5_tuple: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 64,
            sessions: 8,
            open_sessions: 512,
            limit: Duration::from_secs(10),
            max_hops: 16,
            assume_5_tuple: false,
        }
    }
}

/// The nodes that can be asked.
#[derive(Debug, Default)]
pub struct Plan {
    /// The fabric.
    pub fabric: Fabric,
    /// By number of the node: how it is reached, and its driver.
    pub devices: Vec<Option<(Device, Driver)>>,
    /// By number of the node: the address of its VXLAN tunnel end point; empty in a fabric without tunnels.
    pub vteps: Vec<Option<IpAddr>>,
}

/// The tunnel that a node sends a flow through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tunnel {
    /// None: the node has no tunnel end point, or the destination is on its side.
    None,
    /// From this address to that one.
    Between(IpAddr, IpAddr),
    /// The destination has several tunnel end points, or none.
    Unknown,
}

impl Plan {
    pub(crate) fn vtep(&self, node: usize) -> Option<IpAddr> {
        self.vteps.get(node).copied().flatten()
    }

    /// The tunnel through which a node sends to a destination: to the end point of the destination, or else of the
    /// switches that it is connected to.
    pub(crate) fn tunnel(&self, node: usize, dst: IpAddr) -> Tunnel {
        let (Some(near), Some(owner)) = (self.vtep(node), self.fabric.owner(dst)) else {
            return Tunnel::None;
        };
        let of_switches = || {
            let ways = self.fabric.leaving(owner);
            let vteps = ways.filter_map(|way| self.vtep(self.fabric.to(way).node));
            vteps.collect::<BTreeSet<IpAddr>>()
        };
        let far = self.vtep(owner).map_or_else(of_switches, |vtep| [vtep].into());
        match far.first() {
            _ if far.contains(&near) => Tunnel::None,
            Some(far_end) if far.len() == 1 => Tunnel::Between(near, *far_end),
            _ => Tunnel::Unknown,
        }
    }
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Run {
    /// The paths, in the order of the flows.
    pub traces: Vec<Trace>,
    /// What nodes did.
    pub devices: BTreeMap<usize, DeviceWork>,
    /// The time it took.
    pub took: Duration,
}

/// What a node did in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceWork {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Commands that were sent.
    pub commands: u64,
    /// The fields that choose among its routes, as it names them; empty if it was not asked, or does not state them.
    pub hash_fields: Vec<String>,
    /// Those that choose among the members of its port channels.
    pub channel_hash_fields: Vec<String>,
    /// Why its fields had to be assumed ([`Settings::assume_5_tuple`]).
    pub assumed: Option<String>,
    /// Why commands had no answer, with the first message of each reason.
    pub failures: BTreeMap<&'static str, (u64, String)>,
}

impl DeviceWork {
    fn fail(&mut self, reason: &'static str, message: &str) {
        let entry = self.failures.entry(reason).or_insert_with(|| (0, message.to_owned()));
        entry.0 += 1;
    }

    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.commands += other.commands;
        self.hash_fields.extend(other.hash_fields);
        self.channel_hash_fields.extend(other.channel_hash_fields);
        self.assumed = self.assumed.take().or(other.assumed);
        for (reason, (count, message)) in other.failures {
            let entry = self.failures.entry(reason).or_insert((0, message));
            entry.0 += count;
        }
    }
}

/// Finds the paths of flows.
#[must_use]
pub fn discover(plan: &Plan, flows: &[Flow], transport: &dyn Transport, settings: &Settings) -> Run {
    let started = Instant::now();
    let (traces, devices) = parallel::run(plan, flows, transport, settings);
    Run {
        traces,
        devices,
        took: started.elapsed(),
    }
}

/// The egress ports of a path.
#[must_use]
pub fn hops(fabric: &Fabric, ways: &[Direction]) -> Vec<rocescope_diagnose::paths::Hop> {
    let hops = ways.iter().map(|way| {
        let end = fabric.from(*way);
        rocescope_diagnose::paths::Hop(fabric.name(end.node).to_owned(), end.port.clone())
    });
    hops.collect()
}
