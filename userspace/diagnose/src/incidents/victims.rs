//! The connections that suffer from a fault.

use crate::owners::Owner;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use serde::Serialize;

/// A connection that suffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Queue pair at the source.
    pub src_qpn: Option<u32>,
    /// Queue pair at the destination.
    pub dst_qpn: Option<u32>,
    /// Packets lost.
    pub lost_packets: u64,
    /// Packets retransmitted.
    pub retransmitted_packets: u64,
    /// Time of its traffic, if it is known: its queue pairs had their owners then.
    #[serde(skip)]
    pub first_ns: Option<i64>,
    /// The end of that time.
    #[serde(skip)]
    pub last_ns: Option<i64>,
    /// Whose the queue pair at the source is, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src_owner: Option<Owner>,
    /// Whose the queue pair at the destination is, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_owner: Option<Owner>,
}

impl Victim {
    /// Traffic from one address to another that lost nothing.
    #[must_use]
    pub const fn between(src: IpAddr, dst: IpAddr) -> Self {
        Self {
            src,
            dst,
            src_qpn: None,
            dst_qpn: None,
            lost_packets: 0,
            retransmitted_packets: 0,
            first_ns: None,
            last_ns: None,
            src_owner: None,
            dst_owner: None,
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.src, self.dst)?;
        match self.dst_qpn {
            Some(qpn) => write!(f, " QP {qpn}"),
            None => Ok(()),
        }
    }
}

/// The connections that suffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Victims {
    /// Their number.
    pub connections: u64,
    /// Those that suffer most, at most [`Victims::WORST`].
    pub worst: Vec<Victim>,
    /// Packets that they lost; null if unknown.
    pub lost_packets: Option<u64>,
    /// Packets that they retransmitted; null if unknown.
    pub retransmitted_packets: Option<u64>,
}

impl Victims {
    /// Connections that are listed.
    pub const WORST: usize = 8;

    /// These connections, with the packets that all of them lost and retransmitted.
    #[must_use]
    pub fn of(mut all: Vec<Victim>) -> Self {
        all.sort_by_key(|victim| {
            let Victim { src, dst, dst_qpn, .. } = *victim;
            let worst_first = core::cmp::Reverse((victim.lost_packets, victim.retransmitted_packets));
            (worst_first, src, dst, dst_qpn)
        });
        let lost = all.iter().map(|victim| victim.lost_packets).sum();
        let retransmitted = all.iter().map(|victim| victim.retransmitted_packets).sum();
        let connections = all.len() as u64;
        all.truncate(Self::WORST);
        Self {
            connections,
            worst: all,
            lost_packets: Some(lost),
            retransmitted_packets: Some(retransmitted),
        }
    }

    /// Adds those of an effect of the same cause. A connection in both lists counts once, as far as the lists go.
    pub(super) fn add(&mut self, other: &Self) {
        if other.connections == 0 {
            return;
        }
        let key = |victim: &Victim| (victim.src, victim.dst, victim.dst_qpn);
        let known: BTreeSet<_> = self.worst.iter().map(key).collect();
        let new: Vec<Victim> = other
            .worst
            .iter()
            .filter(|v| !known.contains(&key(v)))
            .cloned()
            .collect();
        let both = (other.worst.len() - new.len()) as u64;
        self.connections += other.connections - both;
        let sum = |a: Option<u64>, b: u64| Some(a.unwrap_or(0) + b);
        // Totals of what is new: all of the other, less what both lists have.
        let of_both = |of: fn(&Victim) -> u64| -> u64 {
            let both = other.worst.iter().filter(|v| known.contains(&key(v)));
            both.map(of).sum()
        };
        if let Some(lost) = other.lost_packets {
            self.lost_packets = sum(self.lost_packets, lost.saturating_sub(of_both(|v| v.lost_packets)));
        }
        if let Some(again) = other.retransmitted_packets {
            let new = again.saturating_sub(of_both(|v| v.retransmitted_packets));
            self.retransmitted_packets = sum(self.retransmitted_packets, new);
        }
        self.worst.extend(new);
        self.worst
            .sort_by_key(|v| core::cmp::Reverse((v.lost_packets, v.retransmitted_packets)));
        self.worst.truncate(Self::WORST);
    }
}
