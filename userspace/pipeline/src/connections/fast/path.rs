//! The fast path: in-order requests and ACKs, counted without touching the direction itself.
//!
//! Each function first checks whether its run qualifies and then changes the state. If it returns `false`, nothing has
//! changed, and the run uses the full path through `ingest`. The result equals that of `requests` and `answers` for a
//! direction with nothing open.

use crate::connections::fast::state::{FAR, FastState, UNKNOWN, bits};
use crate::connections::pairing::table::{Directions, Pieces};
use crate::connections::requests::outstanding::{Answer, OutstandingRequest};
use crate::time::EventTime;
use rocescope_record::RunRecord;
use rocescope_wire::extension::Acknowledgement;
use rocescope_wire::{Operation, Psn, Stream};

impl Directions {
    /// Processes a run on the fast path if it qualifies; returns whether it did.
    #[inline]
    pub(crate) fn try_fast_path(&mut self, at: u32, run: &RunRecord) -> bool {
        let Self { fast, pieces, .. } = self;
        match run.stream() {
            Stream::Request => fast.get_mut(at).is_some_and(|fast| fast.request(run, at, pieces)),
            Stream::Acknowledge => {
                let carrier = fast.get(at).filter(|fast| fast.acknowledges(run));
                let Some(peer) = carrier.map(|fast| fast.peer) else {
                    return false;
                };
                let peers = fast.get_mut(peer);
                let is_fast = peers.is_some_and(|fast| fast.acknowledged(run, peer, pieces));
                if is_fast && let Some(fast) = fast.get_mut(at) {
                    fast.count_acknowledges(run, at, pieces);
                }
                is_fast
            }
            _ => false,
        }
    }
}

/// Sums that the run adds to.
struct Sums {
    frame_bytes: u32,
    payload_bytes: u32,
}

impl FastState {
    /// The sums with this run added; `None` if the run does not qualify.
    #[inline]
    fn sums(&self, run: &RunRecord) -> Option<Sums> {
        let is_regular = self.transport == run.opcode().transport()
            && (self.interface, self.ttl) == (run.interface, run.ttl)
            && run.packets > 0
            && (self.udp_src_port == run.flow.udp_src_port || self.is(bits::ANY_PORT))
            && (run.segment_bytes == self.mtu || run.segment_bytes == 0)
            && u32::from(run.packets) <= run.frame_bytes;
        let payload_bytes = u32::try_from(run.payload_bytes()).ok()?;
        let sums = Sums {
            frame_bytes: self.frame_bytes.checked_add(run.frame_bytes)?,
            payload_bytes: self.payload_bytes.checked_add(payload_bytes)?,
        };
        is_regular.then_some(sums)
    }

    #[inline]
    fn count(&mut self, run: &RunRecord, sums: &Sums, at: u32, pieces: &mut Pieces) {
        (self.frame_bytes, self.payload_bytes) = (sums.frame_bytes, sums.payload_bytes);
        self.last_ns = self.last_ns.max(run.last_ns());
        if run.congestion_experienced > 0
            && let Some(direction) = pieces.get_mut(at)
        {
            direction.counts.congestion_experienced += u64::from(run.congestion_experienced);
        }
    }

    /// This direction, number `at`, carries requests that continue where the last ones ended.
    #[inline]
    pub(crate) fn request(&mut self, run: &RunRecord, at: u32, pieces: &mut Pieces) -> bool {
        if !self.is(bits::ACTIVE | bits::REQUESTS)
            || run.first_psn != self.next as u32 & (Psn::MODULUS - 1)
            || run.packets == 0
            || run.traffic_class() != self.data_class
        {
            return false;
        }
        let operation = run.opcode().operation();
        let last_ns = run.last_ns();
        let (first, last) = (self.next, self.next + u64::from(run.packets) - 1);
        let is_message_near = (last as u32).wrapping_sub(self.message_first) < FAR;
        if !matches!(operation, Operation::Send | Operation::RdmaWrite)
            || last_ns < self.last_request_ns
            || run.first_ns < self.last_request_ns
            || !is_message_near
        {
            return false;
        }
        let Some(sums) = self.sums(run) else {
            return false;
        };
        let payload_bytes = sums.payload_bytes - self.payload_bytes;
        let begins = u32::from(run.first) + u32::from(run.only);
        let ends = u32::from(run.last) + u32::from(run.only);
        let before = if begins > 0 { 0 } else { self.message_bytes };
        let Some(message_bytes) = before.checked_add(payload_bytes) else {
            return false;
        };

        self.count(run, &sums, at, pieces);
        self.requests += u32::from(run.packets);
        self.messages += ends;
        self.rate(run, last_ns, at, pieces);
        self.leave_run(run.first_ns, at, pieces);
        (self.run_first, self.run_first_ns) = (first as u32, run.first_ns);
        (self.next, self.last_request_ns) = (last + 1, last_ns);
        self.state |= bits::RUN_PENDING;
        if begins > 0 {
            let one = run.packets == run.only || run.first > 0;
            let begun = if begins == 1 && one { first } else { last };
            self.message_first = begun as u32;
            self.message_ns = run.first_ns + u64::from(run.message_offset_ns);
        }
        self.message_bytes = message_bytes;
        if ends > 0 {
            let bytes = match operation {
                Operation::RdmaWrite if begins > 0 && ends == 1 => run.msn_or_dma_length,
                _ if ends == 1 => message_bytes,
                _ => payload_bytes / ends,
            };
            self.end_message(run, (bytes, ends), at, pieces);
        }
        true
    }

    /// Frame bytes of the run in its quarter of a millisecond.
    #[inline]
    fn rate(&mut self, run: &RunRecord, last_ns: u64, at: u32, pieces: &mut Pieces) {
        use crate::connections::metrics::congestion::{PIECE_NS, REMEMBERED};
        let (first, last) = (run.first_ns / PIECE_NS, last_ns / PIECE_NS);
        let is_here = first == last && !self.is(bits::RATE_IN_DIRECTION);
        if is_here && first == self.rate_piece {
            self.rate_bytes = self.rate_bytes.saturating_add(run.frame_bytes);
        } else if is_here && first >= self.rate_piece + REMEMBERED as u64 {
            (self.rate_piece, self.rate_bytes) = (first, run.frame_bytes);
            self.state |= bits::RATE_ALONE;
        } else if let Some(direction) = pieces.get_mut(at) {
            self.flush_rate(direction);
            direction.rate.add_run(run.first_ns, last_ns, run.frame_bytes);
            self.load_rate(direction);
        }
    }

    /// Another run passes at `now_ns`. The last one joins the send sequence while its time is still relevant.
    #[inline]
    fn leave_run(&mut self, now_ns: u64, at: u32, pieces: &mut Pieces) {
        let since_ns = now_ns.since(self.last_request_ns);
        if self.is(bits::RUN_PENDING)
            && since_ns <= u64::from(self.forget_ns)
            && let Some(direction) = pieces.get_mut(at)
        {
            self.flush_run(direction);
        }
    }

    /// Messages end with the run: their size, and the last one waits for its answer.
    #[inline]
    fn end_message(&mut self, run: &RunRecord, (bytes, ends): (u32, u32), at: u32, pieces: &mut Pieces) {
        self.message_bytes = 0;
        let last = self.next - 1;
        let sent_ns = self.last_request_ns.checked_sub(self.message_ns);
        let sent_ns = sent_ns.and_then(|ns| u32::try_from(ns).ok());
        let is_regular = crate::connections::metrics::message_sizes::class(u64::from(bytes)) == self.size;
        if is_regular {
            self.sizes = self.sizes.saturating_add(ends);
        }
        let is_exact = run.flags & RunRecord::EXACT_END != 0;
        if let Some(sent_ns) = sent_ns
            && !self.is(bits::ONE_OUTSTANDING)
            && !self.is(bits::OUTSTANDING)
        {
            (self.outstanding_first, self.outstanding_last) = (self.message_first, last as u32);
            (self.outstanding_begun_ns, self.outstanding_sent_ns) = (self.message_ns, sent_ns);
            self.state &= !bits::UNAMBIGUOUS;
            self.state |= bits::ONE_OUTSTANDING | if is_exact { bits::UNAMBIGUOUS } else { 0 };
            if is_regular {
                return;
            }
        } else if let Some(direction) = pieces.get_mut(at) {
            if self.is(bits::ONE_OUTSTANDING) {
                direction.outstanding.push(self.outstanding());
            }
            let first = last - u64::from((last as u32).wrapping_sub(self.message_first));
            direction.outstanding.push(OutstandingRequest {
                first,
                last,
                begun_ns: self.message_ns,
                sent_ns: self.last_request_ns,
                answer: Answer::Acknowledge,
                asked_from: first,
                unambiguous: is_exact,
                is_late: false,
                is_repaired: false,
                completed: false,
            });
            self.state &= !bits::ONE_OUTSTANDING;
            self.state |= bits::OUTSTANDING;
        }
        if !is_regular && let Some(direction) = pieces.get_mut(at) {
            direction.sizes.add(u64::from(bytes), u64::from(ends));
        }
    }

    /// Whether the positive acknowledgements of this direction qualify.
    #[inline]
    pub(crate) fn acknowledges(&self, run: &RunRecord) -> bool {
        self.is(bits::ACTIVE | bits::CERTAIN)
            && matches!(run.syndrome().meaning(), Acknowledgement::Ack { .. })
            && run.payload_bytes() == 0
            && run.traffic_class() == self.ack_class
            && self.sums(run).is_some()
    }

    #[inline]
    pub(crate) fn count_acknowledges(&mut self, run: &RunRecord, at: u32, pieces: &mut Pieces) {
        if let Some(sums) = self.sums(run) {
            self.count(run, &sums, at, pieces);
            self.acks += u32::from(run.packets);
            (self.ack_first_ns, self.ack_offset_ns) = (run.first_ns, run.last_offset_ns);
            (self.ack_first_psn, self.ack_last_psn) = (run.first_psn, run.last_psn);
        }
    }

    /// The peer acknowledges requests of this direction, number `at`, up to one that has passed.
    #[inline]
    pub(crate) fn acknowledged(&mut self, run: &RunRecord, at: u32, pieces: &mut Pieces) -> bool {
        if !self.is(bits::ACTIVE | bits::REQUESTS) {
            return false;
        }
        let high = self.next - 1;
        let behind = Psn::new(high as u32).distance_from(run.last_psn());
        if behind > Psn::MODULUS / 2 {
            return false;
        }
        let Some(psn) = high.checked_sub(u64::from(behind)) else {
            return false;
        };
        let now_ns = run.last_ns();
        if self.is(bits::ONE_OUTSTANDING) {
            if self.outstanding_last_psn() <= psn {
                let request = self.outstanding();
                self.state &= !bits::ONE_OUTSTANDING;
                self.answer(&request, psn, now_ns, at, pieces);
            }
        } else if self.is(bits::OUTSTANDING) {
            self.answer_all(psn, now_ns, at, pieces);
        }
        self.answered_ns = now_ns;
        self.acked = self.acked.max(psn);
        true
    }

    /// A request is acknowledged.
    #[inline]
    fn answer(&mut self, request: &OutstandingRequest, psn: u64, now_ns: u64, at: u32, pieces: &mut Pieces) {
        let is_measured = request.last == psn && request.unambiguous;
        let round_trip = now_ns.since(request.sent_ns);
        let completion = now_ns.since(request.begun_ns);
        let short = |ns: u64| u32::try_from(ns).ok().filter(|ns| *ns != UNKNOWN);
        if let Some(completion) = short(completion)
            && let Some(round_trip) = short(round_trip)
            && self.sample(if is_measured { round_trip } else { UNKNOWN }, completion)
        {
            return;
        }
        let Some(direction) = pieces.get_mut(at) else {
            return;
        };
        self.flush_samples(direction);
        if is_measured {
            direction.latencies.rtt.add(round_trip);
        }
        direction.latencies.completion.add(completion);
    }

    /// Requests that wait in the direction are acknowledged.
    fn answer_all(&mut self, psn: u64, now_ns: u64, at: u32, pieces: &mut Pieces) {
        let Some(direction) = pieces.get_mut(at) else {
            return;
        };
        direction.complete(psn, now_ns);
        if direction.outstanding.keeps_none() {
            self.state &= !bits::OUTSTANDING;
        }
    }
}
