//! The topology, from a file or from `/sys`.

use super::settings::TopologySource;
use crate::error::{AgentError, Result, ensure};
use rocescope_diagnose::hostping::Topology;
use rocescope_diagnose::hostping::topology::machine::{is_virtual_name, kind_of};
use rocescope_diagnose::hostping::topology::{self, Bridges, Device, DeviceKind, Machine, NodeKind, Numa, Pcie};
use rocescope_host::pci::{self, Hardware, PciDevice};
use std::path::Path;

/// Reads it, for loopback tests.
///
/// # Errors
/// The file or the PCIe devices cannot be read, or there is no NIC.
pub fn read(source: &TopologySource) -> Result<Topology> {
    let topology = any(source)?;
    ensure!(has_nic(&topology), "{NO_NIC}");
    Ok(topology)
}

const NO_NIC: &str = "the topology has no NIC: loopback tests need one";

fn has_nic(topology: &Topology) -> bool {
    topology.of_kind(NodeKind::Nic).next().is_some()
}

/// Reads it, to draw it; with a note if there is no NIC.
///
/// # Errors
/// The file or the PCIe devices cannot be read.
pub fn any(source: &TopologySource) -> Result<Topology> {
    let mut topology = match &source.topology {
        Some(path) => {
            let place = path.display().to_string();
            let text = rocescope_input::text(path).map_err(|error| AgentError::Input(path.clone(), error))?;
            topology::read(&text).map_err(|refusal| AgentError::Refused(refusal.in_file(&place).to_string()))?
        }
        None => {
            let sys = source.sysfs_root.as_deref().unwrap_or(Path::new("/sys"));
            Topology::of(machine(&pci::read(sys)?))
        }
    };
    if !has_nic(&topology) {
        topology.notes.push(NO_NIC.to_owned());
    }
    Ok(topology)
}

/// The hardware as a description of the topology.
fn machine(hardware: &Hardware) -> Machine {
    let numbers: Vec<u32> = hardware.numa.iter().map(|numa| numa.number).collect();
    let is_root = |device: &&PciDevice| {
        let parent = device.parent.as_deref();
        parent.is_none_or(|parent| !hardware.devices.iter().any(|other| other.address == parent))
    };
    let numa = hardware.numa.iter().map(|node| Numa {
        host: None,
        number: node.number,
        package: node.package,
        distances: numbers.iter().copied().zip(node.distances.iter().copied()).collect(),
        devices: hardware
            .devices
            .iter()
            .filter(is_root)
            .filter(|device| node_of(device, &hardware.devices) == node.number)
            .map(|root| device(root, &hardware.devices))
            .collect(),
    });
    let is_virtual = hardware.has_hypervisor || hardware.dmi.iter().any(|name| is_virtual_name(name));
    Machine {
        numa: numa.collect(),
        is_virtual: (is_virtual || !hardware.dmi.is_empty()).then_some(is_virtual),
        bridges: Bridges::Ports,
        notes: Vec::new(),
    }
}

/// The NUMA node of what is at a root port: the kernel sets that of the devices, not always that of the port.
fn node_of(root: &PciDevice, all: &[PciDevice]) -> u32 {
    let mut inside = all
        .iter()
        .filter(|device| device.parent.as_deref() == Some(root.address.as_str()));
    inside.next().map_or(root.numa, |child| node_of(child, all))
}

fn device(one: &PciDevice, all: &[PciDevice]) -> Device {
    let [speed, width, max_speed, max_width] = &one.link;
    let children = all
        .iter()
        .filter(|child| child.parent.as_deref() == Some(one.address.as_str()));
    let kind = kind_of(one.class, one.vendor);
    Device {
        kind,
        address: one.address.clone(),
        names: match kind {
            DeviceKind::Nic if one.rdma.is_empty() => one.interfaces.clone(),
            _ => one.rdma.iter().chain(&one.interfaces).cloned().collect(),
        },
        is_rdma: !one.rdma.is_empty(),
        index: None,
        link: Pcie::parse(speed, width),
        max_link: Pcie::parse(max_speed, max_width),
        c2c_gbps: None,
        rate_gbps: one.rate_gbps,
        acs: one.acs,
        ats: one.ats,
        children: children.map(|child| device(child, all)).collect(),
    }
}
