//! Captures in every mode, in both guests and on the mirror ports of the host, beside the mirror and the driver.
//!
//! XDP sees what arrives; in a guest that is half of the traffic. A packet socket can see both directions. The same
//! traffic is captured in native XDP in one guest and in generic XDP in the other one.

use crate::softroce::fabric::{Fabric, json, number};
use crate::softroce::guest::Guest;
use crate::softroce::live::{self, OnHost};
use crate::softroce::rxe::{self, Counters};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use xtask::product::text;

/// Captures on the host: name and options. They see all frames.
const HOST: [(&str, &str); 3] = [
    ("host-native", "-i mirror0 --mode native"),
    ("host-generic", "-i mirror1 --mode generic"),
    ("host-socket", "-i mirror0 --mode af-packet"),
];
/// Captures in guests: whether in the first one, name, options, and what they see of the mirror.
const GUESTS: [(bool, &str, &str, Option<&str>); 4] = [
    (
        true,
        "guest1-native",
        "-i eth0 --mode native",
        Some("dst host 10.77.0.1"),
    ),
    (true, "guest1-socket", "-i eth0 --mode af-packet --direction both", None),
    (
        false,
        "guest2-generic",
        "-i eth0 --mode generic",
        Some("dst host 10.77.0.2"),
    ),
    (
        false,
        "guest2-socket",
        "-i eth0 --mode af-packet --direction both",
        None,
    ),
];
/// The oldest kernel whose XDP the program needs.
const XDP: (u32, u32) = (5, 18);

/// Packets, frame bytes and payload bytes of each opcode.
type Opcodes = BTreeMap<String, [u64; 3]>;

/// Captures that run.
pub(super) struct Captures {
    host: Vec<(&'static str, OnHost)>,
    guests: Vec<(bool, &'static str, Option<&'static str>)>,
    before: [Counters; 2],
}

impl Captures {
    pub(super) fn begin(fabric: &mut Fabric) -> Result<Self> {
        let before = [rxe::read(&mut fabric.first)?, rxe::read(&mut fabric.second)?];
        let mut host = Vec::new();
        for (name, options) in HOST {
            host.push((name, fabric.capture_on_host(name, options)?));
        }
        let mut guests = Vec::new();
        for (is_first, name, options, filter) in GUESTS {
            if filter.is_some() && !has_xdp(&fabric.kernel) {
                println!("{name}: Linux {} is too old for XDP", fabric.kernel);
                continue;
            }
            live::capture(guest(fabric, is_first), name, options)?;
            guests.push((is_first, name, filter));
        }
        Ok(Self { host, guests, before })
    }

    /// Ends them, and compares each with what the mirror has of the same frames.
    pub(super) fn end(self, fabric: &mut Fabric, mirror: &Path) -> Result<()> {
        let mut found = Vec::new();
        for (name, capture) in self.host {
            found.push((name, None, capture.end()?));
        }
        for (is_first, name, filter) in self.guests {
            let summary = live::end_capture(guest(fabric, is_first), name)?;
            fabric.keep(&format!("{name}.json"), &summary.to_string())?;
            found.push((name, filter, summary));
        }
        for (name, filter, summary) in found {
            let expected = of_mirror(fabric, mirror, filter)?;
            let counted = opcodes(&summary)?;
            ensure!(
                counted == expected,
                "{name} counted {counted:?}; the mirror has {expected:?}"
            );
            ensure!(
                number(&summary, "capture_lost_frames")? == 0,
                "{name} lost records: {summary}"
            );
            println!(
                "{name:<14} {} packets of {} opcodes: as the mirror",
                packets(&counted),
                counted.len()
            );
        }
        let [first, second] = &self.before;
        driver(fabric, mirror, true, first)?;
        driver(fabric, mirror, false, second)
    }
}

/// What the driver of a guest sent and received is what the mirror has.
fn driver(fabric: &mut Fabric, mirror: &Path, is_first: bool, before: &Counters) -> Result<()> {
    let after = rxe::read(guest(fabric, is_first))?;
    let number = if is_first { 1 } else { 2 };
    let mut counts = Vec::new();
    for (counter, side) in [("sent_pkts", "src"), ("rcvd_pkts", "dst")] {
        let filter = format!("{side} host 10.77.0.{number}");
        let expected = packets(&of_mirror(fabric, mirror, Some(&filter))?);
        let counted = rxe::grew(before, &after, counter)?;
        ensure!(
            counted == expected,
            "guest {number}: {counter} grew by {counted}, the mirror has {expected} packets"
        );
        counts.push(format!("{counter} {counted}"));
    }
    println!("guest {number}: {}: as the mirror", counts.join(", "));
    Ok(())
}

fn guest(fabric: &mut Fabric, is_first: bool) -> &mut Guest {
    if is_first {
        &mut fabric.first
    } else {
        &mut fabric.second
    }
}

/// Whether this kernel has the XDP that the program needs.
pub(super) fn has_xdp(kernel: &str) -> bool {
    let mut numbers = kernel.split(['.', '-']).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    (next(), next()) >= XDP
}

/// The opcodes of the mirror, or of what a filter selects of it.
pub(super) fn of_mirror(fabric: &Fabric, mirror: &Path, filter: Option<&str>) -> Result<Opcodes> {
    let mirror = text(mirror);
    let mut arguments = vec!["capture", "-r", &mirror, "-q", "-o", "json"];
    arguments.extend(filter.iter().flat_map(|filter| ["--filter", filter]));
    opcodes(&json(&fabric.product(&arguments)?)?)
}

fn opcodes(summary: &Value) -> Result<Opcodes> {
    let opcodes = summary["opcodes"].as_object().context("a summary without opcodes")?;
    opcodes
        .iter()
        .map(|(name, row)| {
            let cells = [
                number(row, "packets")?,
                number(row, "frame_bytes")?,
                number(row, "payload_bytes")?,
            ];
            Ok((name.clone(), cells))
        })
        .collect()
}

/// The packets of all opcodes.
pub(super) fn packets(opcodes: &Opcodes) -> u64 {
    opcodes.values().map(|[packets, ..]| packets).sum()
}

#[cfg(test)]
mod tests {
    use super::has_xdp;

    #[test]
    fn kernels_of_other_numbers_are_told_apart() {
        assert!(has_xdp("5.19.0-50-generic") && has_xdp("6.1.0-56-amd64") && has_xdp("7.3.4+deb13-amd64"));
        assert!(!has_xdp("5.10.0-46-amd64") && !has_xdp("4.19.0"));
    }
}
