//! The sketches of a window as columns: those of a finished one, and the Count-Min tables of one that was stored.
//!
//! A window that lists all its flows has no Count-Min tables: they follow from its rows of `flows`, to the byte.

use crate::overflow::Sketches;
use crate::window::Window;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_model::{FlowRow, SparseBytes, WindowRow};
use rocescope_sketches::{CountMin, FlowHash, LinearCounting};

/// Flows up to which the counters of the Count-Min tables are sorted, and the tables not touched. With more of them,
/// filling, encoding and clearing 512 KiB takes no longer.
const SPARSE_FLOWS: usize = 2_048;

/// The Count-Min columns of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountMinColumns {
    /// Packets of each flow.
    pub packets: SparseBytes,
    /// Frame bytes of each flow.
    pub frame_bytes: SparseBytes,
}

impl CountMinColumns {
    /// The tables of a stored window, whose rows of `flows` are these: those of the row, or those that follow from the
    /// flows if these are all. `None` if neither is there, as without sketches.
    #[must_use]
    pub fn stored(row: &WindowRow, flows: &[FlowRow]) -> Option<Self> {
        if let (Some(packets), Some(frame_bytes)) = (&row.count_min_packets, &row.count_min_bytes) {
            return Some(Self {
                packets: packets.clone(),
                frame_bytes: frame_bytes.clone(),
            });
        }
        let listed: u64 = flows
            .iter()
            .map(|row| row.packets.saturating_sub(row.error_packets))
            .sum();
        (listed >= row.roce_packets).then(|| Self::listed(flows))
    }

    fn listed(flows: &[FlowRow]) -> Self {
        let empty = CountMin::default();
        let table = |size: fn(&FlowRow) -> u64| {
            let sizes = flows
                .iter()
                .map(|row| (FlowHash(row.flow_hash.cast_unsigned()), size(row)));
            sparse(&empty, sizes)
        };
        Self {
            packets: table(|row| row.packets),
            frame_bytes: table(|row| row.frame_bytes),
        }
    }

    /// Counts the flows of the window. `empty` has the shape of the tables; `filled` is memory for them, which may hold
    /// anything.
    pub(crate) fn of(window: &Window, empty: &Sketches, filled: &mut Option<Box<Sketches>>) -> Self {
        let flows = window.flows.flows();
        if flows.len() <= SPARSE_FLOWS && window.overflow.is_none() {
            let packets = flows.iter().map(|flow| (flow.hash(), flow.counts.packets));
            let frame_bytes = flows.iter().map(|flow| (flow.hash(), flow.counts.frame_bytes));
            return Self {
                packets: sparse(&empty.packets, packets),
                frame_bytes: sparse(&empty.frame_bytes, frame_bytes),
            };
        }
        let filled = filled.get_or_insert_with(|| Box::new(empty.clone()));
        filled.clear();
        for flow in flows {
            filled.add(flow.hash(), &flow.counts);
        }
        if let Some(overflow) = &window.overflow {
            filled.merge(&overflow.sketches);
        }
        Self {
            packets: filled.packets.to_spark().into(),
            frame_bytes: filled.frame_bytes.to_spark().into(),
        }
    }
}

fn sparse(shape: &CountMin, sizes: impl Iterator<Item = (FlowHash, u64)>) -> SparseBytes {
    let mut bytes = SparseBytes::builder(shape.spark_len());
    shape.sparse_spark(sizes, |at, part| {
        bytes.put(at, part);
    });
    bytes.finish()
}

/// The bitmap as one value: the rows that Spark merges, one after the other.
pub(crate) fn bitmap(flows: &LinearCounting) -> SparseBytes {
    let mut bytes = Vec::new();
    for row in flows.row_bytes() {
        bytes.extend_from_slice(&row);
    }
    bytes.into()
}
