//! Runs that connections leave out while the capture is behind, so that no record is lost for them.
//!
//! Windows, flows and opcodes need every run; connections are the costly part. While they yield, a run passes them by: its
//! packets are counted, and its time is one in which a gap proves no loss, as when the capture itself loses runs.

use crate::connections::state::Connections;
use rocescope_record::RunRecord;

/// Whether runs are left out, and the time of those that were, since it was last noted.
#[derive(Debug, Default)]
pub(crate) struct Yielded {
    pub(crate) is_on: bool,
    span_ns: Option<(u64, u64)>,
}

impl Connections {
    /// Leaves out the runs that follow, or no longer.
    pub(crate) fn set_yielding(&mut self, is_on: bool) {
        self.yielded.is_on = is_on;
    }

    /// Counts a run that is left out.
    #[cold]
    pub(crate) fn leave_out(&mut self, run: &RunRecord) {
        self.summary.delivery.yielded_packets += u64::from(run.packets);
        let (from_ns, to_ns) = self.yielded.span_ns.unwrap_or((run.first_ns, run.last_ns()));
        self.yielded.span_ns = Some((from_ns.min(run.first_ns), to_ns.max(run.last_ns())));
    }

    /// Notes the time of the runs left out, before the runs around it show gaps.
    pub(crate) fn note_yielded(&mut self) {
        if let Some((from_ns, to_ns)) = self.yielded.span_ns.take() {
            self.capture_loss.add(from_ns, to_ns);
        }
    }
}
