//! Frames that interfaces dropped during a capture.

use crate::drops::Drops;
use rocescope_host::interface::{Dropped, Interface};
use std::sync::Arc;

/// Counters of interfaces, and their values when the capture began.
pub(super) struct Port {
    interfaces: Vec<Interface>,
    drops: Arc<Drops>,
    statistics: Vec<Vec<(String, u64)>>,
    /// Frames without a protocol that XDP has seen, and those of them that it passed.
    unhandled: u64,
    passed: u64,
}

impl Port {
    pub(super) fn begin(interfaces: &[Interface], drops: Arc<Drops>) -> Self {
        Self {
            interfaces: interfaces.to_vec(),
            drops,
            statistics: interfaces.iter().map(statistics).collect(),
            unhandled: 0,
            passed: 0,
        }
    }

    /// Frames that all interfaces dropped since then; `None` if one does not report them.
    pub(super) fn dropped(&self) -> Option<u64> {
        self.drops.interface_frames()
    }

    /// The drivers' own counters of drops that have grown since then.
    pub(super) fn grown(&self) -> Vec<(String, u64)> {
        let mut grown = Vec::new();
        for (interface, before) in self.interfaces.iter().zip(&self.statistics) {
            for (name, now) in statistics(interface) {
                let then = before.iter().find(|(known, _)| *known == name);
                let more = now.saturating_sub(then.map_or(0, |(_, then)| *then));
                if more > 0 {
                    grown.push((format!("{} {name}", interface.name), more));
                }
            }
        }
        grown
    }

    /// What the interfaces count so far, to [settle](Self::settle) with counters of XDP that are read later.
    pub(super) fn counted(&self) -> Option<Dropped> {
        self.drops.counted()
    }

    /// XDP counts `unhandled` frames by now; while it passes frames, the kernel drops those and counts them as well.
    pub(super) fn settle(&mut self, counted: Option<Dropped>, unhandled: u64, passes: bool) {
        let more = unhandled.saturating_sub(self.unhandled);
        self.unhandled = unhandled;
        self.passed += if passes { more } else { 0 };
        self.drops.settle(counted, self.passed);
    }

    /// The text for the line of counts.
    pub(super) fn sentence(&self) -> String {
        match self.dropped() {
            Some(dropped) => format!("capture loss {dropped} at the interface"),
            None => "capture loss at the interface unknown".into(),
        }
    }
}

/// The counters of frames that the interface dropped on receive.
fn statistics(interface: &Interface) -> Vec<(String, u64)> {
    let mut all = interface.statistics().unwrap_or_default();
    all.retain(|(name, _)| counts_drops(name));
    all
}

/// Names differ from driver to driver: `rx_discards_phy`, `rx_no_dma_resources`, `rx_queue_0_drops`.
/// Drops by an XDP program are its verdict, and transmitted frames are irrelevant.
fn counts_drops(name: &str) -> bool {
    let lost = [
        "drop",
        "discard",
        "miss",
        "no_buf",
        "no_dma",
        "out_of_buffer",
        "overrun",
    ];
    lost.iter().any(|word| name.contains(word)) && !["xdp", "tx"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::counts_drops;

    #[test]
    fn drops_differ_from_verdicts() {
        for name in [
            "rx_discards_phy",
            "rx_no_dma_resources",
            "rx_queue_0_drops",
            "port.rx_dropped",
        ] {
            assert!(counts_drops(name), "{name}");
        }
        for name in ["rx_queue_0_xdp_drops", "tx_dropped", "rx_packets"] {
            assert!(!counts_drops(name), "{name}");
        }
    }
}
