//! A queue pair number that is used again without CM: the PSN jumps back, after silence, to a fresh start.

use crate::connections::direction::Direction;
use crate::connections::requests::messages::is_answered;
use crate::connections::requests::new_payload::begins;
use crate::connections::state::Connections;
use crate::time::EventTime;
use rocescope_record::RunRecord;
use rocescope_wire::{Psn, Stream, Transport};

/// A sender with nothing to repeat is silent this long before its number is used again.
const SILENT_NS: u64 = 10_000_000;
/// Further ahead than any gap, and further back than any sender goes.
const FAR: u64 = 1 << 16;

impl Connections {
    /// Whether another queue pair sends this run than the one that this direction belonged to.
    pub(crate) fn is_reused(&self, at: u32, run: &RunRecord) -> bool {
        let Some(direction) = self.directions.get(at) else {
            return false;
        };
        match run.stream() {
            Stream::Request => {
                direction.may_be_reused(run)
                    && direction.sends_other_requests(run, || self.are_all_acknowledged(direction))
            }
            Stream::Acknowledge => direction.sends_other_acknowledgements(run),
            _ => false,
        }
    }

    /// Whether everything that this direction without a peer sent was acknowledged, whichever direction back is
    /// its peer: some acknowledge, and all that do have gone as far.
    fn are_all_acknowledged(&self, direction: &Direction) -> bool {
        let hosts = direction.key.hosts();
        let high = Psn::new(direction.requests.high() as u32);
        let unpaired = self.candidates.keys().filter_map(|at| self.directions.get(*at));
        let mut back = unpaired
            .filter(|other| other.peer.is_none() && other.key.hosts_back() == hosts)
            .filter_map(|other| other.acknowledges)
            .peekable();
        back.peek().is_some() && back.all(|psn| psn.distance_from(high) < Psn::MODULUS / 2)
    }
}

impl Direction {
    fn was_silent(&self, now_ns: u64) -> bool {
        let silent_ns = SILENT_NS.max(10 * self.latencies.max_rtt_ns().unwrap_or(0));
        now_ns.since(self.last_ns.max(self.answered_ns)) >= silent_ns
    }

    fn may_be_reused(&self, run: &RunRecord) -> bool {
        self.requests.is_started() && begins(run) && self.was_silent(run.first_ns)
    }

    /// Everything sent before was acknowledged long ago, and a message begins where no sender goes back to. Without a peer,
    /// it begins at the very first PSN, and `are_all_acknowledged`.
    fn sends_other_requests(&self, run: &RunRecord, are_all_acknowledged: impl Fn() -> bool) -> bool {
        let (first, high) = (self.requests.extended(run.first_psn()), self.requests.high());
        let is_far = first > high + FAR || first + FAR < high;
        if self.transport != Transport::Uc && self.is_one_sided() {
            return is_far || self.start == Some(first) && are_all_acknowledged();
        }
        match self.transport {
            Transport::Uc => first <= high || is_far,
            // A response that passed the tap may be lost after it: its request is repeated by a timer.
            _ if is_answered(run.opcode().operation()) => is_far || self.start == Some(first) && self.acked >= high,
            // If the last acknowledgement was lost on its way, the sender goes back to the one before.
            _ => self.acked >= high && (first <= self.acked_before || is_far),
        }
    }

    /// Acknowledgements never go back, however often a request is repeated; only of a direction without a peer that carries
    /// nothing else, because requests tell more.
    fn sends_other_acknowledgements(&self, run: &RunRecord) -> bool {
        let is_alone = self.peer.is_none() && !self.requests.is_started() && !self.responses.is_started();
        let back = |psn: Psn| psn.distance_from(run.first_psn()).wrapping_sub(1) < Psn::MODULUS / 2;
        is_alone && self.acknowledges.is_some_and(back) && self.was_silent(run.first_ns)
    }
}
