//! Merges the flows of several parts by key, with bounds for flows that a part does not list.

use super::part::{MergeError, Part, hash};
use super::sketches::{Sketches, Sum};
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::{FlowRow, Over, Row};

/// The flows of a window.
#[derive(Debug)]
pub(super) struct Merged {
    /// Largest first.
    pub(super) rows: Vec<FlowRow>,
    /// Whether these are all flows, and exact.
    pub(super) complete: bool,
    /// The sketches of all flows.
    pub(super) sketches: Sum,
}

/// The identity of a flow; its hash first, because most comparisons end there.
type Key = (
    i64,
    (IpAddr, IpAddr),
    (Option<u16>, u32),
    (Option<u16>, Option<u16>, Option<u32>),
);

fn key(row: &FlowRow) -> Key {
    (
        row.flow_hash,
        (row.src, row.dst),
        (row.udp_src_port, row.dst_qpn),
        (row.vlan, row.inner_vlan, row.vni),
    )
}

impl Merged {
    /// Merges the flows of all parts. The sketches of one part are in memory at a time.
    ///
    /// # Errors
    /// The sketches of a part are invalid, or differ from those of the others.
    pub(super) fn of(parts: &[Part], over: Over) -> Result<Self, MergeError> {
        // A flow, and the parts that list it.
        let mut flows: BTreeMap<Key, (FlowRow, Vec<usize>)> = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            for row in &part.flows {
                match flows.entry(key(row)) {
                    Entry::Vacant(place) => {
                        place.insert((row.clone(), Vec::from([number])));
                    }
                    Entry::Occupied(mut place) => {
                        let (sum, listed) = place.get_mut();
                        sum.merge(row, over);
                        if listed.last() != Some(&number) {
                            listed.push(number);
                        }
                    }
                }
            }
        }
        let mut sketches = Sum::default();
        let mut complete = true;
        for (number, part) in parts.iter().enumerate() {
            let (packets, frame_bytes) = unlisted(part);
            if packets == 0 {
                sketches.add_listed(part)?;
                continue;
            }
            complete = false;
            let seen = Sketches::of(&part.windows)?;
            let rest = Unlisted {
                packets,
                frame_bytes,
                sketches: &seen,
            };
            // The parts are in order.
            let others = flows
                .values_mut()
                .filter(|(_, listed)| listed.binary_search(&number).is_err());
            others.for_each(|(row, _)| rest.widen(row));
            sketches.add(seen)?;
        }
        let mut rows: Vec<FlowRow> = flows.into_values().map(|(row, _)| row).collect();
        rows.sort_by(|a, b| {
            let by_size = b.frame_bytes.cmp(&a.frame_bytes);
            by_size.then_with(|| order(a).cmp(&order(b)))
        });
        for (row, rank) in rows.iter_mut().zip(1..) {
            row.rank = rank;
            row.recompute();
        }
        Ok(Self {
            rows,
            complete,
            sketches,
        })
    }

    /// Sets which flows are elephants by their size in all parts.
    pub(super) fn set_elephants(&mut self, elephant_bps: f64) {
        for row in &mut self.rows {
            let middle = row.frame_bytes - row.error_frame_bytes / 2;
            row.elephant = middle as f64 * 8e9 / row.window_ns as f64 >= elephant_bps;
        }
    }
}

/// Orders flow keys by their bytes, with mapped IPv4 addresses.
fn order(row: &FlowRow) -> impl Ord + use<> {
    let bytes = |address: IpAddr| match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    (
        (bytes(row.src), bytes(row.dst)),
        row.vni.unwrap_or(u32::MAX),
        (row.dst_qpn, row.udp_src_port),
        (row.vlan.unwrap_or(u16::MAX), row.inner_vlan.unwrap_or(u16::MAX)),
    )
}

/// Packets and bytes of the flows that a part does not list.
fn unlisted(part: &Part) -> (u64, u64) {
    let (mut packets, mut frame_bytes) = (0u64, 0u64);
    for row in &part.windows {
        packets += row.roce_packets;
        frame_bytes += row.frame_bytes;
    }
    for row in &part.flows {
        packets = packets.saturating_sub(row.packets - row.error_packets.min(row.packets));
        let min = row.frame_bytes - row.error_frame_bytes.min(row.frame_bytes);
        frame_bytes = frame_bytes.saturating_sub(min);
    }
    (packets, frame_bytes)
}

/// Bounds for the flows that a part does not list.
struct Unlisted<'a> {
    packets: u64,
    frame_bytes: u64,
    sketches: &'a Sketches,
}

impl Unlisted<'_> {
    /// Adds the maximum that an unlisted flow can have had here to its size and to its error.
    fn widen(&self, row: &mut FlowRow) {
        let flow = hash(row.flow_hash);
        let sketched = |table: &Option<rocescope_sketches::CountMin>| {
            table.as_ref().map_or(u64::MAX, |table| table.estimate(flow))
        };
        let packets = self.packets.min(sketched(&self.sketches.packets));
        let frame_bytes = self.frame_bytes.min(sketched(&self.sketches.frame_bytes));
        row.packets += packets;
        row.error_packets += packets;
        row.frame_bytes += frame_bytes;
        row.error_frame_bytes += frame_bytes;
        row.payload_bytes += frame_bytes;
        row.messages += packets;
    }
}
