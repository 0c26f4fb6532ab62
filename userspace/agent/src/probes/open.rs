//! Opens NICs, port and privileges: everything that can be refused.

use super::peers;
use super::settings::{ProbeBackend, ProbeSettings};
use crate::error::{AgentError, Result, ensure};
use rocescope_host::privileges;
use rocescope_model::ROCE_UDP_PORT;
use rocescope_probe::backend::raw::{self, Link, Raw};
use rocescope_probe::backend::verbs::Verbs;
use rocescope_probe::{Backend, Nanos, Nic, OtherHosts, Settings};
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::status;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The default port if RDMA devices reserve UDP 4791.
const OTHER_PORT: u16 = 47_910;

/// What was opened.
pub(super) struct Opening {
    pub(super) backend: Box<dyn Backend>,
    pub(super) settings: Settings,
    /// The NICs, each with its interface index.
    pub(super) nics: Vec<(Nic, u32)>,
}

/// Opens the NICs. `flow_probes` is the budget of probes along paths of flows; with one, or with peers, a single NIC
/// suffices.
pub(super) fn open(wanted: &ProbeSettings, flow_probes: u32) -> Result<Opening> {
    let probes_others = flow_probes > 0 || wanted.peers.is_some();
    let links = links(wanted, if probes_others { 1 } else { 2 })?;
    let nics: Vec<(Nic, u32)> = links.iter().map(|link| (link.nic(), link.index())).collect();
    let names = links.iter().map(|link| format!("{} {}", link.name(), link.address()));
    let names = names.collect::<Vec<String>>().join(", ");
    match wanted.backend {
        ProbeBackend::Raw => {
            let (backend, settings) = packets(wanted, links, &names)?;
            Ok(Opening {
                backend,
                settings: with_others(settings, wanted, flow_probes, &nics)?,
                nics,
            })
        }
        ProbeBackend::Verbs => {
            let (backend, settings) = queue_pairs(wanted, links, &nics, &names)?;
            let flow_probes = settings.others.map_or(0, |_| flow_probes);
            Ok(Opening {
                backend,
                settings: with_others(settings, wanted, flow_probes, &nics)?,
                nics,
            })
        }
    }
}

/// The settings with whom else is probed.
fn with_others(settings: Settings, wanted: &ProbeSettings, flow_probes: u32, nics: &[(Nic, u32)]) -> Result<Settings> {
    let addressed: Vec<Nic> = nics.iter().map(|(nic, _)| nic.clone()).collect();
    Ok(Settings {
        flow_probes,
        peers: peers::settings(wanted, &addressed)?,
        ..settings
    })
}

fn packets(wanted: &ProbeSettings, links: Vec<Link>, names: &str) -> Result<(Box<dyn Backend>, Settings)> {
    let missing = privileges::missing(&privileges::AF_PACKET).map_err(AgentError::Capabilities)?;
    if !missing.is_empty() {
        return Err(AgentError::Refused(format!(
            "probing requires cap_net_raw, which this process lacks; `{}` grants it",
            privileges::grant(&privileges::AF_PACKET)
        )));
    }
    let settings = settings(wanted, port(wanted, &links))?;
    let raw = Raw::open(links, settings.udp_dst_port)?;
    if raw.port_is_taken() {
        status!(
            "UDP port {} is used by another process of this host, which may receive the probes (--port)",
            settings.udp_dst_port
        );
    }
    for (src, dst) in raw.unreachable() {
        status!(
            "{}: the next hop to {} ({}) is unreachable; its probes count as unsent",
            src.name,
            dst.name,
            dst.address
        );
    }
    status!(
        "probing between {names} on UDP port {}, timestamps from {}",
        settings.udp_dst_port,
        raw.clock().source
    );
    Ok((Box::new(raw), settings))
}

fn queue_pairs(
    wanted: &ProbeSettings,
    links: Vec<Link>,
    nics: &[(Nic, u32)],
    names: &str,
) -> Result<(Box<dyn Backend>, Settings)> {
    ensure!(
        wanted.port.is_none_or(|port| port != ROCE_UDP_PORT),
        "RDMA devices reserve UDP port {ROCE_UDP_PORT}: omit --port, which is that of probes to other hosts"
    );
    let udp_dst_port = wanted.port.unwrap_or(OTHER_PORT);
    let missing = privileges::missing(&privileges::AF_PACKET).map_err(AgentError::Capabilities)?;
    let frames = match missing.is_empty() {
        true => Some(Raw::open(links, udp_dst_port)?),
        false => None,
    };
    let settings = Settings {
        others: frames.as_ref().map(|frames| OtherHosts {
            udp_dst_port,
            clock: frames.clock(),
        }),
        ..settings(wanted, ROCE_UDP_PORT)?
    };
    // Queue pairs need no capability, and the kernel refuses requests on a device that was opened with other ones.
    privileges::drop_all().map_err(AgentError::Capabilities)?;
    let verbs = Verbs::open(nics)?;
    status!(
        "probing between {names} with queue pairs, timestamps from {}",
        verbs.clock().source
    );
    let Some(frames) = frames else {
        status!(
            "paths are not traced, and other hosts not probed: that requires cap_net_raw; `{}` grants it",
            privileges::grant(&privileges::AF_PACKET)
        );
        ensure!(wanted.peers.is_none(), "--peers requires cap_net_raw");
        let settings = Settings {
            traces_per_second: 0.0,
            ..settings
        };
        return Ok((Box::new(verbs), settings));
    };
    status!("probes to other hosts go to UDP port {udp_dst_port}, as frames");
    Ok((Box::new(verbs.with_frames(Box::new(frames))), settings))
}

fn links(wanted: &ProbeSettings, least: usize) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    if wanted.all {
        ensure!(
            wanted.interfaces.is_empty(),
            "`all` and `interface` are both set, one of them in the configuration file or the environment"
        );
        let selection = raw::all()?;
        for (name, why) in &selection.left_out {
            status!("{name} is not probed: {why} (`--interface` names NICs to probe)");
        }
        links = selection.links;
        links.retain(|link| wanted.backend != ProbeBackend::Verbs || link.is_rdma());
    }
    for name in &wanted.interfaces {
        ensure!(
            links.iter().all(|link| link.name() != name),
            "{name} is given more than once"
        );
        links.push(raw::find(name)?);
    }
    ensure!(
        links.len() >= least,
        "probing requires at least {}",
        if least < 2 {
            "one NIC"
        } else {
            "two NICs: one sends, the other receives"
        }
    );
    let is_v4 = |link: &Link| link.address().is_ipv4();
    if let (Some(v4), Some(v6)) = (
        links.iter().find(|link| is_v4(link)),
        links.iter().find(|link| !is_v4(link)),
    ) {
        return Err(AgentError::Refused(format!(
            "{} has an IPv4 address and {} has none: they cannot probe each other",
            v4.name(),
            v6.name()
        )));
    }
    Ok(links)
}

/// A UDP port that the NICs pass to the kernel.
fn port(wanted: &ProbeSettings, links: &[Link]) -> u16 {
    let rdma = links.iter().find(|link| link.is_rdma());
    let port = wanted.port.unwrap_or(match rdma {
        Some(_) => OTHER_PORT,
        None => ROCE_UDP_PORT,
    });
    if let Some(link) = rdma {
        let what = if port == ROCE_UDP_PORT {
            "every probe to it will be lost; omit --port".to_owned()
        } else {
            format!("probes go to port {port}")
        };
        status!(
            "{} is an RDMA device, which reserves UDP port {ROCE_UDP_PORT}: {what}",
            link.name()
        );
    }
    port
}

fn settings(wanted: &ProbeSettings, udp_dst_port: u16) -> Result<Settings> {
    let observer = match &wanted.observer {
        Some(observer) => observer.clone(),
        None => host_name()?,
    };
    wanted.check()?;
    // The random seed of a hasher suffices.
    let seed = wanted
        .seed
        .unwrap_or_else(|| RandomState::new().hash_one(std::process::id()));
    Ok(Settings {
        // Of a host, unless the user sets it, so that it stays: after a restart, the paths of the ports are known.
        port_seed: wanted.seed.unwrap_or_else(|| seed_of(&observer)),
        udp_dst_port,
        interval: wanted.pace.interval,
        timeout: wanted.pace.timeout,
        pool_size: wanted.source_ports.into(),
        pool_period: Nanos::from(wanted.renew),
        dscps: wanted.pace.dscps.clone(),
        traces_per_second: wanted.pace.traces_per_second,
        answers_per_second: wanted.pace.answers_per_second,
        ttl_max: wanted.pace.ttl_max,
        refresh: wanted.pace.refresh,
        cpu_bound: wanted.pace.cpu_bound,
        peer_interval: wanted.pace.peer_interval,
        ..Settings::new(observer, seed)
    })
}

/// The same for a name at any time and on any machine (FNV-1a).
fn seed_of(name: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}
