//! What members and the controller send each other: JSON beside the messages of a Flight exchange, and the bodies of
//! an operator's actions.

use arrow_flight::FlightData;
use rocescope_diagnose::pinglist::{Coverage, Pinglist};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// What a member is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// `rocescope agent`.
    #[default]
    Agent,
    /// `rocescope capture`.
    Capture,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Capture => "capture",
        })
    }
}

/// A version that a member did not take, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The version.
    pub version: u64,
    /// The reason.
    pub reason: String,
}

/// The probes of small flows that a member was asked for, since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Flows that it probed.
    pub probed: u64,
    /// Flows that it refused because their probes exceed its budget.
    pub over_budget: u64,
    /// Flows that it refused because it has neither address, or both, or the request is out of range.
    pub not_owned: u64,
}

/// Rows of a capture box for the analysis of hosts, since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCounts {
    /// Rows put into the spool.
    pub sent: u64,
    /// Rows that show trouble, beyond the budget of their window.
    pub over_budget: u64,
    /// Rows that show none, beyond it.
    pub quiet: u64,
    /// Events that no rule reads.
    pub unread: u64,
    /// Rows that left the spool in another way than to the collector: it or the disk was full, they were damaged or
    /// refused.
    pub dropped: u64,
}

/// Rows that left the spool of an agent in another way than to the collector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedRows {
    /// The spool was full: the oldest rows were dropped.
    pub spool_full: u64,
    /// The disk was full, or could not be written.
    pub disk_full: u64,
    /// Their file was damaged.
    pub damaged: u64,
    /// The collector refused them.
    pub refused: u64,
}

impl DroppedRows {
    /// Each reason with its rows.
    #[must_use]
    pub const fn reasons(&self) -> [(&'static str, u64); 4] {
        [
            ("spool_full", self.spool_full),
            ("disk_full", self.disk_full),
            ("damaged", self.damaged),
            ("refused", self.refused),
        ]
    }

    /// Adds those of the time between two reports of an agent; one that restarted counts from 0.
    pub(crate) fn add_since(&mut self, before: &Self, now: &Self) {
        let since = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
        self.spool_full += since(before.spool_full, now.spool_full);
        self.disk_full += since(before.disk_full, now.disk_full);
        self.damaged += since(before.damaged, now.damaged);
        self.refused += since(before.refused, now.refused);
    }
}

/// Recordings that agents asked a capture box for, since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingCounts {
    /// Passed to the flight recorder.
    pub recorded: u64,
    /// Not recorded: the flow did not pass this box.
    pub elsewhere: u64,
    /// Not recorded: more than the box records in an hour on request.
    pub over_budget: u64,
}

/// What a member runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberState {
    /// What it is.
    pub role: Role,
    /// The version that it runs; 0: its own configuration alone.
    pub running: u64,
    /// A version that it checked, and takes at the edge of its window.
    pub waiting: Option<u64>,
    /// The last version, if it refused it.
    pub refused: Option<Refused>,
    /// Settings of the version that it applies after a restart.
    pub restart: Vec<String>,
    /// The addresses of its NICs.
    pub addresses: Vec<IpAddr>,
    /// Probes of small flows.
    pub flows: FlowCounts,
    /// Rows for the analysis of hosts.
    #[serde(default)]
    pub wire: WireCounts,
    /// Rows that an agent dropped, since its start.
    #[serde(default)]
    pub dropped: DroppedRows,
    /// Whether a capture box records on request.
    #[serde(default)]
    pub records: bool,
    /// Recordings on request.
    #[serde(default)]
    pub recordings: RecordingCounts,
}

/// A flow of a window, which a capture box saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP source port.
    pub udp_src_port: u16,
    /// Destination queue pair.
    pub dst_qpn: u32,
    /// The hash of its key, as in the table `flows`.
    pub flow_hash: i64,
    /// Packets in the window.
    pub packets: u64,
    /// Bytes of its frames in the window.
    pub frame_bytes: u64,
}

/// The smallest flows of a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallFlows {
    /// Start of the window, in nanoseconds since 1970.
    pub window_start_ns: i64,
    /// Its length.
    pub window_ns: i64,
    /// The flows.
    pub flows: Vec<Flow>,
}

/// A request for probes along the path of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowRequest {
    /// The capture box that named the flow.
    pub capture: String,
    /// The window in which it was small.
    pub window_start_ns: i64,
    /// Its length, which is the length of the window of the probes too.
    pub window_ns: i64,
    /// The flow.
    pub flow: Flow,
    /// How many probes.
    pub probes: u16,
}

/// A request of an agent for a recording: a step of a collective is slow along the path of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingRequest {
    /// The agent: the controller sets the name in its certificate.
    pub agent: String,
    /// Source address of the flow.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// When it was slow, in nanoseconds since 1970.
    pub time_ns: i64,
    /// The round trip that was too long.
    pub round_trip_ns: i64,
    /// The collective.
    pub collective: String,
    /// The rank that sends.
    pub host: String,
    /// The step.
    pub step: u32,
}

impl RecordingRequest {
    /// The controller drops a request whose names are longer together.
    pub const MAX_BYTES: usize = 512;
}

/// From a member to the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromMember {
    /// What it runs: at the start of a subscription, and after each change.
    State(MemberState),
    /// The smallest flows of a window, from a capture box.
    SmallFlows(SmallFlows),
    /// To another agent.
    ToAgent(AgentMessage),
    /// For the capture boxes along the path of a flow, from an agent.
    Record(RecordingRequest),
}

/// From the controller to a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToMember {
    /// The desired settings: at the start of a subscription, and for each version.
    Configuration {
        /// The version of the controller's configuration.
        version: u64,
        /// The settings of the member's group, as a configuration file.
        text: String,
    },
    /// Probe these flows in the next window.
    ProbeFlows(Vec<FlowRequest>),
    /// From another agent.
    FromAgent(AgentMessage),
    /// Record a flow, if it passes this box.
    Record(Box<RecordingRequest>),
    /// Probe these NICs of other hosts, and no others.
    Pinglist(Pinglist),
}

/// A message of an agent to another one; the controller passes it on unread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The name of the other agent: the receiver's on the way to the controller, then the sender's.
    pub agent: String,
    /// At most [`AgentMessage::MAX_BYTES`] of text.
    pub text: String,
}

impl AgentMessage {
    /// The controller drops a longer text.
    pub const MAX_BYTES: usize = 1024;
}

/// A member as the controller knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its name: the first DNS name of its certificate.
    pub name: String,
    /// Its group, if one has it.
    pub group: Option<String>,
    /// Whether it is connected.
    pub connected: bool,
    /// Since when, in nanoseconds since 1970.
    pub since_ns: i64,
    /// What it reported last.
    pub state: MemberState,
    /// The texts that it refused, each by the version that had it first; the last ones.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// What a member does with a version of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It runs it.
    Current,
    /// It checked it, and takes it at the end of its window.
    Waiting,
    /// It runs another one.
    Behind,
    /// It refused it, or the last one that it got.
    Refused,
    /// It is not connected: what it runs now is unknown.
    Away,
}

impl Standing {
    /// Every standing.
    pub const ALL: [Self; 5] = [Self::Current, Self::Waiting, Self::Behind, Self::Refused, Self::Away];

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Waiting => "waiting",
            Self::Behind => "behind",
            Self::Refused => "refused",
            Self::Away => "away",
        }
    }
}

impl MemberStatus {
    /// What it does with a version.
    #[must_use]
    pub const fn standing(&self, version: u64) -> Standing {
        match &self.state {
            _ if !self.connected => Standing::Away,
            MemberState { refused: Some(_), .. } => Standing::Refused,
            state if state.running == version => Standing::Current,
            MemberState { waiting: Some(_), .. } => Standing::Waiting,
            _ => Standing::Behind,
        }
    }
}

/// The small flows that capture boxes named, since the start of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowTotals {
    /// Flows named.
    pub named: u64,
    /// Requests sent to agents: two for a flow, one for each end.
    pub requested: u64,
    /// Flows of which an end has no connected agent.
    pub without_agent: u64,
    /// Requests that an agent did not read in time.
    pub undelivered: u64,
}

/// Messages between agents, since the start of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessageTotals {
    /// Passed on.
    pub delivered: u64,
    /// Dropped: no agent of this name is connected.
    pub without_agent: u64,
    /// Dropped: too long, or not from an agent.
    pub refused: u64,
    /// Dropped: the agent did not read its messages in time.
    pub undelivered: u64,
}

/// Requests of agents for recordings, since the start of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingTotals {
    /// From agents.
    pub requested: u64,
    /// Passed on, once for each capture box that records.
    pub passed_on: u64,
    /// Dropped: no capture box that records is connected.
    pub without_box: u64,
    /// Dropped: too long, or not from an agent.
    pub refused: u64,
    /// Not passed on to a box that did not read its messages in time.
    pub undelivered: u64,
}

/// What the controller knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerStatus {
    /// The version in force.
    pub version: u64,
    /// The version whose text it has, after a rollback.
    #[serde(default)]
    pub text_of: Option<u64>,
    /// When it was applied, in nanoseconds since 1970.
    pub applied_ns: i64,
    /// Who applied it.
    pub applied_by: String,
    /// The certificates that may apply.
    pub operators: Vec<String>,
    /// Agents and capture boxes, by name.
    pub members: Vec<MemberStatus>,
    /// Small flows.
    pub flows: FlowTotals,
    /// Messages between agents.
    #[serde(default)]
    pub agent_messages: AgentMessageTotals,
    /// Requests for recordings.
    #[serde(default)]
    pub recordings: RecordingTotals,
    /// Rows that agents dropped, since the start of the controller.
    #[serde(default)]
    pub dropped: DroppedRows,
    /// What the pinglists of agents cover, if it hands out any.
    #[serde(default)]
    pub pinglists: Option<Coverage>,
    /// Groups and patterns that have no member, each in a line.
    #[serde(default)]
    pub unmatched: Vec<String>,
}

/// A version of the controller's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Its number, from 1.
    pub number: u64,
    /// When it was applied, in nanoseconds since 1970.
    pub applied_ns: i64,
    /// Who applied it: the name in the certificate, or `start` for the first one.
    pub applied_by: String,
    /// The text of the file.
    pub text: String,
    /// The version that had this text first, after a rollback to it.
    #[serde(default)]
    pub text_of: Option<u64>,
}

impl Version {
    /// The version that had this text first: itself, unless it is a rollback.
    #[must_use]
    pub fn first_with_text(&self) -> u64 {
        self.text_of.unwrap_or(self.number)
    }
}

/// The outcome of an operator's change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The version in force.
    pub version: u64,
    /// The version whose text it has, after a rollback.
    #[serde(default)]
    pub text_of: Option<u64>,
    /// Whether it is new.
    pub is_new: bool,
    /// Members that the controller knows.
    pub members: usize,
    /// Those of them that are away: they take it when they are back.
    #[serde(default)]
    pub away: usize,
    /// Those of all that no group has: they run their own configuration.
    #[serde(default)]
    pub without_group: usize,
    /// What an operator should look at, each in a line: patterns without a member, members that refused this text
    /// before.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A message as the text beside Flight data.
pub(crate) fn pack(message: &impl Serialize) -> FlightData {
    FlightData {
        // Structures of strings and numbers: nothing that JSON lacks.
        app_metadata: serde_json::to_vec(message).unwrap_or_default().into(),
        ..FlightData::default()
    }
}

/// The message in Flight data.
pub(crate) fn unpack<T: DeserializeOwned>(data: &FlightData) -> Result<T, String> {
    serde_json::from_slice(&data.app_metadata).map_err(|error| error.to_string())
}
