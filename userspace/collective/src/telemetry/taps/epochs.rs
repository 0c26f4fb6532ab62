//! Stays as rows: a report of two epochs where a packet waited in one of them.

use super::Capture;
use super::stays::Stay;
use crate::steps::FlowKey;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_model::{ROCE_UDP_PORT, TelemetryRow, Text};

/// Length of an epoch, as that of the switches of Vedrfolnir's authors.
const EPOCH_NS: i64 = 1_000_000;
const UDP: u8 = 17;

/// Counts of a flow in an epoch.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    packets: u64,
    queued: u64,
}

/// Adds the rows of a port.
pub(super) fn rows(out: &Capture, stays: &[Stay], rows: &mut Vec<TelemetryRow>) {
    let mut epochs: BTreeMap<i64, BTreeMap<FlowKey, Count>> = BTreeMap::new();
    for stay in stays {
        let epoch = epochs.entry(stay.entered_ns.div_euclid(EPOCH_NS)).or_default();
        let count = epoch.entry(out.packets[stay.packet].flow).or_default();
        count.packets += 1;
        count.queued += stay.before;
    }
    let has_queue = |number: i64| {
        let flows = epochs.get(&number).into_iter().flat_map(BTreeMap::values);
        flows.into_iter().any(|count| count.queued > 0)
    };
    // A report has two epochs, an even one and the one after it.
    let mut pairs: Vec<i64> = epochs.keys().map(|number| number.div_euclid(2)).collect();
    pairs.dedup();
    let queued = pairs
        .into_iter()
        .filter(|pair| has_queue(2 * pair) || has_queue(2 * pair + 1));
    for (report, pair) in (0..).zip(queued) {
        for (which, number) in [(0, 2 * pair + 1), (1, 2 * pair)] {
            if let Some(flows) = epochs.get(&number) {
                let head = TelemetryRow {
                    time_ns: (2 * pair + 2) * EPOCH_NS - 1,
                    report,
                    epoch: which,
                    ..head(out)
                };
                add(flows, &head, rows);
            }
        }
    }
}

/// What all rows of a port share.
fn head(out: &Capture) -> TelemetryRow {
    let tap = &out.tap;
    TelemetryRow {
        node: tap.port.switch.clone(),
        trigger: Text::from_static("flow"),
        egress: tap.port.port.clone(),
        peer: tap.peer.as_ref().map(|peer| peer.switch.clone()),
        peer_port: tap.peer.as_ref().map(|peer| peer.port.clone()),
        peer_is_host: tap.peer_is_host,
        ..TelemetryRow::default()
    }
}

fn add(flows: &BTreeMap<FlowKey, Count>, head: &TelemetryRow, rows: &mut Vec<TelemetryRow>) {
    let total = flows.values().fold(Count::default(), |sum, count| Count {
        packets: sum.packets + count.packets,
        queued: sum.queued + count.queued,
    });
    rows.push(TelemetryRow {
        kind: Text::from_static("port"),
        packets: total.packets,
        queued_packets: total.queued,
        ..head.clone()
    });
    for (flow, count) in flows {
        rows.push(TelemetryRow {
            kind: Text::from_static("flow"),
            src: Some(flow.src),
            dst: Some(flow.dst),
            src_port: flow.src_port,
            dst_port: Some(ROCE_UDP_PORT),
            protocol: Some(UDP),
            packets: count.packets,
            queued_packets: count.queued,
            ..head.clone()
        });
    }
}
