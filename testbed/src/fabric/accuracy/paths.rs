//! The paths that agents found, held against those that the kernel chooses.

use crate::fabric::live::Fabric;
use crate::fabric::namespace::output;
use crate::fabric::oracle::{self, Tuple};
use anyhow::Result;
use rocescope_model::PathRow;
use rocescope_store::{repair, scan};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// Of every 5-tuple the first path that was found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Paths {
    pub(super) equal: usize,
    /// Of those, where a hop had not answered by then.
    pub(super) partly: usize,
    pub(super) differing: Vec<String>,
}

/// Asks the kernel for every 5-tuple of a dataset; the fabric is as it was built. Agents are at work in the dataset: what
/// they have not sealed is, in a copy.
pub(super) fn compare(fabric: &Fabric, dataset: &Path, copy: &Path) -> Result<Paths> {
    output(Command::new("cp").arg("-r").args([dataset, copy]))?;
    repair(copy)?;
    let mut rows = scan(copy)?.rows::<PathRow>()?;
    rows.retain(|row| row.reason.as_str() == "first");
    rows.sort_by_key(|row| (row.time_ns, row.hop));
    let mut found: HashMap<Tuple, Vec<Option<IpAddr>>> = HashMap::new();
    for row in &rows {
        let tuple = Tuple {
            src: row.src,
            dst: row.dst,
            src_port: row.udp_src_port,
            dst_port: row.udp_dst_port,
        };
        let hops = found.entry(tuple).or_default();
        if usize::from(row.hop) == hops.len() + 1 {
            hops.push(row.address);
        }
    }
    let mut paths = Paths::default();
    for (tuple, hops) in found {
        let truth = oracle::path(fabric, &tuple)?;
        let truth: Vec<Option<IpAddr>> = truth.iter().map(|hop| Some(hop.address)).collect();
        // Over IPv6 a router answers from the address that the answer leaves by: it tells the router alone.
        let name = |hop: &Option<IpAddr>| match hop {
            Some(IpAddr::V6(address)) => node(fabric, (*address).into()),
            other => format!("{other:?}"),
        };
        // What nobody answered for is not known, and so not another path.
        let mut pairs = hops.iter().zip(&truth);
        let is_equal = pairs.all(|(hop, truth)| hop.is_none() || name(hop) == name(truth));
        if is_equal && hops.len() == truth.len() {
            paths.equal += 1;
            paths.partly += usize::from(hops.contains(&None));
        } else {
            let differing = format!("{tuple:?}: {hops:?}, and the kernel says {truth:?}");
            paths.differing.push(differing);
        }
    }
    Ok(paths)
}

/// The node that has an address.
fn node(fabric: &Fabric, address: IpAddr) -> String {
    let ends = fabric
        .wiring
        .links
        .iter()
        .flat_map(|l| [&l.lower, &l.upper]);
    let mut ends = ends.filter(|end| end.address == address);
    ends.next()
        .map(|end| fabric.wiring.nodes[end.node].name.clone())
        .unwrap_or_default()
}
