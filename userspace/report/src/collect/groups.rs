//! Traffic by source, destination, queue pair or opcode.

use rocescope_model::group::NOT_LISTED;
use rocescope_model::{FlowRow, GroupBy, GroupRow, OpcodeRow, Over, Row, Text, Time, WindowRow};
use std::collections::BTreeMap;

/// Groups with a row of their own; the traffic of further ones is in the last row.
const MAX_GROUPS: usize = 100_000;

/// The groups of a report.
#[derive(Debug, Clone, Default)]
pub struct GroupFigures {
    /// What they are by.
    pub by: GroupBy,
    groups: BTreeMap<String, GroupRow>,
    /// One row for each, most frame bytes first; last what windows do not list.
    pub rows: Vec<GroupRow>,
}

impl GroupFigures {
    pub(super) fn new(by: GroupBy) -> Self {
        Self { by, ..Self::default() }
    }

    /// Adds a window of one observer. With a filter, `flows` are those that match, and the rest is unknown.
    pub(super) fn window(&mut self, total: &WindowRow, flows: &[FlowRow], opcodes: &[OpcodeRow], is_filtered: bool) {
        for row in self.by.rows(total, flows, opcodes) {
            if is_filtered && &*row.group == NOT_LISTED {
                continue;
            }
            let is_known = self.groups.contains_key(&*row.group);
            let group = match is_known || self.groups.len() < MAX_GROUPS {
                true => row.group.to_string(),
                false => NOT_LISTED.to_owned(),
            };
            self.groups
                .entry(group)
                .and_modify(|sum| sum.merge(&row, Over::Time))
                .or_insert(row);
        }
    }

    /// The window of each group is the whole span; `whole` is the frame bytes of all packets.
    pub(super) fn finish(mut self, start_ns: i64, span_ns: i64, whole: u64) -> Self {
        self.rows = std::mem::take(&mut self.groups).into_values().collect();
        for row in &mut self.rows {
            row.observer = Text::default();
            row.window_start = Time(start_ns);
            row.window_start_ns = start_ns;
            row.window_ns = span_ns;
            row.recompute();
            row.frame_ratio = (whole > 0).then(|| crate::words::share(row.frame_bytes, whole));
        }
        self.rows.sort_by_key(|row| {
            (
                &*row.group == NOT_LISTED,
                std::cmp::Reverse((row.frame_bytes, row.packets)),
            )
        });
        self
    }
}
