//! Half-open TCP connections: from SYN, SYN-ACK and ACK to one record.
//!
//! The table is bounded and the caller's memory: sets of four, which evict the least recently used. A SYN
//! flood costs round trips, nothing else.

use crate::control_packet::HandshakeRecord;
use bytemuck::{Pod, Zeroable};
use rocescope_wire::tcp::{ACK, SYN, SYN_ACK, Segment};

/// One half-open connection.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct HalfOpen {
    /// The record so far; without a SYN time the slot is free.
    record: HandshakeRecord,
    /// When it was last used.
    touched_ns: u64,
    /// Sequence number of the SYN, and of the SYN-ACK.
    syn: u32,
    syn_ack: u32,
}

/// The possible slots of a connection.
pub type HalfOpenSet = [HalfOpen; 4];

/// Sets of half-open TCP connections: 256 slots of 96 bytes, 24 KiB. A handshake is lost when
/// more than four others of its set begin before it ends.
const SETS: usize = 64;

/// All half-open connections.
#[derive(Clone, Debug)]
pub struct HalfOpens {
    sets: [HalfOpenSet; SETS],
}

impl Default for HalfOpens {
    fn default() -> Self {
        Self {
            sets: [[HalfOpen::zeroed(); 4]; SETS],
        }
    }
}

impl HalfOpens {
    /// Adds a segment; returns the whole handshake at its ACK.
    pub fn observe(&mut self, segment: &Segment, interface: u32, now_ns: u64) -> Option<HandshakeRecord> {
        let set = self.sets.get_mut(set_hash(segment) as usize % SETS)?;
        observe(set, segment, interface, now_ns)
    }
}

/// The same for both directions of a connection: to choose its set.
#[must_use]
#[inline(always)]
pub fn set_hash(segment: &Segment) -> u32 {
    let mut sum =
        u32::from(segment.src_port ^ segment.dst_port) ^ u32::from(segment.vlan) << 16 ^ segment.vni.rotate_left(8);
    for (a, b) in segment.src.iter().zip(&segment.dst) {
        sum = sum.wrapping_mul(31).wrapping_add(u32::from(a ^ b));
    }
    sum ^= sum >> 16;
    sum = sum.wrapping_mul(0x85eb_ca6b);
    sum ^ sum >> 13
}

/// Adds a segment to its set; returns the whole handshake at its ACK.
#[inline]
pub fn observe(set: &mut HalfOpenSet, segment: &Segment, interface: u32, now_ns: u64) -> Option<HandshakeRecord> {
    match segment.kind {
        SYN => {
            let place = match set.iter().position(|half| half.is_from(segment)) {
                Some(at) => set.get_mut(at)?,
                None => set.iter_mut().min_by_key(|half| half.touched_ns)?,
            };
            place.open(segment, interface, now_ns);
            None
        }
        SYN_ACK => {
            let half = set.iter_mut().find(|half| half.is_to(segment))?;
            if segment.acknowledgement == half.syn.wrapping_add(1) {
                half.record.repeats += u32::from(half.record.syn_ack_ns != 0);
                half.record.syn_ack_ns = now_ns;
                half.syn_ack = segment.sequence;
                half.touched_ns = now_ns;
            }
            None
        }
        ACK => {
            let half = set.iter_mut().find(|half| half.is_from(segment))?;
            if half.record.syn_ack_ns == 0
                || segment.acknowledgement != half.syn_ack.wrapping_add(1)
                || segment.sequence != half.syn.wrapping_add(1)
            {
                return None;
            }
            let record = HandshakeRecord {
                ack_ns: now_ns,
                ..half.record
            };
            *half = HalfOpen::zeroed();
            Some(record)
        }
        // A reset, or the end of a connection.
        _ => None,
    }
}

impl HalfOpen {
    /// Handles a SYN of a known or a new connection.
    fn open(&mut self, segment: &Segment, interface: u32, now_ns: u64) {
        if self.is_from(segment) && self.syn == segment.sequence {
            self.record.repeats += 1;
            self.record.syn_ns = now_ns;
            self.touched_ns = now_ns;
            return;
        }
        *self = Self {
            record: HandshakeRecord {
                client: segment.src,
                server: segment.dst,
                client_port: segment.src_port,
                server_port: segment.dst_port,
                syn_ns: now_ns,
                vni: segment.vni,
                vlan: segment.vlan,
                inner_vlan: segment.inner_vlan,
                interface,
                ..HandshakeRecord::zeroed()
            },
            touched_ns: now_ns,
            syn: segment.sequence,
            syn_ack: 0,
        };
    }

    fn is_between(&self, client: &[u8; 16], server: &[u8; 16], ports: (u16, u16)) -> bool {
        let record = &self.record;
        self.touched_ns != 0
            && (record.client_port, record.server_port) == ports
            && record.client == *client
            && record.server == *server
    }

    /// Whether the segment comes from the client.
    fn is_from(&self, segment: &Segment) -> bool {
        let ports = (segment.src_port, segment.dst_port);
        self.is_between(&segment.src, &segment.dst, ports)
            && self.record.vlan == segment.vlan
            && self.record.vni == segment.vni
    }

    /// Whether the segment goes to the client.
    fn is_to(&self, segment: &Segment) -> bool {
        let ports = (segment.dst_port, segment.src_port);
        self.is_between(&segment.dst, &segment.src, ports)
            && self.record.vlan == segment.vlan
            && self.record.vni == segment.vni
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_wire::link::NO_VLAN;
    use rocescope_wire::tunnel::NO_VNI;

    fn segment(kind: u8, port: u16, sequence: u32, acknowledgement: u32) -> Segment {
        let (mut src, mut dst) = ([1; 16], [2; 16]);
        let (mut src_port, mut dst_port) = (port, 18_515);
        if kind == SYN_ACK {
            (src, dst) = (dst, src);
            (src_port, dst_port) = (dst_port, src_port);
        }
        Segment {
            src,
            dst,
            src_port,
            dst_port,
            vni: NO_VNI,
            vlan: NO_VLAN,
            inner_vlan: NO_VLAN,
            sequence,
            acknowledgement,
            kind,
        }
    }

    #[test]
    fn three_segments_make_one_record() {
        let mut set = [HalfOpen::zeroed(); 4];
        let mut take = |kind, sequence, acknowledgement, now| {
            let segment = segment(kind, 4_000, sequence, acknowledgement);
            observe(&mut set, &segment, 0, now)
        };
        assert!(take(SYN, 7, 0, 100).is_none());
        assert!(take(SYN_ACK, 90, 8, 130).is_none());
        let record = take(ACK, 8, 91, 150).unwrap();
        assert_eq!((record.syn_ns, record.syn_ack_ns, record.ack_ns), (100, 130, 150));
        assert_eq!((record.client_port, record.repeats), (4_000, 0));
        // The next ACK of the connection belongs to no handshake.
        assert!(take(ACK, 8, 91, 160).is_none());
    }

    #[test]
    fn a_flood_displaces_the_oldest_only() {
        let mut set = [HalfOpen::zeroed(); 4];
        for port in 1..=5u16 {
            observe(&mut set, &segment(SYN, port, 1, 0), 0, u64::from(port));
        }
        let mut finish = |port| {
            observe(&mut set, &segment(SYN_ACK, port, 5, 2), 0, 10);
            observe(&mut set, &segment(ACK, port, 2, 6), 0, 11).is_some()
        };
        assert!(!finish(1));
        assert!(finish(2) && finish(5));
    }

    #[test]
    fn both_directions_fall_into_one_set() {
        assert_eq!(set_hash(&segment(SYN, 9, 1, 0)), set_hash(&segment(SYN_ACK, 9, 1, 2)));
    }
}
