//! The part of a direction that the fast path needs, in four cache lines.
//!
//! Almost every run is alike: requests that continue where the last ones ended, or an ACK for packets that have passed.
//! They need a twentieth of a [`Direction`]. While nothing is open at a direction (no gap, no retransmission, no NAK),
//! its fast state is *active*: such runs change only this state, which holds sums to be added to the direction. Any
//! other run first [flushes](FastState::flush) these sums into the direction, follows the full rules there, and
//! [loads](FastState::load) the fast state again if nothing is open then.
//!
//! Both paths give the same results: if the fast path could not, it declines the run (`fast_path`).

use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::pairing::key::DirectionKey;
use crate::connections::requests::outstanding::{Answer, OutstandingRequest};
use rocescope_wire::{TrafficClass, Transport};

/// No peer.
const NONE: u32 = u32::MAX;
/// Round trips and completions collected before the direction is visited.
const GATHERED: usize = 4;
/// A round trip that was not measured.
pub(crate) const UNKNOWN: u32 = u32::MAX;
/// The maximum distance to the start of a message.
pub(crate) const FAR: u32 = 1 << 31;

/// Flags of an active fast state.
pub(crate) mod bits {
    /// Its packets are counted here.
    pub(crate) const ACTIVE: u16 = 1;
    /// Its pairing is certain.
    pub(crate) const CERTAIN: u16 = 2;
    /// Its requests are in order, and nothing of them is open.
    pub(crate) const REQUESTS: u16 = 4;
    /// It uses several UDP source ports.
    pub(crate) const ANY_PORT: u16 = 8;
    /// One request waits, here.
    pub(crate) const ONE_OUTSTANDING: u16 = 16;
    /// Requests wait in the direction.
    pub(crate) const OUTSTANDING: u16 = 32;
    /// The time of the one that waits is exact, and it passed once.
    pub(crate) const UNAMBIGUOUS: u16 = 64;
    /// The last run is not in the direction's send sequence yet.
    pub(crate) const RUN_PENDING: u16 = 128;
    /// The rate piece is long after the previous one.
    pub(crate) const RATE_ALONE: u16 = 256;
    /// The effect of a CNP is being measured: the rate is the direction's.
    pub(crate) const RATE_IN_DIRECTION: u16 = 512;
}

/// The part of a direction that in-order runs need. The first line finds it, the second counts, the others are for
/// requests and their acknowledgements.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct FastState {
    pub(crate) key: DirectionKey,
    pub(crate) peer: u32,
    pub(crate) mtu: u16,
    pub(crate) udp_src_port: u16,

    pub(crate) last_ns: u64,
    /// The next PSN of the requests: after the highest, in the send sequence, as the responder expects.
    pub(crate) next: ExtendedPsn,
    pub(crate) acked: ExtendedPsn,
    pub(crate) answered_ns: u64,
    pub(crate) frame_bytes: u32,
    /// Payload of requests; all of it is new.
    pub(crate) payload_bytes: u32,
    pub(crate) acks: u32,
    pub(crate) requests: u32,
    pub(crate) messages: u32,
    pub(crate) rate_bytes: u32,
    /// Messages of the size counted last.
    pub(crate) sizes: u32,
    pub(crate) state: u16,
    pub(crate) transport: Transport,
    pub(crate) size: u8,

    pub(crate) last_request_ns: u64,
    /// The message that is being sent, the low bits of its first PSN.
    pub(crate) message_ns: u64,
    pub(crate) message_first: u32,
    pub(crate) message_bytes: u32,
    pub(crate) rate_piece: u64,
    /// The run seen last ends at `next` and `last_request_ns`.
    pub(crate) run_first_ns: u64,
    pub(crate) run_first: u32,
    /// The request that waits: low bits of its PSNs, when it began, how long it took to send.
    pub(crate) outstanding_first: u32,
    pub(crate) outstanding_last: u32,
    pub(crate) outstanding_sent_ns: u32,
    pub(crate) outstanding_begun_ns: u64,

    pub(crate) round_trips: [u32; GATHERED],
    pub(crate) completions: [u32; GATHERED],
    /// Packets that passed longer ago are irrelevant: they are neither copies nor still in flight.
    pub(crate) forget_ns: u32,
    /// Where all runs were seen, and the last ACK: identifies mirror duplicates.
    pub(crate) interface: u32,
    pub(crate) ack_first_ns: u64,
    pub(crate) ack_offset_ns: u32,
    pub(crate) ack_first_psn: u32,
    pub(crate) ack_last_psn: u32,
    pub(crate) ttl: u8,
    pub(crate) gathered: u8,
    /// The classes of the last requests and ACKs: a run of another class takes the full path.
    pub(crate) data_class: TrafficClass,
    pub(crate) ack_class: TrafficClass,
}

const _: () = assert!(core::mem::size_of::<FastState>() == 256);

impl FastState {
    pub(crate) fn new(key: DirectionKey) -> Self {
        Self {
            key,
            peer: NONE,
            mtu: 0,
            udp_src_port: 0,
            last_ns: 0,
            next: 0,
            acked: 0,
            answered_ns: 0,
            frame_bytes: 0,
            payload_bytes: 0,
            acks: 0,
            requests: 0,
            messages: 0,
            rate_bytes: 0,
            sizes: 0,
            state: 0,
            transport: Transport::Vendor,
            size: 0,
            last_request_ns: 0,
            message_ns: 0,
            message_first: 0,
            message_bytes: 0,
            rate_piece: 0,
            run_first_ns: 0,
            run_first: 0,
            outstanding_first: 0,
            outstanding_last: 0,
            outstanding_sent_ns: 0,
            outstanding_begun_ns: 0,
            round_trips: [0; GATHERED],
            completions: [0; GATHERED],
            forget_ns: 0,
            gathered: 0,
            data_class: TrafficClass(0),
            ack_class: TrafficClass(0),
            ttl: 0,
            interface: 0,
            ack_first_ns: 0,
            ack_offset_ns: 0,
            ack_first_psn: 0,
            ack_last_psn: 0,
        }
    }

    #[inline]
    pub(crate) const fn is(&self, bits: u16) -> bool {
        self.state & bits == bits
    }

    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        self.is(bits::ACTIVE)
    }

    /// The direction that answers, if any.
    #[inline]
    pub(crate) const fn peer(&self) -> Option<u32> {
        if self.peer == NONE { None } else { Some(self.peer) }
    }

    /// Its direction is gone.
    pub(crate) const fn clear(&mut self) {
        // A QPN has 24 bits: no run has this key.
        self.key.flow.dst_qpn = u32::MAX;
        self.peer = NONE;
        self.state = 0;
    }

    /// Reads a byte of the counting lines.
    #[inline]
    pub(crate) const fn touch(&self) -> u64 {
        self.ack_first_ns ^ self.last_ns ^ self.key.flow.dst_qpn as u64
    }

    /// Reads a byte of the request lines.
    #[inline]
    pub(crate) const fn touch_requests(&self) -> u64 {
        self.last_ns ^ self.last_request_ns ^ self.forget_ns as u64
    }

    /// The request that waits here.
    pub(crate) fn outstanding(&self) -> OutstandingRequest {
        let last = self.outstanding_last_psn();
        let first = last - u64::from(self.outstanding_last.wrapping_sub(self.outstanding_first));
        OutstandingRequest {
            first,
            last,
            begun_ns: self.outstanding_begun_ns,
            sent_ns: self.outstanding_begun_ns + u64::from(self.outstanding_sent_ns),
            answer: Answer::Acknowledge,
            asked_from: first,
            unambiguous: self.is(bits::UNAMBIGUOUS),
            is_late: false,
            is_repaired: false,
            completed: false,
        }
    }

    #[inline]
    pub(crate) const fn outstanding_last_psn(&self) -> ExtendedPsn {
        self.next - (self.next as u32).wrapping_sub(self.outstanding_last) as u64
    }

    /// Collects a round trip, or [`UNKNOWN`], and a completion time.
    #[inline]
    pub(crate) fn sample(&mut self, round_trip: u32, completion: u32) -> bool {
        let at = self.gathered as usize;
        match (self.round_trips.get_mut(at), self.completions.get_mut(at)) {
            (Some(first), Some(second)) => {
                (*first, *second) = (round_trip, completion);
                self.gathered += 1;
                true
            }
            _ => false,
        }
    }
}
