//! The topology that NCCL and RCCL dump with `NCCL_TOPO_DUMP_FILE`, and read with `NCCL_TOPO_FILE`.

use super::machine::{Bridges, Device, DeviceKind, Machine, kind_of};
use super::pcie::Pcie;
use super::xml::{MAX_NUMA, document, hexadecimal, number, refuse, required};
use crate::hostping::refusal::Refusal;
use alloc::format;
use alloc::string::ToString;
use roxmltree::Node;

/// Versions of the format that are read.
const VERSIONS: [u32; 2] = [1, 2];

/// Reads the file.
///
/// # Errors
/// The line, and what is wrong there.
pub fn read(text: &str) -> Result<Machine, Refusal> {
    let document = document(text)?;
    let system = document.root_element();
    if system.tag_name().name() != "system" {
        return Err(refuse(system, "expected <system>, as NCCL_TOPO_DUMP_FILE writes it"));
    }
    let version = number(system, "version")?;
    if !VERSIONS.contains(&version) {
        return Err(refuse(
            system,
            &format!("version {version} is unknown: expected 1 or 2"),
        ));
    }
    let mut machine = Machine {
        bridges: Bridges::Switches,
        ..Machine::default()
    };
    for cpu in elements(system) {
        if cpu.tag_name().name() != "cpu" {
            return Err(refuse(cpu, "expected <cpu>"));
        }
        // -1: the kernel does not know the NUMA node; so on a host with one node.
        let numa: i64 = number(cpu, "numaid")?;
        let numa = u32::try_from(numa.max(0)).map_err(|_| refuse(cpu, "`numaid` is too large"))?;
        if machine.numa.iter().any(|other| other.number == numa) {
            return Err(refuse(cpu, &format!("NUMA node {numa} is there twice")));
        }
        if machine.numa.len() >= MAX_NUMA {
            return Err(refuse(cpu, &format!("more than {MAX_NUMA} NUMA nodes")));
        }
        machine.numa_mut(numa);
        for child in elements(cpu) {
            if let Some(device) = device(child)? {
                machine.numa_mut(numa).devices.push(device);
            }
        }
    }
    if machine.numa.is_empty() {
        return Err(refuse(system, "no <cpu>: expected one for each NUMA node"));
    }
    Ok(machine)
}

fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// A device; none for elements that are none, such as `<nic>` of a network without PCI.
fn device(node: Node<'_, '_>) -> Result<Option<Device>, Refusal> {
    if node.tag_name().name() != "pci" {
        return Ok(None);
    }
    let class = hexadecimal(node, "class")?;
    let vendor = match node.attribute("vendor") {
        Some(_) => hexadecimal(node, "vendor")?,
        None => 0,
    };
    let mut device = Device {
        kind: kind_of(class, vendor),
        address: required(node, "busid")?.to_string(),
        link: Pcie::parse(
            node.attribute("link_speed").unwrap_or_default(),
            node.attribute("link_width").unwrap_or_default(),
        ),
        ..Device::default()
    };
    for child in elements(node) {
        match child.tag_name().name() {
            "pci" => device.children.extend(self::device(child)?),
            "gpu" => {
                device.kind = DeviceKind::Gpu;
                device.index = Some(number(child, "dev")?);
            }
            "nic" => {
                device.kind = DeviceKind::Nic;
                for net in elements(child).filter(|net| net.tag_name().name() == "net") {
                    device.names.push(required(net, "name")?.to_string());
                    device.is_rdma = true;
                    // In Mbit/s.
                    let speed = net.attribute("speed").and_then(|speed| speed.parse::<f64>().ok());
                    device.rate_gbps = device.rate_gbps.or(speed.map(|speed| speed / 1e3));
                }
            }
            _ => {}
        }
    }
    Ok(Some(device))
}
