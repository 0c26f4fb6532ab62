//! `cargo xtask fabric`: a rail fabric of network namespaces, with faults, and the product's verdicts about them.
//!
//! | module | what it does |
//! |---|---|
//! | `wiring` | nodes and ends of links, from the topology of `rocescope-fabric` |
//! | `build` | namespaces, veth pairs and routes |
//! | `fault` | injects and heals faults |
//! | `accuracy` | one case after another, and whether the product names its faults |
//! | `queue_drops` | a queue that drops, and whether wire, mesh and switches name it together |
//! | `oracle` | the kernel's path of a 5-tuple |
//! | `live` | a running fabric, for successive commands |
//! | `namespace` | programs in namespaces |

mod accuracy;
mod build;
mod fault;
mod live;
mod namespace;
mod oracle;
mod queue_drops;
#[cfg(test)]
mod tests;
mod wiring;

use anyhow::{Context, Result, bail, ensure};
use live::Fabric;
use oracle::Tuple;
use rocescope_fabric::Rails;

pub(crate) const USAGE: &str = "\
cargo xtask fabric up [--hosts N] [--nics N] [--spines N] [--ipv6]    prints the name of the fabric
    --group N --uppers N                        three tiers: hosts that share rail switches, switches above them
cargo xtask fabric status [--fabric NAME]
cargo xtask fabric fault KIND PLACE [--fabric NAME] [OPTION VALUE...]
    link-down|flapping|loss|corruption LINK     --period S, --ratio F; loss: --ways both|up|down
    congestion LINK                             --depth S: delay of the queue
    blackhole LINK --src A --dst A --port N     one 5-tuple; --mask N: ports that are equal in these bits
    acl LINK --src NIC --dst NIC                all UDP from one NIC to another
    missing-route NODE --nic NIC                a switch that cannot reach it, or its own host
    slow-host HOST                              --period S
    A LINK is h0n1 (the link of that NIC) or r0-s1.
cargo xtask fabric heal [PLACE] [--fabric NAME]
cargo xtask fabric oracle SRC DST PORT [DPORT] [--fabric NAME]
cargo xtask fabric accuracy [--scale F] [--rounds N] [--seed N] [--quiet S] [--only TEXT,...] [--json FILE]
    Agents on every host, each kind of faults N times, the verdicts of `rocescope diagnose mesh`. F divides all
    times. --only: kinds whose names contain a text. The sizes of `up`; 4 hosts, 4 NICs and 4 spines without them.
cargo xtask fabric queue [--binary FILE]        a queue that drops: agents, a capture, connections and Prometheus beside it
cargo xtask fabric record DIRECTORY [OPTION...]   its first half: agents and faults
cargo xtask fabric judge DIRECTORY [--json FILE]  its second half: verdicts
cargo xtask fabric lasting DIRECTORY [--old] [--part K/N] [--judge] [--binary FILE] [--scale F] [--seed N] [--only TEXT,...]
    Each kind in a fabric of its own, with a collector: faults that outlast three renewals of source ports, or that are
    older than the agents (--old). An agent and the collector start again meanwhile. --part: every Nth kind; --judge: the
    cases that are in the directory; --binary: instead of the release build.
cargo xtask fabric down [--fabric NAME]         all fabrics without a name
";

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let (name, arguments) = named(arguments)?;
    match arguments.as_slice() {
        ["up", options @ ..] => {
            let fabric = Fabric::up(size(Rails::two_tiers(4, 4, 2), options)?)?;
            println!("{}", fabric.name);
            Ok(())
        }
        ["status"] => status(&Fabric::load(name)?),
        ["fault", words @ ..] => {
            let (place, fault) = fault::parse(words)?;
            Fabric::load(name)?.inject(place, fault)
        }
        ["heal"] => heal(name, None),
        ["heal", place] => heal(name, Some(place)),
        ["oracle", src, dst, ports @ ..] => {
            let fabric = Fabric::load(name)?;
            let (src_port, dst_port) = match ports {
                [src_port] => (src_port.parse()?, 4791),
                [src_port, dst_port] => (src_port.parse()?, dst_port.parse()?),
                _ => bail!("which port?"),
            };
            let tuple = Tuple {
                src: src.parse()?,
                dst: dst.parse()?,
                src_port,
                dst_port,
            };
            for (number, hop) in (1..).zip(oracle::path(&fabric, &tuple)?) {
                let node = &fabric.wiring.nodes[hop.node].name;
                println!("{number}  {node:<5} {}", hop.address);
            }
            Ok(())
        }
        ["accuracy", options @ ..] => accuracy::run(options),
        ["queue", options @ ..] => queue_drops::run(options),
        ["record", options @ ..] => accuracy::record(options),
        ["judge", options @ ..] => accuracy::judge(options),
        ["lasting", options @ ..] => accuracy::lasting::run(options),
        ["down"] => {
            let names = match name {
                Some(name) => vec![name.to_owned()],
                None => live::names()?,
            };
            let mut downs = names.iter().map(|name| Fabric::load(Some(name))?.down());
            downs.try_for_each(|down| down)
        }
        _ => bail!(
            "expected up, status, fault, heal, oracle, accuracy, queue, record, judge, lasting or down\n\n{USAGE}"
        ),
    }
}

/// Takes `--fabric NAME` out of the arguments.
fn named<'a>(arguments: &[&'a str]) -> Result<(Option<&'a str>, Vec<&'a str>)> {
    let mut rest = arguments.to_vec();
    let Some(at) = rest.iter().position(|argument| *argument == "--fabric") else {
        return Ok((None, rest));
    };
    ensure!(at + 1 < rest.len(), "--fabric what?");
    let name = rest.remove(at + 1);
    rest.remove(at);
    Ok((Some(name), rest))
}

/// Applies options to a size.
fn size(mut size: Rails, options: &[&str]) -> Result<Rails> {
    let mut group = None;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut number = || {
            let value = options.next().and_then(|value| value.parse().ok());
            let value: u32 = value.with_context(|| format!("{option} requires a number"))?;
            ensure!((1..=100).contains(&value), "{option} must be from 1 to 100");
            Ok(value)
        };
        match *option {
            "--hosts" => size.hosts = number()?,
            "--nics" => size.nics = number()?,
            "--spines" => size.spines = number()?,
            "--group" => group = Some(number()?),
            "--uppers" => size.uppers = number()?,
            "--ipv6" => size.ipv6 = true,
            option => bail!("no such option: {option}"),
        }
    }
    size.hosts_a_group = group.unwrap_or(size.hosts);
    Ok(size)
}

fn heal(name: Option<&str>, place: Option<&str>) -> Result<()> {
    let healed = Fabric::load(name)?.heal(place)?;
    println!("{healed} healed");
    Ok(())
}

fn status(fabric: &Fabric) -> Result<()> {
    let wiring = &fabric.wiring;
    for (at, node) in wiring.nodes.iter().enumerate() {
        println!("{:<5} {}", node.name, fabric.namespace(at));
    }
    println!();
    for link in &wiring.links {
        let end = |end: &wiring::End| {
            let node = &wiring.nodes[end.node].name;
            format!("{node} {} {}", end.interface, end.address)
        };
        println!("{:<7} {:<28} {}", link.name, end(&link.lower), end(&link.upper));
    }
    println!();
    for active in &fabric.active {
        println!("{} at {}: {:?}", active.fault.name(), active.place, active.fault);
    }
    println!("{}", fabric.directory()?.join("topology.toml").display());
    Ok(())
}
