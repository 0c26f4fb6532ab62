//! A queue pair number that is used again without CM: the PSN jumps back, after silence, to a fresh start.

use super::direction::Direction;
use super::new_payload::begins;
use super::requests::is_answered;
use rocescope_record::RunRecord;
use rocescope_wire::{Stream, Transport};

/// A sender with nothing to repeat is silent this long before its number is used again.
const SILENT_NS: u64 = 10_000_000;
/// Further ahead than any gap, and further back than any sender goes.
const FAR: u64 = 1 << 16;

impl Direction {
    /// Whether another queue pair sends this run: everything sent before was acknowledged long ago, and a message begins
    /// where no sender goes back to.
    pub(crate) fn is_reused(&self, run: &RunRecord) -> bool {
        if run.stream() != Stream::Request || !self.requests.is_started() || !begins(run) {
            return false;
        }
        let silent_ns = SILENT_NS.max(10 * self.latencies.max_rtt_ns().unwrap_or(0));
        if run.first_ns.saturating_sub(self.last_ns.max(self.answered_ns)) < silent_ns {
            return false;
        }
        let (first, high) = (self.requests.extended(run.first_psn()), self.requests.high());
        let is_far = first > high + FAR || first + FAR < high;
        match self.transport {
            Transport::Uc => first <= high || is_far,
            // A response that passed the tap may be lost after it: its request is repeated by a timer.
            _ if is_answered(run.opcode().operation()) => is_far || self.start == Some(first) && self.acked >= high,
            // If the last acknowledgement was lost on its way, the sender goes back to the one before.
            _ => self.acked >= high && (first <= self.acked_before || is_far),
        }
    }
}
