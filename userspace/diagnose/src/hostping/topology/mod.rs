//! The links inside a host, and the path from a NIC to memory or a GPU.
//!
//! | module | contents |
//! |---|---|
//! | [`machine`] | what a source describes: NUMA nodes and their PCI devices |
//! | `build` | a [`Topology`] from it: ports become switches, functions become one device, everything gets a name |
//! | `named` | a [`Topology`] from the paths of rows |
//! | [`pcie`] | speed and width of a PCIe link |
//! | [`nccl`], [`hwloc`], [`nvidia_smi`] | the readers of files |
//! | [`read`](fn@read) | which of these a file is |
//! | [`suspicious`] | what looks wrong without a test |
//! | [`draw`] | the tree as text |
//! | `xml` | what the readers of XML share |

mod build;
pub mod draw;
pub mod hwloc;
pub mod machine;
mod named;
pub mod nccl;
pub mod nvidia_smi;
pub mod pcie;
mod read;
pub mod suspicious;
mod xml;

pub use machine::{Bridges, Device, DeviceKind, Machine, Numa};
pub use pcie::Pcie;
pub use read::{Source, read};
pub use suspicious::{Suspicion, suspicions};

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A socket with several NUMA nodes.
    Socket,
    /// The processors of a NUMA node.
    Cpu,
    /// Its memory.
    Memory,
    /// A root port of the processor.
    RootPort,
    /// A PCIe switch.
    Switch,
    /// A NIC.
    Nic,
    /// A GPU.
    Gpu,
}

/// A node of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its name, unique in the host.
    pub name: String,
    /// Other names: of the other ports of a NIC.
    pub aliases: Vec<String>,
    /// Its PCI address; empty if unknown.
    pub address: String,
    /// The node above it; none for processors.
    pub parent: Option<usize>,
    /// Line rate of a NIC's port, in Gbit/s.
    pub rate_gbps: Option<f64>,
    /// Whether ACS redirects peer-to-peer requests at this port, or at one below it.
    pub acs: Option<bool>,
    /// Whether ATS is enabled.
    pub ats: Option<bool>,
}

/// The kind of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Between a processor and its memory: the memory channels.
    Memory,
    /// Between processors: UPI, xGMI.
    InterSocket,
    /// Between a PCIe switch and a root port of the processor.
    RootPort,
    /// Between two PCIe switches.
    Switch,
    /// Between a NIC and the switch or root port above it.
    Nic,
    /// Between a GPU and the switch or root port above it.
    Gpu,
}

impl LinkKind {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::InterSocket => "inter-socket",
            Self::RootPort => "root-port",
            Self::Switch => "switch",
            Self::Nic => "nic",
            Self::Gpu => "gpu",
        }
    }

    /// The kind of the link between nodes of these kinds.
    #[must_use]
    pub const fn between(a: NodeKind, b: NodeKind) -> Self {
        use NodeKind::{Gpu, Memory, Nic, RootPort};
        match (a, b) {
            (Memory, _) | (_, Memory) => Self::Memory,
            (Nic, _) | (_, Nic) => Self::Nic,
            (Gpu, _) | (_, Gpu) => Self::Gpu,
            (RootPort, _) | (_, RootPort) => Self::RootPort,
            (NodeKind::Switch, _) | (_, NodeKind::Switch) => Self::Switch,
            _ => Self::InterSocket,
        }
    }
}

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The node farther from the processor.
    pub a: usize,
    /// The node nearer to it.
    pub b: usize,
    /// Its kind.
    pub kind: LinkKind,
    /// What it runs at, if it is PCIe and the source has it.
    pub now: Option<Pcie>,
    /// What both of its ends can do.
    pub max: Option<Pcie>,
    /// Whether it is the coherent link of a GPU to its processor (NVLink-C2C), not PCIe.
    pub is_c2c: bool,
}

/// The links inside a host.
///
/// The part of a path between a root port and its processor is inside the chip: each path over it also crosses the link
/// below the root port, so that no test could tell the two apart. It is no link here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topology {
    /// The nodes, parents first.
    pub nodes: Vec<Node>,
    /// The links.
    pub links: Vec<Link>,
    /// Whether the host is virtual; none if unknown.
    pub is_virtual: Option<bool>,
    /// What the reader assumed, one sentence each.
    pub notes: Vec<String>,
}

/// How far an endpoint is from a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// Memory of the NIC's own NUMA node.
    NearMemory,
    /// Memory of another.
    FarMemory,
    /// A GPU below the same PCIe switch.
    LocalGpu,
    /// A GPU at the same processor, over its root ports.
    NearGpu,
    /// A GPU at another processor.
    FarGpu,
}

impl Reach {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NearMemory => "near-memory",
            Self::FarMemory => "far-memory",
            Self::LocalGpu => "local-gpu",
            Self::NearGpu => "near-gpu",
            Self::FarGpu => "far-gpu",
        }
    }

    /// Returns the reach of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let all = [
            Self::NearMemory,
            Self::FarMemory,
            Self::LocalGpu,
            Self::NearGpu,
            Self::FarGpu,
        ];
        all.into_iter().find(|reach| reach.name() == name)
    }

    /// Whether full bandwidth is expected without a baseline: memory, and GPUs that a NIC reaches without crossing a
    /// processor.
    #[must_use]
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::NearMemory | Self::FarMemory | Self::LocalGpu)
    }
}

/// The path from a NIC to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The nodes, the NIC first.
    pub nodes: Vec<usize>,
    /// The links that it crosses.
    pub links: Vec<usize>,
    /// How far it goes.
    pub reach: Reach,
}

impl Topology {
    /// Returns the node of this name. Case, and `NUMA0` for `mem0`, do not matter.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        let is = |node: &Node| {
            node.name.eq_ignore_ascii_case(name) || node.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        };
        self.nodes.iter().position(is)
    }

    /// The nodes of a kind.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = usize> + '_ {
        let of_kind = move |at: &usize| self.nodes[*at].kind == kind;
        (0..self.nodes.len()).filter(of_kind)
    }

    /// The endpoints of tests: memory, then GPUs.
    #[must_use]
    pub fn endpoints(&self) -> Vec<usize> {
        let memory = self.of_kind(NodeKind::Memory);
        memory.chain(self.of_kind(NodeKind::Gpu)).collect()
    }

    /// The names of a link's ends.
    #[must_use]
    pub fn ends(&self, link: usize) -> (&str, &str) {
        let link = &self.links[link];
        (&self.nodes[link.a].name, &self.nodes[link.b].name)
    }

    /// The paths from a NIC.
    #[must_use]
    pub fn paths(&self, nic: usize) -> Paths<'_> {
        let mut before: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([nic]);
        while let Some(node) = queue.pop_front() {
            for next in self.next_to(node) {
                if next != nic && before[next].is_none() {
                    before[next] = Some(node);
                    queue.push_back(next);
                }
            }
        }
        Paths {
            topology: self,
            nic,
            before,
        }
    }

    /// The path from a NIC to an endpoint, as [`Paths::to`].
    #[must_use]
    pub fn path(&self, nic: usize, endpoint: usize) -> Option<Path> {
        self.paths(nic).to(endpoint)
    }

    pub(super) fn link_between(&self, a: usize, b: usize) -> Option<usize> {
        let is = |link: &Link| (link.a, link.b) == (a, b) || (link.b, link.a) == (a, b);
        self.links.iter().position(is)
    }

    /// Nodes next to this one: over links, and between a root port and its processor.
    fn next_to(&self, node: usize) -> Vec<usize> {
        let mut next: Vec<usize> = Vec::new();
        for link in &self.links {
            if link.a == node {
                next.push(link.b);
            } else if link.b == node {
                next.push(link.a);
            }
        }
        if self.nodes[node].kind == NodeKind::RootPort {
            next.extend(self.nodes[node].parent);
        }
        let ports = self.of_kind(NodeKind::RootPort);
        next.extend(ports.filter(|port| self.nodes[*port].parent == Some(node)));
        next
    }
}

/// The shortest paths from a NIC.
#[derive(Debug)]
pub struct Paths<'a> {
    topology: &'a Topology,
    nic: usize,
    /// The node before each node.
    before: Vec<Option<usize>>,
}

impl Paths<'_> {
    /// The path to an endpoint; none if it is not connected. Of several shortest paths between sockets, it is one.
    #[must_use]
    pub fn to(&self, endpoint: usize) -> Option<Path> {
        let topology = self.topology;
        let mut nodes = vec![endpoint];
        let mut at = endpoint;
        while at != self.nic {
            at = self.before[at]?;
            nodes.push(at);
        }
        nodes.reverse();
        let pairs = nodes.windows(2);
        let links: Vec<usize> = pairs
            .filter_map(|pair| topology.link_between(pair[0], pair[1]))
            .collect();
        let is_processor = |node: &&usize| topology.nodes[**node].kind == NodeKind::Cpu;
        let reach = match (topology.nodes[endpoint].kind, nodes.iter().filter(is_processor).count()) {
            (NodeKind::Memory, ..=1) => Reach::NearMemory,
            (NodeKind::Memory, _) => Reach::FarMemory,
            (_, 0) => Reach::LocalGpu,
            (_, 1) => Reach::NearGpu,
            _ => Reach::FarGpu,
        };
        Some(Path { nodes, links, reach })
    }
}
