//! The sketches of a finished window as columns.

use crate::flow_table::Flow;
use crate::overflow::Sketches;
use crate::window::Window;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_model::SparseBytes;
use rocescope_sketches::{CountMin, LinearCounting};

/// Flows up to which the counters of the Count-Min tables are sorted, and the tables not touched. With more of them,
/// filling, encoding and clearing 512 KiB takes no longer.
const SPARSE_FLOWS: usize = 2_048;

/// The Count-Min columns of a window.
#[derive(Clone, Debug)]
pub(crate) struct CountMinColumns {
    pub(crate) packets: SparseBytes,
    pub(crate) frame_bytes: SparseBytes,
}

impl CountMinColumns {
    /// Counts the flows of the window. `empty` has the shape of the tables; `filled` is memory for them, which may hold
    /// anything.
    pub(crate) fn of(window: &Window, empty: &Sketches, filled: &mut Option<Box<Sketches>>) -> Self {
        let flows = window.flows.flows();
        if flows.len() <= SPARSE_FLOWS && window.overflow.is_none() {
            return Self {
                packets: sparse(&empty.packets, flows, |flow| flow.counts.packets),
                frame_bytes: sparse(&empty.frame_bytes, flows, |flow| flow.counts.frame_bytes),
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

fn sparse(shape: &CountMin, flows: &[Flow], weight: fn(&Flow) -> u64) -> SparseBytes {
    let mut bytes = SparseBytes::builder(shape.spark_len());
    shape.sparse_spark(flows.iter().map(|flow| (flow.hash(), weight(flow))), |at, part| {
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
