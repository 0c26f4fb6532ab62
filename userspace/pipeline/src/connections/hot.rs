//! The ordinary state of a direction, in four cache lines.
//!
//! Almost every run is the same: requests that continue where the last ones ended, an ACK for what
//! has passed. Of all that a [`Direction`] holds, this needs a twentieth. So a direction at which
//! nothing is open (no gap, nothing sent again, nobody refused) is *light*: what such runs change
//! lies here, counts as what is to be added, and the direction itself is not looked at. Whatever else
//! happens first [settles](Hot::settle) what lies here into the direction, where all rules work, and
//! [lightens](Hot::lighten) it afterwards, if nothing is open then.
//!
//! A light direction gives the same answers as one that is never light: where the short form could
//! not say the same, it says nothing, and the run goes the long way (`ordinary`).

use super::congestion::Piece;
use super::direction::{Direction, PairedBy};
use super::key::Key;
use super::pass::SPACING_NS;
use super::sequence::Place;
use super::twice::Latest;
use super::waiting::{Answer, Request};
use rocescope_wire::{Psn, Stream, Transport};

/// From so many answers on, a pairing is certain.
pub(crate) const CERTAIN: u8 = 4;
/// Nobody.
const NONE: u32 = u32::MAX;
/// Round trips and completions gathered before the direction is visited.
const GATHERED: usize = 4;
/// A round trip that was not measured.
pub(super) const UNKNOWN: u32 = u32::MAX;
/// Messages begin less than this far back.
pub(super) const FAR: u32 = 1 << 31;

/// What a light direction is in.
pub(super) mod state {
    /// Its packets are counted here.
    pub(crate) const LIGHT: u16 = 1;
    /// Its pairing is certain: its answers are its peer's.
    pub(crate) const CERTAIN: u16 = 2;
    /// Its requests are in order, and nothing of them is open.
    pub(crate) const REQUESTS: u16 = 4;
    /// It uses several UDP source ports.
    pub(crate) const ANY_PORT: u16 = 8;
    /// One request waits, here.
    pub(crate) const ONE_WAITS: u16 = 16;
    /// Requests wait in the direction.
    pub(crate) const WAIT: u16 = 32;
    /// The time of the one that waits is exact, and it passed once.
    pub(crate) const CLEAR: u16 = 64;
    /// The run seen last is not in the direction's pass yet.
    pub(crate) const RUN: u16 = 128;
    /// The piece of the rate came long after the one before.
    pub(crate) const RATE_ALONE: u16 = 256;
    /// The effect of a CNP is being measured: the rate is the direction's.
    pub(crate) const RATE_THERE: u16 = 512;
}

/// What ordinary runs need of a direction. The first line finds it, the second counts, the others are
/// for requests and who acknowledges them.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Hot {
    pub(crate) key: Key,
    pub(super) peer: u32,
    pub(super) mtu: u16,
    pub(super) udp_src_port: u16,

    pub(super) last_ns: u64,
    /// The PSN that continues the requests: behind the highest, in the pass, as the receiver expects.
    pub(super) next: Place,
    pub(super) acked: Place,
    pub(super) answered_ns: u64,
    pub(super) frame_bytes: u32,
    /// Of requests; all of it is new.
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
    /// The message that is being sent, the low bits of its first place.
    pub(super) message_ns: u64,
    pub(super) message_first: u32,
    pub(super) message_bytes: u32,
    pub(super) rate_piece: u64,
    /// The run seen last ends at `next` and `last_request_ns`.
    pub(super) run_first_ns: u64,
    pub(super) run_first: u32,
    /// The request that waits: low bits of its places, when it began, how long it took to send.
    pub(super) waiting_first: u32,
    pub(super) waiting_last: u32,
    pub(super) waiting_sent_ns: u32,
    pub(super) waiting_begun_ns: u64,

    pub(super) round_trips: [u32; GATHERED],
    pub(super) completions: [u32; GATHERED],
    /// What passed longer ago tells nothing of what passes now: neither a copy nor still on its way.
    pub(super) forget_ns: u32,
    /// Where all runs were seen, and the last one that acknowledged: what tells their copies.
    pub(super) interface: u32,
    pub(super) ack_first_ns: u64,
    pub(super) ack_offset_ns: u32,
    pub(super) ack_first_psn: u32,
    pub(super) ack_last_psn: u32,
    pub(super) ttl: u8,
    pub(super) gathered: u8,
}

const _: () = assert!(core::mem::size_of::<Hot>() == 256);

impl Hot {
    pub(crate) fn new(key: Key) -> Self {
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
            waiting_first: 0,
            waiting_last: 0,
            waiting_sent_ns: 0,
            waiting_begun_ns: 0,
            round_trips: [0; GATHERED],
            completions: [0; GATHERED],
            forget_ns: 0,
            gathered: 0,
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
    pub(crate) const fn is_light(&self) -> bool {
        self.is(state::LIGHT)
    }

    /// The direction that answers, where there is one.
    #[inline]
    pub(crate) const fn peer(&self) -> Option<u32> {
        if self.peer == NONE {
            None
        } else {
            Some(self.peer)
        }
    }

    /// Its direction is gone.
    pub(crate) const fn leave(&mut self) {
        // A QPN has 24 bits: no run has this key.
        self.key.flow.dst_qpn = u32::MAX;
        self.peer = NONE;
        self.state = 0;
    }

    /// Reads a little of the lines that count.
    #[inline]
    pub(crate) const fn touch(&self) -> u64 {
        self.ack_first_ns ^ self.last_ns ^ self.key.flow.dst_qpn as u64
    }

    /// Reads a little of the lines of requests.
    #[inline]
    pub(crate) const fn touch_requests(&self) -> u64 {
        self.last_ns ^ self.last_request_ns ^ self.forget_ns as u64
    }

    /// Keeps here what ordinary runs change, if nothing is open.
    pub(crate) fn lighten(&mut self, cold: &Direction, duplicate_ns: u64) {
        self.state = 0;
        let Some(peer) = cold.peer.filter(|_| cold.counts.packets > 0) else {
            return;
        };
        let Some(seen_at) = cold.copies.seen_at() else {
            return;
        };
        (self.interface, self.ttl) = seen_at;
        (self.peer, self.mtu) = (peer, cold.mtu);
        (self.transport, self.udp_src_port) = (cold.transport, cold.udp_src_port);
        self.last_ns = cold.last_ns;
        (self.frame_bytes, self.payload_bytes) = (0, 0);
        (self.acks, self.requests, self.messages) = (0, 0, 0);
        (self.sizes, self.gathered) = (0, 0);
        let is_certain = cold.paired_by == PairedBy::Cm || cold.votes >= CERTAIN;
        self.state = state::LIGHT
            | if is_certain { state::CERTAIN } else { 0 }
            | if cold.ports_differ {
                state::ANY_PORT
            } else {
                0
            };
        if let Some(forget_ns) = cold.forget_ns(duplicate_ns) {
            self.lighten_requests(cold, forget_ns);
        }
    }

    fn lighten_requests(&mut self, cold: &Direction, forget_ns: u32) {
        let next = cold.requests.high() + 1;
        let behind = next.wrapping_sub(cold.message_first);
        let Ok(message_bytes) = u32::try_from(cold.message_bytes) else {
            return;
        };
        if behind >= u64::from(FAR) {
            return;
        }
        self.state |= state::REQUESTS;
        if !cold.waiting.keeps_none() {
            self.state |= state::WAIT;
        }
        self.forget_ns = forget_ns;
        (self.next, self.acked) = (next, cold.acked);
        (self.answered_ns, self.last_request_ns) = (cold.answered_ns, cold.last_request_ns);
        (self.message_ns, self.message_first) = (cold.message_ns, cold.message_first as u32);
        self.message_bytes = message_bytes;
        self.size = cold.sizes.class();
        self.take_rate(cold);
    }

    pub(super) const fn take_rate(&mut self, cold: &Direction) {
        self.state &= !(state::RATE_ALONE | state::RATE_THERE);
        match cold.rate.newest() {
            Some(Piece { number, bytes, .. }) => {
                (self.rate_piece, self.rate_bytes) = (number, bytes);
            }
            None => self.state |= state::RATE_THERE,
        }
    }

    pub(super) const fn give_rate(&self, cold: &mut Direction) {
        if !self.is(state::RATE_THERE) {
            cold.rate.set_newest(Piece {
                number: self.rate_piece,
                bytes: self.rate_bytes,
                is_alone: self.is(state::RATE_ALONE),
            });
        }
    }

    /// The request that waits here.
    pub(super) fn waiting(&self) -> Request {
        let last = self.waiting_last_place();
        let first = last - u64::from(self.waiting_last.wrapping_sub(self.waiting_first));
        Request {
            first,
            last,
            begun_ns: self.waiting_begun_ns,
            sent_ns: self.waiting_begun_ns + u64::from(self.waiting_sent_ns),
            answer: Answer::Acknowledge,
            asked_from: first,
            clear: self.is(state::CLEAR),
            done: false,
        }
    }

    #[inline]
    pub(super) const fn waiting_last_place(&self) -> Place {
        self.next - (self.next as u32).wrapping_sub(self.waiting_last) as u64
    }

    /// A round trip, or [`UNKNOWN`], and a completion time: gathered here first.
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

    /// What was gathered goes to its direction.
    #[cold]
    pub(super) fn give_samples(&mut self, cold: &mut Direction) {
        let pairs = self.round_trips.iter().zip(&self.completions);
        for (round_trip, completion) in pairs.take(self.gathered as usize) {
            if *round_trip != UNKNOWN {
                cold.latencies.rtt.add(u64::from(*round_trip));
            }
            cold.latencies.completion.add(u64::from(*completion));
        }
        self.gathered = 0;
    }

    /// The run seen last becomes part of the pass.
    pub(super) fn give_run(&mut self, cold: &mut Direction) {
        if self.is(state::RUN) {
            let last = self.next - 1;
            let first = last - u64::from((last as u32).wrapping_sub(self.run_first));
            let times = (self.run_first_ns, self.last_request_ns);
            cold.pass.take((first, last), times, true);
            self.state &= !state::RUN;
        }
    }

    /// All that lies here goes to its direction, which is light no more.
    pub(crate) fn settle(&mut self, cold: &mut Direction) {
        let counts = &mut cold.counts;
        counts.packets += u64::from(self.acks) + u64::from(self.requests);
        counts.frame_bytes += u64::from(self.frame_bytes);
        counts.payload_bytes += u64::from(self.payload_bytes);
        counts.unique_payload_bytes += u64::from(self.payload_bytes);
        counts.acks += u64::from(self.acks);
        counts.request_packets += u64::from(self.requests);
        counts.messages += u64::from(self.messages);
        counts.unique_messages += u64::from(self.messages);
        cold.last_ns = self.last_ns;
        let seen_at = (self.interface, self.ttl);
        if self.acks > 0 {
            cold.copies.set(
                seen_at,
                &Latest {
                    stream: Stream::Acknowledge,
                    first_ns: self.ack_first_ns,
                    last_ns: self
                        .ack_first_ns
                        .saturating_add(u64::from(self.ack_offset_ns)),
                    first_psn: self.ack_first_psn,
                    last_psn: self.ack_last_psn,
                },
            );
        }
        if self.requests > 0 {
            let psn = |place: u32| Psn::new(place).get();
            cold.copies.set(
                seen_at,
                &Latest {
                    stream: Stream::Request,
                    first_ns: self.run_first_ns,
                    last_ns: self.last_request_ns,
                    first_psn: psn(self.run_first),
                    last_psn: psn((self.next - 1) as u32),
                },
            );
        }
        if self.is(state::REQUESTS) {
            self.give_run(cold);
            cold.continue_at(self.next);
            (cold.acked, cold.answered_ns) = (self.acked, self.answered_ns);
            cold.last_request_ns = self.last_request_ns;
            let behind = (self.next as u32).wrapping_sub(self.message_first);
            cold.message_first = self.next - u64::from(behind);
            cold.message_ns = self.message_ns;
            cold.message_bytes = u64::from(self.message_bytes);
            cold.sizes.add_class(self.size, self.sizes);
            self.give_rate(cold);
            if self.is(state::ONE_WAITS) {
                cold.waiting.push(self.waiting());
            }
            if self.gathered > 0 {
                self.give_samples(cold);
            }
        }
        self.state = 0;
    }
}

impl Direction {
    /// Where nothing of the requests is open: how long ago a packet must have passed to tell nothing
    /// of what passes now.
    fn forget_ns(&self, duplicate_ns: u64) -> Option<u32> {
        let next = self.requests.high() + 1;
        let has_begun = self.requests.is_started()
            && self.counts.request_packets > 0
            && self.start.is_some()
            && !self.start_is_open;
        let is_in_order = self.requests.gaps().is_empty()
            && self.pass.next() == next
            && self.pass.is_clear(self.last_request_ns)
            && self.receiver.is_clear(next);
        let is_quiet = self.episode.is_none()
            && self.doubt.is_none()
            && self.rnr.is_none()
            && self.open_read.is_none()
            && (self.tries, self.try_interval_ns, self.gave_up) == (0, 0, false);
        let round_trip_ns = self.latencies.min_rtt_ns()?;
        let forget_ns = duplicate_ns.max(SPACING_NS).max(round_trip_ns);
        let forget_ns = u32::try_from(forget_ns).ok()?;
        (has_begun && is_in_order && is_quiet).then_some(forget_ns)
    }

    /// All requests before `next` passed in order.
    const fn continue_at(&mut self, next: Place) {
        self.requests.continue_to(next - 1);
        self.pass.reserve(next - 1);
        self.receiver.reserve(next - 1);
    }
}
