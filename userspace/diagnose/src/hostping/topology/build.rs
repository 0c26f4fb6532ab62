//! From the description of a source to nodes and links.

use super::machine::{Bridges, Device, DeviceKind, Machine, Numa};
use super::pcie::Pcie;
use super::{Link, LinkKind, Node, NodeKind, Topology};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What the device above a device is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    /// A root port, or the downstream port of a switch: a bridge below it starts a switch.
    Port,
    /// The upstream port of a switch: a bridge below it is a downstream port.
    Upstream,
}

struct Builder {
    topology: Topology,
    bridges: Bridges,
    root_ports: usize,
    switches: usize,
    /// Before all names of a host, if there are several.
    prefix: String,
}

impl Topology {
    /// Makes nodes and links of a description. Bridges without a NIC or GPU behind them are left out.
    #[must_use]
    pub fn of(mut machine: Machine) -> Self {
        only_rdma(&mut machine);
        name_devices(&mut machine);
        let mut builder = Builder {
            topology: Self {
                is_virtual: machine.is_virtual,
                notes: core::mem::take(&mut machine.notes),
                ..Self::default()
            },
            bridges: machine.bridges,
            root_ports: 0,
            switches: 0,
            prefix: String::new(),
        };
        let processors = builder.processors(&machine.numa);
        for (numa, processor) in machine.numa.iter().zip(processors) {
            builder.of_host(numa);
            for group in by_slot(&numa.devices) {
                builder.top(&group, processor);
            }
        }
        builder.topology
    }
}

impl Builder {
    /// What follows is of the host of this NUMA node.
    fn of_host(&mut self, numa: &Numa) {
        self.prefix = numa.host.as_ref().map_or_else(String::new, |host| format!("{host} "));
    }

    fn node(&mut self, kind: NodeKind, name: &str, parent: Option<usize>) -> usize {
        self.topology.nodes.push(Node {
            kind,
            name: format!("{}{name}", self.prefix),
            aliases: Vec::new(),
            address: String::new(),
            parent,
            rate_gbps: None,
            acs: None,
            ats: None,
        });
        self.topology.nodes.len() - 1
    }

    fn link(&mut self, a: usize, b: usize, now: Option<Pcie>, max: Option<Pcie>) {
        let nodes = &self.topology.nodes;
        let kind = LinkKind::between(nodes[a].kind, nodes[b].kind);
        self.topology.links.push(Link {
            a,
            b,
            kind,
            now,
            max,
            is_c2c: false,
        });
    }

    /// Adds sockets, processors, memory and the links between them; returns the processor of each NUMA node.
    fn processors(&mut self, all: &[Numa]) -> Vec<usize> {
        let mut on_package: BTreeMap<u32, usize> = BTreeMap::new();
        for package in all.iter().filter_map(|numa| numa.package) {
            *on_package.entry(package).or_default() += 1;
        }
        // With one NUMA node each, sockets and processors are the same.
        let with_sockets = all.iter().all(|numa| numa.package.is_some()) && on_package.values().any(|count| *count > 1);
        let mut sockets: BTreeMap<u32, usize> = BTreeMap::new();
        let mut processors = Vec::new();
        for numa in all {
            self.of_host(numa);
            let socket = numa.package.filter(|_| with_sockets);
            let parent = socket.map(|socket| {
                *sockets
                    .entry(socket)
                    .or_insert_with(|| self.node(NodeKind::Socket, &format!("socket {socket}"), None))
            });
            let cpu = self.node(NodeKind::Cpu, &format!("CPU {}", numa.number), parent);
            if let Some(parent) = parent {
                self.link(cpu, parent, None, None);
            }
            let memory = self.node(NodeKind::Memory, &format!("mem{}", numa.number), Some(cpu));
            let alias = format!("{}NUMA{}", self.prefix, numa.number);
            self.topology.nodes[memory].aliases.push(alias);
            self.link(memory, cpu, None, None);
            processors.push(cpu);
        }
        if with_sockets {
            let sockets: Vec<usize> = sockets.into_values().collect();
            for (at, a) in sockets.iter().enumerate() {
                for b in &sockets[at + 1..] {
                    self.link(*a, *b, None, None);
                }
            }
        } else {
            for (at, a) in all.iter().enumerate() {
                for (b_at, b) in all.iter().enumerate().skip(at + 1) {
                    if is_direct(a, b, all) {
                        self.link(processors[at], processors[b_at], None, None);
                    }
                }
            }
        }
        processors
    }

    /// The functions of a device at a host bridge.
    fn top(&mut self, group: &[&Device], processor: usize) {
        let name = format!("CPU root port {}", self.root_ports);
        self.root_ports += 1;
        let port = self.node(NodeKind::RootPort, &name, Some(processor));
        let device = group[0];
        if self.bridges == Bridges::Ports && is_port(device) {
            self.describe(port, device);
            self.below(device, port, Above::Port, device.max_link);
        } else {
            self.slot(group, port, Above::Port, None);
        }
    }

    fn below(&mut self, parent: &Device, node: usize, above: Above, max: Option<Pcie>) {
        for group in by_slot(&parent.children) {
            self.slot(&group, node, above, max);
        }
    }

    /// The functions of one device share its link.
    fn slot(&mut self, group: &[&Device], parent: usize, above: Above, max: Option<Pcie>) {
        let first = self.topology.nodes.len();
        self.device(group[0], parent, above, max);
        for other in &group[1..] {
            self.topology.nodes[first].aliases.extend(other.names.iter().cloned());
        }
    }

    fn device(&mut self, device: &Device, parent: usize, above: Above, port_max: Option<Pcie>) {
        let kind = match device.kind {
            DeviceKind::Nic => NodeKind::Nic,
            DeviceKind::Gpu => NodeKind::Gpu,
            DeviceKind::Other => return,
            DeviceKind::Bridge if above == Above::Upstream && is_port(device) => {
                // The downstream port of a switch is part of it.
                let node = &mut self.topology.nodes[parent];
                node.acs = either(node.acs, device.acs);
                return self.below(device, parent, Above::Port, device.max_link);
            }
            DeviceKind::Bridge => NodeKind::Switch,
        };
        let name = match kind {
            NodeKind::Switch => {
                self.switches += 1;
                format!("PCIe switch {}", self.switches - 1)
            }
            NodeKind::Gpu => format!("GPU{}", device.index.unwrap_or_default()),
            _ => device.names.first().cloned().unwrap_or_default(),
        };
        let node = self.node(kind, &name, Some(parent));
        self.describe(node, device);
        let max = match (device.max_link, port_max) {
            (Some(device), Some(port)) => Some(device.lower(port)),
            (device, _) => device,
        };
        match device.c2c_gbps {
            // PCIe only controls such a GPU; its data take the other link.
            Some(gbps) => {
                self.link(node, parent, Some(Pcie::of_bandwidth(gbps)), None);
                self.topology
                    .links
                    .iter_mut()
                    .rev()
                    .take(1)
                    .for_each(|link| link.is_c2c = true);
            }
            None => self.link(node, parent, device.link, max),
        }
        let above = if self.bridges == Bridges::Ports {
            Above::Upstream
        } else {
            Above::Port
        };
        self.below(device, node, above, None);
    }

    fn describe(&mut self, node: usize, device: &Device) {
        let node = &mut self.topology.nodes[node];
        node.address.clone_from(&device.address);
        node.rate_gbps = device.rate_gbps;
        node.acs = device.acs;
        node.ats = device.ats;
        if node.kind == NodeKind::Nic {
            node.aliases.extend(device.names.iter().skip(1).cloned());
        }
    }
}

/// Whether a bridge may be one port: a link has one device at its end. A bridge with several is a whole switch.
fn is_port(device: &Device) -> bool {
    device.kind == DeviceKind::Bridge && by_slot(&device.children).len() <= 1
}

/// Whether one of two is known to be true.
fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a || b),
        (a, b) => a.or(b),
    }
}

/// Whether two NUMA nodes have a link of their own: no third is nearer to both. Without distances, all have.
fn is_direct(a: &Numa, b: &Numa, all: &[Numa]) -> bool {
    if a.host != b.host {
        return false;
    }
    let distance = |from: &Numa, to: &Numa| {
        let entry = from.distances.iter().find(|(number, _)| *number == to.number);
        entry.map(|(_, distance)| *distance)
    };
    let Some(direct) = distance(a, b) else {
        return true;
    };
    let others = all.iter().filter(|c| c.number != a.number && c.number != b.number);
    let mut between = others.filter_map(|c| Some((distance(a, c)?, distance(c, b)?)));
    !between.any(|(to, from)| to < direct && from < direct)
}

/// The wanted devices; NICs with the same domain, bus and device number together.
fn by_slot(devices: &[Device]) -> Vec<Vec<&Device>> {
    let mut groups: Vec<Vec<&Device>> = Vec::new();
    for device in devices.iter().filter(|device| device.is_wanted()) {
        let slot = |device: &Device| device.address.split('.').next().map(ToString::to_string);
        let same = |group: &&mut Vec<&Device>| {
            let first = group[0];
            device.kind == DeviceKind::Nic
                && first.kind == device.kind
                && !device.address.is_empty()
                && slot(first) == slot(device)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(device),
            None => groups.push(alloc::vec![device]),
        }
    }
    groups
}

/// Removes NICs without an RDMA device, if any has one.
fn only_rdma(machine: &mut Machine) {
    let mut any = false;
    machine.walk_mut(|device| any |= device.is_rdma);
    if any {
        machine.walk_mut(|device| {
            if device.kind == DeviceKind::Nic && !device.is_rdma {
                device.kind = DeviceKind::Other;
            }
        });
    }
}

/// Gives an index to GPUs without one and a name to NICs without one, in the order of their addresses.
fn name_devices(machine: &mut Machine) {
    let mut gpus: BTreeSet<String> = BTreeSet::new();
    let mut nics: BTreeSet<String> = BTreeSet::new();
    let mut indexed = 0;
    machine.walk_mut(|device| match device.kind {
        DeviceKind::Gpu if device.index.is_some() => indexed += 1,
        DeviceKind::Gpu => drop(gpus.insert(device.address.clone())),
        DeviceKind::Nic if device.names.is_empty() => drop(nics.insert(device.address.clone())),
        _ => {}
    });
    let place =
        |set: &BTreeSet<String>, address: &str| set.iter().position(|other| other == address).unwrap_or_default();
    machine.walk_mut(|device| match device.kind {
        DeviceKind::Gpu if device.index.is_none() => {
            device.index = u32::try_from(place(&gpus, &device.address))
                .ok()
                .map(|place| place + indexed);
        }
        DeviceKind::Nic if device.names.is_empty() => {
            device.names.push(format!("mlx5_{}", place(&nics, &device.address)));
        }
        _ => {}
    });
    if !gpus.is_empty() {
        machine
            .notes
            .push("the source does not number the GPUs: numbered by PCI address".into());
    }
    if !nics.is_empty() {
        machine
            .notes
            .push("the source does not name the NICs: named mlx5_0, mlx5_1, … by PCI address".into());
    }
}
