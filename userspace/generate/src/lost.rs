//! Lost packets: place, time and kind.

use super::tapped::Content;
use serde::Serialize;

/// Where a packet was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossPoint {
    /// Between its sender and the tap.
    Upstream,
    /// Between the tap and its receiver.
    Downstream,
    /// By a bit error upstream of the tap: it passes, and its receiver drops it.
    Damaged,
    /// Between the tap and the capture; its receiver got it.
    Mirror,
    /// Nowhere: it was so late that it passed after its own retransmission. At the tap this looks like a
    /// loss and a duplicate retransmission.
    Late,
}

/// The kind of a lost packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketKind {
    /// A request.
    Request,
    /// A packet of a READ response, or an atomic one.
    Response,
    /// An acknowledgement, positive or not.
    Acknowledge,
}

/// A packet that was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LostPacket {
    /// Its PSN.
    pub psn: u32,
    /// When it was lost, in nanoseconds since the scenario began.
    pub at_ns: u64,
    /// Where.
    pub place: LossPoint,
    /// What it was.
    pub of: PacketKind,
    /// A later packet, with a higher PSN and sent before its sender went back, passed the tap.
    pub followed: bool,
    /// Its receiver would have accepted it: it was the next in order.
    pub awaited: bool,
    /// A NAK that names it, or a READ that asks for it again, passed the tap.
    pub refused: bool,
    /// The tap could know of it: a packet with a higher PSN passed before it was repeated, or a request to repeat it.
    pub visible: bool,
    /// The offset from the first PSN, and how often its sender had gone back by then.
    #[serde(skip)]
    pub(super) sequence: u64,
    #[serde(skip)]
    pub(super) go: u32,
    /// Packets that pass now still prove that it is missing: its sender has not repeated it.
    #[serde(skip)]
    pub(super) open: bool,
}

impl LostPacket {
    pub(super) const fn new(now: u64, place: LossPoint, of: PacketKind, sequence: u64, go: u32) -> Self {
        Self {
            psn: 0,
            at_ns: now,
            place,
            of,
            followed: false,
            awaited: false,
            refused: false,
            visible: false,
            sequence,
            go,
            open: true,
        }
    }

    /// The loss of this packet; `None` for those that are not listed.
    pub(super) fn of(content: &Content, now: u64, place: LossPoint) -> Option<Self> {
        match content {
            Content::Request(request) => Some(Self {
                open: !request.repair,
                ..Self::new(now, place, PacketKind::Request, request.sequence, request.go)
            }),
            Content::Reply(replied) => Some(Self::new(
                now,
                place,
                replied.packet_kind(),
                replied.sequence,
                replied.go,
            )),
            Content::Cnp | Content::Session(_) => None,
        }
    }
}
