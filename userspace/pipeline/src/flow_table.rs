//! Exact counts per flow, up to a bound of flows.

use crate::index::Index;
use crate::port_counts::PortCounts;
use crate::spray::{LostPorts, direction_of};
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_sketches::FlowHash;
use rocescope_sketches::hash::hash_words;
use rocescope_wire::{FlowKey, Opcode};

/// The seed of every flow hash: part of the dataset format, because sketches of several boxes are merged.
pub const FLOW_HASH_SEED: u64 = 0;

/// The one hash of a flow that every table and sketch shares.
#[must_use]
#[inline]
pub fn flow_hash(key: &FlowKey) -> FlowHash {
    hash_words(&key.words(), FLOW_HASH_SEED)
}

/// The key that rows about one direction share: the hash of the flow with a UDP source port of 0.
#[must_use]
pub fn direction_key(key: &FlowKey) -> i64 {
    flow_hash(&direction_of(key)).0.cast_signed()
}

/// The counts of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowCounts {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub frame_bytes: u64,
    /// Payload bytes.
    pub payload_bytes: u64,
    /// Messages: LAST and ONLY packets.
    pub messages: u64,
    /// Packets with ECN congestion experienced.
    pub congestion_experienced: u64,
    /// Time of the first packet, nanoseconds since the epoch.
    pub first_ns: u64,
    /// Time of the last packet.
    pub last_ns: u64,
}

impl FlowCounts {
    /// The counts of one run.
    #[must_use]
    pub fn of(run: &RunRecord) -> Self {
        Self {
            packets: u64::from(run.packets),
            frame_bytes: u64::from(run.frame_bytes),
            payload_bytes: run.payload_bytes(),
            messages: run.messages(),
            congestion_experienced: u64::from(run.congestion_experienced),
            first_ns: run.first_ns,
            last_ns: run.last_ns(),
        }
    }

    /// Adds `other` to this.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.frame_bytes += other.frame_bytes;
        self.payload_bytes += other.payload_bytes;
        self.messages += other.messages;
        self.congestion_experienced += other.congestion_experienced;
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }
}

/// A flow and its counts.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The key of the flow.
    pub key: FlowKey,
    /// Its counts.
    pub counts: FlowCounts,
    /// Opcode of its first packet, which determines the service.
    pub opcode: Opcode,
}

impl Flow {
    /// The flow's hash.
    #[must_use]
    pub fn hash(&self) -> FlowHash {
        flow_hash(&self.key)
    }
}

/// Flows by key, never more than the bound.
#[derive(Debug)]
pub struct FlowTable {
    index: Index,
    flows: Vec<Flow>,
    bound: usize,
}

/// The tag of a flow in the index: half of its hash.
#[inline]
const fn tag(hash: FlowHash) -> u32 {
    (hash.0 >> 32) as u32
}

impl FlowTable {
    /// An empty table for at most `bound` flows. It grows with its content.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self {
            index: Index::default(),
            flows: Vec::new(),
            bound: bound.min(u32::MAX as usize),
        }
    }

    /// Adds counts to a flow; `false` if the flow is new and the table full.
    #[inline]
    pub fn add(&mut self, hash: FlowHash, key: &FlowKey, opcode: Opcode, counts: &FlowCounts) -> bool {
        let Self { index, flows, bound } = self;
        let found = index.find(tag(hash), |at| {
            flows.get(at as usize).is_some_and(|flow| flow.key == *key)
        });
        if let Some(at) = found {
            if let Some(flow) = flows.get_mut(at as usize) {
                flow.counts.add(counts);
            }
            return true;
        }
        if flows.len() >= *bound {
            return false;
        }
        let at = flows.len() as u32;
        flows.push(Flow {
            key: *key,
            counts: *counts,
            opcode,
        });
        index.insert(tag(hash), at);
        true
    }

    /// Gives every flow the key that `key_of` returns, and adds up those that then have the same. Returns the ports that
    /// were lost, with their counts.
    pub(crate) fn merge_ports(&mut self, key_of: impl Fn(&FlowKey) -> FlowKey) -> LostPorts {
        let flows = core::mem::take(&mut self.flows);
        self.index.clear();
        let mut lost = LostPorts::new();
        for flow in flows {
            let key = key_of(&flow.key);
            if key != flow.key {
                lost.push((key, flow.key.udp_src_port, PortCounts::of_flow(&flow.counts)));
            }
            self.add(flow_hash(&key), &key, flow.opcode, &flow.counts);
        }
        lost
    }

    /// Reads the slot of the index where a flow belongs.
    #[inline]
    pub(crate) fn touch(&self, hash: FlowHash) -> u32 {
        self.index.touch(tag(hash))
    }

    /// Reads a little of every cache line of the flow that probably has this hash.
    #[inline]
    pub(crate) fn touch_flow(&self, hash: FlowHash) -> u64 {
        let at = self.index.find(tag(hash), |_| true);
        let flow = at.and_then(|at| self.flows.get(at as usize));
        flow.map_or(0, |flow| u64::from(flow.key.dst_qpn) ^ flow.counts.last_ns)
    }

    /// The number of flows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The flows in the order of their first packets.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Removes every flow; keeps the memory.
    pub fn clear(&mut self) {
        self.index.clear();
        self.flows.clear();
    }

    /// The `count` largest flows by frame bytes, largest first; equal ones by key.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<&Flow> {
        let mut flows: Vec<&Flow> = self.flows.iter().collect();
        let order = |a: &&Flow, b: &&Flow| {
            b.counts
                .frame_bytes
                .cmp(&a.counts.frame_bytes)
                .then_with(|| a.key.cmp(&b.key))
        };
        if count < flows.len() {
            if count > 0 {
                flows.select_nth_unstable_by(count - 1, order);
            }
            flows.truncate(count);
        }
        flows.sort_unstable_by(order);
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::flow_hash;
    use alloc::format;
    use core::net::Ipv6Addr;
    use rocescope_model::markdown;
    use rocescope_wire::FlowKey;
    use rocescope_wire::link::NO_VLAN;
    use rocescope_wire::tunnel::NO_VNI;

    /// The golden vectors of the page `docs/formats.md`, which another implementation computed from
    /// its text: key, words, hash and signed number.
    #[test]
    fn keys_and_hashes_are_those_of_the_published_page() {
        let first = FlowKey {
            src: "::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets(),
            dst: "::ffff:10.0.0.2".parse::<Ipv6Addr>().unwrap().octets(),
            vni: NO_VNI,
            dst_qpn: 0x11,
            udp_src_port: 49_152,
            vlan: NO_VLAN,
            inner_vlan: NO_VLAN,
            reserved: 0,
        };
        let second = FlowKey {
            src: "fd00::1".parse::<Ipv6Addr>().unwrap().octets(),
            dst: "fd00::2".parse::<Ipv6Addr>().unwrap().octets(),
            vni: 4_242,
            dst_qpn: 0xab_cdef,
            udp_src_port: 65_535,
            vlan: 100,
            inner_vlan: 7,
            reserved: 0,
        };
        let page = markdown::page();
        let words = first.words().into_iter().zip(second.words());
        for (number, (first, second)) in words.enumerate() {
            let line = format!("| word {number} | `0x{first:016x}` | `0x{second:016x}` |\n");
            assert!(page.contains(&line), "{line}");
        }
        let (first, second) = (flow_hash(&first).0, flow_hash(&second).0);
        let line = format!("| hash | `0x{first:016x}` | `0x{second:016x}` |\n");
        assert!(page.contains(&line), "{line}");
        let (first, second) = (first.cast_signed(), second.cast_signed());
        let line = format!("| `flow_hash` | {first} | {second} |\n");
        assert!(page.contains(&line), "{line}");
    }
}
