//! The path that the kernel chooses for a 5-tuple, looked up router by router.

use super::live::Fabric;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::net::IpAddr;

/// The fields that ECMP hashes; the protocol is UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) src_port: u16,
    pub(crate) dst_port: u16,
}

/// One router or host on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) node: usize,
    /// The receiving interface, from whose address a traceroute gets the answer.
    pub(crate) address: IpAddr,
}

/// The hops of a 5-tuple from one NIC to another, the last hop included.
pub(crate) fn path(fabric: &Fabric, tuple: &Tuple) -> Result<Vec<Hop>> {
    let wiring = &fabric.wiring;
    let nic = wiring
        .nics()
        .find(|nic| nic.lower.address == tuple.src)
        .with_context(|| format!("no NIC has the address {}", tuple.src))?;
    let mut at = &nic.upper;
    let mut hops = Vec::new();
    loop {
        hops.push(Hop {
            node: at.node,
            address: at.address,
        });
        if wiring.nodes[at.node].is_host {
            return Ok(hops);
        }
        ensure!(hops.len() <= wiring.nodes.len(), "{tuple:?} loops");
        let leaves = next(fabric, at.node, &at.interface, tuple)?;
        let mut ends = wiring.ends(at.node);
        let far = ends.find(|(near, _)| near.interface == leaves);
        at = far.with_context(|| format!("{leaves} is no link"))?.1;
    }
}

/// The interface that a router sends a 5-tuple out of.
fn next(fabric: &Fabric, node: usize, from: &str, tuple: &Tuple) -> Result<String> {
    let Tuple {
        src,
        dst,
        src_port,
        dst_port,
    } = tuple;
    let family = if dst.is_ipv6() { "-6" } else { "-4" };
    let namespace = fabric.namespace(node);
    let mut ask = std::process::Command::new("ip");
    ask.args(["-n", &namespace, "-json", family, "route", "get"]);
    ask.args([&dst.to_string(), "from", &src.to_string(), "iif", from]);
    ask.args(["ipproto", "udp", "sport", &src_port.to_string()]);
    ask.args(["dport", &dst_port.to_string()]);
    let routes = super::namespace::output(&mut ask)?;
    let routes: Value = serde_json::from_str(&routes).context("ip route get")?;
    let device = routes[0]["dev"].as_str().context("a route has an interface")?;
    Ok(device.to_owned())
}
