//! What the other side answers: acknowledgements, refusals, responses.

use super::direction::Direction;
use super::episode::{Refusal, RnrEpisode, Trigger};
use super::event::{Evidence, What, Where};
use super::requests::{Surroundings, unique};
use super::sequence::Place;
use super::waiting::Answer;
use rocescope_record::RunRecord;
use rocescope_wire::extension::{Acknowledgement, NakCode, rnr_timer_us};
use rocescope_wire::{Operation, Position};

/// Retransmissions without an answer from which silence means that the sender gave up.
const TRIES: u32 = 2;

impl Direction {
    /// Counts acknowledgements that this direction carried.
    pub(crate) fn count_acknowledges(&mut self, run: &RunRecord) {
        let packets = u64::from(run.packets);
        let counts = &mut self.counts;
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => counts.acks += packets,
            Acknowledgement::RnrNak { .. } => counts.rnr_nak += packets,
            Acknowledgement::Nak(NakCode::PsnSequenceError) => counts.nak_psn_sequence += packets,
            Acknowledgement::Nak(_) => counts.nak_fatal += packets,
            Acknowledgement::Reserved(_) => {}
        }
    }

    /// The peer answered requests of this direction with an ACKNOWLEDGE.
    pub(crate) fn acknowledged(&mut self, run: &RunRecord, around: &mut Surroundings<'_>) {
        if !self.requests.is_started() {
            return;
        }
        let place = self.requests.place(run.last_psn());
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => {
                let now_ns = run.last_ns();
                let Self {
                    waiting, latencies, ..
                } = self;
                waiting.answered(place, |request| {
                    if request.answer == Answer::Acknowledge {
                        let since = |ns| now_ns.saturating_sub(ns);
                        if request.last == place && request.clear {
                            latencies.rtt.add(since(request.sent_ns));
                        }
                        latencies.completion.add(since(request.begun_ns));
                    }
                });
                self.progress(place, now_ns, around);
            }
            Acknowledgement::RnrNak { timer } => self.not_ready(run, place, timer, around),
            Acknowledgement::Nak(NakCode::PsnSequenceError) => self.refused(run, place, around),
            Acknowledgement::Nak(_) => {
                self.progress(place.saturating_sub(1), run.first_ns, around);
                let (psn, syndrome) = (run.last_psn(), run.syndrome);
                (around.tell)(run.first_ns, What::Fatal { psn, syndrome });
                self.closed = true;
            }
            Acknowledgement::Reserved(_) => {}
        }
        self.start_is_open = false;
    }

    /// The peer has all up to `place`.
    fn progress(&mut self, place: Place, now_ns: u64, around: &mut Surroundings<'_>) {
        self.settle_doubt(Some((place, now_ns)), around.tell);
        if place > self.acked {
            self.acked = place;
            self.tries = 0;
            self.try_interval_ns = 0;
            self.gave_up = false;
        }
        if let Some(rnr) = self.rnr.filter(|rnr| rnr.place <= place) {
            self.rnr = None;
            (around.tell)(rnr.begun_ns, What::Rnr(rnr));
        }
        self.settle(around.is_blind);
    }

    /// Gaps that the peer has acknowledged passed by another way than the tap.
    pub(crate) fn settle(&mut self, is_blind: &dyn Fn(u64, u64) -> bool) {
        if self.requests.gaps().is_empty() || self.acked < self.requests.low() {
            return;
        }
        let mut requests = core::mem::take(&mut self.requests);
        requests.settle(self.acked, |gap| {
            let blind = is_blind(gap.before_ns, gap.opened_ns);
            self.count_lost_gap(&gap, blind);
        });
        self.requests = requests;
    }

    /// A NAK for a PSN out of sequence: the peer waits for it.
    fn refused(&mut self, run: &RunRecord, place: Place, around: &mut Surroundings<'_>) {
        self.progress(place.saturating_sub(1), run.first_ns, around);
        if self.start_is_open && place < self.requests.low() {
            // What began the direction was lost before the tap.
            self.start = Some(place);
            self.requests.begin_at(place, run.first_ns);
        }
        self.requests.refuse(place);
        let passed_ns = self.recent.time_of(place);
        if let Some(doubt) = self.doubt.filter(|doubt| doubt.place == place) {
            // What was sent first is lost; of what was sent again the NAK tells only if it had the
            // time to arrive.
            self.doubt = None;
            self.lose(doubt, Evidence::Nak, around.tell);
            let soon = run.first_ns.saturating_sub(doubt.resent_ns);
            if self.latencies.min_rtt_ns().is_some_and(|rtt| soon < rtt) {
                self.last_loss = Some((place, run.first_ns));
            }
        }
        let holds = |range: Option<(Place, Place)>| {
            range.is_some_and(|(first, last)| (first..=last).contains(&place))
        };
        let overtaken = holds(self.overtaken) || holds(self.skipped);
        let told = self
            .last_loss
            .is_some_and(|(told, ns)| told == place && passed_ns.is_none_or(|passed| passed <= ns));
        if self.requests.has(place) && !overtaken && !told {
            self.last_loss = Some((place, run.first_ns));
            self.counts.lost_after_tap += 1;
            let what = What::Loss {
                psn: run.last_psn(),
                packets: 1,
                place: Where::AfterTap,
                evidence: Evidence::Nak,
            };
            (around.tell)(run.first_ns, what);
        }
        self.refusal = Some(Refusal {
            trigger: Trigger::Nak,
            place,
            time_ns: run.first_ns,
            used: false,
        });
    }

    /// The peer has no receive buffer for a message.
    fn not_ready(
        &mut self,
        run: &RunRecord,
        place: Place,
        timer: u8,
        around: &mut Surroundings<'_>,
    ) {
        self.progress(place.saturating_sub(1), run.first_ns, around);
        match &mut self.rnr {
            Some(rnr) if rnr.place == place => {
                rnr.naks += 1;
                rnr.timer = timer;
            }
            other => {
                if let Some(rnr) = other.take() {
                    (around.tell)(rnr.begun_ns, What::Rnr(rnr));
                }
                *other = Some(RnrEpisode {
                    place,
                    begun_ns: run.first_ns,
                    naks: 1,
                    timer,
                });
            }
        }
        self.refusal = Some(Refusal {
            trigger: Trigger::Rnr,
            place,
            time_ns: run.first_ns,
            used: false,
        });
    }

    /// This direction carried READ responses or an atomic acknowledgement; `peer_waits` tells
    /// whether a READ of the peer waits for one of some PSNs.
    pub(crate) fn response(
        &mut self,
        run: &RunRecord,
        reorder_ns: u64,
        peer_waits: impl Fn(rocescope_wire::Psn, u64) -> bool,
    ) {
        let first = self.responses.place(run.first_psn());
        let last = first + u64::from(run.packets) - 1;
        let begins = matches!(run.opcode().position(), Position::First | Position::Only);
        // Between two whole responses lie the PSNs of other operations.
        let next = self.responses.high() + 1;
        let hole_is_silent = begins
            && self.response_is_whole
            && !(self.responses.is_started()
                && first > next
                && peer_waits(rocescope_wire::Psn::new(next as u32), first - next));
        let shown = self.responses.take(
            first,
            last,
            run.first_ns,
            run.first_ns,
            reorder_ns,
            hole_is_silent,
        );
        let (unique_bytes, unique_messages) = unique(run, &shown);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.repeated_responses += shown.repeated;
        self.response_is_whole = u32::from(run.last) + u32::from(run.only) > 0;
        if run.opcode().operation() != Operation::RdmaReadResponse {
            return;
        }
        if begins {
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        let ends = u64::from(run.last) + u64::from(run.only);
        if ends > 0 && shown.end_is_new {
            let bytes = if ends == 1 {
                self.message_bytes
            } else {
                run.payload_bytes() / ends
            };
            self.count_size(bytes, ends);
        }
    }

    /// The peer sent responses to requests of this direction.
    pub(crate) fn response_came(&mut self, run: &RunRecord, around: &mut Surroundings<'_>) {
        if !self.requests.is_started() {
            return;
        }
        let first = self.requests.place(run.first_psn());
        let last = self.requests.place(run.last_psn());
        if matches!(run.opcode().position(), Position::First | Position::Only)
            && let Some(request) = self.waiting.response_at(first)
            && request.clear
        {
            request.clear = false;
            let waited = run.first_ns.saturating_sub(request.sent_ns);
            self.latencies.others().response.add(waited);
        }
        let ends = u32::from(run.last) + u32::from(run.only) > 0;
        let place = if ends { last } else { first.saturating_sub(1) };
        let now_ns = run.last_ns();
        let Self {
            waiting, latencies, ..
        } = self;
        // A response acknowledges all requests before its own as well (IBTA volume 1, 9.7.5.1.2).
        waiting.answered(place, |request| {
            latencies
                .completion
                .add(now_ns.saturating_sub(request.begun_ns));
        });
        self.progress(last, now_ns, around);
        self.start_is_open = false;
    }

    /// Whether the sender gave up what it was sending: it went back for it again and again, and
    /// then fell silent for twice as long as it had waited each time.
    pub(crate) fn look_for_exhaustion(&mut self, now_ns: u64, around: &mut Surroundings<'_>) {
        if self.gave_up || self.closed || !self.requests.is_started() {
            return;
        }
        let silence_ns = now_ns.saturating_sub(self.last_request_ns);
        if let Some(rnr) = self.rnr {
            let wait_ns = u64::from(rnr_timer_us(rnr.timer)) * 1_000;
            if rnr.naks > TRIES && silence_ns > wait_ns.saturating_mul(2).max(1_000_000) {
                self.gave_up = true;
                self.rnr = None;
                (around.tell)(rnr.begun_ns, What::Rnr(rnr));
                let what = What::RetryExhausted {
                    psn: rocescope_wire::Psn::new(rnr.place as u32),
                    tries: rnr.naks,
                    rnr: true,
                };
                (around.tell)(self.last_request_ns, what);
            }
        } else if self.tries >= TRIES
            && !self.waiting.is_empty()
            && silence_ns > self.try_interval_ns.saturating_mul(2)
        {
            self.gave_up = true;
            let psn = self
                .episode
                .map_or(self.requests.high(), |episode| episode.first);
            let what = What::RetryExhausted {
                psn: rocescope_wire::Psn::new(psn as u32),
                tries: self.tries,
                rnr: false,
            };
            (around.tell)(self.last_request_ns, what);
        }
    }
}
