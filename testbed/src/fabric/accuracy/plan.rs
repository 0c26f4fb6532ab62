//! The sequence and places of faults.

use super::Options;
use crate::fabric::fault::Fault;
use crate::fabric::live::Fabric;
use crate::fabric::namespace::{command, output};
use crate::fabric::oracle::{self, Tuple};
use crate::fabric::wiring::Link;
use anyhow::{Context, Result, bail};
use rocescope_fabric::random::Draws;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Every class of faults, by its name in `fabric fault`.
pub(super) const KINDS: [&str; 9] = [
    "link-down",
    "flapping",
    "loss",
    "corruption",
    "missing-route",
    "acl",
    "blackhole",
    "congestion",
    "slow-host",
];
/// Shares of frames that a bad link drops or corrupts.
const RATIOS: [f64; 3] = [0.05, 0.2, 0.5];

/// The requested number of rounds, each with every kind once, in a different order.
pub(super) fn plan(random: &mut Draws, options: &Options) -> Vec<&'static str> {
    let wanted = |kind: &&str| options.only.is_empty() || options.only.iter().any(|o| o == kind);
    let mut plan = Vec::new();
    for _ in 0..options.rounds {
        let mut round: Vec<&'static str> = KINDS.into_iter().filter(wanted).collect();
        while !round.is_empty() {
            let at = random.below(round.len() as u32) as usize;
            plan.push(round.swap_remove(at));
        }
    }
    plan
}

/// Draws a place and a severity for a fault of a kind.
pub(super) fn draw(
    kind: &str,
    random: &mut Draws,
    fabric: &Fabric,
    rocescope: &Path,
    options: &Options,
) -> Result<(String, Fault)> {
    let scaled = |milliseconds| Duration::from_millis(milliseconds) / options.scale;
    let wiring = &fabric.wiring;
    let nics: Vec<&Link> = wiring.nics().collect();
    let uplinks: Vec<&Link> = wiring.uplinks().collect();
    // At a NIC as often as between switches.
    let link = match random.below(2) {
        0 => one(random, &nics),
        _ => one(random, &uplinks),
    };
    let link = link?.name.clone();
    let uplink = one(random, &uplinks)?;
    let nic = one(random, &nics)?;
    let ratio = *one(random, &RATIOS.each_ref())?;
    Ok(match kind {
        "link-down" => (link, Fault::LinkDown),
        "flapping" => {
            let period = scaled(4_000);
            (link, Fault::Flapping { period })
        }
        "loss" => (link, Fault::Loss { ratio }),
        "corruption" => (link, Fault::Corruption { ratio }),
        "missing-route" => {
            // At its own host, at its switch, or at a switch on the way to it.
            let node = match random.below(3) {
                0 => nic.lower.node,
                1 => nic.upper.node,
                _ => uplink.upper.node,
            };
            let place = wiring.nodes[node].name.clone();
            let nic = nic.name.clone();
            (place, Fault::MissingRoute { nic })
        }
        "acl" => {
            // At the switch of the receiving NIC.
            let others: Vec<&Link> = wiring
                .nics()
                .filter(|other| other.lower.node == nic.lower.node && other.name != nic.name)
                .collect();
            let src = one(random, &others)?.name.clone();
            let dst = nic.name.clone();
            (dst.clone(), Fault::Acl { src, dst })
        }
        "blackhole" => blackhole(random, fabric, rocescope, nic)?,
        "congestion" => {
            let depth = scaled(40);
            (uplink.name.clone(), Fault::Congestion { depth })
        }
        "slow-host" => {
            let host = wiring.nodes[nic.lower.node].name.clone();
            // Shorter than the interval of probes: the agent is late, but still sends all.
            let period = scaled(80);
            (host, Fault::SlowHost { period })
        }
        other => bail!("no such fault: {other}"),
    })
}

fn one<'a, T>(random: &mut Draws, of: &[&'a T]) -> Result<&'a T> {
    let count = u32::try_from(of.len())?;
    let one = of.get(random.below(count.max(1)) as usize);
    one.copied().context("no candidates")
}

/// One 5-tuple that a NIC currently sends, captured at its switch, and its uplink.
fn blackhole(random: &mut Draws, fabric: &Fabric, rocescope: &Path, nic: &Link) -> Result<(String, Fault)> {
    let namespace = fabric.namespace(nic.upper.node);
    let mut capture = command(&namespace, &rocescope.display().to_string());
    capture.args(["capture", "-i", &nic.upper.interface, "--mode", "af-packet"]);
    capture.args(["--duration", "1s", "--top", "100", "-o", "json"]);
    let seen: Value = serde_json::from_str(&output(&mut capture)?)?;
    let from = nic.lower.address;
    let flows = seen["top_flows"].as_array().context("flows")?;
    let tuples = flows.iter().filter_map(|flow| {
        let tuple = Tuple {
            src: flow["src"].as_str()?.parse().ok()?,
            dst: flow["dst"].as_str()?.parse().ok()?,
            src_port: flow["udp_src_port"].as_u64()?.try_into().ok()?,
            dst_port: 4791,
        };
        (tuple.src == from).then_some(tuple)
    });
    let tuples: Vec<Tuple> = tuples.collect();
    let tuple = *one(random, &tuples.iter().collect::<Vec<_>>())?;
    let hops = oracle::path(fabric, &tuple)?;
    let spine = hops.get(1).context("a path over a spine")?.address;
    let mut uplinks = fabric.wiring.uplinks();
    let uplink = uplinks.find(|link| link.upper.address == spine);
    let place = uplink.context("the uplink of a path")?.name.clone();
    let Tuple { src, dst, src_port, .. } = tuple;
    let port = src_port;
    Ok((place, Fault::Blackhole { src, dst, port }))
}
