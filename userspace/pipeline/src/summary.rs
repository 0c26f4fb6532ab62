//! The summary of a capture: printed at its end, and the JSON of `-o json`.

use crate::delivery::Delivery;
use crate::flow_estimate::FlowEstimate;
use crate::flow_table::flow_hash;
use crate::overflow::{Bounded, Overflow};
use crate::pdcs::PdcTotals;
use crate::total::Total;
use crate::totals::Totals;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_wire::FlowKey;

/// The summary of a capture.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Totals by opcode, syndrome and class.
    pub totals: Totals,
    /// Windows with frames.
    pub windows: u64,
    /// Rows of `events`.
    pub events: u64,
    /// Start of the first window and end of the last, nanoseconds since the epoch.
    pub span_ns: Option<(u64, u64)>,
    /// Distinct flows: exact where [`exact`](Self::exact), else the estimate of the sketches: Linear Counting until its
    /// bitmap is full, then HyperLogLog.
    pub flows: u64,
    /// Standard error of `flows`; 0 if they are exact.
    pub flows_standard_error: f64,
    /// Whether flows and top flows are exact. Totals always are.
    pub exact: bool,
    /// Fabric loss, retransmissions and mirror loss, if connections are tracked.
    pub delivery: Option<Delivery>,
    /// UET's packet delivery contexts.
    pub pdcs: PdcTotals,
    /// The largest flows by frame bytes, largest first.
    pub top_flows: Vec<TopFlow>,
}

/// A flow of the whole capture.
pub type TopFlow = Bounded;

impl Summary {
    /// With the `top` largest flows.
    pub(crate) fn new(total: &Total, delivery: Option<Delivery>, top: usize) -> Self {
        let estimate = total.flow_bitmap.estimate();
        let (flows, flows_standard_error, top_flows) = match &total.overflow {
            None => {
                let top = total.flows.top(top).into_iter().copied();
                let top = top.map(Bounded::exact).collect();
                (total.flows.flows().len() as u64, 0.0, top)
            }
            Some(overflow) => {
                // The bitmap is full from 6.9 million flows on; then the HyperLogLog counts.
                let mut hll = overflow.hll.clone();
                for flow in total.flows.flows() {
                    hll.add(flow.hash());
                }
                let estimate = FlowEstimate::new(&estimate, Some(&hll));
                let error = estimate.flows * estimate.stderr_ratio;
                (estimate.rounded(), error, bounded_top(total, top))
            }
        };
        Self {
            totals: total.totals.clone(),
            windows: total.windows,
            events: total.events,
            span_ns: total.span_ns,
            flows,
            flows_standard_error,
            exact: total.overflow.is_none(),
            delivery,
            pdcs: total.pdcs,
            top_flows,
        }
    }
}

/// A flow may have an exact part, from windows in which the table had room, and a bounded one.
fn bounded_top(total: &Total, count: usize) -> Vec<TopFlow> {
    let mut flows: BTreeMap<FlowKey, TopFlow> = BTreeMap::new();
    let candidates = total.flows.flows().iter().copied().map(Bounded::exact);
    let overflow = total.overflow.as_deref();
    for exact in candidates {
        let rest = overflow.map(|overflow| overflow.bounds(flow_hash(&exact.flow.key)));
        let mut bounded = exact;
        if let Some((max, error_packets, error_frame_bytes)) = rest {
            bounded.flow.counts.add(&max);
            bounded.error_packets += error_packets;
            bounded.error_frame_bytes += error_frame_bytes;
        }
        flows.insert(exact.flow.key, bounded);
    }
    for bounded in overflow.into_iter().flat_map(Overflow::flows) {
        flows.entry(bounded.flow.key).or_insert(bounded);
    }
    let mut top: Vec<TopFlow> = flows.into_values().collect();
    top.sort_by(|a, b| {
        // By the middle of the bounds: a wide bound must not displace a certain count.
        let middle = |flow: &TopFlow| flow.flow.counts.frame_bytes - flow.error_frame_bytes / 2;
        middle(b).cmp(&middle(a)).then_with(|| a.flow.key.cmp(&b.flow.key))
    });
    top.truncate(count);
    top
}

#[cfg(test)]
mod tests {
    use super::Summary;
    use crate::overflow::{Overflow, Sketches};
    use crate::total::Total;
    use alloc::boxed::Box;
    use rocescope_sketches::FlowHash;

    /// The number of flows stopped at 6.9 million, where the bitmap of 524,288 bits is full.
    #[test]
    fn ten_million_flows_are_counted() {
        const FLOWS: u64 = 10_000_000;
        let mut total = Total::new(16);
        let mut overflow = Overflow::new(&Sketches::default());
        for flow in 0..FLOWS {
            // A finalizer of MurmurHash3: distinct numbers have distinct, well mixed hashes.
            let mut hash = (flow ^ (flow >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            let hash = FlowHash(hash ^ (hash >> 33));
            total.flow_bitmap.add(hash);
            overflow.hll.add(hash);
        }
        total.overflow = Some(Box::new(overflow));
        let summary = Summary::new(&total, None, 10);
        let off = summary.flows.abs_diff(FLOWS) as f64;
        assert!(
            !summary.exact && off < 3.0 * summary.flows_standard_error,
            "{summary:?}"
        );
        let error = summary.flows_standard_error / FLOWS as f64;
        assert!(error < 0.03, "{error}");
    }
}
