//! Sampled packets by flow.

use super::datagram::Sampled;
use super::estimate::{Estimate, Samples};
use super::sample::Point;
use crate::Flow;
use crate::workload::{RatedFlow, Workload};
use rocescope_model::json;
use serde::Serialize;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Flows that are kept, at most.
const MAX_FLOWS: usize = 1_000_000;

/// Points of a flow, at most: a path of sixteen switches, each sampled at two ports.
const MAX_POINTS: usize = 32;

/// Sampled packets by flow.
#[derive(Debug, Default)]
pub struct SampledFlows {
    flows: HashMap<Flow, Vec<(Point, Samples)>>,
    /// Packets of flows and points beyond the maximum.
    overflow: u64,
}

/// A flow, and what its samples stand for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledFlow {
    /// The flow.
    #[serde(flatten)]
    pub flow: Flow,
    /// Sampled packets.
    pub samples: u64,
    /// Points that sampled them: data sources of agents, such as ports of switches.
    pub points: usize,
    /// The packets they stand for. Points see the same packets: their estimates are averaged.
    pub packets: u64,
    /// The bytes of their frames.
    pub frame_bytes: u64,
    /// `packets` is right to this share of it, in 95 of 100 cases: 1.96 standard deviations. At one sampling rate that is
    /// 196 % divided by the root of the samples.
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
        let points = self.flows.entry(flow).or_default();
        let place = points.iter().position(|(point, _)| *point == sampled.point);
        let place = match place {
            Some(place) => place,
            None if points.len() < MAX_POINTS => {
                points.push((sampled.point, Samples::default()));
                points.len() - 1
            }
            None => {
                self.overflow += 1;
                return;
            }
        };
        points[place].1.add(sampled.rate, packet.frame_bytes);
    }

    /// Sampled packets of flows beyond the maximum of a million, and of points of a flow beyond 32.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The flows of a span of this length, the largest first.
    #[must_use]
    pub fn flows(&self, span: Duration) -> Vec<SampledFlow> {
        let seconds = span.as_secs_f64().max(f64::MIN_POSITIVE);
        let flows = self.flows.iter().map(|(flow, points)| {
            let samples: Vec<Samples> = points.iter().map(|(_, samples)| *samples).collect();
            let estimate = Estimate::of(&samples);
            SampledFlow {
                flow: *flow,
                samples: samples.iter().map(|samples| samples.count).sum(),
                points: points.len(),
                packets: whole(estimate.packets),
                frame_bytes: whole(estimate.bytes),
                error_percent: estimate.error_percent(),
                bps: estimate.bytes * 8.0 / seconds,
            }
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates are positive; the cast saturates"
)]
fn whole(estimate: f64) -> u64 {
    estimate.round() as u64
}
