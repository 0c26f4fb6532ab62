//! Whether probes have the class of the traffic: each class has its own queues in the switches, so probes of another one say
//! nothing about the queues, the buffers and the PFC of the jobs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::CounterRow;

/// The share of the captured payload, in percent, of a DSCP that probes must have.
const MUCH: u64 = 10;
/// The share of the bytes that NICs sent, in percent, of a priority that probes must have: NICs send TCP too, which may have
/// another one.
const MOST: u64 = 50;
/// The metric of the bytes of a priority.
const OF_PRIORITY: &str = "tx_prio_bytes";

/// The bytes of the traffic by class, and what of it no probe has: the payload of captured connections by DSCP; without any,
/// what NICs sent by priority.
#[derive(Debug, Clone, Default)]
pub struct TrafficClasses {
    bytes: BTreeMap<u8, u64>,
    priorities: BTreeMap<u8, u64>,
}

impl TrafficClasses {
    /// Adds the payload of a direction, whose column `data_dscp` this is. Of several DSCPs each may have carried it all.
    pub fn add(&mut self, data_dscp: &str, payload_bytes: u64) {
        for dscp in data_dscp.split(',').filter_map(|word| word.trim().parse().ok()) {
            let bytes = self.bytes.entry(dscp).or_default();
            *bytes = bytes.saturating_add(payload_bytes);
        }
    }

    /// Whether DSCPs of captured connections are known: then what NICs count adds nothing.
    #[must_use]
    pub fn is_captured(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Adds what a NIC sent since its counter was read before.
    pub fn add_counter(&mut self, row: &CounterRow) {
        if row.metric.as_deref() != Some(OF_PRIORITY) {
            return;
        }
        if let (Some(priority), Some(increase)) = (row.priority, row.increase) {
            let bytes = self.priorities.entry(priority).or_default();
            *bytes = bytes.saturating_add(increase);
        }
    }

    /// Warns of classes that carry much of the traffic and that no probe has; `None` without any, or without probes.
    #[must_use]
    pub fn warning(&self, probed: &BTreeSet<u8>) -> Option<String> {
        match self.is_captured() {
            true => self.unprobed_payload(probed),
            false => self.unprobed_priority(probed),
        }
    }

    /// NICs and switches give a DSCP the priority DSCP / 8, unless they are configured otherwise.
    fn unprobed_priority(&self, probed: &BTreeSet<u8>) -> Option<String> {
        let total: u64 = self
            .priorities
            .values()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes));
        let (priority, bytes) = self.priorities.iter().max_by_key(|(_, bytes)| **bytes)?;
        let is_probed = probed.is_empty() || probed.iter().any(|dscp| dscp / 8 == *priority);
        if is_probed || total == 0 || bytes.saturating_mul(100) < total.saturating_mul(MOST) {
            return None;
        }
        Some(format!(
            "probes have DSCP {}, and {} % of the bytes that NICs sent have priority {priority}, by default that of DSCP {} to \
             {}, whose queues no probe takes: probe the DSCP of the jobs too (`--dscp`)",
            join(probed.iter().copied(), " and "),
            bytes.saturating_mul(100) / total,
            priority.saturating_mul(8),
            priority.saturating_mul(8).saturating_add(7),
        ))
    }

    fn unprobed_payload(&self, probed: &BTreeSet<u8>) -> Option<String> {
        let total: u64 = self.bytes.values().fold(0, |sum, bytes| sum.saturating_add(*bytes));
        let missing = self
            .bytes
            .iter()
            .filter(|(dscp, bytes)| !probed.contains(dscp) && bytes.saturating_mul(100) >= total.saturating_mul(MUCH));
        let missing: Vec<(u8, u64)> = missing.map(|(dscp, bytes)| (*dscp, *bytes)).collect();
        if total == 0 || missing.is_empty() || probed.is_empty() {
            return None;
        }
        let dscps = || missing.iter().map(|(dscp, _)| *dscp);
        let bytes: u64 = missing.iter().map(|(_, bytes)| *bytes).sum();
        Some(format!(
            "probes have DSCP {}, and {} % of the captured payload has DSCP {}, whose queues no probe takes: probe them too \
             (`--dscp {}`)",
            join(probed.iter().copied(), " and "),
            bytes.saturating_mul(100) / total,
            join(dscps(), " and "),
            join(dscps().chain(probed.iter().copied()), ",")
        ))
    }
}

fn join(dscps: impl Iterator<Item = u8>, between: &str) -> String {
    let words: Vec<String> = dscps.map(|dscp| format!("{dscp}")).collect();
    words.join(between)
}

#[cfg(test)]
mod tests {
    use super::TrafficClasses;
    use rocescope_model::CounterRow;
    use std::collections::BTreeSet;

    fn sent(priority: u8, increase: u64) -> CounterRow {
        CounterRow {
            metric: Some("tx_prio_bytes".into()),
            priority: Some(priority),
            increase: Some(increase),
            ..CounterRow::default()
        }
    }

    #[test]
    fn without_a_capture_the_priority_of_most_bytes_is_one_warning() {
        let mut classes = TrafficClasses::default();
        let warning = |classes: &TrafficClasses, probed: &[u8]| {
            classes.warning(&probed.iter().copied().collect::<BTreeSet<u8>>())
        };
        classes.add_counter(&sent(0, 300));
        classes.add_counter(&sent(3, 600));
        classes.add_counter(&sent(3, 300));
        let mut pauses = sent(3, u64::MAX);
        pauses.metric = Some("tx_pause_frames".into());
        classes.add_counter(&pauses);
        let text = warning(&classes, &[0]).unwrap();
        assert!(
            text.starts_with("probes have DSCP 0, and 75 % of the bytes that NICs sent have priority 3, by default that of DSCP 24 to 31, "),
            "{text}"
        );
        assert_eq!(warning(&classes, &[0, 26]), None);
        assert_eq!(warning(&classes, &[]), None);
        // Most bytes have the priority of the probes: others may be of TCP.
        classes.add_counter(&sent(0, 700));
        assert_eq!(warning(&classes, &[0]), None);
        // A capture has DSCPs.
        classes.add_counter(&sent(3, 9_000));
        classes.add("0", 1);
        assert_eq!(warning(&classes, &[0]), None);
    }

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
