//! Captures of several ports, with a file that states which they are.
//!
//! ```toml
//! [[tap]]
//! file = "leaf1-out.pcap"
//! port = "leaf1:swp3"
//! direction = "out"
//! peer = "h3:eth0"
//! peer-is-host = true
//! ```

use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::file::{FrameReader, open};
use rocescope_collective::complaints::Complaints;
use rocescope_collective::read::Imported;
use rocescope_collective::steps::FlowKey;
use rocescope_collective::telemetry::PortKey;
use rocescope_collective::telemetry::taps::{Capture, Direction, Passed, Tap, reports};
use rocescope_pipeline::fields::address;
use rocescope_wire::{Class, FrameLengths, LinkType, Packet, ROCE_UDP_PORT, decode};
use serde::Deserialize;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Name of the file, if a folder is given.
const NAME: &str = "taps.toml";
/// Packets of all captures: about 1 GiB.
const MAX_PACKETS: usize = 1 << 24;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taps {
    tap: Vec<Point>,
}

/// A capture point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Point {
    /// The capture, beside this file.
    file: PathBuf,
    /// Only frames of this interface of the capture.
    interface: Option<u32>,
    /// `SWITCH:PORT`.
    port: String,
    direction: Way,
    /// The other end of its link, `NODE:PORT`.
    peer: Option<String>,
    peer_is_host: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    In,
    Out,
}

pub(super) fn read(path: &Path, observer: &str) -> Result<Imported> {
    let path = match path.is_dir() {
        true => path.join(NAME),
        false => path.to_path_buf(),
    };
    let text = rocescope_input::text(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let taps: Taps = toml::from_str(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        anyhow::anyhow!("{}:{line}: {}", path.display(), error.message())
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut complaints = Complaints::default();
    let mut captures = Vec::new();
    let mut left = MAX_PACKETS;
    for point in &taps.tap {
        let capture = capture(point, folder, left, &mut complaints)?;
        left -= capture.packets.len();
        captures.push(capture);
    }
    let (telemetry, more) = reports(&captures, observer);
    complaints.append(more);
    Ok(Imported {
        telemetry,
        complaints,
        ..Imported::default()
    })
}

fn capture(point: &Point, folder: &Path, most: usize, complaints: &mut Complaints) -> Result<Capture> {
    let path = folder.join(&point.file);
    let tap = Tap {
        port: port(&point.port)?,
        direction: match point.direction {
            Way::In => Direction::In,
            Way::Out => Direction::Out,
        },
        peer: point.peer.as_deref().map(port).transpose()?,
        peer_is_host: point.peer_is_host,
    };
    let mut reader = open(&path)
        .and_then(FrameReader::new)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut packets = Vec::new();
    loop {
        let frame = match reader.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(error) => {
                complaints.add(&format!("{error}; the packets before are used"), point.file.display());
                break;
            }
        };
        let is_other = point.interface.is_some_and(|interface| interface != frame.interface);
        if let (Some(link), false) = (frame.link, is_other) {
            packets.extend(passed(frame.bytes, link, frame.lengths, frame.time_ns));
        }
        ensure!(
            packets.len() <= most,
            "{}: more than {MAX_PACKETS} packets in all captures; cut them to the time of a collective",
            path.display()
        );
    }
    if packets.is_empty() {
        complaints.add("no RoCEv2 packet", point.file.display());
    }
    packets.sort_by_key(|packet| packet.time_ns);
    Ok(Capture { tap, packets })
}

/// A RoCEv2 packet; `None` for other frames.
fn passed(bytes: &[u8], link: LinkType, lengths: FrameLengths, time_ns: u64) -> Option<Passed> {
    let Class::Roce(packet) = decode(bytes, link, lengths, [ROCE_UDP_PORT, 0, 0, 0]) else {
        return None;
    };
    let Packet { flow, frame_bytes, .. } = packet;
    // Tags, TTL and marks may change from hop to hop.
    let mut hasher = DefaultHasher::new();
    (flow.src, flow.dst, flow.udp_src_port, flow.dst_qpn).hash(&mut hasher);
    (packet.psn().get(), packet.opcode().0).hash(&mut hasher);
    Some(Passed {
        time_ns: i64::try_from(time_ns).ok()?,
        identity: hasher.finish(),
        flow: FlowKey {
            src: address(flow.src),
            dst: address(flow.dst),
            src_port: Some(flow.udp_src_port),
        },
        bytes: frame_bytes,
    })
}

/// `SWITCH:PORT`; port names may have colons.
fn port(text: &str) -> Result<PortKey> {
    match text.split_once(':') {
        Some((switch, port)) if !switch.is_empty() && !port.is_empty() => Ok(PortKey {
            switch: switch.to_owned().into(),
            port: port.to_owned().into(),
        }),
        _ => bail!("{text:?} is not SWITCH:PORT"),
    }
}
