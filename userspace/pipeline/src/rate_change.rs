//! Elephants, and flows whose rate jumps between windows.

use crate::overflow::Bounded;
use crate::settings::Settings;
use alloc::collections::BTreeMap;
use rocescope_sketches::FlowHash;
use rocescope_sketches::jitter::{Event, Jitter, Thresholds};
use rocescope_wire::FlowKey;

/// Flows tracked from window to window: the heaviest, because a change of an elephant needs its earlier rate. 80 bytes
/// each, and as much for the key.
pub(crate) const FOLLOWED: usize = 4_096;
/// Windows without a packet after which a flow is dropped.
const FORGET_AFTER: u64 = 60;

/// Tracks the rates of the heaviest flows.
#[derive(Debug)]
pub(crate) struct RateChanges {
    jitter: Jitter,
    /// Keys of the tracked flows, with the number of the last window that had them.
    keys: BTreeMap<FlowHash, (FlowKey, u64)>,
}

/// An event of the jitter sketch, with the key of the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateChange {
    pub(crate) key: FlowKey,
    pub(crate) event: Event,
}

impl RateChanges {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            jitter: Jitter::new(thresholds(settings), FOLLOWED, FORGET_AFTER),
            keys: BTreeMap::new(),
        }
    }

    /// Sets the thresholds from the next window on.
    pub(crate) fn set_thresholds(&mut self, settings: &Settings) {
        self.jitter.set_thresholds(thresholds(settings));
    }

    /// Adds the flows of a finished window, largest first, and calls `emit` with each completed change.
    pub(crate) fn close_window<'a>(
        &mut self,
        number: u64,
        flows: impl Iterator<Item = &'a Bounded> + Clone,
        settings: &Settings,
        mut emit: impl FnMut(RateChange),
    ) {
        let flows = flows.take(FOLLOWED);
        for bounded in flows.clone() {
            self.keys.insert(bounded.flow.hash(), (bounded.flow.key, number));
        }
        let rates = flows.map(|bounded| {
            let bytes = bounded.flow.counts.frame_bytes - bounded.error_frame_bytes / 2;
            (bounded.flow.hash(), settings.bps(bytes) as u64)
        });
        let keys = &self.keys;
        self.jitter.close_window(number, rates, |event| {
            if let Some((key, _)) = keys.get(&event.flow) {
                emit(RateChange { key: *key, event });
            }
        });
        if self.keys.len() > 2 * FOLLOWED {
            self.keys.retain(|_, (_, seen)| *seen + FORGET_AFTER + 2 > number);
        }
    }

    /// Completes pending changes at the end of a capture.
    pub(crate) fn finish(&mut self, mut emit: impl FnMut(RateChange)) {
        let keys = &self.keys;
        self.jitter.finish(|event| {
            if let Some((key, _)) = keys.get(&event.flow) {
                emit(RateChange { key: *key, event });
            }
        });
    }
}

fn thresholds(settings: &Settings) -> Thresholds {
    Thresholds {
        elephant_bps: settings.elephant_bps as u64,
        absolute_bps: settings.jitter.absolute_bps.map(|bps| bps as u64),
        relative: settings.jitter.relative,
    }
}
