//! `telemetry_SWITCH.txt`: blocks of lines, one for each report.
//!
//! `time <ns>`, `polling` (asked along a flow) or `signal` (asked along pauses), then for each port `epoch now` and `epoch
//! last` with the counters of the port and of its flows, and `end`.

use super::topology::Topology;
use super::{Imported, hex_address};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{TelemetryRow, Text};

/// What the numbers of the next line are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nothing,
    Meter,
    Port,
    Flows,
}

/// A report, as far as it has been read.
struct Reader<'a> {
    file: String,
    switch: &'a str,
    topology: &'a Topology,
    report: Option<u32>,
    reports: u32,
    time_ns: i64,
    trigger: Text,
    epoch: Option<u8>,
    port: Option<&'a str>,
    /// Ingress and egress port of the meter.
    meter: Option<(&'a str, &'a str)>,
    metered: Option<u64>,
    expected: Expected,
}

pub(super) fn read<'a>(text: &'a str, switch: &'a str, topology: &'a Topology, into: &mut Imported) {
    let mut reader = Reader {
        file: format!("telemetry_{switch}.txt"),
        switch,
        topology,
        report: None,
        reports: 0,
        time_ns: 0,
        trigger: Text::default(),
        epoch: None,
        port: None,
        meter: None,
        metered: None,
        expected: Expected::Nothing,
    };
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() && reader.line(&words, into).is_none() {
            let at = format!("{}:{}", reader.file, number + 1);
            into.complaints.add("not what this format has here; skipped", at);
        }
    }
}

impl<'a> Reader<'a> {
    fn line(&mut self, words: &[&'a str], into: &mut Imported) -> Option<()> {
        match *words {
            ["time", time] => {
                self.report = None;
                self.epoch = None;
                self.time_ns = time.parse().ok()?;
                self.report = Some(self.reports);
                self.reports += 1;
                self.trigger = Text::from_static("flow");
            }
            ["polling"] => self.trigger = Text::from_static("flow"),
            ["signal"] => self.trigger = Text::from_static("pause"),
            ["epoch", epoch] => {
                self.epoch = Some(match epoch {
                    "now" => 0,
                    "last" => 1,
                    _ => return None,
                });
                (self.port, self.meter, self.metered) = (None, None, None);
                self.expected = Expected::Nothing;
            }
            ["traffic", "meter", _, "port", from, "to", "port", to] => self.meter = Some((from, to)),
            ["portToPortBytes"] => self.expected = Expected::Meter,
            ["port", "telemetry", .., port] => self.port = Some(port),
            ["flow", "telemetry", .., port] => {
                self.port = Some(port);
                self.expected = Expected::Nothing;
            }
            ["enqQdepth", ..] => self.expected = Expected::Port,
            ["flowIdx", ..] => self.expected = Expected::Flows,
            ["end"] => {
                self.report = None;
                self.epoch = None;
                self.expected = Expected::Nothing;
            }
            _ => match self.expected {
                Expected::Nothing => return None,
                Expected::Meter => {
                    self.metered = Some(words.first()?.parse().ok()?);
                    self.expected = Expected::Nothing;
                }
                Expected::Port => {
                    let [queued, paused, packets] = *words else { return None };
                    let row = self.port_row(queued, paused, packets)?;
                    into.telemetry.push(row);
                    self.expected = Expected::Nothing;
                }
                Expected::Flows => {
                    let row = self.flow_row(words)?;
                    into.telemetry.push(row);
                }
            },
        }
        Some(())
    }

    fn row(&self, kind: &'static str) -> Option<TelemetryRow> {
        Some(TelemetryRow {
            time_ns: self.time_ns,
            node: self.switch.to_owned().into(),
            report: self.report?,
            trigger: self.trigger.clone(),
            epoch: self.epoch?,
            kind: Text::from_static(kind),
            egress: self.port?.to_owned().into(),
            ..TelemetryRow::default()
        })
    }

    fn port_row(&self, queued: &str, paused: &str, packets: &str) -> Option<TelemetryRow> {
        let mut row = self.row("port")?;
        let port = self.port?;
        let peer = self.topology.peer(self.switch, port);
        (row.peer, row.peer_port) = peer.port.map(|port| (port.switch, port.port)).unzip();
        row.peer_is_host = peer.is_host;
        if let (Some((from, to)), Some(bytes)) = (self.meter, self.metered)
            && to == port
        {
            let peer = self.topology.peer(self.switch, from);
            (row.ingress_peer, row.ingress_peer_port) = peer.port.map(|port| (port.switch, port.port)).unzip();
            row.ingress = Some(from.to_owned().into());
            row.ingress_bytes = Some(bytes);
        }
        row.packets = packets.parse().ok()?;
        row.queued_packets = queued.parse().ok()?;
        row.paused_packets = paused.parse().ok()?;
        Some(row)
    }

    fn flow_row(&self, words: &[&str]) -> Option<TelemetryRow> {
        let [_, src, dst, src_port, dst_port, protocol, _, _, packets, queued, paused] = *words else {
            return None;
        };
        Some(TelemetryRow {
            src: Some(hex_address(src)?),
            dst: Some(hex_address(dst)?),
            src_port: Some(src_port.parse().ok()?),
            dst_port: Some(dst_port.parse().ok()?),
            protocol: Some(protocol.parse().ok()?),
            packets: packets.parse().ok()?,
            queued_packets: queued.parse().ok()?,
            paused_packets: paused.parse().ok()?,
            ..self.row("flow")?
        })
    }
}
