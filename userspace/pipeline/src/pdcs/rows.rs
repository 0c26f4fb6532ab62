//! The directions of PDCs in a window, and their rows.

use super::counts::{Family, PdcCounts, PdcTotals};
use super::table::Identity;
use crate::fields::{address, vlan, vni};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use hashbrown::HashMap;
use rocescope_model::{PdcRow, Text, Time};
use rocescope_wire::uet::NackCode;

/// The directions that have packets in a window, or of which something was judged in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PdcWindow {
    directions: HashMap<u64, (Identity, PdcCounts)>,
}

impl PdcWindow {
    /// The counts of a direction, which a number distinguishes from all others of the capture.
    pub(super) fn counts(&mut self, number: u64, identity: Identity) -> &mut PdcCounts {
        let (known, counts) = self.directions.entry(number).or_default();
        // More may be known by now.
        *known = identity;
        counts
    }

    pub(crate) fn clear(&mut self) {
        self.directions.clear();
    }

    /// Adds its counts to the totals.
    pub(crate) fn sum(&self, totals: &mut PdcTotals) {
        for (_, counts) in self.directions.values() {
            totals.add(counts);
        }
    }

    /// The rows, largest first.
    pub(crate) fn rows(&self, observer: &Text, start_ns: u64, window_ns: u64) -> Vec<PdcRow> {
        let start_ns = start_ns.min(i64::MAX as u64) as i64;
        let mut directions: Vec<&(Identity, PdcCounts)> = self.directions.values().collect();
        directions.sort_by_key(|(identity, counts)| (core::cmp::Reverse(counts.frame_bytes), *identity));
        let rows = directions.into_iter().map(|(identity, counts)| PdcRow {
            observer: observer.clone(),
            window_start: Time(start_ns),
            window_start_ns: start_ns,
            window_ns: window_ns as i64,
            frame_bps: counts.frame_bytes as f64 * 8e9 / window_ns as f64,
            ..row(identity, counts)
        });
        rows.collect()
    }
}

fn row(identity: &Identity, counts: &PdcCounts) -> PdcRow {
    let rtt = &counts.rtt;
    PdcRow {
        src: address(identity.src),
        dst: address(identity.dst),
        src_pdc: identity.src_pdc,
        dst_pdc: identity.dst_pdc,
        mode: Text::from_static(identity.mode.name()),
        job: identity.job,
        vlan: vlan(identity.tags.0),
        inner_vlan: vlan(identity.tags.1),
        vni: vni(identity.vni),
        packets: counts.request_packets + counts.control_packets,
        frame_bytes: counts.frame_bytes,
        request_packets: counts.request_packets,
        control_packets: counts.control_packets,
        ack_packets: counts.ack_packets,
        nack_packets: counts.nack_packets,
        answer_frame_bytes: counts.answer_frame_bytes,
        nack_trimmed: counts.trim_nacks(),
        nack_reasons: names(&counts.nacks, |code| NackCode(code).name()),
        messages: counts.all_messages(),
        write_messages: counts.family(Family::Write),
        read_messages: counts.family(Family::Read),
        atomic_messages: counts.family(Family::Atomic),
        send_messages: counts.family(Family::Send),
        other_messages: counts.family(Family::Other),
        operations: names(&counts.messages, PdcCounts::operation),
        retransmitted_packets: counts.retransmitted_packets,
        repeated_packets: counts.repeated_packets,
        trimmed_packets: counts.trimmed_packets,
        fabric_lost_upstream_packets: counts.fabric_lost_upstream_packets,
        fabric_lost_downstream_packets: counts.fabric_lost_downstream_packets,
        unanswered_packets: counts.unanswered_packets,
        needless_packets: counts.needless_packets,
        unseen_packets: counts.unseen_packets,
        unknown_packets: counts.unknown_packets,
        ecn_ce_packets: counts.ecn_ce_packets,
        ecn_echo_packets: counts.ecn_echo_packets,
        rtt_samples: rtt.samples(),
        rtt_min_ns: rtt.min(),
        rtt_p50_ns: rtt.quantile(0.5),
        rtt_p99_ns: rtt.quantile(0.99),
        rtt_max_ns: rtt.max(),
        ..PdcRow::default()
    }
}

/// Names with their counts, separated by commas; null if there are none.
fn names(counts: &BTreeMap<u8, u64>, name: impl Fn(u8) -> &'static str) -> Option<Text> {
    // Several numbers may be reserved.
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (number, count) in counts {
        *by_name.entry(name(*number)).or_default() += count;
    }
    let mut text = String::new();
    for (name, count) in by_name {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{name} {count}");
    }
    (!text.is_empty()).then(|| text.into())
}
