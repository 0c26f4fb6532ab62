//! A machine as a source describes it, before it becomes a [`Topology`](super::Topology).

use super::pcie::Pcie;
use alloc::string::String;
use alloc::vec::Vec;

/// A machine as a source describes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// Its NUMA nodes.
    pub numa: Vec<Numa>,
    /// Whether it is virtual; none if the source does not say.
    pub is_virtual: Option<bool>,
    /// What the bridges of the source are.
    pub bridges: Bridges,
    /// What the reader assumed, one sentence each.
    pub notes: Vec<String>,
}

/// What a bridge of a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bridges {
    /// A whole switch, as NCCL and `nvidia-smi` see it; root ports are not listed.
    #[default]
    Switches,
    /// One port: root port, upstream port, downstream port, as sysfs and hwloc list them.
    Ports,
}

/// A NUMA node: processors and memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numa {
    /// The name of its host, if the source has several.
    pub host: Option<String>,
    /// Its number.
    pub number: u32,
    /// The socket it is on, if the source has it.
    pub package: Option<u32>,
    /// Distances to other NUMA nodes, by their number; empty if unknown.
    pub distances: Vec<(u32, u32)>,
    /// The PCI devices at its host bridges.
    pub devices: Vec<Device>,
}

/// The kind of a PCI device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceKind {
    /// A bridge or a switch.
    Bridge,
    /// A NIC.
    Nic,
    /// A GPU or another accelerator.
    Gpu,
    /// Anything else: no endpoint of a test.
    #[default]
    Other,
}

/// A PCI device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    /// Its kind.
    pub kind: DeviceKind,
    /// Its address, `0000:07:00.0`; empty if unknown.
    pub address: String,
    /// Names of its RDMA devices, or else of its interfaces.
    pub names: Vec<String>,
    /// Whether the names are of RDMA devices.
    pub is_rdma: bool,
    /// Index of a GPU, if the source has it.
    pub index: Option<u32>,
    /// What its link towards the processor runs at.
    pub link: Option<Pcie>,
    /// What it could run at.
    pub max_link: Option<Pcie>,
    /// Bandwidth of the coherent link of a GPU to its processor (NVLink-C2C), in Gbit/s, one direction.
    pub c2c_gbps: Option<f64>,
    /// Line rate of a NIC's port, in Gbit/s.
    pub rate_gbps: Option<f64>,
    /// Whether access control services (ACS) redirect peer-to-peer requests of this port.
    pub acs: Option<bool>,
    /// Whether address translation services (ATS) are enabled.
    pub ats: Option<bool>,
    /// The devices behind a bridge.
    pub children: Vec<Device>,
}

/// Returns the kind of a device from its PCI class, `0x030200`, and vendor.
#[must_use]
pub fn kind_of(class: u32, vendor: u32) -> DeviceKind {
    const MELLANOX: u32 = 0x15b3;
    const NVIDIA: u32 = 0x10de;
    const AMD: u32 = 0x1002;
    const HYGON: u32 = 0x1d94;
    match class >> 8 {
        0x0604 => DeviceKind::Bridge,
        // Ethernet, InfiniBand, Omni-Path, and InfiniBand of before PCI had a class for it.
        0x0200 | 0x0207 | 0x0208 | 0x0c06 => DeviceKind::Nic,
        // Other networks: wireless ones, and some of NVIDIA's NICs.
        0x0280 if vendor == MELLANOX => DeviceKind::Nic,
        0x0302 | 0x1200 => DeviceKind::Gpu,
        // A display controller of another vendor is a management controller.
        0x0300 | 0x0380 if [NVIDIA, AMD, HYGON].contains(&vendor) => DeviceKind::Gpu,
        _ => DeviceKind::Other,
    }
}

impl Device {
    /// Whether a NIC or GPU is here or behind it.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        matches!(self.kind, DeviceKind::Nic | DeviceKind::Gpu) || self.children.iter().any(Self::is_wanted)
    }

    /// Calls `visit` with every device, this one first.
    pub(crate) fn walk_mut(&mut self, visit: &mut impl FnMut(&mut Self)) {
        visit(self);
        for child in &mut self.children {
            child.walk_mut(visit);
        }
    }
}

impl Machine {
    /// Calls `visit` with every device.
    pub(crate) fn walk_mut(&mut self, mut visit: impl FnMut(&mut Device)) {
        for numa in &mut self.numa {
            for device in &mut numa.devices {
                device.walk_mut(&mut visit);
            }
        }
    }

    /// The NUMA node of this number; made if missing.
    pub(crate) fn numa_mut(&mut self, number: u32) -> &mut Numa {
        let at = self.numa.iter().position(|numa| numa.number == number);
        let at = at.unwrap_or_else(|| {
            self.numa.push(Numa {
                number,
                ..Numa::default()
            });
            self.numa.len() - 1
        });
        &mut self.numa[at]
    }
}

/// Whether the vendor or product that DMI names is a hypervisor.
#[must_use]
pub fn is_virtual_name(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "QEMU",
        "KVM",
        "VMware",
        "Virtual Machine",
        "VirtualBox",
        "Xen",
        "Bochs",
        "Google Compute Engine",
        "Amazon EC2",
    ];
    // Amazon's instances of whole machines say `.metal`.
    !name.contains("metal") && NAMES.iter().any(|mark| name.contains(mark))
}
