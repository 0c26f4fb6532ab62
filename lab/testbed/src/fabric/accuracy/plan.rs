//! The cases: which faults, at which places of a fabric, one after the other or together.

use super::Options;
use super::kinds::{At, Kind, Part, What};
use super::score::Trouble;
use crate::fabric::fault::{Fault, Ways};
use crate::fabric::live::Fabric;
use crate::fabric::namespace::{command, output};
use crate::fabric::oracle::{self, Tuple};
use crate::fabric::wiring::{Link, Wiring};
use anyhow::{Context, Result, bail};
use rocescope_fabric::random::Draws;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// A fault of a case at a drawn place.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) place: String,
    pub(super) trouble: Trouble,
    /// Windows from the start of the case to that of the fault.
    pub(super) after: u64,
}

/// The requested number of rounds, each with every kind once, in a different order.
pub(super) fn plan(random: &mut Draws, options: &Options) -> Vec<&'static Kind> {
    let wanted = |kind: &&Kind| options.only.is_empty() || options.only.iter().any(|part| kind.name.contains(part));
    let mut plan = Vec::new();
    for _ in 0..options.rounds {
        let mut round: Vec<&'static Kind> = super::kinds::KINDS.iter().filter(wanted).collect();
        while !round.is_empty() {
            let at = random.below(round.len() as u32) as usize;
            plan.push(round.swap_remove(at));
        }
    }
    plan
}

/// Draws places for the faults of a case, none of them in `used`; adds them there. A blackhole is that of a 5-tuple that
/// `rocescope` captures; without it, of an eighth of the source ports, whichever these are.
pub(super) fn draw(
    kind: &Kind,
    random: &mut Draws,
    fabric: &Fabric,
    rocescope: Option<&Path>,
    options: &Options,
    used: &[BTreeSet<String>],
) -> Result<(Vec<Drawn>, BTreeSet<String>)> {
    for _ in 0..1_000 {
        let Some(links) = links(kind, random, &fabric.wiring) else {
            continue;
        };
        let mut names = names(kind, &links, &fabric.wiring);
        if used.iter().any(|used| !used.is_disjoint(&names)) {
            continue;
        }
        let mut drawn = Vec::new();
        for (part, link) in kind.parts.iter().zip(&links) {
            let (place, trouble) = materialize(part.what, link, random, fabric, rocescope, options)?;
            let after = part.after;
            drawn.push(Drawn { place, trouble, after });
        }
        // Where a 5-tuple goes is known only now.
        let hit = |one: &Drawn| matches!(one.trouble, Trouble::Fault(Fault::Blackhole { mask: u16::MAX, .. }));
        let places = drawn.iter().filter(|one| hit(one)).map(|one| one.place.clone());
        let places: BTreeSet<String> = places.collect();
        if places.is_disjoint(&names) && used.iter().all(|used| used.is_disjoint(&places)) {
            names.extend(places);
            return Ok((drawn, names));
        }
    }
    bail!("this fabric has no places for {}", kind.name)
}

/// The link of each part.
fn links<'a>(kind: &Kind, random: &mut Draws, wiring: &'a Wiring) -> Option<Vec<&'a Link>> {
    let mut drawn: Vec<&Link> = Vec::new();
    for Part { at, what, .. } in kind.parts {
        let first = drawn.first().copied();
        let first = || first.filter(|_| *at != At::Nic && *at != At::Uplink);
        let (nics, uplinks) = (|| wiring.nics(), || wiring.uplinks());
        let disjoint = |a: &Link, b: &Link| {
            let nodes = [b.lower.node, b.upper.node];
            !nodes.contains(&a.lower.node) && !nodes.contains(&a.upper.node)
        };
        let candidates: Vec<&Link> = match (at, first()) {
            (At::Nic, _) => nics().collect(),
            (At::Uplink, _) => uplinks().collect(),
            (_, None) => return None,
            (At::Same, Some(first)) => vec![first],
            (At::SiblingNic, Some(first)) => nics().filter(|nic| nic.lower.node == first.lower.node).collect(),
            (At::OtherNic, Some(first)) => nics().filter(|nic| disjoint(nic, first)).collect(),
            (At::ItsUplink, Some(first)) => uplinks().filter(|link| link.lower.node == first.upper.node).collect(),
            (At::SameLower, Some(first)) => uplinks().filter(|link| link.lower.node == first.lower.node).collect(),
            (At::SameUpper, Some(first)) => uplinks().filter(|link| link.upper.node == first.upper.node).collect(),
            (At::OtherUplink, Some(first)) => uplinks().filter(|link| disjoint(link, first)).collect(),
        };
        let is_new = |link: &&Link| *at == At::Same || drawn.iter().all(|other| other.name != link.name);
        // Above the leaves both ends have another way: when a link is down there, nothing is lost.
        let is_leaf = |node: usize| wiring.nics().any(|nic| nic.upper.node == node);
        let loses = |link: &&Link| {
            let is_down = matches!(what, What::Down | What::Flapping);
            !is_down || wiring.nodes[link.lower.node].is_host || is_leaf(link.lower.node)
        };
        let candidates: Vec<&Link> = candidates.into_iter().filter(is_new).filter(loses).collect();
        drawn.push(one(random, &candidates)?);
    }
    Some(drawn)
}

/// What the faults are about: the links, and the hosts that are slow or silent.
fn names(kind: &Kind, links: &[&Link], wiring: &Wiring) -> BTreeSet<String> {
    let name = |(part, link): (&Part, &&Link)| match part.what {
        What::SlowHost | What::Silence => wiring.nodes[link.lower.node].name.clone(),
        _ => link.name.clone(),
    };
    kind.parts.iter().zip(links).map(name).collect()
}

/// The fault at its place.
fn materialize(
    what: What,
    link: &Link,
    random: &mut Draws,
    fabric: &Fabric,
    rocescope: Option<&Path>,
    options: &Options,
) -> Result<(String, Trouble)> {
    let scaled = |milliseconds| Duration::from_millis(milliseconds) / options.scale;
    let wiring = &fabric.wiring;
    let node = |at: usize| wiring.nodes[at].name.clone();
    let here = |fault| Ok((link.name.clone(), Trouble::Fault(fault)));
    let without_route = |at: usize| {
        let nic = link.name.clone();
        Ok((node(at), Trouble::Fault(Fault::MissingRoute { nic })))
    };
    match what {
        What::Down => here(Fault::LinkDown),
        What::Flapping => here(Fault::Flapping { period: scaled(4_000) }),
        What::Loss(ratio) => {
            let ways = Ways::Both;
            here(Fault::Loss { ratio, ways })
        }
        What::LossOneWay(ratio) => {
            let ways = if random.happens(0.5) { Ways::Up } else { Ways::Down };
            here(Fault::Loss { ratio, ways })
        }
        What::Corruption(ratio) => here(Fault::Corruption { ratio }),
        What::Congestion(milliseconds) => here(Fault::Congestion {
            depth: scaled(milliseconds),
        }),
        What::NoRouteOut => without_route(link.lower.node),
        What::NoRouteTo => without_route(link.upper.node),
        What::NoRouteAbove => {
            let above = wiring.uplinks().filter(|uplink| uplink.lower.node == link.upper.node);
            let above = one(random, &above.collect::<Vec<_>>());
            without_route(above.context("a switch above")?.upper.node)
        }
        // At the switch of the receiving NIC.
        What::Acl => {
            let src = sibling(random, wiring, link)?.name.clone();
            let dst = link.name.clone();
            here(Fault::Acl { src, dst })
        }
        What::Blackhole => match rocescope {
            Some(rocescope) => blackhole(random, fabric, rocescope, link),
            None => here(Fault::Blackhole {
                src: sibling(random, wiring, link)?.lower.address,
                dst: link.lower.address,
                port: random.below(8) as u16,
                mask: 7,
            }),
        },
        What::SlowHost => {
            // Shorter than the interval of probes: the agent is late, but still sends all.
            let period = scaled(80);
            Ok((node(link.lower.node), Trouble::Fault(Fault::SlowHost { period })))
        }
        What::Silence => Ok((node(link.lower.node), Trouble::Silence)),
    }
}

/// Another NIC of the same host.
fn sibling<'a>(random: &mut Draws, wiring: &'a Wiring, nic: &Link) -> Result<&'a Link> {
    let is_other = |other: &&Link| other.lower.node == nic.lower.node && other.name != nic.name;
    let others: Vec<&Link> = wiring.nics().filter(is_other).collect();
    one(random, &others).context("another NIC")
}

fn one<'a, T>(random: &mut Draws, of: &[&'a T]) -> Option<&'a T> {
    let count = u32::try_from(of.len()).ok()?;
    of.get(random.below(count.max(1)) as usize).copied()
}

/// One 5-tuple that a NIC currently sends, captured at its switch, and its uplink.
fn blackhole(random: &mut Draws, fabric: &Fabric, rocescope: &Path, nic: &Link) -> Result<(String, Trouble)> {
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
    let tuple = *one(random, &tuples.iter().collect::<Vec<_>>()).context("no 5-tuples")?;
    let hops = oracle::path(fabric, &tuple)?;
    let above = hops.get(1).context("a path over two switches")?.address;
    let mut uplinks = fabric.wiring.uplinks();
    let uplink = uplinks.find(|link| link.upper.address == above);
    let place = uplink.context("the uplink of a path")?.name.clone();
    let Tuple { src, dst, src_port, .. } = tuple;
    let fault = Fault::Blackhole {
        src,
        dst,
        port: src_port,
        mask: u16::MAX,
    };
    Ok((place, Trouble::Fault(fault)))
}
