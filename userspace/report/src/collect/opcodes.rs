//! One sum an opcode.

use rocescope_model::OpcodeRow;
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
        let sum = self
            .by_number
            .entry(row.opcode_number)
            .or_insert_with(|| OpcodeRow {
                opcode: row.opcode.clone(),
                opcode_number: row.opcode_number,
                ..OpcodeRow::default()
            });
        sum.packets = sum.packets.saturating_add(row.packets);
        sum.frame_bytes = sum.frame_bytes.saturating_add(row.frame_bytes);
        sum.payload_bytes = sum.payload_bytes.saturating_add(row.payload_bytes);
        sum.messages = sum.messages.saturating_add(row.messages);
    }

    pub(super) fn sorted(mut self) -> Self {
        self.rows = std::mem::take(&mut self.by_number).into_values().collect();
        self.rows
            .sort_by_key(|row| std::cmp::Reverse((row.frame_bytes, row.packets)));
        self
    }
}
