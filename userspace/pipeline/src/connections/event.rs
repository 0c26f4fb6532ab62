//! What happens to a connection at an instant and becomes a row of `events`.

use super::episode::{Episode, RnrEpisode};
use super::key::Key;
use rocescope_wire::Psn;
use rocescope_wire::cm::RejectReason;

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// It never passed here, and was sent again.
    BeforeTap,
    /// It passed, and the receiver still asked for it.
    AfterTap,
}

/// How a lost packet is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The receiver asked for it.
    Nak,
    /// It left a gap, and was sent again later.
    Gap,
    /// It was left out where all around it was sent again.
    LeftOut,
    /// A READ response that passed was asked for again.
    Response,
    /// It was sent again after so long a wait that it, or its answer, must have been lost.
    Timeout,
}

/// One happening, of the direction with this key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) time_ns: u64,
    pub(crate) key: Key,
    pub(crate) udp_src_port: u16,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A run of retransmissions is over.
    Retransmission(Episode),
    /// A receiver became ready.
    Rnr(RnrEpisode),
    /// A NAK that ends the connection.
    Fatal { psn: Psn, syndrome: u8 },
    /// The sender gave up.
    RetryExhausted { psn: Psn, tries: u32, rnr: bool },
    /// Packets were lost.
    Loss {
        psn: Psn,
        packets: u64,
        place: Where,
        evidence: Evidence,
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
