//! A window that is over, on its way into rows and into the total.

use super::Pipeline;
use crate::change::{Changed, FOLLOWED};
use crate::flow_table::FlowTable;
use crate::overflow::{Bounded, Overflow};
use crate::rows::{Closing, is_elephant};
use crate::settings::Settings;
use crate::window::Window;
use alloc::vec::Vec;
use rocescope_model::WindowRows;

impl Pipeline {
    /// Closes the windows that end at or before `floor_ns`.
    pub(super) fn close_before<E>(
        &mut self,
        floor_ns: u64,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((start, window)) = self
            .open
            .pop_front_if(|(start, _)| start.saturating_add(self.settings.window_ns) <= floor_ns)
        {
            self.close(start, window);
            each(&mut self.rows)?;
        }
        Ok(())
    }

    fn close(&mut self, start_ns: u64, mut window: Window) {
        window.count_all(&self.empty);
        let mirror = self.mirror().map(|now| {
            let since = now.since(self.mirror);
            self.mirror = now;
            since
        });
        let Self {
            settings,
            sketches,
            changes,
            rows,
            total,
            ..
        } = self;
        sketches.clear();
        for flow in window.flows.flows() {
            sketches.add(flow.hash(), &flow.counts);
        }
        if let Some(overflow) = &window.overflow {
            sketches.merge(&overflow.sketches);
        }
        let top = largest(&window.flows, window.overflow.as_deref(), settings);
        let elephants = top
            .iter()
            .filter(|bounded| is_elephant(settings, bounded))
            .count();
        let mut changed: Vec<Changed> = Vec::new();
        let number = start_ns / settings.window_ns;
        changes.close_window(number, top.iter(), settings, |change| changed.push(change));
        let events = rows.events.len();
        Closing {
            settings,
            start_ns,
            window: &window,
            top: &top,
            changes: &changed,
            sketches,
            elephants: elephants as u64,
            mirror,
        }
        .rows(rows);
        total.events += (rows.events.len() - events) as u64;
        total.add(&window, start_ns, settings, &self.empty);
        window.clear();
        self.spare = Some(window);
    }
}

/// The largest flows, exact and bounded ones together, largest first: as many as become rows or
/// could be elephants.
fn largest(flows: &FlowTable, overflow: Option<&Overflow>, settings: &Settings) -> Vec<Bounded> {
    let wanted = settings.flow_rows.max(FOLLOWED);
    let mut top: Vec<Bounded> = flows
        .top(wanted)
        .into_iter()
        .copied()
        .map(Bounded::exact)
        .collect();
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
