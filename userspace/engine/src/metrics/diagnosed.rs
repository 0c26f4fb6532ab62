//! Totals over the windows of a mesh.

use rocescope_model::{Over, Row, SlaRow, VerdictRow};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The metrics of a diagnosis: the analysis adds windows, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct Diagnosed(Arc<Mutex<Sums>>);

/// The values of the metrics.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Windows so far.
    pub(super) windows: u64,
    /// The sums over all windows; its times are meaningless.
    pub(super) total: SlaRow,
    /// Verdicts by class and kind of place.
    pub(super) verdicts: BTreeMap<(String, String), u64>,
    /// The last window.
    pub(super) last: Option<SlaRow>,
}

impl Diagnosed {
    /// Adds a window.
    pub fn add(&self, sla: &SlaRow, verdicts: &[VerdictRow]) {
        let mut sums = self.lock();
        sums.windows += 1;
        sums.total.merge(sla, Over::Time);
        for verdict in verdicts {
            let kind = (verdict.class.to_string(), verdict.place_kind.to_string());
            *sums.verdicts.entry(kind).or_default() += 1;
        }
        sums.last = Some(sla.clone());
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sums> {
        // Sums are consistent after every addition, even if a thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
