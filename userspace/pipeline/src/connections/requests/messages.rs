//! Messages of requests: their sizes, and those that wait for an answer.

use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::{Arrival, ExtendedPsn};
use crate::connections::requests::new_payload::unique;
use crate::connections::requests::outstanding::{Answer, OutstandingRequest};
use rocescope_record::RunRecord;
use rocescope_wire::{Operation, Position};

impl Direction {
    /// Payload and messages that had not passed before.
    pub(crate) fn count_new(&mut self, run: &RunRecord, arrival: &Arrival, is_read: bool) {
        let (unique_bytes, unique_messages) = unique(run, arrival);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.reads += u64::from(is_read);
        counts.atomics += match run.opcode().operation() {
            Operation::CompareSwap | Operation::FetchAdd | Operation::AtomicWrite => u64::from(run.only),
            _ => 0,
        };
    }

    /// Message sizes and outstanding requests, from the first and last packets of messages.
    pub(crate) fn count_messages(&mut self, run: &RunRecord, first: ExtendedPsn, last: ExtendedPsn, arrival: &Arrival) {
        let operation = run.opcode().operation();
        let answer = if is_answered(operation) {
            Answer::Response
        } else {
            Answer::Acknowledge
        };
        let begins = u64::from(run.first) + u64::from(run.only);
        let ends = u64::from(run.last) + u64::from(run.only);
        if begins > 0 {
            let one = run.packets == run.only || run.first > 0;
            let begun = if begins == 1 && one { first } else { last };
            // A message retransmitted from its start keeps its first start time.
            if begun != self.message_first || arrival.end_is_new && arrival.repeated == 0 {
                self.message_ns = run.first_ns + u64::from(run.message_offset_ns);
                self.message_first = begun;
            }
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        if ends == 0 {
            return;
        }
        if arrival.end_is_new && !matches!(answer, Answer::Response) {
            // The RETH has the length; several messages in one run share it.
            let bytes = match operation {
                Operation::RdmaWrite if begins > 0 && ends == 1 => u64::from(run.msn_or_dma_length),
                _ if ends == 1 => self.message_bytes,
                _ => run.payload_bytes() / ends,
            };
            self.count_size(bytes, ends);
        }
        let ends_here = matches!(run.opcode().position(), Position::Only) || run.last > 0 || run.only > 0;
        if arrival.end_is_new && ends_here {
            self.outstanding.push(OutstandingRequest {
                first: self.message_first.min(last),
                last,
                begun_ns: self.message_ns,
                sent_ns: run.last_ns(),
                answer,
                asked_from: first,
                is_late: false,
                is_repaired: false,
                completed: false,
                unambiguous: run.flags & RunRecord::EXACT_END != 0,
            });
        }
        self.message_bytes = 0;
    }
}

/// Whether a response acknowledges it.
pub(crate) const fn is_answered(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::RdmaReadRequest | Operation::CompareSwap | Operation::FetchAdd
    )
}
