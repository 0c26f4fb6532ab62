//! What windows add up to.

use crate::drops::Drops;
use rocescope_model::{
    Cells, EventRow, FlowRow, OpcodeRow, Row, Type, Unit, Value, WindowRow, WindowRows,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The figures of a capture: the pipeline adds windows, the endpoint reads.
#[derive(Clone, Debug)]
pub struct Metrics {
    figures: Arc<Mutex<Figures>>,
}

/// What an endpoint shows.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Flows shown at most.
    most_flows: usize,
    /// What did not come this far, where frames come from interfaces.
    pub(super) drops: Option<Arc<Drops>>,
    /// Sums of the countable columns of `windows`, by position.
    pub(super) totals: BTreeMap<usize, u64>,
    /// Windows so far.
    pub(super) windows: u64,
    /// Packets, frame bytes and payload bytes by opcode.
    pub(super) opcodes: BTreeMap<String, [u64; 3]>,
    /// Events by kind.
    pub(super) events: BTreeMap<String, u64>,
    /// The last window.
    pub(super) last: Option<WindowRow>,
    /// Its largest flows.
    pub(super) flows: Vec<FlowRow>,
}

/// Whether a column of `windows` counts something that adds up over windows.
pub(super) fn is_countable(column: usize) -> bool {
    WindowRow::TABLE.columns.get(column).is_some_and(|column| {
        // Flows of one window are mostly those of the one before.
        column.kind == Type::I64
            && matches!(
                column.unit,
                Unit::Packets | Unit::Frames | Unit::Bytes | Unit::Messages | Unit::Events
            )
    })
}

impl Metrics {
    /// Nothing counted yet; of the flows of a window the largest `most_flows` are shown.
    ///
    /// Counters are there from the beginning, for a rate wants the zero before the first count. Only
    /// opcodes come as they are seen: of 256 few ever are.
    #[must_use]
    pub fn new(most_flows: usize, drops: Option<Arc<Drops>>) -> Self {
        let columns = 0..WindowRow::TABLE.columns.len();
        let countable = columns.filter(|&column| is_countable(column));
        let figures = Figures {
            most_flows,
            drops,
            totals: countable.map(|column| (column, 0)).collect(),
            events: EventRow::KINDS
                .into_iter()
                .map(|(kind, _)| (kind.to_owned(), 0))
                .collect(),
            ..Figures::default()
        };
        Self {
            figures: Arc::new(Mutex::new(figures)),
        }
    }

    /// Adds the rows of finished windows.
    pub fn add(&self, rows: &WindowRows) {
        let mut figures = self.lock();
        figures.add_windows(&rows.windows);
        for row in &rows.opcodes {
            figures.add_opcode(row);
        }
        for row in &rows.events {
            figures.add_event(row);
        }
        if let Some(last) = rows.windows.last() {
            let most = figures.most_flows;
            figures.flows.clear();
            let flows = rows.flows.iter();
            let of_last = flows.filter(|flow| flow.window_start_ns == last.window_start_ns);
            figures.flows.extend(of_last.take(most).cloned());
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Figures> {
        // Sums are whole after every addition, whoever panicked in between.
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Figures {
    fn add_windows(&mut self, rows: &[WindowRow]) {
        for at in 0..rows.len() {
            self.windows += 1;
            for (column, sum) in &mut self.totals {
                if let Value::I64(count) = rows.value(at, *column) {
                    *sum += u64::try_from(count).unwrap_or(0);
                }
            }
        }
        if let Some(last) = rows.last() {
            // Sketches are a megabyte, and no figures.
            self.last = Some(WindowRow {
                linear_counting: None,
                hll_flows: None,
                count_min_packets: None,
                count_min_bytes: None,
                ..last.clone()
            });
        }
    }

    fn add_opcode(&mut self, row: &OpcodeRow) {
        let sums = match self.opcodes.get_mut(&*row.opcode) {
            Some(sums) => sums,
            None => self.opcodes.entry(row.opcode.to_string()).or_default(),
        };
        for (sum, count) in sums
            .iter_mut()
            .zip([row.packets, row.frame_bytes, row.payload_bytes])
        {
            *sum += count;
        }
    }

    fn add_event(&mut self, row: &EventRow) {
        match self.events.get_mut(&*row.kind) {
            Some(sum) => *sum += row.count,
            None => {
                self.events.insert(row.kind.to_string(), row.count);
            }
        }
    }
}
