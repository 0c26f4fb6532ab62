//! Root causes: what breaks a link of this kind, and the misconfigurations that look like broken links.

use super::judge::{Judgement, Status, is_memory};
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
}

/// Names the causes, the likely ones first.
#[must_use]
pub fn causes(topology: &Topology, judgement: &Judgement, inference: &Inference, is_busy: bool) -> Vec<Finding> {
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
        all.push(finding(topology, judgement, *link, certainty, is_busy));
    }
    for link in inference.ambiguous.iter().flatten() {
        all.push(finding(topology, judgement, *link, Certainty::Possible, is_busy));
    }
    all.sort_by_key(|finding| finding.certainty == Certainty::Possible);
    all
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
