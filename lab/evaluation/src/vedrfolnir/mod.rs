//! Runs of the simulator of Vedrfolnir's authors, as rows: in a folder, or in `out` and `data` below it.
//!
//! | file | contents |
//! |---|---|
//! | `fct.txt` | steps and other flows when they complete |
//! | `telemetry_SWITCH.txt` | reports of a switch |
//! | `pfc.txt` | pauses |
//! | `topology.txt` | links; the ports of a node are numbered from 1 in the order of its links |

mod telemetry;
#[cfg(test)]
mod tests;

use rocescope_model::{StepRow, TelemetryRow, Text, Time};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// The steps and the telemetry of a run.
///
/// # Panics
///
/// If a file is not what the simulator writes.
#[must_use]
pub fn read(folder: &Path) -> (Vec<StepRow>, Vec<TelemetryRow>) {
    let file = |name: &str| {
        let places = [folder.join(name), folder.join("out").join(name)];
        let text = places.iter().find_map(|path| fs::read_to_string(path).ok());
        text.unwrap_or_default()
    };
    let topology = Topology::read(&file("topology.txt"));
    let mut steps = steps(&file("fct.txt"));
    for row in &mut steps {
        row.collective = Text::from_static("run");
        row.time = Time(row.time_ns);
    }
    let mut rows = Vec::new();
    for place in [folder.to_owned(), folder.join("data")] {
        let Ok(entries) = fs::read_dir(place) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let switch = name
                .strip_prefix("telemetry_")
                .and_then(|name| name.strip_suffix(".txt"));
            if let Some(switch) = switch {
                telemetry::read(&fs::read_to_string(&path).unwrap(), switch, &topology, &mut rows);
            }
        }
    }
    pauses(&file("pfc.txt"), &topology, &mut rows);
    for row in &mut rows {
        row.time = Time(row.time_ns);
    }
    (steps, rows)
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(line: &str) -> Vec<T> {
    line.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// The address of a node.
fn address(node: i64) -> IpAddr {
    Ipv4Addr::from(0x0b00_0001 + ((node as u32) << 8)).into()
}

/// An address in hexadecimal digits.
fn hex_address(text: &str) -> IpAddr {
    Ipv4Addr::from(u32::from_str_radix(text, 16).unwrap()).into()
}

/// The node that has this address.
fn node(address: IpAddr) -> u32 {
    let IpAddr::V4(address) = address else {
        panic!("{address}")
    };
    (address.to_bits() >> 8) & 0xffff
}

/// A step: `src dst send_step recv_step prev_node sport dport bytes start_ns fct_ns standalone_ns`. If both step numbers
/// are equal when it completes, the next step waits until it received step `recv_step` of `prev_node`. Another flow
/// starts with `###` and has no steps, or has addresses in hexadecimal digits.
fn steps(text: &str) -> Vec<StepRow> {
    let mut rows = Vec::new();
    let mut waits = BTreeMap::new();
    for line in text.lines() {
        if let Some(flow) = line.strip_prefix("###") {
            let [src, dst, rest @ ..] = &numbers::<i64>(flow)[..] else {
                panic!("{line}")
            };
            rows.push(row(address(*src), address(*dst), rest));
        } else if line.starts_with("0b") {
            let words: Vec<&str> = line.split_whitespace().collect();
            let rest = numbers(&words[2..].join(" "));
            rows.push(row(hex_address(words[0]), hex_address(words[1]), &rest));
        } else {
            let [host, dst, send, received, previous, rest @ ..] = &numbers::<i64>(line)[..] else {
                panic!("{line}")
            };
            waits.insert((*host, send + 1), (send == received).then_some((*previous, *received)));
            rows.push(StepRow {
                step: *send as u32,
                ..row(address(*host), address(*dst), rest)
            });
        }
    }
    for row in rows.iter_mut().filter(|row| row.step > 0) {
        let wait = waits.get(&(row.host.parse().unwrap(), i64::from(row.step)));
        row.waits_known = row.step == 1 || wait.is_some();
        if let Some(Some((previous, received))) = wait {
            row.awaited_host = Some(previous.to_string().into());
            row.awaited_step = Some(*received as u32);
        }
    }
    rows
}

fn row(src: IpAddr, dst: IpAddr, numbers: &[i64]) -> StepRow {
    let [src_port, dst_port, bytes, start_ns, took_ns, alone_ns] = numbers[..] else {
        panic!("{numbers:?}")
    };
    StepRow {
        time_ns: start_ns,
        host: node(src).to_string().into(),
        dst_host: node(dst).to_string().into(),
        waits_known: true,
        src: Some(src),
        dst: Some(dst),
        src_port: Some(src_port as u16),
        dst_port: Some(dst_port as u16),
        bytes: Some(bytes as u64),
        duration_ns: Some(took_ns),
        expected_ns: Some(alone_ns),
        ..StepRow::default()
    }
}

/// `ns node nodetype port 1|0`: a port was paused (1), or could send again (0).
fn pauses(text: &str, topology: &Topology, rows: &mut Vec<TelemetryRow>) {
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in text.lines() {
        let [time, node, _, port, state] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let time_ns: i64 = time.parse().unwrap();
        if state == "0" {
            let row = &mut rows[open.remove(&(node, port)).unwrap()];
            row.pause_ns = Some(time_ns - row.time_ns);
        } else if let Entry::Vacant(place) = open.entry((node, port)) {
            place.insert(rows.len());
            let (peer, peer_port, peer_is_host) = topology.peer(node, port);
            rows.push(TelemetryRow {
                time_ns,
                node: node.to_owned().into(),
                kind: Text::from_static("pause"),
                egress: port.to_owned().into(),
                peer,
                peer_port,
                peer_is_host,
                ..TelemetryRow::default()
            });
        }
    }
}

/// Which port is linked to which.
struct Topology {
    links: BTreeMap<(u32, u32), (u32, u32)>,
    switches: BTreeSet<u32>,
}

impl Topology {
    /// `nodes switches links`, the switches, and a line for each link.
    fn read(text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let count = numbers::<usize>(lines.next().unwrap_or("0 0 0"))[2];
        let switches = numbers(lines.next().unwrap_or_default()).into_iter().collect();
        let mut links = BTreeMap::new();
        let mut ports: BTreeMap<u32, u32> = BTreeMap::new();
        for line in lines.take(count) {
            let mut ends = line.split_whitespace().take(2).map(|node| {
                let node = node.parse().unwrap();
                let port = ports.entry(node).or_default();
                *port += 1;
                (node, *port)
            });
            let (a, b) = (ends.next().unwrap(), ends.next().unwrap());
            links.insert(a, b);
            links.insert(b, a);
        }
        Self { links, switches }
    }

    /// The other end of a port's link, and whether it is a host.
    fn peer(&self, node: &str, port: &str) -> (Option<Text>, Option<Text>, Option<bool>) {
        let peer = self.links.get(&(node.parse().unwrap(), port.parse().unwrap()));
        let name = |number: &u32| Text::from(number.to_string());
        (
            peer.map(|(node, _)| name(node)),
            peer.map(|(_, port)| name(port)),
            peer.map(|(node, _)| !self.switches.contains(node)),
        )
    }
}
