//! One sum an opcode.

use super::totals::Totals;
use rocescope_model::{OpcodeRow, Over, Row, Time};
use std::collections::BTreeMap;

/// The opcode mix.
#[derive(Debug, Clone, Default)]
pub struct OpcodeFigures {
    by_number: BTreeMap<u8, OpcodeRow>,
    /// One row an opcode, most frame bytes first.
    pub rows: Vec<OpcodeRow>,
}

impl OpcodeFigures {
    pub(super) fn add(&mut self, row: &OpcodeRow) {
        self.by_number
            .entry(row.opcode_number)
            .and_modify(|sum| sum.merge(row, Over::Time))
            .or_insert_with(|| row.clone());
    }

    /// Largest first; the window of each is the whole span.
    pub(super) fn finish(mut self, totals: &Totals) -> Self {
        self.rows = std::mem::take(&mut self.by_number).into_values().collect();
        for row in &mut self.rows {
            row.window_start = Time(totals.start_ns);
            row.window_start_ns = totals.start_ns;
            row.window_ns = totals.span_ns();
            row.recompute();
        }
        self.rows
            .sort_by_key(|row| std::cmp::Reverse((row.frame_bytes, row.packets)));
        self
    }
}
