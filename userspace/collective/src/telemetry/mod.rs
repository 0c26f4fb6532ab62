//! What is known of the network while a collective runs.
//!
//! Whatever an operator has (reports of switches, gNMI, INT, capture points, counters of hosts), a [`Source`] turns it
//! into [`Telemetry`].
//!
//! | module | source |
//! |---|---|
//! | `rows` | rows of `telemetry` |
//! | [`taps`] | packets at capture points on both sides of a queue, as rows of `telemetry` |
//! | [`counters`] | rows of `counters`: pauses that NICs sent and received |
//! | [`marks`] | rows of `flows`: ECN marks |
//! | [`slow_paths`] | rows of agents' monitors: round trips that took too long, and what was asked |

pub mod counters;
pub mod marks;
mod rows;
pub mod slow_paths;
pub mod taps;

use crate::complaints::Complaints;
use crate::natural;
use crate::steps::FlowKey;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::Text;

/// Anything that knows something of the network.
pub trait Source {
    /// All of it: reports by switch and in the order in which each switch made them.
    fn telemetry(&self) -> Telemetry;
}

/// Why a switch reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// It was asked along the path of a flow.
    Flow,
    /// It was asked along the spreading of pauses.
    Pause,
}

impl Trigger {
    /// Its name in rows and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Pause => "pause",
        }
    }
}

/// A port of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PortKey {
    /// The switch.
    pub switch: Text,
    /// The port.
    pub port: Text,
}

impl PortKey {
    /// The order of their names, in which port 2 is before port 10.
    #[must_use]
    pub fn compare(&self, other: &Self) -> core::cmp::Ordering {
        natural::compare(&self.switch, &other.switch).then_with(|| natural::compare(&self.port, &other.port))
    }
}

/// The other end of a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// Node and port there; `None` if unknown.
    pub port: Option<PortKey>,
    /// Whether that node is a host; `None` if unknown.
    pub is_host: Option<bool>,
}

/// Counters of a flow at a port in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowCounters {
    /// The flow.
    pub flow: FlowKey,
    /// Packets that entered the queue.
    pub packets: u64,
    /// Sum over them of the packets that each found there.
    pub queued: u64,
    /// Packets that entered while the port was paused.
    pub paused: u64,
}

/// Counters of a port in an epoch. Those of the whole port may count packets of flows that it does not list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// The egress port.
    pub port: Text,
    /// The other end of its link.
    pub peer: Peer,
    /// Ingress port whose traffic to this port was metered, the other end of its link, and the bytes.
    pub metered: Option<(Text, Peer, u64)>,
    /// Packets that entered the queue.
    pub packets: u64,
    /// Sum over them of the packets that each found there.
    pub queued: u64,
    /// Packets that entered while the port was paused.
    pub paused: u64,
    /// Its flows; a flow may have several entries.
    pub flows: Vec<FlowCounters>,
}

/// A report of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The switch.
    pub switch: Text,
    /// Its time.
    pub time_ns: i64,
    /// Why it was made.
    pub trigger: Trigger,
    /// Ports in the current epoch.
    pub now: Vec<PortCounters>,
    /// Ports in the epoch before.
    pub last: Vec<PortCounters>,
}

/// A port that its peer paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The paused port; of a switch or a host.
    pub port: PortKey,
    /// The node that paused it.
    pub peer: Peer,
    /// Start of the pause.
    pub start_ns: i64,
    /// Its length; `None` if it did not end.
    pub duration_ns: Option<i64>,
}

/// Pauses between a port of a host and its switch, as the host counts them between two reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPause {
    /// The host.
    pub host: Text,
    /// Its port.
    pub port: Text,
    /// Addresses of the port; none if they are unknown.
    pub addresses: Vec<IpAddr>,
    /// Whether the host paused the switch; otherwise the switch paused the host.
    pub is_by_host: bool,
    /// The read before.
    pub start_ns: i64,
    /// The read.
    pub end_ns: i64,
    /// How long a priority was paused between both; `None` if the driver only counts frames.
    pub paused_ns: Option<i64>,
    /// Pause frames; `None` if the driver only counts the time.
    pub frames: Option<u64>,
}

/// ECN marks of a flow in a window of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The flow.
    pub flow: FlowKey,
    /// Where it was captured.
    pub observer: Text,
    /// Start of the window.
    pub start_ns: i64,
    /// Its end.
    pub end_ns: i64,
    /// Packets of the flow.
    pub packets: u64,
    /// Those with congestion experienced.
    pub marked: u64,
}

/// What an agent's monitor found slow, and what it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowPath {
    /// The agent.
    pub agent: Text,
    /// When.
    pub time_ns: i64,
    /// The host that sends.
    pub host: Text,
    /// The host that receives.
    pub to: Text,
    /// The step.
    pub step: u32,
    /// Source address of the probes.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP source port.
    pub src_port: u16,
    /// Whether probes were not answered; otherwise one was answered late.
    pub is_overdue: bool,
    /// Round trip with empty queues.
    pub base_ns: i64,
    /// The round trip, or the age of the oldest probe without an answer.
    pub round_trip_ns: i64,
    /// The burst of probes that it asked for.
    pub burst: Option<Burst>,
    /// The capture boxes that recorded the flow.
    pub recorded_by: Vec<Text>,
}

/// A burst of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Probes.
    pub probes: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Mean round trip.
    pub mean_ns: Option<i64>,
    /// The longest.
    pub max_ns: Option<i64>,
}

/// All that is known of the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Reports, by switch in natural order of the names; those of a switch in its order.
    pub reports: Vec<Report>,
    /// Pauses.
    pub pauses: Vec<Pause>,
    /// Pauses that hosts count.
    pub host_pauses: Vec<HostPause>,
    /// ECN marks.
    pub marks: Vec<Marked>,
    /// Paths that were slow, in the order of time.
    pub slow: Vec<SlowPath>,
    /// What is missing or contradicts itself.
    pub complaints: Complaints,
}

impl Telemetry {
    /// Adds what another source knows.
    pub fn append(&mut self, other: Self) {
        self.reports.extend(other.reports);
        self.reports.sort_by(|a, b| natural::compare(&a.switch, &b.switch));
        self.pauses.extend(other.pauses);
        self.host_pauses.extend(other.host_pauses);
        self.marks.extend(other.marks);
        self.slow.extend(other.slow);
        self.slow.sort_by_key(|slow| slow.time_ns);
        self.complaints.append(other.complaints);
    }
}
