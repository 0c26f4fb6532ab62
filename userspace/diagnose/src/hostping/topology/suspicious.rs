//! What looks wrong in a topology without a test.

use super::{NodeKind, Topology};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// Something that looks wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspicion {
    /// What: `link-below-maximum`, `acs-on-bare-metal`, `ats-off-in-vm` or `link-slower-than-port`.
    pub kind: &'static str,
    /// Where: names of nodes.
    pub place: String,
    /// What was found.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// Lists what looks wrong.
#[must_use]
pub fn suspicions(topology: &Topology) -> Vec<Suspicion> {
    let mut all = Vec::new();
    links(topology, &mut all);
    for node in &topology.nodes {
        let place = || node.name.clone();
        if node.acs == Some(true) && topology.is_virtual == Some(false) {
            all.push(Suspicion {
                kind: "acs-on-bare-metal",
                place: place(),
                message: "ACS redirects peer-to-peer requests to the processor: transfers between NIC and GPU are slow".into(),
                remedy: "disable ACS on the ports of the switches, in the BIOS or with `setpci`, unless devices are passed to virtual machines".into(),
            });
        }
        let is_endpoint = matches!(node.kind, NodeKind::Nic | NodeKind::Gpu);
        if is_endpoint && node.ats == Some(false) && topology.is_virtual == Some(true) {
            all.push(Suspicion {
                kind: "ats-off-in-vm",
                place: place(),
                message: "ATS is off in a virtual machine: the IOMMU translates each access of the device".into(),
                remedy: "enable ATS in the NIC's firmware (`mlxconfig set ATS_ENABLED=1`) and in the hypervisor".into(),
            });
        }
    }
    all
}

fn links(topology: &Topology, all: &mut Vec<Suspicion>) {
    for (at, link) in topology.links.iter().enumerate() {
        let Some(now) = link.now else {
            continue;
        };
        let (a, b) = topology.ends(at);
        let place = format!("{a} <-> {b}");
        let node = &topology.nodes[link.a];
        if let Some(max) = link.max
            && now.gbps < max.gbps * 0.99
        {
            let power = if node.kind == NodeKind::Gpu {
                "; an idle GPU lowers the speed to save power: look again under load"
            } else {
                ""
            };
            all.push(Suspicion {
                kind: "link-below-maximum",
                place: place.clone(),
                message: format!("the link runs at {}; both ends can do {}", now.text(), max.text()),
                remedy: format!("reseat the card, check riser and slot, then retrain the link{power}"),
            });
        } else if link.max.is_none()
            && let Some(usual) = peers(topology, at)
            && now.gbps < usual * 0.99
        {
            all.push(Suspicion {
                kind: "link-below-maximum",
                place: place.clone(),
                message: format!(
                    "the link runs at {}; most {} links of this host at {usual:.0} Gbit/s",
                    now.text(),
                    link.kind.name()
                ),
                remedy: "compare with the maximum that `lspci -vv` prints; reseat the card if it is lower".to_string(),
            });
        }
        if let Some(rate) = node.rate_gbps
            && now.gbps < rate
        {
            all.push(Suspicion {
                kind: "link-slower-than-port",
                place,
                message: format!(
                    "the PCIe link carries {:.0} Gbit/s, the port {rate:.0} Gbit/s",
                    now.gbps
                ),
                remedy: "move the NIC to a slot with more lanes or a newer generation".to_string(),
            });
        }
    }
}

/// What more than half of the links of the same kind run at, in Gbit/s: the measure where the source has no maximum.
fn peers(topology: &Topology, link: usize) -> Option<f64> {
    let kind = topology.links[link].kind;
    let peers = topology.links.iter().filter(|other| other.kind == kind);
    let mut speeds: Vec<f64> = peers.filter_map(|other| Some(other.now?.gbps)).collect();
    speeds.sort_by(f64::total_cmp);
    let middle = *speeds.get(speeds.len() / 2)?;
    let same = speeds.iter().filter(|speed| (**speed - middle).abs() < middle * 0.01);
    (speeds.len() > 2 && same.count() * 2 > speeds.len()).then_some(middle)
}
