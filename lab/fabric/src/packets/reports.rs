//! Reports of switches, as rows of `telemetry`, and their size.

use super::flow::Flow;
use super::network::{Network, Node, Port};
use super::ports::{Egress, Epoch};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::{TelemetryRow, Text};

/// Bytes of a report: switch, time, trigger, number of the poll.
const REPORT: u64 = 16;
/// Bytes of a port in an epoch: its number, three counters of 4 bytes, its pause.
const PORT: u64 = 14;
/// Bytes of an ingress port and its meter.
const METER: u64 = 6;
/// Bytes of a flow: its 5-tuple, three counters, first and last sequence number.
const FLOW: u64 = 33;
/// Bytes of a poll, a notification, and of the headers of a report, on a link.
pub(super) const FRAME: u64 = 84;

/// What the switches reported to the monitors of one [`Watch`](super::Watch).
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The reports.
    pub rows: Vec<TelemetryRow>,
    /// Paths that hosts asked about.
    pub polls: u64,
    /// Notifications between hosts.
    pub notifications: u64,
    /// Reports of switches.
    pub reports: u64,
    /// Bytes of the reports without headers of packets: what an analyzer processes (Fig. 10a of the paper).
    pub telemetry_bytes: u64,
    /// Bytes of polls, notifications and reports with headers: what the network carries (Fig. 10b).
    pub wire_bytes: u64,
    /// Number of the next report of each node.
    next: Vec<u32>,
}

/// Why a switch reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trigger {
    Flow,
    Pause,
}

/// A report while it is written.
pub(super) struct Report<'a> {
    pub(super) network: &'a Network,
    pub(super) flows: &'a [Flow],
    pub(super) switch: Node,
    pub(super) now_ns: i64,
    pub(super) trigger: Trigger,
}

impl Collected {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            next: vec![0; nodes],
            ..Self::default()
        }
    }

    /// Takes a report about ports; for those with an ingress port, the traffic from there is metered. Of the flows
    /// without a queue only the one is listed that was asked about, or all if none was. An empty epoch before the current one is left out.
    pub(super) fn take(&mut self, report: &Report<'_>, ports: &[(Port, Option<Port>, &Egress)], asked: Option<u32>) {
        let number = self.next[report.switch.0 as usize];
        self.next[report.switch.0 as usize] += 1;
        self.reports += 1;
        self.telemetry_bytes += REPORT;
        self.wire_bytes += REPORT + FRAME;
        for (port, ingress, egress) in ports {
            for (epoch, which) in [(&egress.now, 0), (&egress.last, 1)] {
                if which == 1 && epoch.total.packets == 0 {
                    continue;
                }
                self.port(report, number, which, (*port, *ingress), epoch, asked);
            }
        }
    }

    fn port(
        &mut self,
        report: &Report<'_>,
        number: u32,
        which: u8,
        (port, ingress): (Port, Option<Port>),
        epoch: &Epoch,
        asked: Option<u32>,
    ) {
        let network = report.network;
        let peer = network.peer(port);
        let name_of = |port: Port| Text::from(format!("{}", network.number(port)));
        let from = ingress.map(|ingress| (ingress, network.peer(ingress)));
        let row = TelemetryRow {
            time: rocescope_model::Time(report.now_ns),
            time_ns: report.now_ns,
            node: network.name(report.switch),
            report: number,
            trigger: match report.trigger {
                Trigger::Flow => Text::from("flow"),
                Trigger::Pause => Text::from("pause"),
            },
            epoch: which,
            kind: Text::from("port"),
            egress: name_of(port),
            peer: Some(network.name(network.node(peer))),
            peer_port: Some(name_of(peer)),
            peer_is_host: Some(network.is_host(network.node(peer))),
            ingress: from.map(|(ingress, _)| name_of(ingress)),
            ingress_peer: from.map(|(_, upstream)| network.name(network.node(upstream))),
            ingress_peer_port: from.map(|(_, upstream)| name_of(upstream)),
            ingress_bytes: from.map(|(ingress, _)| epoch.metered(ingress)),
            packets: epoch.total.packets,
            queued_packets: epoch.total.queued,
            paused_packets: epoch.total.paused,
            format: Text::from("simulated"),
            ..TelemetryRow::default()
        };
        let mut bytes = PORT + if from.is_some() { METER } else { 0 };
        self.rows.push(row.clone());
        let shown = |count: &&super::ports::FlowCount| {
            count.queued + count.paused > 0 || asked.is_none_or(|asked| asked == count.flow)
        };
        for count in epoch.flows.iter().filter(shown) {
            let flow = &report.flows[count.flow as usize];
            bytes += FLOW;
            self.rows.push(TelemetryRow {
                kind: Text::from("flow"),
                src: Some(network.address(flow.src)),
                dst: Some(network.address(flow.dst)),
                src_port: Some(flow.src_port),
                dst_port: Some(rocescope_model::ROCE_UDP_PORT),
                protocol: Some(17),
                packets: count.packets,
                queued_packets: count.queued,
                paused_packets: count.paused,
                ingress: None,
                ingress_peer: None,
                ingress_peer_port: None,
                ingress_bytes: None,
                ..row.clone()
            });
        }
        self.telemetry_bytes += bytes;
        self.wire_bytes += bytes;
    }
}
