//! The topology file: which switch has which addresses.

use crate::commands::topology;
use anyhow::{Result, bail};
use rocescope_diagnose::hostmesh::Analyzer;
use rocescope_paths::topology::{check, tiers};
use std::path::Path;

/// Sets the addresses of switches in the analyzer. Hosts are named by the rows of their probes; their addresses are only
/// checked.
pub(in crate::commands) fn read(path: &Path, analyzer: &mut Analyzer) -> Result<()> {
    let topology = topology::read(path)?;
    let repeated = check(&topology, topology::folder(path))
        .into_iter()
        .find(|found| found.kind == "address_repeated");
    if let Some(repeated) = repeated {
        bail!("{}: {}", path.display(), repeated.message);
    }
    for (node, tiered) in topology.nodes.iter().zip(tiers(&topology)) {
        if tiered.tier != Some(0) {
            for address in &node.addresses {
                analyzer.know(*address, &node.name);
            }
        }
    }
    Ok(())
}
