//! What the fast state takes from its direction, and gives back.

use crate::connections::direction::{Direction, PairedBy};
use crate::connections::duplicates::by_source::RunIdentity;
use crate::connections::metrics::congestion::Piece;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::order::send_sequence::SPACING_NS;
use rocescope_wire::{Psn, Stream};

use crate::connections::fast::state::{FAR, FastState, UNKNOWN, bits};

/// The number of answers that make a pairing certain.
pub(crate) const CERTAIN: u8 = 4;

impl FastState {
    /// Loads the fields that in-order runs change, if nothing is open.
    pub(crate) fn load(&mut self, direction: &Direction, duplicate_ns: u64) {
        self.state = 0;
        let Some(peer) = direction.peer.filter(|_| {
            direction.counts.packets > 0 && direction.marked.is_none() && direction.duplicates_by_delay.is_none()
        }) else {
            return;
        };
        let Some(interface_and_ttl) = direction.duplicates_by_source.interface_and_ttl() else {
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
        self.state = bits::ACTIVE
            | if is_certain { bits::CERTAIN } else { 0 }
            | if direction.ports_differ { bits::ANY_PORT } else { 0 };
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
        self.state |= bits::REQUESTS;
        if !direction.outstanding.keeps_none() {
            self.state |= bits::OUTSTANDING;
        }
        self.forget_ns = forget_ns;
        (self.next, self.acked) = (next, direction.acked);
        (self.answered_ns, self.last_request_ns) = (direction.answered_ns, direction.last_request_ns);
        (self.message_ns, self.message_first) = (direction.message_ns, direction.message_first as u32);
        self.message_bytes = message_bytes;
        self.size = direction.sizes.class();
        self.load_rate(direction);
    }

    pub(crate) const fn load_rate(&mut self, direction: &Direction) {
        self.state &= !(bits::RATE_ALONE | bits::RATE_IN_DIRECTION);
        match direction.rate.newest() {
            Some(Piece { number, bytes, .. }) => {
                (self.rate_piece, self.rate_bytes) = (number, bytes);
            }
            None => self.state |= bits::RATE_IN_DIRECTION,
        }
    }

    pub(crate) const fn flush_rate(&self, direction: &mut Direction) {
        if !self.is(bits::RATE_IN_DIRECTION) {
            direction.rate.set_newest(Piece {
                number: self.rate_piece,
                bytes: self.rate_bytes,
                is_alone: self.is(bits::RATE_ALONE),
            });
        }
    }

    /// Moves the collected times to the direction.
    #[cold]
    pub(crate) fn flush_samples(&mut self, direction: &mut Direction) {
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
    pub(crate) fn flush_run(&mut self, direction: &mut Direction) {
        if self.is(bits::RUN_PENDING) {
            let last = self.next - 1;
            let first = last - u64::from((last as u32).wrapping_sub(self.run_first));
            let times = (self.run_first_ns, self.last_request_ns);
            direction.send_sequence.take((first, last), times, true);
            self.state &= !bits::RUN_PENDING;
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
            direction.duplicates_by_source.set(
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
            direction.duplicates_by_source.set(
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
        if self.is(bits::REQUESTS) {
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
            if self.is(bits::ONE_OUTSTANDING) {
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
            && self.pending.is_clear()
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
