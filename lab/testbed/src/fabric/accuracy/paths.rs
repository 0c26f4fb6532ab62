//! Compares the paths that agents found with those that the kernel chooses.

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

/// The first path of every 5-tuple.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Paths {
    pub(super) equal: usize,
    /// The number of paths on which a hop had not answered yet.
    pub(super) partly: usize,
    pub(super) differing: Vec<String>,
}

/// Asks the kernel about every 5-tuple of a dataset; the fabric has no fault. Agents still write the dataset, so a copy
/// of it is sealed and read.
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
        // Over IPv6 a router answers from the address of its outgoing interface, which identifies only the router.
        let name = |hop: &Option<IpAddr>| match hop {
            Some(IpAddr::V6(address)) => node(fabric, (*address).into()),
            other => format!("{other:?}"),
        };
        // A hop without an answer is unknown, not a different path.
        let mut pairs = hops.iter().zip(&truth);
        let is_equal = pairs.all(|(hop, truth)| hop.is_none() || name(hop) == name(truth));
        if is_equal && hops.len() == truth.len() {
            paths.equal += 1;
            paths.partly += usize::from(hops.contains(&None));
        } else {
            let differing = format!("{tuple:?}: {hops:?}, and the kernel chooses {truth:?}");
            paths.differing.push(differing);
        }
    }
    Ok(paths)
}

/// The node that has an address.
fn node(fabric: &Fabric, address: IpAddr) -> String {
    let ends = fabric.wiring.links.iter().flat_map(|l| [&l.lower, &l.upper]);
    let mut ends = ends.filter(|end| end.address == address);
    ends.next()
        .map(|end| fabric.wiring.nodes[end.node].name.clone())
        .unwrap_or_default()
}
