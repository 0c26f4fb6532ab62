//! The flows of a workload.
//!
//! | module | source |
//! |---|---|
//! | [`pairs`] | server pairs with a number of flows each (Algorithm 1 of the paper): keeps only their flows |
//! | [`list`] | a list of flows, as JSON |
//! | [`ss`] | sockets of a server, as `ss` prints them |
//! | [`vxlan`] | the outer header of captured packets |
//! | [`rdma`] | queue pairs of servers, as `rdma resource show qp` prints them |
//!
//! Captures, datasets and sFlow give flows directly: see [`sflow`](crate::sflow).

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
    pub ambiguous: Vec<rdma::Ambiguous>,
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
    }

    /// Sorts the flows and keeps each once: with the destination queue pair if one source knows it, and the largest
    /// rate.
    pub fn settle(&mut self) {
        let key = |flow: &Flow| (flow.src, flow.dst, flow.protocol, flow.src_port, flow.dst_port);
        self.flows.sort_by_key(|rated| rated.flow);
        self.flows.dedup_by(|next, kept| {
            let is_same = key(&next.flow) == key(&kept.flow);
            if is_same {
                kept.flow.dst_qpn = kept.flow.dst_qpn.or(next.flow.dst_qpn);
                kept.flow.outer_src_port = kept.flow.outer_src_port.or(next.flow.outer_src_port);
                kept.bps = match (kept.bps, next.bps) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    (one, other) => one.or(other),
                };
            }
            is_same
        });
    }
}
