//! The truth file: the generated traffic, with the keys of the recorded captures' truth and more.

pub use super::collective::{StepTruth, StragglerTruth};
use super::scenario::group::Service;
use super::tally::{Direction, Volume};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::IpAddr;

/// The content of a capture, counted while it was generated.
///
/// Times are in nanoseconds since 1970. Bytes of frames do not include the encapsulation of a mirror.
/// A packet counts if the tap saw it and the mirror delivered it.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// Name of the scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Frames of any kind.
    pub frames: u64,
    /// RoCEv2 packets.
    pub roce_packets: u64,
    /// Other frames.
    pub not_roce: u64,
    /// Packets with a wrong ICRC, if it was captured.
    pub icrc_bad: u64,
    /// Packets whose ICRC was not captured.
    pub icrc_unverifiable: u64,
    /// Packets whose opcode has LAST or ONLY.
    pub messages: u64,
    /// Distinct VLAN ids, VNI, addresses, UDP source port and destination queue pair.
    pub flows: u64,
    /// Request packets with a PSN that an earlier request packet had.
    pub repeated_request_psns: u64,
    /// Packets of each opcode.
    pub opcodes: BTreeMap<String, Volume>,
    /// Acknowledgements of each kind.
    pub aeth: BTreeMap<&'static str, u64>,
    /// RNR NAKs of each encoded timer.
    pub rnr_timers: BTreeMap<String, u64>,
    /// The flows with the most frame bytes, in descending order.
    pub top_flows: Vec<FlowTruth>,
    /// Time of the first frame.
    pub first_ns: u64,
    /// Time of the last frame.
    pub last_ns: u64,
    /// All directions together.
    pub losses: Losses,
    /// Frames of each encapsulation.
    pub encapsulations: BTreeMap<&'static str, u64>,
    /// Length of a window.
    pub window_ns: u64,
    /// Windows with frames.
    pub windows: Vec<Window>,
    /// The windows of the first `truth.series` flows.
    pub series: Vec<Series>,
    /// The number of connections, with or without packets.
    pub connections_total: u64,
    /// The first `truth.connections` connections.
    pub connections: Vec<ConnectionTruth>,
    /// UET's packet delivery contexts, if the scenario has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pdcs: Vec<PdcTruth>,
    /// Steps of collectives, if the scenario has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepTruth>,
    /// What is slow in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stragglers: Vec<StragglerTruth>,
}

/// A packet delivery context of UET: what one side sent and the other answered, as far as it passed the tap and the
/// mirror delivered it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PdcTruth {
    /// Address of the side that sends requests.
    pub src: IpAddr,
    /// Address of the side that answers.
    pub dst: IpAddr,
    /// The PDC's number at `src`.
    pub src_pdc: u16,
    /// The PDC's number at `dst`.
    pub dst_pdc: u16,
    /// The job.
    pub job: u32,
    /// The first PSN.
    pub start_psn: u32,
    /// Requests.
    pub request_packets: u64,
    /// Control packets.
    pub control_packets: u64,
    /// ACKs.
    pub ack_packets: u64,
    /// NACKs, all of them for trimmed packets.
    pub nack_packets: u64,
    /// Messages whose last packet passed whole.
    pub messages: u64,
    /// Requests that are retransmissions.
    pub retransmitted_packets: u64,
    /// Requests of which another copy passed before.
    pub repeated_packets: u64,
    /// Requests that a switch upstream of the tap trimmed.
    pub trimmed_packets: u64,
    /// Copies that the fabric lost upstream of the tap.
    pub lost_before_copies: u64,
    /// Packets whose first copy was lost there, and whose retransmission passed.
    pub fabric_lost_upstream_packets: u64,
    /// Copies that the fabric lost or trimmed downstream of the tap, without those that were trimmed already.
    pub fabric_lost_downstream_packets: u64,
    /// Requests with congestion experienced.
    pub ecn_ce_packets: u64,
    /// Answers that report it.
    pub ecn_echo_packets: u64,
    /// Packets that the mirror did not deliver.
    pub lost_by_mirror: u64,
}

impl Default for PdcTruth {
    fn default() -> Self {
        Self {
            src: IpAddr::from([0; 4]),
            dst: IpAddr::from([0; 4]),
            src_pdc: 0,
            dst_pdc: 0,
            job: 0,
            start_psn: 0,
            request_packets: 0,
            control_packets: 0,
            ack_packets: 0,
            nack_packets: 0,
            messages: 0,
            retransmitted_packets: 0,
            repeated_packets: 0,
            trimmed_packets: 0,
            lost_before_copies: 0,
            fabric_lost_upstream_packets: 0,
            fabric_lost_downstream_packets: 0,
            ecn_ce_packets: 0,
            ecn_echo_packets: 0,
            lost_by_mirror: 0,
        }
    }
}

impl Truth {
    /// Writes the truth file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        writeln!(out)
    }
}

/// Losses and other faults over all directions: see [`Direction`].
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the fields are those of Direction, added up")]
pub struct Losses {
    pub retransmitted_packets: u64,
    pub out_of_order_packets: u64,
    pub duplicate_packets: u64,
    pub lost_upstream: u64,
    pub lost_downstream: u64,
    pub lost_by_mirror: u64,
    pub unfilled_gap_psns: u64,
    pub timeouts: u64,
    pub ce_packets: u64,
    pub cnps: u64,
}

impl Losses {
    pub(super) fn add(&mut self, direction: &Direction) {
        self.retransmitted_packets += direction.retransmitted_packets;
        self.out_of_order_packets += direction.out_of_order_packets;
        self.duplicate_packets += direction.duplicate_packets;
        self.lost_upstream += direction.lost_upstream;
        self.lost_downstream += direction.lost_downstream;
        self.lost_by_mirror += direction.lost_by_mirror;
        self.unfilled_gap_psns += direction.unfilled_gap_psns;
        self.timeouts += direction.timeouts;
        self.ce_packets += direction.ce_packets;
        self.cnps += direction.cnps;
    }
}

/// The identity of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct FlowId {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP source port.
    pub udp_src_port: u16,
    /// Destination queue pair.
    pub dst_qpn: u32,
    /// VLAN id of the outer tag.
    pub vlan: Option<u16>,
    /// VLAN id of the inner tag.
    pub inner_vlan: Option<u16>,
    /// VXLAN network identifier.
    pub vni: Option<u32>,
}

/// A flow and its volume.
#[derive(Clone, Debug, Serialize)]
pub struct FlowTruth {
    /// The flow.
    #[serde(flatten)]
    pub id: FlowId,
    /// All of it.
    #[serde(flatten)]
    pub volume: Volume,
    /// Packets whose opcode has LAST or ONLY.
    pub messages: u64,
}

/// A window and its content.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Window {
    /// When it begins.
    pub start_ns: u64,
    /// Frames of any kind.
    pub frames: u64,
    /// RoCEv2 packets.
    #[serde(flatten)]
    pub volume: Volume,
    /// Packets whose opcode has LAST or ONLY.
    pub messages: u64,
    /// Flows with a packet in it.
    pub flows: u64,
}

/// A flow, window by window.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The flow.
    #[serde(flatten)]
    pub id: FlowId,
    /// The windows in which it has packets.
    pub windows: Vec<SeriesWindow>,
}

/// A flow in a window.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SeriesWindow {
    /// When the window begins.
    pub start_ns: u64,
    /// The flow's share.
    #[serde(flatten)]
    pub volume: Volume,
    /// Its frame bytes as a rate over the window, in bits a second.
    pub frame_bps: f64,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionTruth {
    /// Name of its group.
    pub group: String,
    /// Its transport service.
    pub service: &'static str,
    /// Whether CM datagrams set it up.
    pub cm: bool,
    /// Which life of its two queue pairs it is, from 1: numbers of queue pairs are used again.
    pub life: u32,
    /// Path MTU in bytes.
    pub path_mtu: u32,
    /// VLAN ids.
    pub vlan: Vec<u16>,
    /// The side that sends requests.
    pub a: EndTruth,
    /// The side that answers; in a bidirectional group it sends requests as well.
    pub b: EndTruth,
    /// What `a` sent.
    pub a_to_b: Direction,
    /// What `b` sent.
    pub b_to_a: Direction,
}

/// One side of a connection.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EndTruth {
    /// Its address.
    pub ip: IpAddr,
    /// Its queue pair.
    pub qpn: u32,
    /// Its UDP source port.
    pub udp_src_port: u16,
    /// First PSN of its requests; `None` if it sends none.
    pub start_psn: Option<u32>,
}

/// The name of a service.
pub(super) const fn service_name(service: Service) -> &'static str {
    match service {
        Service::Rc => "RC",
        Service::Uc => "UC",
        Service::Ud => "UD",
    }
}
