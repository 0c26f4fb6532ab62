//! What windows of a mesh add up to.

use rocescope_model::{Cells, Row, SlaRow, Value, VerdictRow};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Columns of `sla` that count something that adds up over windows.
const COUNTED: [&str; 8] = [
    "probes",
    "timeouts",
    "corrupt",
    "unsent",
    "late",
    "rnic_drops",
    "switch_drops",
    "untraced_drops",
];

/// The figures of a diagnosis: the analysis adds windows, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct Diagnosed(Arc<Mutex<Sums>>);

/// What an endpoint shows.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Windows so far.
    pub(super) windows: u64,
    /// Sums of the countable columns of `sla`, by position.
    pub(super) totals: BTreeMap<usize, u64>,
    /// Verdicts by class and kind of place.
    pub(super) verdicts: BTreeMap<(String, String), u64>,
    /// The last window.
    pub(super) last: Option<SlaRow>,
}

/// Whether a column of `sla` adds up.
pub(super) fn is_counted(column: usize) -> bool {
    let column = SlaRow::TABLE.columns.get(column);
    column.is_some_and(|column| COUNTED.contains(&column.name))
}

impl Diagnosed {
    /// Adds a window.
    pub fn add(&self, sla: &SlaRow, verdicts: &[VerdictRow]) {
        let mut sums = self.lock();
        sums.windows += 1;
        let rows = std::slice::from_ref(sla);
        for column in (0..SlaRow::TABLE.columns.len()).filter(|&column| is_counted(column)) {
            if let Value::I64(count) = rows.value(0, column) {
                *sums.totals.entry(column).or_default() += u64::try_from(count).unwrap_or(0);
            }
        }
        for verdict in verdicts {
            let kind = (verdict.class.to_string(), verdict.place_kind.to_string());
            *sums.verdicts.entry(kind).or_default() += 1;
        }
        sums.last = Some(sla.clone());
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sums> {
        // Sums are whole after every addition, whoever panicked in between.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
