//! What was read, by kind and reason.

use serde::Serialize;
use std::collections::BTreeMap;

/// What was read, by kind and reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Datagrams.
    pub datagrams: u64,
    /// Datagrams that are missing by their sequence numbers.
    pub missing_datagrams: u64,
    /// Datagrams that could not be read to their end, by reason.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// Samples of frames.
    pub flow_samples: u64,
    /// Samples of counters, which have no frames.
    pub counter_samples: u64,
    /// Those among them of what is no port, or in datagrams that were overtaken: their counters are not taken.
    pub other_counter_samples: u64,
    /// Reports of dropped packets.
    pub drops: u64,
    /// Dropped packets that agents counted and did not report, because there were too many.
    pub unreported_drops: u64,
    /// Samples of other kinds.
    pub other_samples: u64,
    /// Records with the bytes of a sampled frame.
    pub frames: u64,
    /// Records of other kinds.
    pub other_records: u64,
    /// Frames that are no RoCEv2 packets, by reason.
    pub not_roce: BTreeMap<&'static str, u64>,
    /// Sampled RoCEv2 packets.
    pub packets: u64,
}
