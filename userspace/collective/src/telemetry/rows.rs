//! Rows of `telemetry` as reports and pauses.

use super::{FlowCounters, Pause, Peer, PortCounters, PortKey, Report, Source, Telemetry, Trigger};
use crate::natural;
use crate::steps::FlowKey;
use alloc::format;
use alloc::vec::Vec;
use rocescope_model::{TelemetryRow, Text};

impl Source for [TelemetryRow] {
    fn telemetry(&self) -> Telemetry {
        let mut all = Telemetry::default();
        let mut current: Option<(&Text, u32)> = None;
        for row in self {
            let key = |port: &Option<Text>, node: &Option<Text>| {
                Some(PortKey {
                    switch: node.clone()?,
                    port: port.clone()?,
                })
            };
            let peer = Peer {
                port: key(&row.peer_port, &row.peer),
                is_host: row.peer_is_host,
            };
            if *row.kind == *"pause" {
                all.pauses.push(Pause {
                    port: PortKey {
                        switch: row.node.clone(),
                        port: row.egress.clone(),
                    },
                    peer,
                    start_ns: row.time_ns,
                    duration_ns: row.pause_ns,
                });
                continue;
            }
            if current != Some((&row.node, row.report)) {
                current = Some((&row.node, row.report));
                all.reports.push(Report {
                    switch: row.node.clone(),
                    time_ns: row.time_ns,
                    trigger: match &*row.trigger {
                        "pause" => Trigger::Pause,
                        _ => Trigger::Flow,
                    },
                    now: Vec::new(),
                    last: Vec::new(),
                });
            }
            let Some(report) = all.reports.last_mut() else {
                continue;
            };
            let ports = if row.epoch == 0 {
                &mut report.now
            } else {
                &mut report.last
            };
            if *row.kind == *"port" {
                ports.push(PortCounters {
                    port: row.egress.clone(),
                    peer,
                    metered: row.ingress.as_ref().map(|port| {
                        let from = Peer {
                            port: key(&row.ingress_peer_port, &row.ingress_peer),
                            is_host: None,
                        };
                        (port.clone(), from, row.ingress_bytes.unwrap_or(0))
                    }),
                    packets: row.packets,
                    queued: row.queued_packets,
                    paused: row.paused_packets,
                    flows: Vec::new(),
                });
                continue;
            }
            let (Some(src), Some(dst)) = (row.src, row.dst) else {
                all.complaints.add(
                    "an entry of a flow without addresses; left out",
                    format!("switch {}", row.node),
                );
                continue;
            };
            match ports.last_mut().filter(|port| port.port == row.egress) {
                Some(port) => port.flows.push(FlowCounters {
                    flow: FlowKey {
                        src,
                        dst,
                        src_port: row.src_port,
                    },
                    packets: row.packets,
                    queued: row.queued_packets,
                    paused: row.paused_packets,
                }),
                None => {
                    let at = format!("switch {}, port {}", row.node, row.egress);
                    all.complaints
                        .add("flows without the counters of their port; left out", at);
                }
            }
        }
        all.reports.sort_by(|a, b| natural::compare(&a.switch, &b.switch));
        all
    }
}
