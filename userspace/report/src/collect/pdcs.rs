//! Directions of UET's packet delivery contexts, summed over the windows.

use rocescope_model::{Over, PdcRow, Row, Time};
use std::collections::HashMap;
use std::net::IpAddr;

/// Directions that are summed one by one; further ones only count in the sums.
const MAX_DIRECTIONS: usize = 65_536;

/// What all windows have of one direction.
type Key = (String, IpAddr, IpAddr, Option<u16>, String, Option<u16>, Option<u32>);

/// The directions of PDCs.
#[derive(Debug, Clone, Default)]
pub struct PdcFigures {
    directions: HashMap<Key, PdcRow>,
    /// The worst, those with the most losses first, then those with the most retransmissions and bytes.
    pub rows: Vec<PdcRow>,
    /// The sum of all.
    pub sums: PdcRow,
    /// The number of directions that are summed one by one.
    pub count: u64,
    /// Rows of further ones.
    pub unlisted: u64,
}

impl PdcFigures {
    pub(super) fn add(&mut self, row: &PdcRow) {
        self.sums.merge(row, Over::Observers);
        // The number of the other side is known later than the first packet.
        let key = (
            row.observer.to_string(),
            row.src,
            row.dst,
            row.src_pdc,
            row.mode.to_string(),
            row.vlan,
            row.vni,
        );
        let is_full = self.directions.len() >= MAX_DIRECTIONS;
        match self.directions.get_mut(&key) {
            Some(sum) => sum.merge(row, Over::Time),
            None if is_full => self.unlisted += 1,
            None => {
                self.directions.insert(key, row.clone());
            }
        }
    }

    /// The worst `top`; the window of each is the whole span, from `start_ns`.
    pub(super) fn finish(mut self, top: usize, start_ns: i64, span_ns: i64) -> Self {
        self.rows = std::mem::take(&mut self.directions).into_values().collect();
        self.count = self.rows.len() as u64;
        let rank = |row: &PdcRow| {
            let lost = row.fabric_lost_upstream_packets + row.fabric_lost_downstream_packets + row.trimmed_packets;
            (lost, row.unanswered_packets, row.retransmitted_packets, row.frame_bytes)
        };
        let name = |row: &PdcRow| (row.src, row.dst, row.src_pdc, row.mode.to_string());
        self.rows
            .sort_by_cached_key(|row| (std::cmp::Reverse(rank(row)), name(row)));
        self.rows.truncate(top);
        for row in &mut self.rows {
            row.window_start = Time(start_ns);
            row.window_start_ns = start_ns;
            row.window_ns = span_ns;
            row.recompute();
        }
        self
    }
}
