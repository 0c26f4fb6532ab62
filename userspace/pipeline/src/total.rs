//! The totals of all windows of a capture.

use crate::flow_table::{Flow, FlowTable, flow_hash};
use crate::overflow::{Overflow, Sketches};
use crate::pdcs::PdcTotals;
use crate::settings::Settings;
use crate::totals::Totals;
use crate::window::Window;
use alloc::boxed::Box;
use rocescope_sketches::LinearCounting;

/// The sum of all closed windows.
#[derive(Debug)]
pub(crate) struct Total {
    pub(crate) totals: Totals,
    pub(crate) flows: FlowTable,
    pub(crate) overflow: Option<Box<Overflow>>,
    pub(crate) flow_bitmap: LinearCounting,
    pub(crate) windows: u64,
    pub(crate) events: u64,
    pub(crate) pdcs: PdcTotals,
    /// Start of the first window and end of the last.
    pub(crate) span_ns: Option<(u64, u64)>,
}

impl Total {
    /// An empty total; counts `exact_flows` flows exactly.
    pub(crate) fn new(exact_flows: usize) -> Self {
        Self {
            totals: Totals::default(),
            flows: FlowTable::new(exact_flows),
            overflow: None,
            flow_bitmap: Overflow::empty_flow_bitmap(),
            windows: 0,
            events: 0,
            pdcs: PdcTotals::default(),
            span_ns: None,
        }
    }

    /// Adds a finished window.
    pub(crate) fn add(&mut self, window: &Window, start_ns: u64, settings: &Settings, empty: &Sketches) {
        self.totals.add(&window.totals);
        for Flow { key, counts, opcode } in window.flows.flows() {
            let hash = flow_hash(key);
            self.flow_bitmap.add(hash);
            if !self.flows.add(hash, key, *opcode, counts) {
                self.overflow
                    .get_or_insert_with(|| Box::new(Overflow::new(empty)))
                    .add(hash, key, *opcode, counts);
            }
        }
        if let Some(overflow) = &window.overflow {
            // All bitmaps of this kind have one shape.
            let _ = self.flow_bitmap.merge(&overflow.flow_bitmap);
            self.overflow
                .get_or_insert_with(|| Box::new(Overflow::new(empty)))
                .merge(overflow);
        }
        window.pdcs.sum(&mut self.pdcs);
        self.windows += 1;
        let end_ns = start_ns.saturating_add(settings.window_ns);
        self.span_ns = Some(match self.span_ns {
            None => (start_ns, end_ns),
            Some((first, last)) => (first.min(start_ns), last.max(end_ns)),
        });
    }
}
