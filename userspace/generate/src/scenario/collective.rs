//! Collectives as NCCL runs them on RoCE: credits as small RDMA WRITEs, chunks as RDMA WRITEs with immediate.

use super::pool::Pool;
use super::units::{Nanos, Probability, Rate, Size};
use serde::Deserialize;

/// A collective, or several one after another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Addresses of the ranks, in the order of the ring.
    pub ranks: Pool,
    /// Who sends to whom.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// What is computed.
    #[serde(default)]
    pub operation: Collected,
    /// Channels; each has its own queue pairs.
    #[serde(default = "one")]
    pub channels: u16,
    /// Queue pairs of a channel between two ranks, which send its chunks in turn.
    #[serde(default = "one")]
    pub qps: u16,
    /// Bytes of a chunk; of the first one in halving-doubling.
    #[serde(default = "chunk")]
    pub chunk: Size,
    /// How often each channel goes around the ring; chunks of a channel in a tree.
    #[serde(default = "one")]
    pub loops: u16,
    /// Collectives, one after another.
    #[serde(default = "one")]
    pub repeat: u16,
    /// From the end of a collective to the start of the next.
    #[serde(default = "pause")]
    pub pause: Nanos,
    /// Path MTU.
    #[serde(default = "mtu")]
    pub mtu: u32,
    /// Rate of every link.
    #[serde(default = "rate")]
    pub rate: Rate,
    /// From one rank to another; the tap is in the middle.
    #[serde(default = "delay")]
    pub delay: Nanos,
    /// How long a rank takes to reduce a chunk or to store it.
    #[serde(default = "compute")]
    pub compute: Nanos,
    /// A random part of `compute` on top, up to this.
    #[serde(default = "compute")]
    pub compute_jitter: Nanos,
    /// Chunks for which a receiver has buffers, and posts credits ahead.
    #[serde(default = "slots")]
    pub slots: u16,
    /// When the first rank starts.
    #[serde(default)]
    pub start: Nanos,
    /// The others start within this time.
    #[serde(default = "spread")]
    pub spread: Nanos,
    /// The time without progress after which a sender retransmits.
    #[serde(default = "timeout")]
    pub timeout: Nanos,
    /// What is slow.
    #[serde(default)]
    pub straggler: Vec<Straggler>,
}

/// Who sends to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Every rank to the next one.
    #[default]
    Ring,
    /// To partners at distances that halve, then double; the number of ranks is a power of two.
    HalvingDoubling,
    /// Up a binary tree to its root, and down again; an all-reduce.
    Tree,
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collected {
    /// Both of the others, one after the other.
    #[default]
    AllReduce,
    /// Every rank has a part of the sum.
    ReduceScatter,
    /// Every rank has all parts.
    AllGather,
}

/// One thing that is slow.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Straggler {
    /// The link out of a rank has a lower rate.
    SlowLink {
        /// The rank; random by default.
        rank: Option<u32>,
        /// The rate.
        rate: Rate,
    },
    /// A rank takes longer to reduce a chunk.
    SlowRank {
        /// The rank; random by default.
        rank: Option<u32>,
        /// How much longer.
        delay: Nanos,
    },
    /// A rank starts later.
    LateStart {
        /// The rank; random by default.
        rank: Option<u32>,
        /// How much later.
        delay: Nanos,
    },
    /// A queue pair of a rank loses packets, half of them upstream of the tap.
    LossyQp {
        /// The rank that sends; random by default.
        rank: Option<u32>,
        /// The channel; random by default.
        channel: Option<u16>,
        /// The share of its packets.
        loss: Probability,
    },
}

impl Straggler {
    /// The rank, if it is given.
    pub(crate) const fn rank(&self) -> Option<u32> {
        match self {
            Self::SlowLink { rank, .. }
            | Self::SlowRank { rank, .. }
            | Self::LateStart { rank, .. }
            | Self::LossyQp { rank, .. } => *rank,
        }
    }
}

const fn one() -> u16 {
    1
}

const fn chunk() -> Size {
    Size(128 << 10)
}

const fn pause() -> Nanos {
    Nanos(1_000_000)
}

const fn mtu() -> u32 {
    4_096
}

const fn rate() -> Rate {
    Rate(100_000_000_000)
}

const fn delay() -> Nanos {
    Nanos(4_000)
}

const fn compute() -> Nanos {
    Nanos(2_000)
}

const fn slots() -> u16 {
    8
}

const fn spread() -> Nanos {
    Nanos(20_000)
}

const fn timeout() -> Nanos {
    Nanos(1_000_000)
}
