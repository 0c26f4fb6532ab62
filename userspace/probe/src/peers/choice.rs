//! The peers of each NIC: those of a list in turn, or those that a controller hands out.

use super::list::{Peer, Plan};
use super::rotation::Rotation;
use super::settings::PeerSettings;
use crate::types::{Nanos, Nic};
use rocescope_diagnose::pinglist::{PORTS, Pinglist, TARGETS, Target};

/// The peers of each NIC, each in a slot.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    whom: Whom,
    /// By NIC.
    nics: Vec<OfNic>,
}

/// How many peers a NIC has, and source ports for each.
#[derive(Clone, Copy, Debug, Default)]
struct OfNic {
    slots: u16,
    ports: u16,
}

#[derive(Clone, Debug)]
enum Whom {
    Listed {
        plan: Plan,
        rotation: Rotation,
    },
    /// By NIC.
    HandedOut(Vec<Vec<Target>>),
}

impl Choice {
    /// Those of a list, for this number of NICs.
    pub(super) fn listed(settings: PeerSettings, nics: u16) -> Self {
        let PeerSettings {
            plan,
            at_once,
            ports,
            period,
        } = settings;
        let rotation = Rotation::new(plan.candidates(), at_once.max(1), period);
        let of_nic = OfNic {
            slots: rotation.slots(),
            ports: ports.max(1),
        };
        Self {
            nics: vec![of_nic; nics.into()],
            whom: Whom::Listed { plan, rotation },
        }
    }

    /// None.
    pub(super) fn none(nics: usize) -> Self {
        Self {
            whom: Whom::HandedOut(vec![Vec::new(); nics]),
            nics: vec![OfNic::default(); nics],
        }
    }

    /// Those that a controller hands out, as far as a NIC may have them.
    pub(super) fn handed_out(pinglist: &Pinglist, nics: &[Nic]) -> Self {
        let mut choice = Self::none(nics.len());
        let Whom::HandedOut(targets) = &mut choice.whom else {
            return choice;
        };
        for ((own, targets), nic) in choice.nics.iter_mut().zip(targets).zip(nics) {
            let Some(list) = pinglist.nics.iter().find(|list| list.nic == nic.address) else {
                continue;
            };
            let is_reachable = |target: &&Target| {
                let is_own = nics.iter().any(|nic| nic.address == target.address);
                target.address.is_ipv4() == nic.address.is_ipv4() && !is_own
            };
            *targets = list
                .targets
                .iter()
                .filter(is_reachable)
                .take(TARGETS)
                .copied()
                .collect();
            *own = OfNic {
                slots: targets.len() as u16,
                ports: list.ports.clamp(1, PORTS.1),
            };
        }
        choice
    }

    /// How many peers a NIC has at a time.
    pub(super) fn at_once(&self) -> u16 {
        self.nics.iter().map(|nic| nic.slots).max().unwrap_or(0)
    }

    /// How many NICs there are.
    pub(super) const fn nics(&self) -> usize {
        self.nics.len()
    }

    pub(super) fn slots(&self, nic: u16) -> u16 {
        self.nics.get(usize::from(nic)).map_or(0, |nic| nic.slots)
    }

    pub(super) fn ports(&self, nic: u16) -> u16 {
        self.nics.get(usize::from(nic)).map_or(1, |nic| nic.ports.max(1))
    }

    /// The number of 5-tuples that share the ports of a NIC, so that no two have the same one: those of all peers of a list,
    /// whose slots stay, or those of one peer.
    pub(super) fn sharing(&self, nic: u16, slot: u16, place: u16) -> (u16, u16) {
        let each = self.ports(nic);
        match self.whom {
            Whom::Listed { .. } => (slot * each + place, self.slots(nic) * each),
            Whom::HandedOut(_) => (place, each),
        }
    }

    /// The turn of a slot: as long as it stays, so do its peer and the ports.
    pub(super) fn turn(&self, nic: u16, slot: u16, now: Nanos) -> Option<(i64, Option<Peer>)> {
        match &self.whom {
            Whom::Listed { plan, rotation } => {
                let turn = rotation.turn(slot, now);
                Some((turn, plan.peer(nic.into(), rotation.candidate(turn))))
            }
            Whom::HandedOut(nics) => {
                let target = nics.get(usize::from(nic))?.get(usize::from(slot))?;
                let peer = Peer {
                    host: target.host as usize,
                    address: target.address,
                };
                Some((target.turn, Some(peer)))
            }
        }
    }
}
