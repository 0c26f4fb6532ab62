//! Requests whose payload a switch upstream of the tap has cut off: they pass, and their receiver cannot accept them.
//!
//! FIRST and MIDDLE packets carry the path MTU (IBTA volume 1, 9.2.2), so one with less payload was trimmed. Of LAST and
//! ONLY packets the length is not known.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::requests::request::RequestRun;
use crate::connections::rows::event::LossEvidence;
use rocescope_record::RunRecord;
use rocescope_wire::{Position, Stream};

impl Direction {
    /// The PSNs of the run that were trimmed.
    pub(crate) fn trimmed_psns(&self, seen: &RequestRun<'_>, mtu: u16) -> Option<(ExtendedPsn, ExtendedPsn)> {
        let run = seen.run;
        let segments = u64::from(run.packets.saturating_sub(run.last).saturating_sub(run.only));
        if segments == 0 || run.segment_bytes >= mtu || run.stream() != Stream::Request {
            return None;
        }
        // All FIRST and MIDDLE packets of a run have one size; an end of a message before them is that of another one.
        let begins = matches!(run.opcode().position(), Position::First | Position::Middle);
        Some(if begins {
            (seen.first, seen.first + segments - 1)
        } else {
            (seen.last + 1 - segments, seen.last)
        })
    }

    /// The receiver lacks these, which were trimmed upstream of the tap.
    pub(crate) fn lose_trimmed(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        run: &RunRecord,
        context: &mut Context<'_>,
    ) {
        self.lost_upstream((first, last), run.first_ns, LossEvidence::Trimmed, context);
        let trimmed = &mut self.pending.lists().trimmed;
        trimmed.remove(first, last, &mut |_| {});
        let _ = trimmed.insert(Interval { first, last, value: () });
    }
}
