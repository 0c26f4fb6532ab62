//! `rocescope paths sflow`: flows, counters and drops from the samples of switches.

use super::switch_rows::Rows;
use crate::arguments::{Output, PfcDirection, SflowArguments};
use crate::commands::topology;
use anyhow::{Context, Result};
use rocescope_engine::request::udp_ports;
use rocescope_host::packet::set_receive_buffer;
use rocescope_paths::document::sampled::{document, text};
use rocescope_paths::sflow::{Item, PfcRequests, Reader, SampledFlows, Switches};
use rocescope_paths::switch::Names;
use rocescope_runtime::clock::now;
use rocescope_runtime::{Signals, status};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often a signal is looked for.
const STRIDE: Duration = Duration::from_millis(100);

/// Bytes of datagrams that may wait, as the kernel counts them: some 3,000 full ones, 0.1 s of 30,000 a second. When it is
/// full, the kernel drops datagrams, which count as missing.
const WAITING: i32 = 8 << 20;

/// How many datagrams are read at the end, at most: more than may wait, for the kernel counts at least 512 bytes for each.
const WAITED: usize = 32_768;

pub(super) fn run(arguments: &SflowArguments) -> Result<ExitCode> {
    let ports = udp_ports(&arguments.udp_ports)?;
    let names = match &arguments.topology {
        Some(path) => Names::of(&topology::read_and_warn(path)?),
        None => Names::default(),
    };
    let signals = Signals::install()?;
    let socket = UdpSocket::bind(arguments.listen).with_context(|| format!("cannot listen at {}", arguments.listen))?;
    socket.set_read_timeout(Some(STRIDE))?;
    // With less it receives the same.
    let _ = set_receive_buffer(&socket, WAITING);
    let mut rows = Rows::open(
        arguments.out.as_deref(),
        &arguments.retention,
        &arguments.observer,
        ("sflow", arguments.listen.to_string()),
    )?;
    status!("rocescope: receiving sFlow at {}", socket.local_addr()?);
    let requests = match arguments.pfc_requests {
        PfcDirection::Sent => PfcRequests::Sent,
        PfcDirection::Received => PfcRequests::Received,
    };
    let mut receiver = Receiver {
        reader: Reader::new(ports, requests),
        flows: SampledFlows::default(),
        switches: Switches::new(names, now().0),
    };
    let started = Instant::now();
    let mut written = started;
    let mut datagram = vec![0; 65_536];
    let mut receive = |receiver: &mut Receiver| match socket.recv(&mut datagram) {
        Ok(length) => {
            receiver.take(&datagram[..length], now().0);
            Ok(true)
        }
        Err(error) if is_nothing(&error) => Ok(false),
        Err(error) => Err(error).context("cannot receive sFlow"),
    };
    while !signals.ended() && arguments.duration.is_none_or(|duration| started.elapsed() < duration) {
        receive(&mut receiver)?;
        if written.elapsed() >= arguments.interval {
            written = Instant::now();
            receiver.write(&mut rows)?;
        }
    }
    let took = started.elapsed();
    socket.set_nonblocking(true)?;
    for _ in 0..WAITED {
        if !receive(&mut receiver)? {
            break;
        }
    }
    receiver.write(&mut rows)?;
    let summary = rows.finish(receiver.switches.overflow())?;
    let found = receiver.flows.flows(took);
    let counts = &receiver.reader.counts;
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&document(took, counts, (&found, receiver.flows.overflow()), &summary)),
        Output::Table => hosts.text(&text(counts, &found, &summary)),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What datagrams become.
struct Receiver {
    reader: Reader,
    flows: SampledFlows,
    switches: Switches,
}

impl Receiver {
    /// Writes what was received since the last call.
    fn write(&mut self, rows: &mut Rows) -> Result<()> {
        let drops = self.switches.drops(&rows.observer);
        rows.write(&mut self.switches, &drops, now().0)
    }

    fn take(&mut self, datagram: &[u8], now_ns: i64) {
        let (flows, switches) = (&mut self.flows, &mut self.switches);
        self.reader.datagram(datagram, |item| match item {
            Item::Packet(sampled) => flows.add(&sampled),
            Item::Port {
                switch,
                index,
                restarts,
                port,
            } => switches.port(now_ns, switch, index, restarts, &port),
            Item::Queue(sample) => switches.queue(&sample),
            Item::Dropped(dropped, rate) => switches.dropped(now_ns, dropped, rate),
        });
    }
}

/// Whether no datagram came.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
