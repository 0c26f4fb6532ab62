//! What interfaces dropped by themselves while a capture ran.

use crate::drops::Drops;
use rocescope_host::interface::Interface;
use std::sync::Arc;

/// Counters of interfaces, and what they were when the capture began.
pub(super) struct Port {
    interfaces: Vec<Interface>,
    drops: Arc<Drops>,
    statistics: Vec<Vec<(String, u64)>>,
}

impl Port {
    pub(super) fn begin(interfaces: &[Interface], drops: Arc<Drops>) -> Self {
        Self {
            interfaces: interfaces.to_vec(),
            drops,
            statistics: interfaces.iter().map(statistics).collect(),
        }
    }

    /// What all dropped since then; nothing is known where one does not tell.
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

    /// For the line that a signal asks for.
    pub(super) fn sentence(&self) -> String {
        match self.dropped() {
            Some(dropped) => format!("{dropped} dropped by the interface"),
            None => "what the interface dropped is not known".into(),
        }
    }
}

/// Those that speak of frames that did not come in.
fn statistics(interface: &Interface) -> Vec<(String, u64)> {
    let mut all = interface.statistics().unwrap_or_default();
    all.retain(|(name, _)| speaks_of_drops(name));
    all
}

/// Names differ from driver to driver: `rx_discards_phy`, `rx_no_dma_resources`, `rx_queue_0_drops`.
/// What an XDP program drops is its verdict, and what goes out is none of ours.
fn speaks_of_drops(name: &str) -> bool {
    let lost = [
        "drop",
        "discard",
        "miss",
        "no_buf",
        "no_dma",
        "out_of_buffer",
        "overrun",
    ];
    lost.iter().any(|word| name.contains(word))
        && !["xdp", "tx"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::speaks_of_drops;

    #[test]
    fn drops_are_told_from_verdicts() {
        for name in [
            "rx_discards_phy",
            "rx_no_dma_resources",
            "rx_queue_0_drops",
            "port.rx_dropped",
        ] {
            assert!(speaks_of_drops(name), "{name}");
        }
        for name in ["rx_queue_0_xdp_drops", "tx_dropped", "rx_packets"] {
            assert!(!speaks_of_drops(name), "{name}");
        }
    }
}
