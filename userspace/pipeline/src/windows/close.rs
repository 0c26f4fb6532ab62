//! Adds finished windows to the rows and to the total.

use crate::delivery::Delivery;
use crate::flow_table::FlowTable;
use crate::overflow::{Bounded, Overflow, Sketches};
use crate::rate_change::{FOLLOWED, RateChange, RateChanges};
use crate::rows::{Closing, change_row, is_elephant};
use crate::settings::Settings;
use crate::sketch_columns::CountMinColumns;
use crate::small_flows::SmallFlows;
use crate::spray::Spray;
use crate::total::Total;
use crate::window::Window;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_model::WindowRows;
use rocescope_sketches::LinearCounting;

/// The state that outlives windows.
#[derive(Debug)]
pub(crate) struct ClosedWindows {
    pub(crate) rows: WindowRows,
    pub(crate) total: Total,
    pub(crate) changes: RateChanges,
    /// The shape of the sketches.
    pub(crate) empty: Sketches,
    /// Memory for the sketches of windows with many flows.
    filled: Option<Box<Sketches>>,
    /// The flows of the window that is closed.
    flows: LinearCounting,
    /// What is already in rows of closed windows.
    delivery: Delivery,
    small_flows: SmallFlows,
}

impl ClosedWindows {
    pub(crate) fn new(settings: &Settings, empty: Sketches) -> Self {
        Self {
            rows: WindowRows::default(),
            total: Total::new(settings.exact_flows),
            changes: RateChanges::new(settings),
            empty,
            filled: None,
            flows: LinearCounting::default(),
            delivery: Delivery::default(),
            small_flows: SmallFlows::default(),
        }
    }

    /// Adds the rows of a window, and clears it. `delivery` has the counts so far.
    pub(crate) fn close(
        &mut self,
        start_ns: u64,
        window: &mut Window,
        settings: &Settings,
        spray: &mut Spray,
        delivery: Option<Delivery>,
    ) {
        let Self {
            rows,
            total,
            changes,
            empty,
            filled,
            flows,
            delivery: before,
            small_flows,
        } = self;
        window.merge_sprayed(spray, empty);
        spray.end_window(&window.flows, &window.ports);
        let delivery = delivery.map(|now| now.since(core::mem::replace(before, now)));
        flows.clear();
        for flow in window.flows.flows() {
            flows.add(flow.hash());
        }
        if let Some(overflow) = &window.overflow {
            // All bitmaps of this kind have one shape.
            let _ = flows.merge(&overflow.sketches.flows);
        }
        // They follow from the rows of `flows` where these are all flows.
        let lists_all = window.overflow.is_none() && window.flows.flows().len() <= settings.flow_rows;
        let count_min = (settings.sketches && !lists_all).then(|| CountMinColumns::of(window, empty, filled));
        let top = largest(&window.flows, window.overflow.as_deref(), settings);
        let elephants = top.iter().filter(|bounded| is_elephant(settings, bounded)).count();
        let mut completed: Vec<RateChange> = Vec::new();
        let number = start_ns / settings.window_ns;
        changes.close_window(number, top.iter(), settings, |change| {
            completed.push(change);
        });
        let pdcs = window.pdcs.rows(&settings.observer, start_ns, settings.window_ns);
        rows.pdcs.extend(pdcs);
        // Addresses that were replaced are no one's.
        let small = match settings.addresses {
            Some(_) => Vec::new(),
            None => small_flows.name(&window.flows, (number, settings.small_flows), |flow| {
                !is_elephant(settings, &Bounded::exact(*flow))
            }),
        };
        let events = rows.events.len();
        Closing {
            settings,
            start_ns,
            window,
            top: &top,
            small: &small,
            changes: &completed,
            flows,
            count_min: count_min.as_ref(),
            elephants: elephants as u64,
            delivery,
        }
        .rows(rows);
        total.events += (rows.events.len() - events) as u64;
        total.add(window, start_ns, settings, empty);
        window.clear();
    }

    /// Whether something is counted that no window has yet.
    pub(crate) fn is_behind(&self, delivery: Option<Delivery>) -> bool {
        delivery.is_some_and(|now| now.since(self.delivery) != Delivery::default())
    }

    /// Completes pending changes of rate at the end of the capture.
    pub(crate) fn finish(&mut self, settings: &Settings) {
        let Self {
            changes, rows, total, ..
        } = self;
        let before = rows.events.len();
        changes.finish(|change| rows.events.push(change_row(settings, &change)));
        total.events += (rows.events.len() - before) as u64;
    }
}

/// The largest flows, exact and bounded, largest first: all that become rows or could be elephants.
fn largest(flows: &FlowTable, overflow: Option<&Overflow>, settings: &Settings) -> Vec<Bounded> {
    let wanted = settings.flow_rows.max(FOLLOWED);
    let mut top: Vec<Bounded> = flows.top(wanted).into_iter().copied().map(Bounded::exact).collect();
    if let Some(overflow) = overflow {
        top.extend(overflow.flows());
        top.sort_by(|a, b| {
            let (a, b) = (&a.flow, &b.flow);
            b.counts
                .frame_bytes
                .cmp(&a.counts.frame_bytes)
                .then_with(|| a.key.cmp(&b.key))
        });
        top.truncate(wanted);
    }
    top
}
