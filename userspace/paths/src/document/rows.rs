//! Paths and loads of links as rows.

use crate::Workload;
use crate::discover::{Plan, Run};
use rocescope_diagnose::paths::{Imbalance, Loads};
use rocescope_model::{FlowPathRow, LinkLoadRow, Text, Time};

/// The hops of the flows of a run.
#[must_use]
pub fn paths(observer: &str, time: Time, plan: &Plan, (run, workload): (&Run, &Workload)) -> Vec<FlowPathRow> {
    let fabric = &plan.fabric;
    let observer: Text = observer.to_owned().into();
    let mut rows = Vec::new();
    for (trace, rated) in run.traces.iter().zip(&workload.flows) {
        let flow = &trace.flow;
        let row = |hop: usize| FlowPathRow {
            observer: observer.clone(),
            time,
            time_ns: time.0,
            src: flow.src,
            dst: flow.dst,
            protocol: flow.protocol,
            src_port: flow.src_port,
            dst_port: flow.dst_port,
            dst_qpn: flow.dst_qpn,
            outcome: trace.outcome.reason.into(),
            detail: trace.outcome.detail.clone().into(),
            hops: u16::try_from(trace.ways.len()).unwrap_or(u16::MAX),
            hop: u16::try_from(hop).unwrap_or(u16::MAX),
            flow_bps: rated.bps,
            ..FlowPathRow::default()
        };
        if trace.ways.is_empty() {
            rows.push(row(0));
        }
        let mut ingress: Option<Text> = None;
        for (hop, way) in (1..).zip(&trace.ways) {
            let (from, to) = (fabric.from(*way), fabric.to(*way));
            rows.push(FlowPathRow {
                node: fabric.name(from.node).to_owned().into(),
                ingress: ingress.take(),
                egress: Some(from.port.clone().into()),
                ..row(hop)
            });
            ingress = Some(to.port.clone().into());
        }
    }
    rows
}

/// The loads of the links that were found.
#[must_use]
pub fn imbalance(plan: &Plan, run: &Run, workload: &Workload) -> Imbalance {
    let mut loads = Loads::new(&plan.fabric);
    let found = run.traces.iter().zip(&workload.flows);
    // A part of a path would look like an uneven load.
    for (trace, rated) in found.filter(|(trace, _)| trace.outcome.reason == "complete" && !trace.ways.is_empty()) {
        loads.add(&trace.ways, rated.bps);
    }
    loads.imbalance(&plan.fabric)
}

/// The loads of a window, or of a run if it has no length.
#[must_use]
pub fn link_loads(observer: &str, start_ns: i64, window_ns: i64, imbalance: &Imbalance) -> Vec<LinkLoadRow> {
    let rows = imbalance.link_loads.iter().map(|link| LinkLoadRow {
        observer: observer.to_owned().into(),
        window_start: Time(start_ns),
        window_start_ns: start_ns,
        window_ns,
        from: link.from.clone().into(),
        from_port: link.from_port.clone().into(),
        to: link.to.clone().into(),
        to_port: link.to_port.clone().into(),
        from_tier: link.from_tier.clone().into(),
        to_tier: link.to_tier.clone().into(),
        flows: link.flows,
        ideal_flows: link.ideal,
        deviation_ratio: link.deviation_percent.map(|percent| percent / 100.0),
        flow_bps: link.bps,
    });
    rows.collect()
}
