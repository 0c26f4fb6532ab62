//! When each NIC probes peers, and the 5-tuples that it uses for them.

use super::choice::Choice;
use super::list::Peer;
use super::pending::Probes;
use crate::ports;
use crate::shuffle::Shuffle;
use crate::tracer::Tracer;
use crate::types::{Nanos, NicIndex};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The number of NICs that probe at the same time, as for probes within the host.
const TOGETHER: u16 = 4;

/// A 5-tuple to a peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuple {
    pub(super) nic: NicIndex,
    pub(super) peer: Peer,
    pub(super) port: u16,
    pub(super) dscp: u8,
    next_sequence: u32,
    /// When a probe last asked about it.
    pub(super) asked: Nanos,
}

/// What source ports follow from.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub(super) seed: u64,
    pub(super) dscps: Vec<u8>,
}

/// A probe that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) number: u32,
    pub(super) tuple: Tuple,
    pub(super) sequence: u32,
    pub(super) due: Nanos,
    pub(super) skipped: u64,
}

/// The turns of all NICs.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    choice: Choice,
    ports: Ports,
    interval: Nanos,
    rng: Rng,
    lanes: Vec<Lane>,
    is_stopped: bool,
    tuples: BTreeMap<u32, Tuple>,
    next_number: u32,
}

#[derive(Clone, Debug)]
struct Lane {
    due: Nanos,
    shuffle: Shuffle,
    slots: Vec<Slot>,
}

/// A peer of a NIC and its turn, and the numbers of its 5-tuples; none if that host has no such NIC.
#[derive(Clone, Debug, Default)]
struct Slot {
    turn: Option<(i64, Option<Peer>)>,
    tuples: Vec<u32>,
}

impl Lanes {
    pub(super) fn new(choice: Choice, interval: Nanos, ports: Ports, now: Nanos) -> Self {
        let nics = choice.nics() as u16;
        // Their turns are spread over the interval, in groups.
        let lane = |nic: u16| Lane {
            due: now + Nanos(interval.0 * i64::from(nic - nic % TOGETHER) / i64::from(nics)),
            shuffle: Shuffle::new(choice.slots(nic), choice.ports(nic)),
            slots: vec![Slot::default(); choice.slots(nic).into()],
        };
        Self {
            lanes: (0..nics).map(lane).collect(),
            is_stopped: false,
            choice,
            rng: Rng::with_seed(ports.seed),
            ports,
            interval: Nanos(interval.0.max(1)),
            tuples: BTreeMap::new(),
            next_number: 0,
        }
    }

    /// Sets other peers. Those that stay keep their 5-tuples.
    pub(super) fn choose(&mut self, choice: Choice, now: Nanos, tracer: &mut Tracer, pending: &Probes) {
        for (nic, lane) in (0..).zip(&mut self.lanes) {
            let mut before = std::mem::take(&mut lane.slots);
            let keeps = self.choice.ports(nic) == choice.ports(nic);
            lane.slots = (0..choice.slots(nic))
                .map(|slot| {
                    let peer = choice.turn(nic, slot, now).and_then(|(_, peer)| peer);
                    let is_same = |slot: &Slot| slot.turn.is_some_and(|(_, known)| known == peer);
                    let known = before.iter().position(is_same).filter(|_| keeps);
                    known.map(|known| before.swap_remove(known)).unwrap_or_default()
                })
                .collect();
            for number in before.iter().flat_map(|slot| &slot.tuples) {
                if let Some(tuple) = self.tuples.get(number) {
                    tracer.unkeep_flow(tuple.nic, tuple.peer.address, tuple.port);
                }
            }
            lane.shuffle = Shuffle::new(choice.slots(nic), choice.ports(nic));
            // A NIC without peers had no turns.
            lane.due = lane.due.max(now);
        }
        self.choice = choice;
        self.forget(pending);
    }

    /// Sets other classes of service: all 5-tuples begin again.
    pub(super) fn set_classes(&mut self, dscps: &[u8]) {
        if self.ports.dscps != dscps {
            dscps.clone_into(&mut self.ports.dscps);
            let slots = self.lanes.iter_mut().flat_map(|lane| &mut lane.slots);
            slots.for_each(|slot| slot.turn = None);
        }
    }

    /// Sets another interval: the next probe is due within it.
    pub(super) fn reconfigure(&mut self, interval: Nanos, now: Nanos) {
        self.interval = Nanos(interval.0.max(1));
        for lane in &mut self.lanes {
            lane.due = lane.due.min(now + self.interval);
        }
    }

    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    pub(super) fn next_due(&self) -> Option<Nanos> {
        let lanes = self
            .lanes
            .iter()
            .filter(|lane| !self.is_stopped && !lane.slots.is_empty());
        lanes.map(|lane| lane.due).min()
    }

    pub(super) fn tuple(&self, number: u32) -> Option<&Tuple> {
        self.tuples.get(&number)
    }

    pub(super) fn tuple_mut(&mut self, number: u32) -> Option<&mut Tuple> {
        self.tuples.get_mut(&number)
    }

    /// The 5-tuples in use.
    pub(super) fn current(&self) -> impl Iterator<Item = (NicIndex, IpAddr, u16)> {
        let slots = self.lanes.iter().flat_map(|lane| &lane.slots);
        let tuples = slots.flat_map(|slot| &slot.tuples);
        tuples.filter_map(|number| {
            let tuple = self.tuples.get(number)?;
            Some((tuple.nic, tuple.peer.address, tuple.port))
        })
    }

    /// The probe that is due at `now`, if any. Missed turns are skipped. 5-tuples that pending probes have are kept.
    pub(super) fn next(&mut self, now: Nanos, factor: u32, tracer: &mut Tracer, pending: &Probes) -> Option<Turn> {
        for nic in 0..self.lanes.len() {
            let interval = self.interval.0.saturating_mul(factor.max(1).into());
            let is_due = |lane: &&mut Lane| lane.due <= now && !lane.slots.is_empty();
            let Some(lane) = self.lanes.get_mut(nic).filter(is_due) else {
                continue;
            };
            let due = lane.due;
            let skipped = (now - due).0 / interval;
            lane.due = due + Nanos(interval.saturating_mul(skipped + 1));
            let target = lane.shuffle.next(&mut self.rng);
            self.renew(nic as u16, now, tracer, pending);
            let slot = self
                .lanes
                .get(nic)
                .and_then(|lane| lane.slots.get(usize::from(target.other)));
            let number = slot.and_then(|slot| slot.tuples.get(usize::from(target.port)).copied());
            let Some((number, tuple)) = number.and_then(|number| Some((number, self.tuples.get_mut(&number)?))) else {
                continue;
            };
            let sequence = tuple.next_sequence;
            tuple.next_sequence = tuple.next_sequence.wrapping_add(1);
            return Some(Turn {
                number,
                tuple: *tuple,
                sequence,
                due,
                skipped: skipped.unsigned_abs(),
            });
        }
        None
    }

    /// Gives the slots of a NIC the peers of this time.
    fn renew(&mut self, nic: u16, now: Nanos, tracer: &mut Tracer, pending: &Probes) {
        for slot in 0..self.choice.slots(nic) {
            let turn = self.choice.turn(nic, slot, now);
            let Some(known) = self.lane_slot(nic, slot).filter(|known| known.turn != turn) else {
                continue;
            };
            let old = std::mem::take(&mut known.tuples);
            known.turn = turn;
            for tuple in old.iter().filter_map(|number| self.tuples.get(number)) {
                tracer.unkeep_flow(tuple.nic, tuple.peer.address, tuple.port);
            }
            let Some((turn, Some(peer))) = turn else {
                continue;
            };
            let numbers: Vec<u32> = (0..self.choice.ports(nic))
                .map(|place| self.begin((nic, slot, place), turn, peer, tracer))
                .collect();
            if let Some(known) = self.lane_slot(nic, slot) {
                known.tuples = numbers;
            }
            self.forget(pending);
        }
    }

    /// Forgets 5-tuples that are not in use, and of which no probe is in flight.
    fn forget(&mut self, pending: &Probes) {
        let slots = self.lanes.iter().flat_map(|lane| &lane.slots);
        let current: Vec<u32> = slots.flat_map(|slot| slot.tuples.iter().copied()).collect();
        self.tuples
            .retain(|number, _| current.contains(number) || pending.has(*number));
    }

    fn lane_slot(&mut self, nic: u16, slot: u16) -> Option<&mut Slot> {
        self.lanes.get_mut(usize::from(nic))?.slots.get_mut(usize::from(slot))
    }

    /// Begins a 5-tuple: its port follows from the seed, the NIC and the turn.
    fn begin(&mut self, (nic, slot, place): (u16, u16, u16), turn: i64, peer: Peer, tracer: &mut Tracer) -> u32 {
        let Ports { seed, dscps } = &self.ports;
        let each = self.choice.ports(nic);
        let of_nic = seed.wrapping_add(nic.into()) ^ PEER;
        let (own, sharing) = self.choice.sharing(nic, slot, place);
        let drawn = turn.wrapping_mul(each.into()).wrapping_add(place.into());
        let port = ports::drawn(of_nic, drawn, own, sharing);
        let dscp = match dscps.len() {
            0 => 0,
            classes => {
                let at = usize::from(slot * each + place);
                dscps.get(at % classes).copied().unwrap_or(0)
            }
        };
        let number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        let tuple = Tuple {
            nic: NicIndex(nic),
            peer,
            port,
            dscp,
            next_sequence: 0,
            asked: Nanos(i64::MIN),
        };
        self.tuples.insert(number, tuple);
        tracer.keep_flow(tuple.nic, peer.address, port);
        number
    }

    /// The clock was set.
    pub(super) fn stepped(&mut self, by: Nanos) {
        for lane in &mut self.lanes {
            lane.due = lane.due + by;
        }
        for tuple in self.tuples.values_mut() {
            tuple.asked = tuple.asked + by;
        }
    }
}

/// Distinguishes these ports from those of probes within the host.
const PEER: u64 = 0x7065_6572_0000_0000;
