//! `rocescope paths sflow`: flows from the samples of switches.

use crate::arguments::{Output, SflowArguments};
use anyhow::{Context, Result};
use rocescope_engine::request::udp_ports;
use rocescope_host::packet::set_receive_buffer;
use rocescope_paths::document::sampled::{document, text};
use rocescope_paths::sflow::{Reader, SampledFlows};
use rocescope_runtime::Signals;
use rocescope_runtime::status;
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
    for _ in 0..WAITED {
        if !receive()? {
            break;
        }
    }
    let found = flows.flows(took);
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&document(took, &reader.counts, flows.overflow(), &found)),
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
