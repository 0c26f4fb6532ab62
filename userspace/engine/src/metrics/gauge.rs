//! What windows add up to.

use crate::drops::Drops;
use rocescope_model::{EventRow, FlowRow, OpcodeRow, Over, Row, WindowRow, WindowRows};
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
    /// All windows as one: its sums are of use, not its times.
    pub(super) total: WindowRow,
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

impl Metrics {
    /// Nothing counted yet; of the flows of a window the largest `most_flows` are shown.
    ///
    /// Counters are there from the beginning, for a rate wants the zero before the first count. Only
    /// opcodes come as they are seen: of 256 few ever are.
    #[must_use]
    pub fn new(most_flows: usize, drops: Option<Arc<Drops>>) -> Self {
        let figures = Figures {
            most_flows,
            drops,
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
        for row in rows {
            self.windows += 1;
            self.total.merge(row, Over::Time);
        }
        if let Some(last) = rows.last() {
            self.last = Some(last.without_sketches());
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
