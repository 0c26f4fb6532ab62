//! The topology that hwloc writes: `lstopo --whole-io --of xml`, versions 1 to 3.

use super::machine::{Bridges, Device, DeviceKind, Machine, kind_of};
use super::pcie::Pcie;
use super::xml::{MAX_NUMA, document, number, refuse, required};
use crate::hostping::refusal::Refusal;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use roxmltree::Node;

/// Reads the file.
///
/// # Errors
/// The line, and what is wrong there.
pub fn read(text: &str) -> Result<Machine, Refusal> {
    let document = document(text)?;
    let topology = document.root_element();
    if topology.tag_name().name() != "topology" {
        return Err(refuse(topology, "expected <topology>, as `lstopo --of xml` writes it"));
    }
    // Version 1 has no number.
    let version = topology.attribute("version").unwrap_or("1");
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    let types = match major {
        Some(1 | 2) => Types::Numbers,
        Some(3) => Types::Bits,
        _ => {
            let message = format!("version {version} is unknown: expected 1, 2 or 3 (`lstopo --version`)");
            return Err(refuse(topology, &message));
        }
    };
    let mut machine = Machine {
        bridges: Bridges::Ports,
        is_virtual: Some(is_virtual(topology)),
        ..Machine::default()
    };
    let root = objects(topology).next();
    let root = root.ok_or_else(|| refuse(topology, "no <object>: expected the object of type Machine"))?;
    visit(root, (None, None), types, &mut machine)?;
    distances(topology, &mut machine)?;
    if machine.numa.is_empty() {
        machine.numa_mut(0);
    }
    machine.numa.sort_by_key(|numa| numa.number);
    Ok(machine)
}

/// How `osdev_type` is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    /// 1 is a GPU, 2 an interface, 3 an RDMA device, 5 a coprocessor.
    Numbers,
    /// The sum of 1 for storage, 2 memory, 4 a GPU, 8 a coprocessor, 16 a network, 32 `OpenFabrics`, 64 DMA.
    Bits,
}

impl Types {
    /// Whether the device of the operating system is one of RDMA, or else an interface.
    fn is_rdma_or_interface(self, text: &str) -> (bool, bool) {
        match (self, text.parse::<u32>()) {
            (Self::Numbers, Ok(number)) => (number == 3, number == 2),
            (Self::Bits, Ok(bits)) => (bits & 32 != 0, bits & 16 != 0),
            (_, Err(_)) => (text.contains("OpenFabrics"), text.contains("Network")),
        }
    }
}

fn objects<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(|child| child.has_tag_name("object"))
}

fn is_type(node: Node<'_, '_>, name: &str) -> bool {
    node.attribute("type") == Some(name)
}

/// The hypervisor's marks in the information of DMI.
fn is_virtual(topology: Node<'_, '_>) -> bool {
    let infos = topology.descendants().filter(|node| node.has_tag_name("info"));
    let mut dmi = infos.filter(|info| matches!(info.attribute("name"), Some("DMISysVendor" | "DMIProductName")));
    dmi.any(|info| {
        info.attribute("value")
            .is_some_and(crate::hostping::topology::machine::is_virtual_name)
    })
}

/// Visits an object that is no I/O: NUMA nodes, and the bridges and devices attached to it.
fn visit(
    node: Node<'_, '_>,
    (package, numa): (Option<u32>, Option<u32>),
    types: Types,
    machine: &mut Machine,
) -> Result<(), Refusal> {
    let package = if is_type(node, "Package") || is_type(node, "Socket") {
        Some(number(node, "os_index")?)
    } else {
        package
    };
    // Version 1 nests what is local in the NUMA node; in version 2 the node is beside it, a child of the same object.
    let mut local = numa;
    let nodes = objects(node).filter(|child| is_type(*child, "NUMANode"));
    let nodes: Vec<Node<'_, '_>> = if is_type(node, "NUMANode") {
        alloc::vec![node]
    } else {
        nodes.collect()
    };
    for own in &nodes {
        let index = number(*own, "os_index")?;
        if machine.numa.len() >= MAX_NUMA {
            return Err(refuse(*own, &format!("more than {MAX_NUMA} NUMA nodes")));
        }
        machine.numa_mut(index).package = package;
        if *own == nodes[0] {
            local = Some(index);
        }
    }
    // Of all below it: searched once.
    let mut first = None;
    for child in objects(node) {
        let kind = required(child, "type")?;
        if kind == "Bridge" || kind == "PCIDev" {
            let at = local
                .or_else(|| *first.get_or_insert_with(|| first_numa(node)))
                .unwrap_or(0);
            if local.is_none() && machine.numa.len() > 1 {
                machine.notes.push(format!(
                    "hwloc does not know the NUMA node of some devices: shown at CPU {at}"
                ));
                machine.notes.dedup();
            }
            for device in io(child, types)? {
                machine.numa_mut(at).devices.push(device);
            }
        } else if kind != "NUMANode" || child.children().any(|inner| inner.is_element()) {
            visit(child, (package, local), types, machine)?;
        }
    }
    if is_type(node, "Package")
        && let Some(package) = package
    {
        // A NUMA node above a package has it too.
        for numa in machine.numa.iter_mut().filter(|numa| Some(numa.number) == local) {
            numa.package.get_or_insert(package);
        }
    }
    Ok(())
}

fn first_numa(node: Node<'_, '_>) -> Option<u32> {
    let mut nodes = node.descendants().filter(|inner| is_type(*inner, "NUMANode"));
    nodes.next()?.attribute("os_index")?.parse().ok()
}

/// The devices of an I/O object; those below a host bridge, which is no device of its own.
fn io(node: Node<'_, '_>, types: Types) -> Result<Vec<Device>, Refusal> {
    let mut inside = Vec::new();
    for child in objects(node).filter(|child| is_type(*child, "Bridge") || is_type(*child, "PCIDev")) {
        inside.extend(io(child, types)?);
    }
    let is_bridge = is_type(node, "Bridge");
    if is_bridge && node.attribute("bridge_type").is_some_and(|kind| kind.starts_with("0-")) {
        return Ok(inside);
    }
    // `0302 [10de:20b0] [10de:134f] a1`
    let text = required(node, "pci_type")?;
    let class = u32::from_str_radix(text.get(..4).unwrap_or_default(), 16);
    let class = class.map_err(|_| refuse(node, &format!("`pci_type` is `{text}`: expected a class, such as 0302")))?;
    let vendor = text.get(6..10).and_then(|vendor| u32::from_str_radix(vendor, 16).ok());
    let mut device = Device {
        kind: if is_bridge {
            DeviceKind::Bridge
        } else {
            kind_of(class << 8, vendor.unwrap_or(0))
        },
        address: required(node, "pci_busid")?.to_string(),
        link: speed(node)?,
        children: inside,
        ..Device::default()
    };
    software(node, types, &mut device);
    Ok(alloc::vec![device])
}

/// `pci_link_speed` is in GB/s; 0 if unknown.
fn speed(node: Node<'_, '_>) -> Result<Option<Pcie>, Refusal> {
    let Some(text) = node.attribute("pci_link_speed") else {
        return Ok(None);
    };
    let speed: f64 = text.parse().map_err(|_| {
        refuse(
            node,
            &format!("`pci_link_speed` is `{text}`: expected GB/s, such as 31.5"),
        )
    })?;
    Ok((speed > 0.0 && speed.is_finite()).then(|| Pcie::of_bandwidth(speed * 8.0)))
}

/// What the operating system calls the device.
fn software(node: Node<'_, '_>, types: Types, device: &mut Device) {
    let mut interfaces: Vec<String> = Vec::new();
    for child in objects(node).filter(|child| is_type(*child, "OSDev")) {
        let name = child.attribute("name").unwrap_or_default();
        match types.is_rdma_or_interface(child.attribute("osdev_type").unwrap_or_default()) {
            (true, _) => {
                device.names.push(name.to_string());
                device.is_rdma = true;
            }
            (_, true) => interfaces.push(name.to_string()),
            _ => {
                let digits = ["cuda", "nvml", "rsmi"].iter().find_map(|lead| name.strip_prefix(lead));
                device.index = device.index.or(digits.and_then(|digits| digits.parse().ok()));
            }
        }
    }
    if device.names.is_empty() {
        device.names = interfaces;
    }
}

/// The distances of NUMA nodes of version 2.
fn distances(topology: Node<'_, '_>, machine: &mut Machine) -> Result<(), Refusal> {
    let Some(all) = topology
        .children()
        .find(|child| child.has_tag_name("distances2") && child.attribute("type") == Some("NUMANode"))
    else {
        return Ok(());
    };
    let numbers = |tag: &str| -> Result<Vec<u32>, Refusal> {
        let mut numbers = Vec::new();
        for node in all.children().filter(|child| child.has_tag_name(tag)) {
            for word in node.text().unwrap_or_default().split_whitespace() {
                let number = word.parse();
                numbers.push(number.map_err(|_| refuse(node, &format!("`{word}`: expected a distance")))?);
            }
        }
        Ok(numbers)
    };
    let (indexes, values) = (numbers("indexes")?, numbers("u64values")?);
    if values.len() != indexes.len() * indexes.len() {
        let expected = indexes.len() * indexes.len();
        return Err(refuse(all, &format!("{} distances: expected {expected}", values.len())));
    }
    for (from, row) in indexes.iter().zip(values.chunks(indexes.len().max(1))) {
        if let Some(numa) = machine.numa.iter_mut().find(|numa| numa.number == *from) {
            numa.distances = indexes.iter().copied().zip(row.iter().copied()).collect();
        }
    }
    Ok(())
}
