//! Root causes: what breaks a link of this kind, and the misconfigurations that look like broken links.

use super::judge::{Judgement, NicLoad, Status, is_memory};
use super::tomography::Inference;
use super::topology::{LinkKind, NodeKind, Reach, Topology};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Why tests are abnormal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The PCIe link of a NIC.
    NicLink,
    /// A memory channel.
    Memory,
    /// The link between sockets.
    InterSocket,
    /// A root port of the processor, or the link below it.
    RootPort,
    /// The PCIe link of a GPU.
    GpuLink,
    /// The link between two PCIe switches.
    Switch,
    /// Address translation services are off in a virtual machine.
    AtsOff,
    /// Access control services redirect peer-to-peer requests.
    AcsOn,
    /// Applications load the link between sockets.
    InterSocketLoad,
    /// Applications load another link.
    Load,
}

impl Cause {
    /// Its name in JSON and text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NicLink => "NIC PCIe link failure",
            Self::Memory => "memory channel failure",
            Self::InterSocket => "UPI failure",
            Self::RootPort => "CPU root port failure",
            Self::GpuLink => "GPU PCIe link failure",
            Self::Switch => "PCIe switch link failure",
            Self::AtsOff => "ATS disabled in a virtual machine",
            Self::AcsOn => "ACS enabled on bare metal",
            Self::InterSocketLoad => "UPI overloaded",
            Self::Load => "link overloaded",
        }
    }

    /// What to do.
    #[must_use]
    pub const fn action(self) -> &'static str {
        match self {
            Self::NicLink => {
                "compare speed and width with the maximum (`lspci -vv`, LnkSta and LnkCap); reseat the NIC, then exchange riser or NIC"
            }
            Self::Memory => {
                "read the EDAC counters and the BIOS log for failed or missing modules; all channels of the socket must have memory"
            }
            Self::InterSocket => {
                "look for lane or speed errors of UPI (or xGMI) in the BIOS log; reseat or exchange the processor or board"
            }
            Self::RootPort => {
                "look for AER errors of the root port (`dmesg`, `lspci -vv`); reseat the switch's card or cable, then exchange the board"
            }
            Self::GpuLink => {
                "compare speed and width under load (`nvidia-smi -q -d PERFORMANCE`, `lspci -vv`); reseat or exchange the GPU"
            }
            Self::Switch => "look for AER errors of the switch's ports; reseat the cable or board between the switches",
            Self::AtsOff => {
                "enable ATS in the NIC's firmware (`mlxconfig set ATS_ENABLED=1`) and in the hypervisor, then restart the virtual machine"
            }
            Self::AcsOn => {
                "disable ACS on the switch's ports, in the BIOS or with `setpci`, unless devices are passed to virtual machines"
            }
            Self::InterSocketLoad => {
                "find the application whose memory is on the other socket (`numastat`, `perf stat -e` UPI events) and bind it to its node"
            }
            Self::Load => {
                "find the traffic that loads the link (table `counters`, `nvidia-smi dmon`, `numastat`) and move it"
            }
        }
    }

    const fn of(kind: LinkKind, is_busy: bool) -> Self {
        match (kind, is_busy) {
            (LinkKind::InterSocket, true) => Self::InterSocketLoad,
            (_, true) => Self::Load,
            (LinkKind::Nic, _) => Self::NicLink,
            (LinkKind::Memory, _) => Self::Memory,
            (LinkKind::InterSocket, _) => Self::InterSocket,
            (LinkKind::RootPort, _) => Self::RootPort,
            (LinkKind::Gpu, _) => Self::GpuLink,
            (LinkKind::Switch, _) => Self::Switch,
        }
    }
}

/// How sure a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The tests leave no other link.
    Likely,
    /// One of several that explain the tests.
    Possible,
}

impl Certainty {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

/// A cause with its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The cause.
    pub cause: Cause,
    /// The links that it concerns.
    pub links: Vec<usize>,
    /// How sure it is.
    pub certainty: Certainty,
    /// What speaks for it.
    pub evidence: String,
    /// What the link carried besides the tests, where counters show it.
    pub utilization: Option<Utilization>,
}

/// What a link carried besides the tests: the traffic of the NICs behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilization {
    /// The larger of both directions, in Gbit/s. Traffic that stays below a switch counts for the link above it too, so
    /// that this is an upper bound there.
    pub gbps: f64,
    /// As a share of what the link runs at; none if that is unknown.
    pub ratio: Option<f64>,
    /// Whether it is an upper bound.
    pub is_bound: bool,
}

impl Utilization {
    /// That of a link; none if no NIC is behind it, or counters of one are missing.
    fn of(topology: &Topology, link: usize, loads: &[NicLoad]) -> Option<Self> {
        let described = &topology.links[link];
        let is_bound = match described.kind {
            LinkKind::Nic => false,
            LinkKind::RootPort | LinkKind::Switch => true,
            LinkKind::Gpu | LinkKind::Memory | LinkKind::InterSocket => return None,
        };
        let is_behind = |nic: &usize| {
            let mut at = Some(*nic);
            while let Some(node) = at {
                if node == described.a {
                    return true;
                }
                at = topology.nodes[node].parent;
            }
            false
        };
        let (mut sent, mut received) = (0.0, 0.0);
        for nic in topology.of_kind(NodeKind::Nic).filter(is_behind) {
            let load = loads.iter().find(|load| load.nic == nic)?;
            sent += load.sent_gbps;
            received += load.received_gbps;
        }
        let gbps = f64::max(sent, received);
        Some(Self {
            gbps,
            ratio: described.now.map(|now| gbps / now.gbps),
            is_bound,
        })
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        let bound = if self.is_bound { "at most " } else { "" };
        let share = self.ratio.map(|ratio| format!(" ({:.0} % of it)", ratio * 100.0));
        format!(
            "besides the tests it carried {bound}{:.1} Gbit/s{}",
            self.gbps,
            share.unwrap_or_default()
        )
    }
}

/// Names the causes, the likely ones first.
#[must_use]
pub fn causes(
    topology: &Topology,
    judgement: &Judgement,
    inference: &Inference,
    is_busy: bool,
    loads: &[NicLoad],
) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let misconfigured = if is_busy {
        BTreeSet::new()
    } else {
        redirected(topology, judgement, inference)
    };
    if !misconfigured.is_empty() {
        all.extend(misconfiguration(topology, &misconfigured));
    }
    for link in &inference.abnormal {
        let certainty = if misconfigured.contains(link) {
            Certainty::Possible
        } else {
            Certainty::Likely
        };
        all.push(with_load(
            finding(topology, judgement, *link, certainty, is_busy),
            topology,
            loads,
        ));
    }
    for link in inference.ambiguous.iter().flatten() {
        let found = finding(topology, judgement, *link, Certainty::Possible, is_busy);
        all.push(with_load(found, topology, loads));
    }
    all.sort_by_key(|finding| finding.certainty == Certainty::Possible);
    all
}

/// Adds what the accused link carried.
fn with_load(mut finding: Finding, topology: &Topology, loads: &[NicLoad]) -> Finding {
    let link = finding.links.first();
    finding.utilization = link.and_then(|link| Utilization::of(topology, *link, loads));
    if let Some(utilization) = &finding.utilization {
        finding.evidence = format!("{}; {}", finding.evidence, utilization.text());
    }
    finding
}

fn finding(topology: &Topology, judgement: &Judgement, link: usize, certainty: Certainty, is_busy: bool) -> Finding {
    let over = judgement.tests.iter().filter(|test| test.path.links.contains(&link));
    let (mut abnormal, mut tests) = (0, 0);
    let mut worst: Option<f64> = None;
    for test in over {
        tests += 1;
        if test.status == Status::Abnormal {
            abnormal += 1;
            let share = test
                .bandwidth_gbps
                .zip(test.expected_gbps)
                .map(|(is, expected)| is / expected);
            worst = match (worst, share) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
    let mut evidence = format!("{abnormal} of {tests} tests over it are abnormal");
    if let Some(worst) = worst {
        evidence = format!("{evidence}; the slowest has {:.0} % of its baseline", worst * 100.0);
    }
    let described = &topology.links[link];
    if let Some((now, max)) = described.now.zip(described.max)
        && now.gbps < max.gbps * 0.99
    {
        evidence = format!("{evidence}; it runs at {}, its maximum is {}", now.text(), max.text());
    }
    Finding {
        cause: Cause::of(described.kind, is_busy),
        links: alloc::vec![link],
        certainty,
        evidence,
        utilization: None,
    }
}

/// The accused GPU links behind switches with at least two GPUs, all of them accused, while the same NICs reach memory
/// normally: requests between NIC and GPU take the way over the processor.
fn redirected(topology: &Topology, judgement: &Judgement, inference: &Inference) -> BTreeSet<usize> {
    let accused: BTreeSet<usize> = inference
        .abnormal
        .iter()
        .chain(inference.ambiguous.iter().flatten())
        .copied()
        .collect();
    let mut found = BTreeSet::new();
    for switch in topology.of_kind(NodeKind::Switch) {
        let is_here = |link: &usize| topology.links[*link].kind == LinkKind::Gpu && topology.links[*link].b == switch;
        let gpus: Vec<usize> = (0..topology.links.len()).filter(is_here).collect();
        let local = || {
            let to_these = |test: &&super::judge::Test| test.path.links.iter().any(|link| gpus.contains(link));
            judgement
                .tests
                .iter()
                .filter(to_these)
                .filter(|test| test.path.reach == Reach::LocalGpu)
        };
        let nics: BTreeSet<usize> = local().map(|test| test.nic).collect();
        let memory = || {
            let of_these = |test: &&super::judge::Test| nics.contains(&test.nic) && is_memory(topology, test.endpoint);
            judgement.tests.iter().filter(of_these)
        };
        let is_redirected = gpus.len() > 1
            && gpus.iter().all(|link| accused.contains(link))
            && local().count() > 0
            && local().all(|test| test.status == Status::Abnormal)
            && memory().count() > 0
            && memory().all(|test| test.status != Status::Abnormal);
        if is_redirected {
            found.extend(gpus);
        }
    }
    found
}

fn misconfiguration(topology: &Topology, links: &BTreeSet<usize>) -> Vec<Finding> {
    let seen_ats = topology.nodes.iter().any(|node| node.ats == Some(false));
    let seen_acs = topology.nodes.iter().any(|node| node.acs == Some(true));
    let pattern = "all GPUs behind the switch are slow from their own NICs, which reach memory normally";
    let make = |cause, certainty, seen: Option<&str>| Finding {
        cause,
        links: links.iter().copied().collect(),
        certainty,
        evidence: seen.map_or(pattern.to_string(), |seen| format!("{pattern}; {seen}")),
        utilization: None,
    };
    let ats = |certainty| {
        let seen = seen_ats.then_some("the PCI configuration space shows ATS off");
        make(Cause::AtsOff, certainty, seen)
    };
    let acs = |certainty| {
        let seen = seen_acs.then_some("the PCI configuration space shows ACS redirecting");
        make(Cause::AcsOn, certainty, seen)
    };
    match topology.is_virtual {
        Some(true) => alloc::vec![ats(Certainty::Likely)],
        Some(false) => alloc::vec![acs(Certainty::Likely)],
        None => alloc::vec![acs(Certainty::Possible), ats(Certainty::Possible)],
    }
}
