//! Counts and round trips of connections within a span.
//!
//! A row of `connections` holds totals since the first packet of its connection, once a minute. What happened in a span
//! is the last row in it minus the last row before it, so the ends of a span are exact to a minute.

use rocescope_model::{ConnectionRow, Row, Text, Value};
use std::collections::{BTreeMap, HashMap};

/// Observer, connection and role.
type Direction = (Text, i64, Text);

/// What a direction of a connection suffered in a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Suffered {
    /// Packets lost in the fabric.
    pub lost_packets: i64,
    /// Packets retransmitted.
    pub retransmitted_packets: i64,
}

/// The connections of a span: rows in, sums out.
#[derive(Debug, Default)]
pub struct ConnectionSpan {
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    /// The last row before the span, and the last one in it, of each direction.
    directions: HashMap<Direction, (Option<ConnectionRow>, Option<ConnectionRow>)>,
}

impl ConnectionSpan {
    /// An empty span, in nanoseconds since 1970; `None` has no bound.
    #[must_use]
    pub fn new(from_ns: Option<i64>, to_ns: Option<i64>) -> Self {
        Self {
            from_ns,
            to_ns,
            directions: HashMap::new(),
        }
    }

    /// Adds a row, in any order; those after the span are ignored.
    pub fn add(&mut self, row: ConnectionRow) {
        if self.to_ns.is_some_and(|to| row.time_ns >= to) {
            return;
        }
        let key = (row.observer.clone(), row.connection, row.role.clone());
        let (before, within) = self.directions.entry(key).or_default();
        let place = match self.from_ns {
            Some(from) if row.time_ns < from => before,
            _ => within,
        };
        if place.as_ref().is_none_or(|known| known.time_ns <= row.time_ns) {
            *place = Some(row);
        }
    }

    /// Whether any direction has a row in the span.
    #[must_use]
    pub fn is_tracked(&self) -> bool {
        self.directions.values().any(|(_, within)| within.is_some())
    }

    /// The number of directions with a row in the span.
    #[must_use]
    pub fn directions(&self) -> u64 {
        self.directions.values().filter(|(_, within)| within.is_some()).count() as u64
    }

    /// The sum of each column that is one, in the order of [`columns`].
    #[must_use]
    pub fn counts(&self) -> Vec<i64> {
        let mut all = vec![0; columns().count()];
        for (before, within) in self.directions.values() {
            let Some(within) = within else { continue };
            for (sum, (at, _)) in all.iter_mut().zip(columns()) {
                *sum += count(within, at) - before.as_ref().map_or(0, |before| count(before, at));
            }
        }
        all
    }

    /// What each direction suffered, by the name of its addresses and queue pair. Where several observers saw it, the one
    /// that saw most.
    #[must_use]
    pub fn suffered(&self) -> BTreeMap<String, Suffered> {
        let mut all: BTreeMap<String, Suffered> = BTreeMap::new();
        for (before, within) in self.directions.values() {
            let Some(within) = within else { continue };
            let earlier = before.as_ref().map(Suffered::of).unwrap_or_default();
            let worst = all.entry(name(within)).or_default();
            let here = Suffered::of(within);
            worst.lost_packets = worst.lost_packets.max(here.lost_packets - earlier.lost_packets);
            let retransmitted = here.retransmitted_packets - earlier.retransmitted_packets;
            worst.retransmitted_packets = worst.retransmitted_packets.max(retransmitted);
        }
        all
    }

    /// A quantile of all round trips of the span, to the width of their buckets; `None` without any.
    #[must_use]
    pub fn round_trip_ns(&self, share: f64) -> Option<u64> {
        let mut all: BTreeMap<u64, i64> = BTreeMap::new();
        for (before, within) in self.directions.values() {
            let Some(within) = within else { continue };
            for (sign, row) in [(1, Some(within)), (-1, before.as_ref())] {
                for (bucket, count) in row.into_iter().flat_map(|row| buckets(&row.rtt_histogram)) {
                    *all.entry(bucket).or_default() += sign * count;
                }
            }
        }
        let samples: i64 = all.values().map(|count| (*count).max(0)).sum();
        if samples == 0 {
            return None;
        }
        let rank = (share * samples as f64).ceil().max(1.0) as i64;
        let mut passed = 0;
        let found = all.iter().find(|(_, count)| {
            passed += (**count).max(0);
            passed >= rank
        });
        found.map(|(bucket, _)| *bucket)
    }
}

/// The columns of `connections` that are sums over directions: their number and name.
pub fn columns() -> impl Iterator<Item = (usize, &'static rocescope_model::Column)> {
    let columns = ConnectionRow::TABLE.columns.iter().enumerate();
    columns.filter(|(_, column)| column.aggregate.observers.is_sum())
}

/// The addresses and the queue pair of a direction, which mean the same in another dataset.
fn name(row: &ConnectionRow) -> String {
    match row.dst_qpn {
        Some(qpn) => format!("{} → {} QP {qpn}", row.src, row.dst),
        None => format!("{} → {}", row.src, row.dst),
    }
}

fn count(row: &ConnectionRow, column: usize) -> i64 {
    match row.value(column) {
        Value::I64(count) => count,
        _ => 0,
    }
}

impl Suffered {
    fn of(row: &ConnectionRow) -> Self {
        Self {
            lost_packets: row.fabric_lost_packets().cast_signed(),
            retransmitted_packets: row.retransmitted_packets.cast_signed(),
        }
    }
}

/// The counts of a histogram by the lower bounds of its buckets; `docs/connections.md` has the format.
fn buckets(histogram: &[i64]) -> BTreeMap<u64, i64> {
    let Some((bits, pairs)) = histogram.split_first() else {
        return BTreeMap::new();
    };
    let steps = 1_u64 << bits.clamp(&0, &32);
    let lower = |bucket: i64| {
        let bucket = bucket.unsigned_abs();
        match bucket < steps {
            true => bucket,
            false => {
                let power = u32::try_from(bucket / steps - 1).unwrap_or(u32::MAX);
                (steps + bucket % steps).saturating_mul(1_u64.checked_shl(power).unwrap_or(u64::MAX))
            }
        }
    };
    let pairs = pairs.chunks_exact(2);
    pairs.map(|pair| (lower(pair[0]), pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::{ConnectionSpan, buckets, columns};
    use rocescope_model::ConnectionRow;

    fn row(connection: i64, time_ns: i64, packets: u64, round_trips: &[i64]) -> ConnectionRow {
        ConnectionRow {
            observer: "o".into(),
            role: "a_to_b".into(),
            connection,
            time_ns,
            packets,
            rtt_histogram: round_trips.to_vec(),
            ..ConnectionRow::default()
        }
    }

    fn packets(span: &ConnectionSpan) -> i64 {
        let at = columns().position(|(_, column)| column.name == "packets").unwrap();
        span.counts()[at]
    }

    #[test]
    fn a_span_is_the_last_row_in_it_minus_the_last_before_it() {
        let mut span = ConnectionSpan::new(Some(100), Some(200));
        // In any order; 3 begins in the span, 4 after it, and 5 ended before.
        for row in [
            row(1, 150, 70, &[5, 10, 9, 20, 1]),
            row(1, 90, 50, &[5, 10, 8]),
            row(1, 60, 10, &[]),
            row(1, 190, 80, &[5, 10, 9, 20, 3]),
            row(1, 210, 500, &[5, 10, 99]),
            row(3, 160, 7, &[]),
            row(4, 260, 1_000, &[]),
            row(5, 50, 2_000, &[5, 30, 9]),
        ] {
            span.add(row);
        }
        assert_eq!((packets(&span), span.directions()), (30 + 7, 2));
        // One round trip of 10 ns and three of 20 ns.
        assert_eq!(
            [0.25, 0.26, 1.0].map(|share| span.round_trip_ns(share)),
            [Some(10), Some(20), Some(20)]
        );
        let nothing = ConnectionSpan::new(None, None);
        assert!(!nothing.is_tracked() && nothing.round_trip_ns(0.5).is_none());
    }

    #[test]
    fn buckets_begin_where_the_documentation_puts_them() {
        let bounds = |histogram: &[i64]| buckets(histogram).into_keys().collect::<Vec<u64>>();
        assert_eq!(bounds(&[2, 0, 1, 3, 1, 4, 1, 5, 1, 8, 1, 9, 1]), [0, 3, 4, 5, 8, 10]);
        assert_eq!(bounds(&[]), [0; 0]);
    }
}
