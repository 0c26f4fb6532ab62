//! The flows of a workload.
//!
//! | module | source |
//! |---|---|
//! | [`pairs`] | server pairs with a number of flows each (Algorithm 1 of the paper): keeps only their flows |
//! | [`list`] | a list of flows, as JSON |
//! | [`ss`] | sockets of a server, as `ss` prints them |
//! | [`vxlan`] | the outer header of captured packets |
//! | [`rdma`] | queue pairs of servers, as `rdma resource show qp` prints them |
//! | [`agents`] | queue pairs of hosts, as agents report them |
//! | [`connected`] | queue pairs joined with their peers |
//!
//! Captures, datasets and sFlow give flows directly: see [`sflow`](crate::sflow).

pub mod agents;
pub mod connected;
pub mod list;
pub mod pairs;
pub mod rdma;
pub mod ss;
pub mod vxlan;

use crate::Flow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow, and its rate if it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatedFlow {
    /// The flow.
    #[serde(flatten)]
    pub flow: Flow,
    /// Its rate in bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bps: Option<f64>,
}

/// Flows, and what was skipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Workload {
    /// Each flow once.
    pub flows: Vec<RatedFlow>,
    /// What is not among them, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Queue pairs that cannot be separated.
    pub ambiguous: Vec<connected::Ambiguous>,
    /// Flows of queue pairs whose source port is computed: that of flow label 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub computed_ports: u64,
}

impl Workload {
    /// Adds a flow without a rate.
    pub fn add(&mut self, flow: Flow) {
        self.flows.push(RatedFlow { flow, bps: None });
    }

    /// Counts what is no flow of the workload.
    pub fn skip(&mut self, reason: &'static str) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Adds all of another source.
    pub fn extend(&mut self, other: Self) {
        self.flows.extend(other.flows);
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        self.ambiguous.extend(other.ambiguous);
        self.computed_ports += other.computed_ports;
    }

    /// Sorts the flows and keeps each once: with the destination queue pair if one source knows it. The rates of queue
    /// pairs that share a 5-tuple add up; of one that several sources name, the largest rate counts.
    pub fn settle(&mut self) {
        let key = |flow: &Flow| (flow.src, flow.dst, flow.protocol, flow.src_port, flow.dst_port);
        self.flows.sort_by_key(|rated| rated.flow);
        let same_pair = |one: &Flow, other: &Flow| key(one) == key(other) && one.dst_qpn == other.dst_qpn;
        self.merge(same_pair, f64::max);
        // A source that knows no queue pair has the rate of all of them.
        let whole: Vec<RatedFlow> = self
            .flows
            .extract_if(.., |rated| rated.flow.dst_qpn.is_none())
            .collect();
        self.merge(|one, other| key(one) == key(other), |one, other| one + other);
        self.flows.extend(whole);
        self.flows.sort_by_key(|rated| key(&rated.flow));
        self.merge(|one, other| key(one) == key(other), f64::max);
    }

    /// Makes one flow of those beside each other that are the same.
    fn merge(&mut self, is_same: impl Fn(&Flow, &Flow) -> bool, rate: impl Fn(f64, f64) -> f64) {
        self.flows.dedup_by(|next, kept| {
            let is_same = is_same(&next.flow, &kept.flow);
            if is_same {
                kept.flow.dst_qpn = kept.flow.dst_qpn.or(next.flow.dst_qpn);
                kept.flow.outer_src_port = kept.flow.outer_src_port.or(next.flow.outer_src_port);
                kept.bps = match (kept.bps, next.bps) {
                    (Some(one), Some(other)) => Some(rate(one, other)),
                    (one, other) => one.or(other),
                };
            }
            is_same
        });
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::{Flow, RatedFlow, Workload};
    use std::net::IpAddr;

    fn settled(flows: &[(u16, Option<u32>, Option<f64>)]) -> Vec<(u16, Option<u32>, Option<f64>)> {
        let [src, dst] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
        let flows = flows.iter().map(|(port, dst_qpn, bps)| RatedFlow {
            flow: Flow {
                dst_qpn: *dst_qpn,
                ..Flow::roce(src, dst, *port)
            },
            bps: *bps,
        });
        let mut workload = Workload {
            flows: flows.collect(),
            ..Workload::default()
        };
        workload.settle();
        let flows = workload.flows.iter();
        flows
            .map(|rated| (rated.flow.src_port, rated.flow.dst_qpn, rated.bps))
            .collect()
    }

    #[test]
    fn rates_of_queue_pairs_add_up_and_those_of_sources_do_not() {
        let one = |qpn, bps| (9, qpn, bps);
        // Two queue pairs, and one of them from a second source.
        let found = settled(&[
            one(Some(17), Some(3.0)),
            one(Some(18), Some(4.0)),
            one(Some(17), Some(2.0)),
        ]);
        assert_eq!(found, [one(Some(17), Some(7.0))]);
        // A source without queue pairs has the rate of the 5-tuple.
        for (whole, rate) in [(Some(9.0), 9.0), (Some(5.0), 7.0), (None, 7.0)] {
            let found = settled(&[
                one(Some(18), Some(4.0)),
                one(None, whole),
                one(Some(17), Some(3.0)),
                (8, None, None),
            ]);
            assert_eq!(found, [(8, None, None), one(Some(17), Some(rate))]);
        }
        assert_eq!(
            settled(&[one(Some(17), None), one(None, Some(1.0))]),
            [one(Some(17), Some(1.0))]
        );
    }
}
