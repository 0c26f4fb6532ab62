//! What a controller may change while an agent runs. The program reads it once, as it reads its own configuration, when
//! the controller sends a version; the agent takes it at the edge of a window.

use crate::collective::MonitorSettings;
use crate::counters::Pace;
use crate::queue_pairs::QueuePairPace;
use rocescope_probe::{Agent, Nanos};

/// The settings of each part that runs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The pace of probes.
    pub probe: Option<ProbePace>,
    /// The pace of counters.
    pub counters: Option<Pace>,
    /// The pace of queue pairs.
    pub queue_pairs: Option<QueuePairPace>,
    /// The rules of the monitor of collectives.
    pub monitor: Option<MonitorSettings>,
}

/// How fast, how far, how expensively and in which classes to probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbePace {
    /// Time between two probes from a NIC.
    pub interval: Nanos,
    /// When a probe counts as lost.
    pub timeout: Nanos,
    /// Time between two probes to another host.
    pub peer_interval: Nanos,
    /// Path traces for each second.
    pub traces_per_second: f64,
    /// ICMP answers for each second.
    pub answers_per_second: f64,
    /// The largest TTL of a trace.
    pub ttl_max: u8,
    /// When a known path is written again.
    pub refresh: Nanos,
    /// Maximum share of a core.
    pub cpu_bound: f64,
    /// DSCPs that the source ports take in turn.
    pub dscps: Vec<u8>,
}

impl ProbePace {
    /// Makes a running agent probe at this pace.
    pub fn apply(&self, agent: &mut Agent, now: Nanos) {
        let settings = rocescope_probe::Settings {
            interval: self.interval,
            timeout: self.timeout,
            answers_per_second: self.answers_per_second,
            ttl_max: self.ttl_max,
            refresh: self.refresh,
            cpu_bound: self.cpu_bound,
            dscps: self.dscps.clone(),
            peer_interval: self.peer_interval,
            traces_per_second: self.traces_per_second,
            ..agent.settings().clone()
        };
        agent.reconfigure(&settings, now);
    }
}
