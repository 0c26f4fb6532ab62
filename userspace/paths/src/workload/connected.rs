//! Connected queue pairs of hosts, joined with their peers.
//!
//! Where the address of a peer is unknown, it is the one that lists the same numbers the other way round. Numbers are those of
//! a device, so that several may list the same: where it could be more than one, none is guessed.

use super::Workload;
use crate::Flow;
use rocescope_model::source_port;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Whether a queue pair of this type and state sends to one peer.
pub(super) fn is_connected(kind: &str, state: &str) -> bool {
    matches!(kind, "RC" | "UC") && state == "RTS"
}

/// The source port of a queue pair without a flow label, as the kernel computes it: `rdma_calc_flow_label` of
/// `include/rdma/ib_verbs.h`, which mlx5, irdma and rxe call where the label is 0, and then `rdma_flow_label_to_udp_sport`
/// (`ibv_flow_label_to_udp_sport` of rdma-core's `libibverbs/verbs.h`).
///
/// ```
/// use rocescope_paths::workload::connected::port_of;
/// assert_eq!(port_of(17, 18), 0xc000 | 17 * 18);
/// assert_eq!(port_of(0x12_3456, 0x65_4321), port_of(0x65_4321, 0x12_3456));
/// ```
#[must_use]
pub const fn port_of(qpn: u32, peer: u32) -> u16 {
    let mut mixed = qpn as u64 * peer as u64;
    mixed ^= mixed >> 20;
    mixed ^= mixed >> 40;
    source_port((mixed & 0xf_ffff) as u32)
}

/// Queue pairs with the same numbers, at several places: which are connected with each other is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ambiguous {
    /// The number at these places.
    pub qpn: u32,
    /// The number of their peers.
    pub peer_qpn: u32,
    /// `SERVER/DEVICE` with `qpn`.
    pub places: Vec<String>,
    /// `SERVER/DEVICE` with `peer_qpn`.
    pub peers: Vec<String>,
}

/// A connected queue pair.
#[derive(Debug)]
pub(super) struct QueuePair {
    /// `SERVER/DEVICE`: a number is used once there.
    pub(super) place: String,
    /// Its number.
    pub(super) qpn: u32,
    /// The number of its peer.
    pub(super) peer_qpn: u32,
    /// The addresses from which it may send, the most likely first; the only one if it is known.
    pub(super) addresses: Vec<IpAddr>,
    /// The address of its peer, if it is known.
    pub(super) peer: Option<IpAddr>,
    /// Its UDP source port, if it is known.
    pub(super) src_port: Option<u16>,
}

impl QueuePair {
    /// Whether the other may be its peer: its numbers are those of a peer already.
    fn may_reach(&self, other: &Self) -> bool {
        if self.place == other.place && self.qpn == other.qpn {
            // Connected to itself, if that is known.
            return self.peer.is_some_and(|peer| self.addresses.contains(&peer));
        }
        let may_have = |address: Option<IpAddr>, addresses: &[IpAddr]| {
            address.is_none_or(|address| addresses.is_empty() || addresses.contains(&address))
        };
        may_have(self.peer, &other.addresses) && may_have(other.peer, &self.addresses)
    }

    /// The address from which it sends, as its peer knows it, if that has reported.
    fn address(&self, peer: Option<&Self>) -> Option<IpAddr> {
        let known = peer.and_then(|peer| peer.peer);
        known.or_else(|| self.addresses.first().copied())
    }
}

/// Connected queue pairs by both numbers, their own first.
#[derive(Debug, Default)]
pub(super) struct Connected(BTreeMap<(u32, u32), Vec<QueuePair>>);

/// Who the peer of a queue pair is.
enum Peer<'a> {
    Found(&'a QueuePair),
    NotListed,
    Ambiguous,
}

impl Connected {
    pub(super) fn add(&mut self, pair: QueuePair) {
        self.0.entry((pair.qpn, pair.peer_qpn)).or_default().push(pair);
    }

    /// Those that may be the peer of a queue pair.
    fn peers(&self, of: &QueuePair) -> impl Iterator<Item = &QueuePair> {
        let listed = self.0.get(&(of.peer_qpn, of.qpn)).into_iter().flatten();
        listed.filter(move |pair| of.may_reach(pair))
    }

    fn peer(&self, of: &QueuePair) -> Peer<'_> {
        let mut all = self.peers(of);
        match (all.next(), all.next()) {
            (None, _) => Peer::NotListed,
            // It must be the only one for its peer too.
            (Some(peer), None) if self.peers(peer).count() == 1 => Peer::Found(peer),
            _ => Peer::Ambiguous,
        }
    }

    /// Adds the flow that each of them sends, and counts what is none, or not known.
    pub(super) fn flows(&self, workload: &mut Workload) {
        let mut ambiguous = BTreeSet::new();
        for pair in self.0.values().flatten() {
            let peer = match (self.peer(pair), pair.peer) {
                (Peer::Found(peer), _) => Some(peer),
                (Peer::NotListed, None) => {
                    workload.skip("peer_unknown");
                    continue;
                }
                (Peer::NotListed, Some(_)) => {
                    workload.skip("direction_of_a_peer_without_agent");
                    None
                }
                // Its own flow is known all the same.
                (Peer::Ambiguous, Some(_)) => None,
                (Peer::Ambiguous, None) => {
                    workload.skip("ambiguous");
                    ambiguous.insert((pair.qpn.min(pair.peer_qpn), pair.qpn.max(pair.peer_qpn)));
                    continue;
                }
            };
            let dst = pair.peer.or_else(|| peer.and_then(|peer| peer.address(Some(pair))));
            match (pair.address(peer), dst) {
                (Some(src), Some(dst)) if src == dst => workload.skip("loopback"),
                (Some(src), Some(dst)) => {
                    let port = pair.src_port.unwrap_or_else(|| {
                        workload.computed_ports += 1;
                        port_of(pair.qpn, pair.peer_qpn)
                    });
                    workload.add(Flow {
                        dst_qpn: Some(pair.peer_qpn),
                        ..Flow::roce(src, dst, port)
                    });
                }
                _ => workload.skip("address_unknown"),
            }
        }
        let named = |numbers: &(u32, u32)| -> Vec<String> {
            let places = self.0.get(numbers).into_iter().flatten();
            places.map(|pair| pair.place.clone()).collect()
        };
        let all = ambiguous.iter().map(|&(qpn, peer_qpn)| Ambiguous {
            qpn,
            peer_qpn,
            places: named(&(qpn, peer_qpn)),
            peers: named(&(peer_qpn, qpn)),
        });
        workload.ambiguous.extend(all);
    }
}
