//! Packets, bytes and congestion marks of every UDP source port of sprayed directions, in one window.
//!
//! Runs with one port count as a whole. Where the key of runs has no port, a run counts for the port of its first packet,
//! and each packet with another port is moved to that port as it passes, so that all sums are exact. The kernel's program
//! moves no packets: there the ports of a run with several are unknown, and so is the spread of its direction.
//!
//! Memory is bounded: counts of [`MAX_PORTS`] ports of all directions together, 48 bytes each, and for further directions
//! a set of ports, 8 KiB each.

use crate::flow_table::FlowCounts;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_record::RunRecord;
use rocescope_wire::{FlowKey, Packet};

/// Ports of a window whose counts are kept, over all directions: 12 MiB, and as much again while the tables grow.
pub const MAX_PORTS: usize = 262_144;
/// Directions of a window beyond that whose ports are still counted: 32 MiB.
pub const MAX_SETS: usize = 4_096;
/// Ports of a window with trimmed packets whose number is kept: 2 MiB.
const MAX_TRIMMED: usize = 16_384;

/// The counts of a port. A packet may be moved away before the run that contains it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets.
    pub packets: i64,
    /// Bytes on the wire.
    pub frame_bytes: i64,
    /// Packets with ECN congestion experienced.
    pub congestion_experienced: i64,
}

impl PortCounts {
    /// The counts of a run.
    #[must_use]
    pub fn of_run(run: &RunRecord) -> Self {
        Self {
            packets: i64::from(run.packets),
            frame_bytes: i64::from(run.frame_bytes),
            congestion_experienced: i64::from(run.congestion_experienced),
        }
    }

    /// The counts of a packet.
    #[must_use]
    pub fn of_packet(packet: &Packet) -> Self {
        Self {
            packets: 1,
            frame_bytes: i64::from(packet.frame_bytes),
            congestion_experienced: i64::from(packet.congestion_experienced),
        }
    }

    /// The counts of a flow.
    pub(crate) const fn of_flow(counts: &FlowCounts) -> Self {
        Self {
            packets: counts.packets.cast_signed(),
            frame_bytes: counts.frame_bytes.cast_signed(),
            congestion_experienced: counts.congestion_experienced.cast_signed(),
        }
    }

    const fn add(&mut self, other: &Self, sign: i64) {
        self.packets += sign * other.packets;
        self.frame_bytes += sign * other.frame_bytes;
        self.congestion_experienced += sign * other.congestion_experienced;
    }
}

/// The ports of a direction.
#[derive(Debug)]
enum Ports {
    /// With their counts. `is_moved`: packets were moved to their ports. `is_unknown`: the ports of a run are unknown.
    Counted {
        counts: HashMap<u16, PortCounts>,
        is_moved: bool,
        is_unknown: bool,
    },
    /// Only which: a bit each.
    Set(Box<[u64; 1_024]>),
}

/// The UDP source ports of the sprayed directions of one window.
#[derive(Debug, Default)]
pub(crate) struct PortsByDirection {
    ports: HashMap<FlowKey, Ports>,
    /// Ports with counts, of all directions.
    counted: usize,
    /// Directions with a set.
    sets: usize,
    /// Trimmed packets by direction and port.
    trimmed: HashMap<(FlowKey, u16), i64>,
    /// There were more ports with trimmed packets than are kept.
    misses_trimmed: bool,
}

impl PortsByDirection {
    /// Adds the counts of a port of a direction.
    pub(crate) fn add(&mut self, direction: &FlowKey, port: u16, counts: &PortCounts) {
        self.change(direction, port, counts, 1);
    }

    /// Adds a run. Ports that differ within it must have been moved before.
    #[inline]
    pub(crate) fn add_run(&mut self, direction: &FlowKey, run: &RunRecord) {
        self.add(direction, run.flow.udp_src_port, &PortCounts::of_run(run));
        if run.flags & RunRecord::PORTS_DIFFER != 0
            && let Some(Ports::Counted {
                is_moved, is_unknown, ..
            }) = self.ports.get_mut(direction)
        {
            *is_unknown |= !*is_moved;
        }
    }

    /// A packet of a run that counts for port `from` has port `to`.
    pub(crate) fn move_packet(&mut self, direction: &FlowKey, (from, to): (u16, u16), packet: &PortCounts) {
        self.change(direction, from, packet, -1);
        self.change(direction, to, packet, 1);
        if let Some(Ports::Counted { is_moved, .. }) = self.ports.get_mut(direction) {
            *is_moved = true;
        }
    }

    /// A switch cut the payload of packets of a port, sprayed or not.
    pub(crate) fn trim(&mut self, direction: &FlowKey, port: u16, packets: i64) {
        let key = (*direction, port);
        if self.trimmed.len() < MAX_TRIMMED || self.trimmed.contains_key(&key) {
            *self.trimmed.entry(key).or_default() += packets;
        } else {
            self.misses_trimmed = true;
        }
    }

    /// Trimmed packets of a port; `None` if they were not counted.
    pub(crate) fn trimmed(&self, direction: &FlowKey, port: u16) -> Option<u64> {
        let packets = self.trimmed.get(&(*direction, port)).copied().unwrap_or(0);
        (!self.misses_trimmed).then(|| packets.max(0).cast_unsigned())
    }

    fn change(&mut self, direction: &FlowKey, port: u16, by: &PortCounts, sign: i64) {
        let Self {
            ports, counted, sets, ..
        } = self;
        let Some(ports) = ports.get_mut(direction) else {
            self.begin(direction);
            if self.ports.contains_key(direction) {
                self.change(direction, port, by, sign);
            }
            return;
        };
        match ports {
            Ports::Counted { counts, .. } if *counted < MAX_PORTS || counts.contains_key(&port) => {
                let before = counts.len();
                counts.entry(port).or_default().add(by, sign);
                *counted += counts.len() - before;
            }
            Ports::Counted { counts, .. } => {
                *counted -= counts.len();
                *sets += 1;
                let mut set = Box::new([0; 1_024]);
                counts.keys().chain([&port]).for_each(|port| insert(&mut set, *port));
                *ports = Ports::Set(set);
            }
            Ports::Set(set) => insert(set, port),
        }
    }

    /// Begins a direction, if there is memory for one.
    fn begin(&mut self, direction: &FlowKey) {
        let ports = if self.counted < MAX_PORTS {
            Ports::Counted {
                counts: HashMap::new(),
                is_moved: false,
                is_unknown: false,
            }
        } else if self.sets < MAX_SETS {
            self.sets += 1;
            Ports::Set(Box::new([0; 1_024]))
        } else {
            return;
        };
        self.ports.insert(*direction, ports);
    }

    /// The number of ports of a direction; `None` if they were not counted.
    pub(crate) fn count(&self, direction: &FlowKey) -> Option<usize> {
        Some(match self.ports.get(direction)? {
            Ports::Counted { counts, .. } => counts.values().filter(|counts| counts.packets > 0).count(),
            Ports::Set(set) => set.iter().map(|word| word.count_ones() as usize).sum(),
        })
    }

    /// The ports of a direction with their counts, by number; `None` if some are unknown.
    pub(crate) fn spread(&self, direction: &FlowKey) -> Option<Spread> {
        let Ports::Counted { counts, is_unknown, .. } = self.ports.get(direction)? else {
            return None;
        };
        let mut ports: Vec<(u16, PortCounts)> = counts.iter().map(|(port, counts)| (*port, *counts)).collect();
        ports.retain(|(_, counts)| counts.packets > 0);
        ports.sort_unstable_by_key(|(port, _)| *port);
        (!is_unknown && !ports.is_empty()).then_some(Spread { ports })
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn insert(set: &mut [u64; 1_024], port: u16) {
    if let Some(word) = set.get_mut(usize::from(port / 64)) {
        *word |= 1 << (port % 64);
    }
}

/// How the packets of a direction are spread over its ports.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    pub(crate) ports: Vec<(u16, PortCounts)>,
}

impl Spread {
    /// Packets of each port if all had as many.
    fn ideal(&self) -> f64 {
        let packets: i64 = self.ports.iter().map(|(_, counts)| counts.packets).sum();
        packets as f64 / self.ports.len().max(1) as f64
    }

    /// How far the packets of a port are from the ideal, relative to it.
    pub(crate) fn deviation(&self, counts: &PortCounts) -> f64 {
        let ideal = self.ideal();
        (counts.packets as f64 - ideal) / ideal
    }

    /// The Flow Imbalance Metric over ports: the mean of all deviations, without their signs.
    pub(crate) fn imbalance(&self) -> f64 {
        let deviations = self.ports.iter().map(|(_, counts)| self.deviation(counts).abs());
        deviations.sum::<f64>() / self.ports.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PORTS, PortCounts, PortsByDirection};
    use bytemuck::Zeroable;
    use rocescope_wire::FlowKey;

    fn direction(dst_qpn: u32) -> FlowKey {
        FlowKey {
            dst_qpn,
            ..FlowKey::zeroed()
        }
    }

    fn packets(packets: i64) -> PortCounts {
        PortCounts {
            packets,
            frame_bytes: 100 * packets,
            ..PortCounts::default()
        }
    }

    /// The example of the metric: 5, 3, 5 and 3 instead of 4 are 25 % from the ideal.
    #[test]
    fn the_imbalance_is_the_mean_deviation_from_the_ideal() {
        let mut ports = PortsByDirection::default();
        let one = direction(1);
        for (port, count) in [(7, 5), (1, 3), (9, 5), (3, 3)] {
            ports.add(&one, port, &packets(count));
        }
        let spread = ports.spread(&one).unwrap();
        assert_eq!(spread.imbalance(), 0.25);
        let deviations = spread
            .ports
            .iter()
            .map(|(port, counts)| (*port, spread.deviation(counts)));
        assert!(deviations.eq([(1, -0.25), (3, -0.25), (7, 0.25), (9, 0.25)]));
        ports.clear();
        ports.add(&one, 7, &packets(8));
        assert_eq!(ports.spread(&one).unwrap().imbalance(), 0.0);
    }

    #[test]
    fn moved_packets_leave_the_port_of_their_run() {
        let mut ports = PortsByDirection::default();
        let one = direction(1);
        ports.move_packet(&one, (5, 6), &packets(1));
        ports.move_packet(&one, (5, 7), &packets(1));
        ports.add(&one, 5, &packets(3));
        let spread = ports.spread(&one).unwrap();
        assert!(spread.ports.iter().all(|(_, counts)| *counts == packets(1)));
        assert_eq!((spread.ports.len(), ports.count(&one)), (3, Some(3)));
    }

    /// What does not fit is unknown, and does not cost the directions that do.
    #[test]
    fn beyond_the_memory_only_the_number_of_ports_is_known() {
        let mut ports = PortsByDirection::default();
        for qpn in 0..8 {
            for port in 0..40_000 {
                ports.add(&direction(qpn), port, &packets(1));
            }
        }
        assert!((0..8).all(|qpn| ports.count(&direction(qpn)) == Some(40_000)));
        let known = (0..8).filter(|qpn| ports.spread(&direction(*qpn)).is_some()).count();
        assert_eq!(known, MAX_PORTS / 40_000);
        ports.clear();
        assert_eq!(ports.count(&direction(1)), None);
    }
}
