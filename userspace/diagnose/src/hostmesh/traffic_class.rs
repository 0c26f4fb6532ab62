//! Whether probes have the class of the traffic: each class has its own queues in the switches, so probes of another one say
//! nothing about the queues, the buffers and the PFC of the jobs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The share of the captured payload, in percent, of a DSCP that probes must have.
const MUCH: u64 = 10;

/// The payload bytes of captured connections by DSCP, and what of it no probe has.
#[derive(Debug, Clone, Default)]
pub struct TrafficClasses {
    bytes: BTreeMap<u8, u64>,
}

impl TrafficClasses {
    /// Adds the payload of a direction, whose column `data_dscp` this is. Of several DSCPs each may have carried it all.
    pub fn add(&mut self, data_dscp: &str, payload_bytes: u64) {
        for dscp in data_dscp.split(',').filter_map(|word| word.trim().parse().ok()) {
            let bytes = self.bytes.entry(dscp).or_default();
            *bytes = bytes.saturating_add(payload_bytes);
        }
    }

    /// Warns of DSCPs that carry much of the payload and that no probe has; `None` without any, or without probes.
    #[must_use]
    pub fn warning(&self, probed: &BTreeSet<u8>) -> Option<String> {
        let total: u64 = self.bytes.values().fold(0, |sum, bytes| sum.saturating_add(*bytes));
        let missing = self
            .bytes
            .iter()
            .filter(|(dscp, bytes)| !probed.contains(dscp) && bytes.saturating_mul(100) >= total.saturating_mul(MUCH));
        let missing: Vec<(u8, u64)> = missing.map(|(dscp, bytes)| (*dscp, *bytes)).collect();
        if total == 0 || missing.is_empty() || probed.is_empty() {
            return None;
        }
        let join = |all: &mut dyn Iterator<Item = u8>, between: &str| {
            let words: Vec<String> = all.map(|dscp| format!("{dscp}")).collect();
            words.join(between)
        };
        let dscps = || missing.iter().map(|(dscp, _)| *dscp);
        let bytes: u64 = missing.iter().map(|(_, bytes)| *bytes).sum();
        Some(format!(
            "probes have DSCP {}, and {} % of the captured payload has DSCP {}, whose queues no probe takes: probe them too \
             (`--dscp {}`)",
            join(&mut probed.iter().copied(), " and "),
            bytes.saturating_mul(100) / total,
            join(&mut dscps(), " and "),
            join(&mut dscps().chain(probed.iter().copied()), ",")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::TrafficClasses;
    use std::collections::BTreeSet;

    #[test]
    fn a_class_that_carries_much_and_is_not_probed_is_one_warning() {
        let mut classes = TrafficClasses::default();
        let warning = |classes: &TrafficClasses, probed: &[u8]| {
            classes.warning(&probed.iter().copied().collect::<BTreeSet<u8>>())
        };
        assert_eq!(warning(&classes, &[0]), None);
        classes.add("26", 900);
        classes.add("10", 60);
        classes.add("0,26", 20);
        let text = warning(&classes, &[0]).unwrap();
        assert!(
            text.starts_with("probes have DSCP 0, and 92 % of the captured payload has DSCP 26, "),
            "{text}"
        );
        assert!(text.ends_with("(`--dscp 26,0`)"), "{text}");
        assert_eq!(warning(&classes, &[0, 26]), None);
        assert_eq!(warning(&classes, &[26]), None);
        assert_eq!(warning(&classes, &[]), None, "no probe has a DSCP: rows of before");
    }
}
