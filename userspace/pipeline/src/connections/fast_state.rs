//! The part of a direction that the fast path needs, in four cache lines.
//!
//! Almost every run is alike: requests that continue where the last ones ended, or an ACK for packets that have passed.
//! They need a twentieth of a [`Direction`]. While nothing is open at a direction (no gap, no retransmission, no NAK),
//! its fast state is *active*: such runs change only this state, which holds sums to be added to the direction. Any
//! other run first [flushes](FastState::flush) these sums into the direction, follows the full rules there, and
//! [loads](FastState::load) the fast state again if nothing is open then.
//!
//! Both paths give the same results: if the fast path could not, it declines the run (`fast_path`).

use super::congestion::Piece;
use super::direction::{Direction, PairedBy};
use super::key::DirectionKey;
use super::mirror_dedup::RunIdentity;
use super::outstanding::{Answer, OutstandingRequest};
use super::psn_tracker::ExtendedPsn;
use super::send_sequence::SPACING_NS;
use rocescope_wire::{Psn, Stream, TrafficClass, Transport};

/// The number of answers that make a pairing certain.
pub(crate) const CERTAIN: u8 = 4;
/// No peer.
const NONE: u32 = u32::MAX;
/// Round trips and completions collected before the direction is visited.
const GATHERED: usize = 4;
/// A round trip that was not measured.
pub(super) const UNKNOWN: u32 = u32::MAX;
/// The maximum distance to the start of a message.
pub(super) const FAR: u32 = 1 << 31;

/// Flags of an active fast state.
pub(super) mod state {
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
    pub(super) peer: u32,
    pub(super) mtu: u16,
    pub(super) udp_src_port: u16,

    pub(super) last_ns: u64,
    /// The next PSN of the requests: after the highest, in the send sequence, as the responder expects.
    pub(super) next: ExtendedPsn,
    pub(super) acked: ExtendedPsn,
    pub(super) answered_ns: u64,
    pub(super) frame_bytes: u32,
    /// Payload of requests; all of it is new.
    pub(super) payload_bytes: u32,
    pub(super) acks: u32,
    pub(super) requests: u32,
    pub(super) messages: u32,
    pub(super) rate_bytes: u32,
    /// Messages of the size counted last.
    pub(super) sizes: u32,
    pub(super) state: u16,
    pub(super) transport: Transport,
    pub(super) size: u8,

    pub(super) last_request_ns: u64,
    /// The message that is being sent, the low bits of its first PSN.
    pub(super) message_ns: u64,
    pub(super) message_first: u32,
    pub(super) message_bytes: u32,
    pub(super) rate_piece: u64,
    /// The run seen last ends at `next` and `last_request_ns`.
    pub(super) run_first_ns: u64,
    pub(super) run_first: u32,
    /// The request that waits: low bits of its PSNs, when it began, how long it took to send.
    pub(super) outstanding_first: u32,
    pub(super) outstanding_last: u32,
    pub(super) outstanding_sent_ns: u32,
    pub(super) outstanding_begun_ns: u64,

    pub(super) round_trips: [u32; GATHERED],
    pub(super) completions: [u32; GATHERED],
    /// Packets that passed longer ago are irrelevant: they are neither copies nor still in flight.
    pub(super) forget_ns: u32,
    /// Where all runs were seen, and the last ACK: identifies mirror duplicates.
    pub(super) interface: u32,
    pub(super) ack_first_ns: u64,
    pub(super) ack_offset_ns: u32,
    pub(super) ack_first_psn: u32,
    pub(super) ack_last_psn: u32,
    pub(super) ttl: u8,
    pub(super) gathered: u8,
    /// The classes of the last requests and ACKs: a run of another class takes the full path.
    pub(super) data_class: TrafficClass,
    pub(super) ack_class: TrafficClass,
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
    pub(super) const fn is(&self, bits: u16) -> bool {
        self.state & bits == bits
    }

    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        self.is(state::ACTIVE)
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

    /// Loads the fields that in-order runs change, if nothing is open.
    pub(crate) fn load(&mut self, direction: &Direction, duplicate_ns: u64) {
        self.state = 0;
        let Some(peer) = direction.peer.filter(|_| {
            direction.counts.packets > 0 && direction.marked.is_none() && direction.captured_twice.is_none()
        }) else {
            return;
        };
        let Some(interface_and_ttl) = direction.mirror_dedup.interface_and_ttl() else {
            return;
        };
        (self.interface, self.ttl) = interface_and_ttl;
        let classes = &direction.classes;
        (self.data_class, self.ack_class) = (classes.last_data, classes.last_acknowledgement);
        (self.peer, self.mtu) = (peer, direction.mtu);
        (self.transport, self.udp_src_port) = (direction.transport, direction.udp_src_port);
        self.last_ns = direction.last_ns;
        (self.frame_bytes, self.payload_bytes) = (0, 0);
        (self.acks, self.requests, self.messages) = (0, 0, 0);
        (self.sizes, self.gathered) = (0, 0);
        // An acknowledgement that passes a missing response makes the requester go back.
        let is_certain = direction.response_recovery.is_none()
            && (direction.paired_by == PairedBy::Cm || direction.votes >= CERTAIN);
        self.state = state::ACTIVE
            | if is_certain { state::CERTAIN } else { 0 }
            | if direction.ports_differ { state::ANY_PORT } else { 0 };
        if let Some(forget_ns) = direction.forget_ns(duplicate_ns) {
            self.load_requests(direction, forget_ns);
        }
    }

    fn load_requests(&mut self, direction: &Direction, forget_ns: u32) {
        let next = direction.requests.high() + 1;
        let behind = next.wrapping_sub(direction.message_first);
        let Ok(message_bytes) = u32::try_from(direction.message_bytes) else {
            return;
        };
        if behind >= u64::from(FAR) {
            return;
        }
        self.state |= state::REQUESTS;
        if !direction.outstanding.keeps_none() {
            self.state |= state::OUTSTANDING;
        }
        self.forget_ns = forget_ns;
        (self.next, self.acked) = (next, direction.acked);
        (self.answered_ns, self.last_request_ns) = (direction.answered_ns, direction.last_request_ns);
        (self.message_ns, self.message_first) = (direction.message_ns, direction.message_first as u32);
        self.message_bytes = message_bytes;
        self.size = direction.sizes.class();
        self.load_rate(direction);
    }

    pub(super) const fn load_rate(&mut self, direction: &Direction) {
        self.state &= !(state::RATE_ALONE | state::RATE_IN_DIRECTION);
        match direction.rate.newest() {
            Some(Piece { number, bytes, .. }) => {
                (self.rate_piece, self.rate_bytes) = (number, bytes);
            }
            None => self.state |= state::RATE_IN_DIRECTION,
        }
    }

    pub(super) const fn flush_rate(&self, direction: &mut Direction) {
        if !self.is(state::RATE_IN_DIRECTION) {
            direction.rate.set_newest(Piece {
                number: self.rate_piece,
                bytes: self.rate_bytes,
                is_alone: self.is(state::RATE_ALONE),
            });
        }
    }

    /// The request that waits here.
    pub(super) fn outstanding(&self) -> OutstandingRequest {
        let last = self.outstanding_last_psn();
        let first = last - u64::from(self.outstanding_last.wrapping_sub(self.outstanding_first));
        OutstandingRequest {
            first,
            last,
            begun_ns: self.outstanding_begun_ns,
            sent_ns: self.outstanding_begun_ns + u64::from(self.outstanding_sent_ns),
            answer: Answer::Acknowledge,
            asked_from: first,
            unambiguous: self.is(state::UNAMBIGUOUS),
            is_late: false,
            completed: false,
        }
    }

    #[inline]
    pub(super) const fn outstanding_last_psn(&self) -> ExtendedPsn {
        self.next - (self.next as u32).wrapping_sub(self.outstanding_last) as u64
    }

    /// Collects a round trip, or [`UNKNOWN`], and a completion time.
    #[inline]
    pub(super) fn sample(&mut self, round_trip: u32, completion: u32) -> bool {
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

    /// Moves the collected times to the direction.
    #[cold]
    pub(super) fn flush_samples(&mut self, direction: &mut Direction) {
        let pairs = self.round_trips.iter().zip(&self.completions);
        for (round_trip, completion) in pairs.take(self.gathered as usize) {
            if *round_trip != UNKNOWN {
                direction.latencies.rtt.add(u64::from(*round_trip));
            }
            direction.latencies.completion.add(u64::from(*completion));
        }
        self.gathered = 0;
    }

    /// Adds the last run to the send sequence.
    pub(super) fn flush_run(&mut self, direction: &mut Direction) {
        if self.is(state::RUN_PENDING) {
            let last = self.next - 1;
            let first = last - u64::from((last as u32).wrapping_sub(self.run_first));
            let times = (self.run_first_ns, self.last_request_ns);
            direction.send_sequence.take((first, last), times, true);
            self.state &= !state::RUN_PENDING;
        }
    }

    /// Adds all sums to the direction; the fast state is no longer active.
    pub(crate) fn flush(&mut self, direction: &mut Direction) {
        let counts = &mut direction.counts;
        counts.packets += u64::from(self.acks) + u64::from(self.requests);
        counts.frame_bytes += u64::from(self.frame_bytes);
        counts.payload_bytes += u64::from(self.payload_bytes);
        counts.unique_payload_bytes += u64::from(self.payload_bytes);
        counts.acks += u64::from(self.acks);
        counts.request_packets += u64::from(self.requests);
        counts.messages += u64::from(self.messages);
        counts.unique_messages += u64::from(self.messages);
        direction.classes.add_data(u64::from(self.requests), self.data_class);
        direction.last_ns = self.last_ns;
        let interface_and_ttl = (self.interface, self.ttl);
        if self.acks > 0 {
            direction.mirror_dedup.set(
                interface_and_ttl,
                &RunIdentity {
                    stream: Stream::Acknowledge,
                    first_ns: self.ack_first_ns,
                    last_ns: self.ack_first_ns.saturating_add(u64::from(self.ack_offset_ns)),
                    first_psn: self.ack_first_psn,
                    last_psn: self.ack_last_psn,
                },
            );
        }
        if self.requests > 0 {
            let psn = |psn: u32| Psn::new(psn).get();
            direction.mirror_dedup.set(
                interface_and_ttl,
                &RunIdentity {
                    stream: Stream::Request,
                    first_ns: self.run_first_ns,
                    last_ns: self.last_request_ns,
                    first_psn: psn(self.run_first),
                    last_psn: psn((self.next - 1) as u32),
                },
            );
        }
        if self.is(state::REQUESTS) {
            self.flush_run(direction);
            direction.continue_at(self.next);
            if self.acked > direction.acked {
                direction.acked_before = direction.acked;
            }
            (direction.acked, direction.answered_ns) = (self.acked, self.answered_ns);
            direction.last_request_ns = self.last_request_ns;
            let behind = (self.next as u32).wrapping_sub(self.message_first);
            direction.message_first = self.next - u64::from(behind);
            direction.message_ns = self.message_ns;
            direction.message_bytes = u64::from(self.message_bytes);
            direction.sizes.add_class(self.size, self.sizes);
            self.flush_rate(direction);
            if self.is(state::ONE_OUTSTANDING) {
                direction.outstanding.push(self.outstanding());
            }
            if self.gathered > 0 {
                self.flush_samples(direction);
            }
        }
        self.state = 0;
    }
}

impl Direction {
    /// With no open requests: how long ago a packet must have passed to be irrelevant.
    fn forget_ns(&self, duplicate_ns: u64) -> Option<u32> {
        let next = self.requests.high() + 1;
        let has_begun = self.requests.is_started()
            && self.counts.request_packets > 0
            && self.start.is_some()
            && !self.start_is_open;
        let is_in_order = self.requests.gaps().is_empty()
            && self.send_sequence.next() == next
            && self.send_sequence.is_clear(self.last_request_ns)
            && self.responder.is_clear(next);
        let is_quiet = self.episode.is_none()
            && self.pending_timeout.is_none()
            && self.rnr.is_none()
            && self.open_read.is_none()
            && self.sprayed.as_ref().is_none_or(|sprayed| sprayed.is_clear())
            && self.undecided.is_clear()
            && (self.tries, self.try_interval_ns, self.retries_exhausted) == (0, 0, false);
        let round_trip_ns = self.latencies.min_rtt_ns()?;
        let forget_ns = duplicate_ns.max(SPACING_NS).max(round_trip_ns);
        let forget_ns = u32::try_from(forget_ns).ok()?;
        (has_begun && is_in_order && is_quiet).then_some(forget_ns)
    }

    /// All requests before `next` passed in order.
    const fn continue_at(&mut self, next: ExtendedPsn) {
        self.requests.continue_to(next - 1);
        self.send_sequence.reserve(next - 1);
        self.responder.reserve(next - 1);
    }
}
