//! `rocescope paths sflow`: flows from the samples of switches.

use crate::arguments::{Output, SflowArguments};
use anyhow::{Context, Result};
use rocescope_engine::request::udp_ports;
use rocescope_host::packet::set_receive_buffer;
use rocescope_model::human::{self, Rates, plural};
use rocescope_model::{json, render};
use rocescope_paths::sflow::{Counts, Reader, SampledFlow, SampledFlows};
use rocescope_runtime::Signals;
use rocescope_runtime::status;
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct Document<'a> {
    #[serde(serialize_with = "json::float")]
    seconds: f64,
    counts: &'a Counts,
    /// Packets of flows beyond a million, and of points of a flow beyond 32.
    overflow_packets: u64,
    flows: &'a [SampledFlow],
}

/// How often a signal is looked for.
const STRIDE: Duration = Duration::from_millis(100);

/// Bytes of datagrams that may wait, as the kernel counts them: some 3,000 full ones, 0.1 s of 30,000 a second. When it is
/// full, the kernel drops datagrams, which count as missing.
const WAITING: i32 = 8 << 20;

/// How long datagrams are read that came before the end.
const DRAIN: Duration = Duration::from_secs(1);

pub(super) fn run(arguments: &SflowArguments) -> Result<ExitCode> {
    let ports = udp_ports(&arguments.udp_ports)?;
    let signals = Signals::install()?;
    let socket = UdpSocket::bind(arguments.listen).with_context(|| format!("cannot listen at {}", arguments.listen))?;
    socket.set_read_timeout(Some(STRIDE))?;
    // With less it receives the same.
    let _ = set_receive_buffer(&socket, WAITING);
    status!("rocescope: receiving sFlow at {}", socket.local_addr()?);
    let mut reader = Reader::new(ports);
    let mut flows = SampledFlows::default();
    let started = Instant::now();
    let mut datagram = vec![0; 65_536];
    let mut receive = || match socket.recv(&mut datagram) {
        Ok(length) => {
            reader.datagram(&datagram[..length], |sampled| flows.add(sampled));
            Ok(true)
        }
        Err(error) if is_nothing(&error) => Ok(false),
        Err(error) => Err(error).context("cannot receive sFlow"),
    };
    while !signals.ended() && arguments.duration.is_none_or(|duration| started.elapsed() < duration) {
        receive()?;
    }
    let took = started.elapsed();
    socket.set_nonblocking(true)?;
    while started.elapsed() < took + DRAIN && receive()? {}
    let found = flows.flows(took);
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => {
            let document = Document {
                seconds: took.as_secs_f64(),
                counts: &reader.counts,
                overflow_packets: flows.overflow(),
                flows: &found,
            };
            hosts.json(&(json::pretty(&document) + "\n"))
        }
        Output::Table => hosts.text(&text(&reader.counts, &found)),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Whether no datagram came.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn text(counts: &Counts, flows: &[SampledFlow]) -> String {
    let mut lines = vec![
        [
            "Source",
            "Destination",
            "Port",
            "QP",
            "Samples",
            "Points",
            "Packets",
            "Error",
            "Rate",
        ]
        .map(String::from)
        .to_vec(),
    ];
    lines.extend(flows.iter().map(|found| {
        vec![
            found.flow.src.to_string(),
            found.flow.dst.to_string(),
            found.flow.src_port.to_string(),
            found.flow.dst_qpn.map_or_else(|| "-".into(), |qpn| qpn.to_string()),
            found.samples.to_string(),
            found.points.to_string(),
            found.packets.to_string(),
            format!("±{:.0} %", found.error_percent),
            human::rate(found.bps, Rates::default()),
        ]
    }));
    let mut text = render::align(&lines, &[false, false, true, true, true, true, true, true, true]);
    text.push_str(&format!(
        "\n{}, {} missing, {} of frames, {}\n",
        plural(counts.datagrams, "datagram"),
        counts.missing_datagrams,
        plural(counts.flow_samples, "sample"),
        plural(counts.packets, "RoCEv2 packet"),
    ));
    for (what, reasons) in [
        ("unreadable datagrams", &counts.unreadable),
        ("other frames", &counts.not_roce),
    ] {
        for (reason, count) in reasons {
            text.push_str(&format!("{what}: {count} {reason}\n"));
        }
    }
    text
}
