//! Sampled packets by flow.

use super::datagram::Sampled;
use crate::Flow;
use crate::workload::{RatedFlow, Workload};
use rocescope_model::json;
use serde::Serialize;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Flows that are kept, at most.
const MAX_FLOWS: usize = 1_000_000;

/// Sampled packets by flow.
#[derive(Debug, Default)]
pub struct SampledFlows {
    flows: HashMap<Flow, Sums>,
    /// Packets of flows beyond the maximum.
    overflow: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    samples: u64,
    packets: u64,
    bytes: u64,
}

/// A flow, and what its samples stand for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledFlow {
    /// The flow.
    #[serde(flatten)]
    pub flow: Flow,
    /// Sampled packets.
    pub samples: u64,
    /// The packets they stand for: each sample as many as its sampling rate.
    pub packets: u64,
    /// The bytes of their frames.
    pub frame_bytes: u64,
    /// `packets` is right to this share of it, in 95 of 100 cases: 196 % divided by the root of the samples.
    #[serde(serialize_with = "json::float")]
    pub error_percent: f64,
    /// Rate of the frames in bit/s.
    #[serde(serialize_with = "json::float")]
    pub bps: f64,
}

impl SampledFlows {
    /// Adds a packet.
    pub fn add(&mut self, sampled: &Sampled) {
        let packet = &sampled.packet;
        let address = |bytes: [u8; 16]| IpAddr::from(Ipv6Addr::from(bytes)).to_canonical();
        let flow = Flow {
            dst_qpn: Some(packet.flow.dst_qpn),
            ..Flow::roce(
                address(packet.flow.src),
                address(packet.flow.dst),
                packet.flow.udp_src_port,
            )
        };
        if self.flows.len() >= MAX_FLOWS && !self.flows.contains_key(&flow) {
            self.overflow += 1;
            return;
        }
        let sums = self.flows.entry(flow).or_default();
        sums.samples += 1;
        sums.packets = sums.packets.saturating_add(sampled.rate.into());
        let bytes = u64::from(packet.frame_bytes).saturating_mul(sampled.rate.into());
        sums.bytes = sums.bytes.saturating_add(bytes);
    }

    /// Sampled packets of flows beyond the maximum of a million.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The flows of a span of this length, the largest first.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "estimates need no more digits")]
    pub fn flows(&self, span: Duration) -> Vec<SampledFlow> {
        let seconds = span.as_secs_f64().max(f64::MIN_POSITIVE);
        let flows = self.flows.iter().map(|(flow, sums)| SampledFlow {
            flow: *flow,
            samples: sums.samples,
            packets: sums.packets,
            frame_bytes: sums.bytes,
            error_percent: 196.0 / (sums.samples as f64).sqrt(),
            bps: sums.bytes as f64 * 8.0 / seconds,
        });
        let mut flows: Vec<SampledFlow> = flows.collect();
        flows.sort_by(|a, b| b.packets.cmp(&a.packets).then(a.flow.cmp(&b.flow)));
        flows
    }

    /// The same as a workload.
    #[must_use]
    pub fn workload(&self, span: Duration) -> Workload {
        let flows = self.flows(span).into_iter().map(|found| RatedFlow {
            flow: found.flow,
            bps: Some(found.bps),
        });
        Workload {
            flows: flows.collect(),
            ..Workload::default()
        }
    }
}
