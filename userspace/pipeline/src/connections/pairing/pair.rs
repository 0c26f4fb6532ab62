//! Pairs two directions into a connection, and separates them when an answer contradicts it.

use crate::connections::direction::PairedBy;
use crate::connections::fast::exchange::CERTAIN;
use crate::connections::pairing::peer_candidates::{Found, NakTarget};
use crate::connections::requests::new_payload::begins;
use crate::connections::state::Connections;
use rocescope_record::RunRecord;
use rocescope_wire::{Psn, Stream};

/// An answer this far from the highest PSN of the requests is not for them.
const PLAUSIBLE: u32 = 1 << 16;

impl Connections {
    /// The direction whose requests this run answers; pairs the two if they are not paired.
    pub(crate) fn peer_of_answer(&mut self, at: u32, run: &RunRecord) -> Option<u32> {
        let direction = self.directions.get(at)?;
        let psn = run.last_psn();
        if let Some(peer) = direction.peer {
            if direction.paired_by == PairedBy::Cm || direction.votes >= CERTAIN {
                return Some(peer);
            }
            let requests = &self.directions.get(peer)?.requests;
            let near = requests.is_started() && {
                let distance = psn.distance_from(Psn::new(requests.high() as u32));
                distance.min(Psn::MODULUS - distance) <= PLAUSIBLE
            };
            if near {
                if let Some(direction) = self.directions.get_mut(at) {
                    direction.votes += 1;
                }
                return Some(peer);
            }
            if requests.is_started() {
                self.unpair(at, peer);
            } else {
                // The peer has only answered so far: no evidence for or against.
                return Some(peer);
            }
        }
        let direction = self.directions.get(at)?;
        let hosts = direction.key.hosts_back();
        let directions = &self.directions;
        let is_open = |other: u32| {
            other != at
                && directions
                    .get(other)
                    .is_some_and(|d| d.peer.is_none() && !d.is_datagrams())
        };
        let mut candidates = self.candidates.get(&at).copied();
        let sent = |other: u32| match directions.get(other) {
            Some(other) if other.peer.is_none() => {
                let psn = other.requests.extended(psn);
                // The packet that a NAK names was lost, upstream or downstream of the tap.
                let sent = other.requests.low()..=other.requests.high() + 1;
                let near = psn.saturating_sub(*sent.start()) < u64::from(PLAUSIBLE);
                if other.requests.is_started() && sent.contains(&psn) && near {
                    NakTarget::Sent
                } else {
                    NakTarget::Other
                }
            }
            _ => NakTarget::Paired,
        };
        let mut found = self.open.answer(&mut candidates, hosts, run.first_psn, is_open, sent);
        // A NAK, or a response whose first packet was lost, names a PSN inside a run.
        let names_inside = match run.stream() {
            Stream::Response => !begins(run),
            _ => !run.syndrome().is_ack(),
        };
        if found == Found::Nothing && candidates.is_none() && names_inside {
            found = self.open.find_by_nak(hosts, sent);
        }
        match found {
            Found::Peer(peer) => {
                self.candidates.remove(&at);
                self.pair(at, peer, PairedBy::Ack);
                Some(peer)
            }
            Found::Nothing => {
                if let Some(candidates) = candidates {
                    self.candidates.insert(at, candidates);
                }
                None
            }
        }
    }

    pub(crate) fn pair(&mut self, a: u32, b: u32, paired_by: PairedBy) {
        if let Some((one, other)) = self.directions.pair_mut(a, b) {
            (one.peer, other.peer) = (Some(b), Some(a));
            (one.paired_by, other.paired_by) = (paired_by, paired_by);
            (one.votes, other.votes) = (1, 1);
        }
    }

    fn unpair(&mut self, a: u32, b: u32) {
        self.summary.unpaired += 1;
        for at in [a, b] {
            if let Some(direction) = self.directions.get_mut(at) {
                direction.peer = None;
                direction.paired_by = PairedBy::None;
                direction.votes = 0;
            }
        }
    }
}
