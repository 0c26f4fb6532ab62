//! The counts of a direction in a window, and of all directions in the capture.

use alloc::collections::BTreeMap;
use rocescope_sketches::Quantiles;
use rocescope_wire::uet::Ses;

/// What one direction of a PDC did in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the columns of `pdcs`")]
pub struct PdcCounts {
    pub frame_bytes: u64,
    pub answer_frame_bytes: u64,
    pub request_packets: u64,
    pub control_packets: u64,
    pub ack_packets: u64,
    pub nack_packets: u64,
    pub retransmitted_packets: u64,
    pub repeated_packets: u64,
    pub trimmed_packets: u64,
    pub fabric_lost_upstream_packets: u64,
    pub fabric_lost_downstream_packets: u64,
    pub unanswered_packets: u64,
    pub needless_packets: u64,
    pub unseen_packets: u64,
    pub unknown_packets: u64,
    pub ecn_ce_packets: u64,
    pub ecn_echo_packets: u64,
    /// NACKs by code.
    pub nacks: BTreeMap<u8, u64>,
    /// Messages by operation.
    pub messages: BTreeMap<u8, u64>,
    pub rtt: Quantiles,
}

/// The families of operations that have columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Write,
    Read,
    Atomic,
    Send,
    Other,
}

impl Family {
    pub(super) const fn of(opcode: u8) -> Self {
        match opcode {
            0x01 | 0x10 => Self::Write,
            0x02 => Self::Read,
            0x03 | 0x04 | 0x11 => Self::Atomic,
            0x05..=0x0b | 0x0d | 0x0e => Self::Send,
            _ => Self::Other,
        }
    }
}

impl PdcCounts {
    /// Messages of a family.
    pub(super) fn family(&self, family: Family) -> u64 {
        let messages = self.messages.iter();
        messages
            .filter(|(opcode, _)| Family::of(**opcode) == family)
            .map(|(_, count)| count)
            .sum()
    }

    /// Messages of all operations.
    #[must_use]
    pub fn all_messages(&self) -> u64 {
        self.messages.values().sum()
    }

    /// NACKs for packets that arrived without their payload.
    #[must_use]
    pub fn trim_nacks(&self) -> u64 {
        self.nacks.range(1..=3).map(|(_, count)| count).sum()
    }

    /// The name of an operation.
    pub(super) const fn operation(opcode: u8) -> &'static str {
        let ses = Ses {
            opcode,
            starts: false,
            ends: false,
            message: 0,
            job: 0,
        };
        ses.operation()
    }
}

/// Sums over all windows and directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PdcTotals {
    /// PDCs, and pairs of addresses with RUDI or UUD.
    pub contexts: u64,
    /// Requests, control packets, ACKs and NACKs.
    pub packets: u64,
    /// Packets of PDCs beyond the limit of those that are tracked.
    pub untracked_packets: u64,
    /// Packets that the filter rejected.
    pub filtered_packets: u64,
    /// Messages whose end passed.
    pub messages: u64,
    /// Packets that their sender marked as retransmissions.
    pub retransmitted_packets: u64,
    /// Packets that a switch trimmed upstream of the tap.
    pub trimmed_packets: u64,
    /// Fabric loss upstream of the tap.
    pub fabric_lost_upstream_packets: u64,
    /// Fabric loss downstream of the tap.
    pub fabric_lost_downstream_packets: u64,
    /// Packets that were retransmitted, and may have been lost or not.
    pub unanswered_packets: u64,
    /// NACKs.
    pub nack_packets: u64,
}

impl core::ops::AddAssign<&Self> for PdcCounts {
    fn add_assign(&mut self, other: &Self) {
        self.frame_bytes += other.frame_bytes;
        self.answer_frame_bytes += other.answer_frame_bytes;
        self.request_packets += other.request_packets;
        self.control_packets += other.control_packets;
        self.ack_packets += other.ack_packets;
        self.nack_packets += other.nack_packets;
        self.retransmitted_packets += other.retransmitted_packets;
        self.repeated_packets += other.repeated_packets;
        self.trimmed_packets += other.trimmed_packets;
        self.fabric_lost_upstream_packets += other.fabric_lost_upstream_packets;
        self.fabric_lost_downstream_packets += other.fabric_lost_downstream_packets;
        self.unanswered_packets += other.unanswered_packets;
        self.needless_packets += other.needless_packets;
        self.unseen_packets += other.unseen_packets;
        self.unknown_packets += other.unknown_packets;
        self.ecn_ce_packets += other.ecn_ce_packets;
        self.ecn_echo_packets += other.ecn_echo_packets;
        for (code, count) in &other.nacks {
            *self.nacks.entry(*code).or_default() += count;
        }
        for (opcode, count) in &other.messages {
            *self.messages.entry(*opcode).or_default() += count;
        }
        self.rtt.merge(&other.rtt);
    }
}

impl PdcTotals {
    pub(super) fn add(&mut self, counts: &PdcCounts) {
        self.packets += counts.request_packets + counts.control_packets + counts.ack_packets + counts.nack_packets;
        self.messages += counts.all_messages();
        self.retransmitted_packets += counts.retransmitted_packets;
        self.trimmed_packets += counts.trimmed_packets;
        self.fabric_lost_upstream_packets += counts.fabric_lost_upstream_packets;
        self.fabric_lost_downstream_packets += counts.fabric_lost_downstream_packets;
        self.unanswered_packets += counts.unanswered_packets;
        self.nack_packets += counts.nack_packets;
    }
}
