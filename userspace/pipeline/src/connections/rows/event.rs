//! Events of a connection, which become rows of `events`.

use crate::connections::pairing::key::DirectionKey;
use crate::connections::requests::recovery::{Episode, RnrEpisode};
use rocescope_wire::Psn;
use rocescope_wire::cm::RejectReason;

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossLocation {
    /// It never passed here, and was retransmitted.
    Upstream,
    /// It passed, and the responder requested it again.
    Downstream,
}

/// The evidence for a lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossEvidence {
    /// The receiver requested it again.
    Nak,
    /// It passed without its payload.
    Trimmed,
    /// It left a gap, and was retransmitted later.
    Gap,
    /// It never came, and its service does not repeat packets.
    Never,
    /// It was skipped while the packets around it were retransmitted.
    Skipped,
    /// A READ response was requested again.
    Response,
    /// It was retransmitted after a wait so long that it, or its answer, must have been lost.
    Timeout,
}

/// An event of the direction with this key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) time_ns: u64,
    pub(crate) key: DirectionKey,
    pub(crate) udp_src_port: u16,
    pub(crate) detail: EventDetail,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum EventDetail {
    /// A retransmission episode ended.
    Retransmission(Episode),
    /// A responder became ready.
    Rnr(RnrEpisode),
    /// A NAK that ends the connection.
    Fatal { psn: Psn, syndrome: u8 },
    /// The sender repeats by its timer, and nothing answers.
    Unanswered { psn: Psn, tries: u32 },
    /// The sender gave up.
    RetryExhausted { psn: Psn, tries: u32, rnr: bool },
    /// Packets were lost.
    Loss {
        psn: Psn,
        packets: u64,
        location: LossLocation,
        evidence: LossEvidence,
    },
    /// CM set the connection up: REQ to REP, REP to RTU.
    Connect {
        reply_ns: Option<u64>,
        ready_ns: Option<u64>,
    },
    /// CM closed it.
    Disconnect,
    /// CM refused it.
    Reject(RejectReason),
}
