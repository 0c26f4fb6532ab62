//! Which format a topology file has.

use super::{Machine, Topology, hwloc, nccl, nvidia_smi};
use crate::hostping::refusal::Refusal;

/// The format of a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// NCCL's XML.
    Nccl,
    /// hwloc's XML.
    Hwloc,
    /// The text of `nvidia-smi topo -m`.
    NvidiaSmi,
}

impl Source {
    /// The format of a file, from its content.
    #[must_use]
    pub fn of(text: &str) -> Self {
        if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            Self::NvidiaSmi
        } else if text.contains("<topology") {
            Self::Hwloc
        } else {
            Self::Nccl
        }
    }

    fn machine(self, text: &str) -> Result<Machine, Refusal> {
        match self {
            Self::Nccl => nccl::read(text),
            Self::Hwloc => hwloc::read(text),
            Self::NvidiaSmi => nvidia_smi::read(text),
        }
    }
}

/// Reads a topology file of any of the formats.
///
/// # Errors
/// The line, and what is wrong there; a file without NICs has nothing to test.
pub fn read(text: &str) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    Source::of(text).machine(text).map(Topology::of)
}
