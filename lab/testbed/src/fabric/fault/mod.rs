//! Faults of a fabric, each injected at one place and healed again.
//!
//! | module | what it does |
//! |---|---|
//! | `program` | kernel programs that drop, corrupt or refuse frames |
//! | `object` | attaches them to a link with `tc` |
//! | `queue` | congestion: a token bucket, and frames that keep its queue full |
//! | `host` | a slow host: a control group with a busy loop |
//! | `background` | processes that keep a fault active |

mod background;
mod host;
mod object;
mod program;
mod queue;

use super::build;
use super::live::Fabric;
use super::namespace::ip;
use super::wiring::Link;
use anyhow::{Context, Result, bail, ensure};
use program::Refused;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

/// The directions of a link that a fault has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ways {
    Both,
    /// From the lower end to the upper one.
    Up,
    Down,
}

/// A fault at a place: a link such as `h0n1` or `r0-s1`, or a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// The upper end of a link is down; routes stay, so frames in that direction are lost.
    LinkDown,
    /// The same for half of each period.
    Flapping { period: Duration },
    /// A share of all frames is lost.
    Loss { ratio: f64, ways: Ways },
    /// A share of the UDP datagrams on a link has a byte flipped.
    Corruption { ratio: f64 },
    /// A switch has no route to a NIC, or the NIC's host has no route out of it.
    MissingRoute { nic: String },
    /// The 5-tuples of two NICs are lost on a link whose source ports equal `port` in the bits of `mask`.
    Blackhole {
        src: IpAddr,
        dst: IpAddr,
        port: u16,
        mask: u16,
    },
    /// All UDP from one NIC to another is lost on a link: a wrong access list.
    Acl { src: String, dst: String },
    /// Frames out of the lower end of a link wait for `depth`.
    Congestion { depth: Duration },
    /// A host has a tenth of a core: for nine tenths of each period it has none.
    SlowHost { period: Duration },
}

impl Fault {
    /// Its name on the command line.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::LinkDown => "link-down",
            Self::Flapping { .. } => "flapping",
            Self::Loss { .. } => "loss",
            Self::Corruption { .. } => "corruption",
            Self::MissingRoute { .. } => "missing-route",
            Self::Blackhole { .. } => "blackhole",
            Self::Acl { .. } => "acl",
            Self::Congestion { .. } => "congestion",
            Self::SlowHost { .. } => "slow-host",
        }
    }
}

/// An active fault, and the process that keeps it active.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Active {
    pub(crate) place: String,
    pub(crate) fault: Fault,
    processes: Vec<u32>,
}

/// Injects a fault at a place.
pub(super) fn inject(fabric: &Fabric, place: &str, fault: Fault) -> Result<Active> {
    let mut processes = Vec::new();
    match &fault {
        Fault::LinkDown => {
            let link = fabric.link(place)?;
            let down = format!("link set {} down", link.upper.interface);
            ip(Some(&fabric.namespace(link.upper.node)), &[down])?;
        }
        Fault::Flapping { period } => {
            processes.push(flap(fabric, fabric.link(place)?, *period)?);
        }
        Fault::Loss { ratio, ways } => attach(fabric, place, &program::loss(*ratio), *ways)?,
        Fault::Corruption { ratio } => {
            let program = program::corruption(*ratio, fabric.size.ipv6);
            attach(fabric, place, &program, Ways::Both)?;
        }
        Fault::Blackhole { src, dst, port, mask } => {
            let refused = Refused {
                src: *src,
                dst: *dst,
                src_port: Some((*port, *mask)),
            };
            attach(fabric, place, &program::refusal(&refused), Ways::Both)?;
        }
        Fault::Acl { src, dst } => {
            let refused = Refused {
                src: fabric.link(src)?.lower.address,
                dst: fabric.link(dst)?.lower.address,
                src_port: None,
            };
            attach(fabric, place, &program::refusal(&refused), Ways::Both)?;
        }
        Fault::MissingRoute { nic } => {
            let nic = fabric.link(nic)?;
            let node = fabric.node(place)?;
            let route = build::missing(&fabric.wiring, node, nic)?;
            ip(Some(&fabric.namespace(node)), &[route])?;
        }
        Fault::Congestion { depth } => {
            let link = fabric.link(place)?;
            let file = fabric.directory()?.join("fault.o");
            let [lower, upper] = namespaces(fabric, link);
            queue::fill([&lower, &upper], link, *depth, &file)?;
        }
        Fault::SlowHost { period } => {
            let namespace = fabric.namespace(fabric.node(place)?);
            processes.push(host::slow(&namespace, *period)?);
        }
    }
    Ok(Active {
        place: place.to_owned(),
        fault,
        processes,
    })
}

/// A program started in the namespace of a node: it is as slow as its host.
pub(super) fn started(fabric: &Fabric, node: usize, process: u32) -> Result<()> {
    host::join(&fabric.namespace(node), process)
}

/// Heals a fault; `others` stay.
pub(super) fn heal(fabric: &Fabric, active: &Active, others: &[&Active]) -> Result<()> {
    let is_down = |other: &&&Active| matches!(other.fault, Fault::LinkDown);
    let links = others.iter().filter(is_down).map(|other| fabric.link(&other.place));
    let down = links.collect::<Result<Vec<&Link>>>()?;
    let down = |node: usize| -> Vec<&str> {
        let here = down.iter().filter(|link| link.upper.node == node);
        here.map(|link| link.upper.interface.as_str()).collect()
    };
    for process in &active.processes {
        background::end(*process);
    }
    let place = &active.place;
    match &active.fault {
        Fault::LinkDown | Fault::Flapping { .. } => {
            let link = fabric.link(place)?;
            let up = up(fabric, link, &down(link.upper.node));
            ip(Some(&fabric.namespace(link.upper.node)), &up)?;
        }
        Fault::Loss { .. } | Fault::Corruption { .. } | Fault::Blackhole { .. } | Fault::Acl { .. } => {
            let end = &fabric.link(place)?.upper;
            object::detach(&fabric.namespace(end.node), &end.interface)?;
        }
        Fault::MissingRoute { .. } => {
            let node = fabric.node(place)?;
            let routes = build::restored(&fabric.wiring, node, &down(node));
            ip(Some(&fabric.namespace(node)), &routes)?;
        }
        Fault::Congestion { .. } => {
            let link = fabric.link(place)?;
            let [lower, upper] = namespaces(fabric, link);
            queue::empty([&lower, &upper], link)?;
        }
        Fault::SlowHost { .. } => host::quick(&fabric.namespace(fabric.node(place)?))?,
    }
    Ok(())
}

/// Attaches a program to the upper end of a link: a host accepts frames before its traffic control sees them.
fn attach(fabric: &Fabric, place: &str, program: &[u8], ways: Ways) -> Result<()> {
    let end = &fabric.link(place)?.upper;
    let file = fabric.directory()?.join("fault.o");
    let namespace = fabric.namespace(end.node);
    let ways: &[&str] = match ways {
        Ways::Both => &["ingress", "egress"],
        Ways::Up => &["ingress"],
        Ways::Down => &["egress"],
    };
    object::attach(&namespace, &end.interface, program, ways, &file)
}

/// The namespaces of the ends of a link, the lower first.
fn namespaces(fabric: &Fabric, link: &Link) -> [String; 2] {
    [&link.lower, &link.upper].map(|end| fabric.namespace(end.node))
}

/// The commands that set a link up and restore its routes.
fn up(fabric: &Fabric, link: &Link, down: &[&str]) -> Vec<String> {
    let mut lines = vec![format!("link set {} up", link.upper.interface)];
    lines.extend(build::restored(&fabric.wiring, link.upper.node, down));
    lines
}

/// Sets a link down for half of each period, until its namespace is removed; returns the process ID.
fn flap(fabric: &Fabric, link: &Link, period: Duration) -> Result<u32> {
    let namespace = fabric.namespace(link.upper.node);
    let half = period.as_secs_f64() / 2.0;
    let interface = &link.upper.interface;
    let up = up(fabric, link, &[]).join("\n");
    let script = format!(
        "set -e\nwhile :; do\nip -n {namespace} link set {interface} down\nsleep {half}\n\
         ip -n {namespace} -batch - <<END\n{up}\nEND\nsleep {half}\ndone"
    );
    background::start(std::process::Command::new("sh").args(["-c", &script]))
}

/// Parses a fault: `KIND PLACE [--ratio F] [--ways W] [--period S] [--depth S] [--nic NIC] [--src A --dst A --port N [--mask N]]`.
pub(super) fn parse<'a>(words: &[&'a str]) -> Result<(&'a str, Fault)> {
    let [kind, place, options @ ..] = words else {
        bail!("expected KIND PLACE");
    };
    let (pairs, rest) = options.as_chunks::<2>();
    ensure!(rest.is_empty(), "{} what?", rest.join(" "));
    let text = |name: &str| {
        let found = pairs.iter().find(|[option, _]| *option == name);
        found.map(|[_, value]| *value)
    };
    let number = |name: &str, default: f64| {
        let value = text(name).map_or(Ok(default), str::parse::<f64>);
        value.with_context(|| format!("{name} requires a number"))
    };
    let seconds = |name, default| {
        let time = Duration::try_from_secs_f64(number(name, default)?);
        time.with_context(|| format!("{name} requires seconds"))
    };
    let needed = |name: &str| text(name).with_context(|| format!("{kind} requires {name}"));
    let known = [
        "--ratio", "--ways", "--period", "--depth", "--nic", "--src", "--dst", "--port", "--mask",
    ];
    for [option, _] in pairs {
        ensure!(known.contains(option), "no such option: {option}");
    }
    let fault = match *kind {
        "link-down" => Fault::LinkDown,
        "flapping" => Fault::Flapping {
            period: seconds("--period", 4.0)?,
        },
        "loss" => Fault::Loss {
            ratio: number("--ratio", 0.2)?,
            ways: match text("--ways") {
                None | Some("both") => Ways::Both,
                Some("up") => Ways::Up,
                Some("down") => Ways::Down,
                Some(other) => bail!("--ways is both, up or down, not {other}"),
            },
        },
        "corruption" => Fault::Corruption {
            ratio: number("--ratio", 0.2)?,
        },
        "missing-route" => Fault::MissingRoute {
            nic: needed("--nic")?.to_owned(),
        },
        "blackhole" => Fault::Blackhole {
            src: needed("--src")?.parse()?,
            dst: needed("--dst")?.parse()?,
            port: needed("--port")?.parse()?,
            mask: text("--mask").map_or(Ok(u16::MAX), str::parse)?,
        },
        "acl" => Fault::Acl {
            src: needed("--src")?.to_owned(),
            dst: needed("--dst")?.to_owned(),
        },
        "congestion" => Fault::Congestion {
            depth: seconds("--depth", 0.05)?,
        },
        "slow-host" => Fault::SlowHost {
            period: seconds("--period", 0.1)?,
        },
        other => bail!("no such fault: {other}"),
    };
    Ok((place, fault))
}
