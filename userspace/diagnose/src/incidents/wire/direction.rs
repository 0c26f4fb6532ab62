//! What is kept of a direction of a connection.

use crate::incidents::victims::Victim;
use core::net::IpAddr;
use rocescope_model::{ConnectionRow, Text};

/// A direction: the totals of its latest row.
#[derive(Clone, Debug)]
pub struct Direction {
    pub(super) observer: Text,
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) src_qpn: Option<u32>,
    pub(super) dst_qpn: Option<u32>,
    /// DSCPs of its data, ascending, separated by commas.
    pub(super) dscp: Option<Text>,
    /// Whether its packets are acknowledged.
    pub(super) is_acknowledged: bool,
    pub(super) packets: u64,
    pub(super) retransmitted: u64,
    pub(super) lost_upstream: u64,
    pub(super) lost_downstream: u64,
    pub(super) unanswered: u64,
    pub(super) out_of_order: u64,
    pub(super) duplicates: u64,
    pub(super) rnr_naks: u64,
    pub(super) fatal_naks: u64,
    /// NAKs for missing packets that it carries: about the other direction.
    pub(super) naks: u64,
    pub(super) timeouts: u64,
    /// Gaps that nothing filled, and the packets in them.
    pub(super) gaps: u64,
    pub(super) gap_packets: u64,
    /// Packets that came marked with ECN congestion experienced.
    pub(super) marked: u64,
    /// Its round trips: the shortest, and the 99th percentile.
    pub(super) round_trips_ns: Option<(u64, u64)>,
    /// Whether its sender repeats everything after a NAK.
    pub(super) is_selective: bool,
    pub(super) other_direction_seen: bool,
    /// Whether its connection has ended.
    is_gone: bool,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
}

impl Direction {
    pub(super) fn of(row: &ConnectionRow) -> Self {
        Self {
            observer: row.observer.clone(),
            src: row.src,
            dst: row.dst,
            src_qpn: row.src_qpn,
            dst_qpn: row.dst_qpn,
            dscp: row.data_dscp.clone(),
            is_acknowledged: row.other_direction_seen.is_some(),
            packets: row.packets,
            retransmitted: row.retransmitted_packets,
            lost_upstream: row.fabric_lost_upstream_packets,
            lost_downstream: row.fabric_lost_downstream_packets,
            unanswered: row.unanswered_packets,
            out_of_order: row.out_of_order_packets,
            duplicates: row.duplicate_packets,
            rnr_naks: row.rnr_nak,
            fatal_naks: row.nak_fatal,
            naks: row.nak_psn_sequence,
            timeouts: row.timeouts,
            gaps: row.unfilled_gaps,
            gap_packets: row.unfilled_gap_packets,
            marked: row.ecn_ce_packets,
            round_trips_ns: row.rtt_min_ns.zip(row.rtt_p99_ns),
            is_selective: row.retransmission_scheme.as_deref() == Some("selective_repeat"),
            other_direction_seen: row.other_direction_seen == Some(true),
            is_gone: &*row.state == "gone",
            first_ns: row.first_ns.unwrap_or(row.last_ns),
            last_ns: row.last_ns,
        }
    }

    /// What it counts since a time, of which `before` is the last row; without that row, what is known of the time is
    /// nothing.
    pub(super) fn since(&self, before: Option<&Self>, from_ns: i64) -> Self {
        let before = before.unwrap_or(self);
        Self {
            packets: self.packets.saturating_sub(before.packets),
            retransmitted: self.retransmitted.saturating_sub(before.retransmitted),
            lost_upstream: self.lost_upstream.saturating_sub(before.lost_upstream),
            lost_downstream: self.lost_downstream.saturating_sub(before.lost_downstream),
            unanswered: self.unanswered.saturating_sub(before.unanswered),
            out_of_order: self.out_of_order.saturating_sub(before.out_of_order),
            duplicates: self.duplicates.saturating_sub(before.duplicates),
            rnr_naks: self.rnr_naks.saturating_sub(before.rnr_naks),
            fatal_naks: self.fatal_naks.saturating_sub(before.fatal_naks),
            naks: self.naks.saturating_sub(before.naks),
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            gaps: self.gaps.saturating_sub(before.gaps),
            gap_packets: self.gap_packets.saturating_sub(before.gap_packets),
            marked: self.marked.saturating_sub(before.marked),
            first_ns: from_ns,
            ..self.clone()
        }
    }

    /// Whether it has ended, and no rule has a reason to look at it.
    pub(super) const fn has_ended_well(&self) -> bool {
        let trouble = self.lost() + self.retransmitted + self.out_of_order + self.duplicates;
        self.is_gone && trouble + self.naks + self.rnr_naks + self.fatal_naks + self.gap_packets == 0
    }

    /// Whether its packets waited in no queue; `None` if that is unknown.
    pub(super) fn is_never_queued(&self) -> Option<bool> {
        // Clocks and hosts alone make round trips differ by this.
        const JITTER_NS: u64 = 5_000;
        let (shortest, late) = self.round_trips_ns?;
        Some(late <= shortest.saturating_mul(2).saturating_add(JITTER_NS))
    }

    /// Fabric loss at every place.
    pub(super) const fn lost(&self) -> u64 {
        self.lost_upstream + self.lost_downstream + self.unanswered
    }

    /// As a victim.
    pub(super) fn victim(&self) -> Victim {
        Victim {
            src_qpn: self.src_qpn,
            dst_qpn: self.dst_qpn,
            lost_packets: self.lost(),
            retransmitted_packets: self.retransmitted,
            first_ns: Some(self.first_ns),
            last_ns: Some(self.last_ns),
            ..Victim::between(self.src, self.dst)
        }
    }

    /// The other direction as a victim: what this one carries NAKs about.
    pub(super) fn sender_as_victim(&self, retransmitted_packets: u64) -> Victim {
        Victim {
            src_qpn: self.dst_qpn,
            dst_qpn: self.src_qpn,
            retransmitted_packets,
            first_ns: Some(self.first_ns),
            last_ns: Some(self.last_ns),
            ..Victim::between(self.dst, self.src)
        }
    }
}
