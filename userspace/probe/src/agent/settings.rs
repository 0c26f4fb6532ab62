//! How an agent probes.

use crate::peers::settings::PeerSettings;
use crate::tracer::Limits;
use crate::types::{Clock, Nanos};
use rocescope_model::Text;

/// How an agent probes. The defaults are those of Hostmesh, sections 3.3 and 4, if it gives any.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the host, in every row.
    pub observer: Text,
    /// UDP destination port: 4791.
    pub udp_dst_port: u16,
    /// How datagrams to and from other hosts differ from those within this one: not at all.
    pub others: Option<OtherHosts>,
    /// Interval between two probes of a NIC: 100 ms.
    pub interval: Nanos,
    /// Timeout of a probe: 500 ms.
    pub timeout: Nanos,
    /// Source ports of a NIC: 8.
    pub pool_size: usize,
    /// Lifetime of a source port: 10 minutes.
    pub pool_period: Nanos,
    /// DSCPs of the source ports, in turn, 0 to 63: 0 alone. Probes along paths of flows have the first one.
    pub dscps: Vec<u8>,
    /// Traces per second and NIC, 0 for none: 0.5.
    pub traces_per_second: f64,
    /// Maximum answers per second from one hop: 5.
    pub answers_per_second: f64,
    /// Maximum number of hops of a trace: 8.
    pub ttl_max: u8,
    /// Time after which an unchanged path is written again: 5 minutes.
    pub refresh: Nanos,
    /// Probes along paths of flows that a controller may request for one window; 0: none, and no answers to those of
    /// other agents, unless there are peers.
    pub flow_probes: u32,
    /// The NICs of other hosts that are probed from the start: none. The agents of their hosts answer; this one answers them.
    pub peers: Option<PeerSettings>,
    /// Interval between two probes of a NIC to other hosts: 400 ms.
    pub peer_interval: Nanos,
    /// Share of a core above which the agent slows down: 0.05.
    pub cpu_bound: f64,
    /// Seed of all random choices but the source ports.
    pub seed: u64,
    /// Seed of the source ports: an agent with the same one has the same ports at the same time.
    pub port_seed: u64,
}

/// What datagrams to and from other hosts have.
#[derive(Clone, Copy, Debug)]
pub struct OtherHosts {
    /// UDP destination port.
    pub udp_dst_port: u16,
    /// What stamps them.
    pub clock: Clock,
}

impl Settings {
    /// Returns the defaults.
    #[must_use]
    pub fn new(observer: impl Into<Text>, seed: u64) -> Self {
        Self {
            observer: observer.into(),
            udp_dst_port: rocescope_wire::ROCE_UDP_PORT,
            others: None,
            interval: Nanos(100_000_000),
            timeout: Nanos(500_000_000),
            pool_size: 8,
            pool_period: Nanos(600_000_000_000),
            dscps: vec![0],
            traces_per_second: 0.5,
            answers_per_second: 5.0,
            ttl_max: 8,
            refresh: Nanos(300_000_000_000),
            flow_probes: 0,
            peers: None,
            peer_interval: Nanos(400_000_000),
            cpu_bound: 0.05,
            seed,
            port_seed: seed,
        }
    }

    /// Takes over what may change while an agent runs: intervals, timeouts, limits, classes of service.
    pub(crate) fn reconfigure(&mut self, new: &Self) {
        self.interval = new.interval;
        self.timeout = new.timeout;
        self.traces_per_second = new.traces_per_second;
        self.answers_per_second = new.answers_per_second;
        self.ttl_max = new.ttl_max;
        self.refresh = new.refresh;
        self.cpu_bound = new.cpu_bound;
        self.dscps.clone_from(&new.dscps);
        self.peer_interval = new.peer_interval;
    }

    /// The limits of traces.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            interval: (self.traces_per_second > 0.0).then(|| Nanos((1e9 / self.traces_per_second) as i64)),
            answers_per_second: self.answers_per_second,
            ttl_max: self.ttl_max,
            timeout: self.timeout,
            refresh: self.refresh,
        }
    }

    /// The UDP destination port of datagrams to other hosts, or within this one.
    pub(crate) fn port(&self, is_to_other: bool) -> u16 {
        let others = self.others.filter(|_| is_to_other);
        others.map_or(self.udp_dst_port, |others| others.udp_dst_port)
    }

    /// The DSCP of questions to other agents.
    pub(crate) fn first_dscp(&self) -> u8 {
        self.dscps.first().copied().unwrap_or(0)
    }
}
