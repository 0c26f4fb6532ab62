//! The topology that NCCL and RCCL dump with `NCCL_TOPO_DUMP_FILE`, and read with `NCCL_TOPO_FILE`.

use super::machine::{Bridges, Device, DeviceKind, Machine, Numa, kind_of};
use super::pcie::Pcie;
use super::xml::{MAX_NUMA, document, hexadecimal, number, refuse, required};
use crate::hostping::refusal::Refusal;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
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
    let mut hosts: Vec<String> = Vec::new();
    for cpu in elements(system) {
        if cpu.tag_name().name() != "cpu" {
            return Err(refuse(cpu, "expected <cpu>"));
        }
        // -1: the kernel does not know the NUMA node; so on a host with one node.
        let numa: i64 = number(cpu, "numaid")?;
        let numa = u32::try_from(numa.max(0)).map_err(|_| refuse(cpu, "`numaid` is too large"))?;
        let hash = cpu.attribute("host_hash").unwrap_or_default();
        let host = hosts.iter().position(|known| *known == hash).unwrap_or_else(|| {
            hosts.push(hash.to_string());
            hosts.len() - 1
        });
        let is_same = |other: &Numa| other.number == numa && other.host == Some(host_name(host));
        if machine.numa.iter().any(is_same) {
            return Err(refuse(cpu, &format!("NUMA node {numa} is there twice")));
        }
        if machine.numa.len() >= MAX_NUMA {
            return Err(refuse(cpu, &format!("more than {MAX_NUMA} NUMA nodes")));
        }
        let mut node = Numa {
            number: numa,
            host: Some(host_name(host)),
            ..Numa::default()
        };
        for child in elements(cpu) {
            node.devices.extend(device(child)?);
        }
        machine.numa.push(node);
    }
    match &hosts[..] {
        [_] => machine.numa.iter_mut().for_each(|numa| numa.host = None),
        // Trays that are one NVLink domain: NCCL joins their dumps.
        hosts => machine.notes.extend(
            hosts
                .iter()
                .enumerate()
                .map(|(at, hash)| format!("{} is the host with `host_hash` {hash}", host_name(at))),
        ),
    }
    if machine.numa.is_empty() {
        return Err(refuse(system, "no <cpu>: expected one for each NUMA node"));
    }
    Ok(machine)
}

fn host_name(at: usize) -> String {
    format!("host{at}")
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
                device.c2c_gbps = c2c_gbps(child);
            }
            // NCCL lists wireless networks as well.
            "nic" if device.kind == DeviceKind::Other && class >> 8 == 0x0280 => {}
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

/// The coherent links of a GPU to its processor: `bw` of each in MB/s.
fn c2c_gbps(gpu: Node<'_, '_>) -> Option<f64> {
    let link = elements(gpu).find(|child| child.tag_name().name() == "c2c")?;
    let attribute = |name: &str| link.attribute(name)?.parse::<f64>().ok();
    let gbps = attribute("bw")? * attribute("count").unwrap_or(1.0) * 8.0 / 1e3;
    (gbps > 0.0 && gbps.is_finite()).then_some(gbps)
}
