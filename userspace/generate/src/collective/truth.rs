//! Steps as they passed the tap.

use serde::Serialize;
use std::net::IpAddr;

/// A step of a rank. Times are those of the tap, in nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepTruth {
    /// The collective, from 1.
    pub collective: u16,
    /// The rank that sends.
    pub rank: u32,
    /// The channel.
    pub channel: u16,
    /// Its number among those of its rank and channel, from 1.
    pub step: u32,
    /// Address of the rank that sends.
    pub host: IpAddr,
    /// Address of the rank that receives.
    pub dst_host: IpAddr,
    /// Queue pair of the sender.
    pub src_qpn: u32,
    /// Queue pair of the receiver.
    pub dst_qpn: u32,
    /// Bytes of the chunk.
    pub bytes: u64,
    /// When its credit passed.
    pub credit_ns: u64,
    /// When the first of its packets passed; 0: none did.
    pub first_ns: u64,
    /// When the last of those passed that the receiver accepted.
    pub last_ns: u64,
    /// Packets at or below the highest PSN that had passed.
    pub retransmitted_packets: u64,
}

impl Default for StepTruth {
    fn default() -> Self {
        Self {
            collective: 0,
            rank: 0,
            channel: 0,
            step: 0,
            host: IpAddr::from([0; 4]),
            dst_host: IpAddr::from([0; 4]),
            src_qpn: 0,
            dst_qpn: 0,
            bytes: 0,
            credit_ns: 0,
            first_ns: 0,
            last_ns: 0,
            retransmitted_packets: 0,
        }
    }
}

/// What made a collective slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StragglerTruth {
    /// `slow_link`, `slow_rank`, `late_start` or `lossy_qp`.
    pub kind: &'static str,
    /// The rank.
    pub rank: u32,
    /// Its address.
    pub host: IpAddr,
    /// The other end of its link.
    pub dst_host: Option<IpAddr>,
    /// The queue pair there.
    pub dst_qpn: Option<u32>,
}
