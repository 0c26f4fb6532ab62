//! The new payload of a run, and whether a message begins with it.

use crate::connections::order::psn_tracker::Arrival;
use rocescope_record::RunRecord;
use rocescope_wire::Position;

/// Payload bytes and messages of a run that had not passed before. Exact if the run has at most one end of a message;
/// else in proportion.
pub(crate) fn unique(run: &RunRecord, arrival: &Arrival) -> (u64, u64) {
    let new = arrival.unseen();
    let ends = u64::from(run.last) + u64::from(run.only);
    if arrival.repeated == 0 {
        return (run.payload_bytes(), run.messages());
    }
    if ends <= 1 {
        let end_is_new = arrival.end_is_new && ends == 1;
        let segments = new - u64::from(end_is_new);
        let end_bytes = u64::from(run.last_payload_bytes) + u64::from(run.only_payload_bytes);
        let bytes = segments * u64::from(run.segment_bytes) + u64::from(end_is_new) * end_bytes;
        return (bytes, if end_is_new { run.messages() } else { 0 });
    }
    let all = new + arrival.repeated;
    (run.payload_bytes() * new / all, run.messages() * new / all)
}

/// Whether a message or response begins with the run.
pub(crate) fn begins(run: &RunRecord) -> bool {
    matches!(run.opcode().position(), Position::First | Position::Only)
}
