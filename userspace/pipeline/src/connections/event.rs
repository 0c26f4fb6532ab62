//! What happens to a connection at an instant and becomes a row of `events`.

use super::key::DirectionKey;
use super::recovery::{Episode, RnrEpisode};
use rocescope_wire::Psn;
use rocescope_wire::cm::RejectReason;

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossLocation {
    /// It never passed here, and was retransmitted.
    Upstream,
    /// It passed, and the responder still asked for it.
    Downstream,
}

/// How a lost packet is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvidence {
    /// The receiver asked for it.
    Nak,
    /// It left a gap, and was retransmitted later.
    Gap,
    /// It was skipped where all around it was retransmitted.
    Skipped,
    /// A READ response that passed was asked for again.
    Response,
    /// It was retransmitted after so long a wait that it, or its answer, must have been lost.
    Timeout,
}

/// One happening, of the direction with this key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) time_ns: u64,
    pub(crate) key: DirectionKey,
    pub(crate) udp_src_port: u16,
    pub(crate) detail: EventDetail,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum EventDetail {
    /// A run of retransmissions is over.
    Retransmission(Episode),
    /// A responder became ready.
    Rnr(RnrEpisode),
    /// A NAK that ends the connection.
    Fatal { psn: Psn, syndrome: u8 },
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
    /// CM took it down.
    Disconnect,
    /// CM refused it.
    Reject(RejectReason),
}
