//! Round trips of all connections as one histogram.
//!
//! A row of `connections` has the histogram of its direction since the first packet. The difference from the direction's
//! last row counts here, so each round trip counts once. Bounds are powers of two in nanoseconds: there the histogram of
//! a row is exact at every resolution.

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use rocescope_model::ConnectionRow;
use std::collections::HashMap;
use std::fmt;

/// The first bound is 2^`FIRST` ns, about 1 µs.
const FIRST: u32 = 10;
/// Bounds up to 2^30 ns, about 1 s; the last bucket has no bound.
const BOUNDS: usize = 21;

/// Counts of round trips below each bound, and of those above all.
type Counts = [u64; BOUNDS + 1];

/// The round trips of a capture.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    counts: Counts,
    /// Their sum, from the middle of the buckets: within 1 % at the first resolution.
    sum_ns: f64,
    /// What each live direction has added: connection and role. The analysis of connections bounds their number.
    added: HashMap<(i64, bool), Added>,
}

/// The counts of a row that are not zero, by bucket, and the sum of its samples in nanoseconds.
#[derive(Debug, Default)]
struct Added {
    counts: Vec<(u8, u64)>,
    sum_ns: f64,
}

impl RoundTrips {
    /// Adds what is new in the rows.
    pub(super) fn add(&mut self, rows: &[ConnectionRow]) {
        for row in rows {
            let key = (row.connection, &*row.role == "b_to_a");
            let now = Added::read(&row.rtt_histogram);
            let before = self.added.remove(&key).unwrap_or_default();
            for (at, count) in &now.counts {
                let known = before.counts.iter().find(|(other, _)| other == at);
                let new = count.saturating_sub(known.map_or(0, |(_, count)| *count));
                if let Some(sum) = self.counts.get_mut(usize::from(*at)) {
                    *sum += new;
                }
            }
            self.sum_ns += (now.sum_ns - before.sum_ns).max(0.0);
            if &*row.state != "gone" {
                self.added.insert(key, now);
            }
        }
    }
}

impl Added {
    fn read(histogram: &[i64]) -> Self {
        let mut found = Self::default();
        let Some((bits, pairs)) = histogram.split_first() else {
            return found;
        };
        let bits = u32::try_from(*bits).unwrap_or(0).min(16);
        for pair in pairs.chunks_exact(2) {
            let [number, count] = [pair[0], pair[1]].map(|value| u64::try_from(value).unwrap_or(0));
            let (low, high) = (lowest(number, bits), lowest(number + 1, bits));
            // The number of bounds that the bucket is not below.
            let at = (64 - low.leading_zeros()).saturating_sub(FIRST).min(BOUNDS as u32) as u8;
            match found.counts.last_mut() {
                Some((last, sum)) if *last == at => *sum += count,
                _ => found.counts.push((at, count)),
            }
            found.sum_ns += count as f64 * (low + (high - low) / 2) as f64;
        }
        found
    }
}

/// The lowest value of a bucket, as the documentation of `connections` defines it.
fn lowest(number: u64, bits: u32) -> u64 {
    let parts = 1 << bits;
    if number < parts {
        return number;
    }
    let shift = (number / parts - 1).min(63);
    let value = u128::from(parts + number % parts) << shift;
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl EncodeMetric for RoundTrips {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let bounds = (FIRST..).map(|power| (1_u64 << power) as f64 / 1e9);
        let bounds = bounds.take(BOUNDS).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(self.counts).collect();
        let all = self.counts.iter().sum();
        encoder.encode_histogram::<NoLabelSet>(self.sum_ns / 1e9, all, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(samples: &[u64], state: &'static str) -> ConnectionRow {
        // The buckets of the first resolution, 2^6 parts of a power of two; samples ascend.
        let bucket = |ns: &u64| {
            let shift = 57 - ns.leading_zeros();
            [u64::from(shift) * 64 + (ns >> shift), 1].map(u64::cast_signed)
        };
        let pairs = samples.iter().flat_map(bucket);
        ConnectionRow {
            connection: 7,
            role: "a_to_b".into(),
            state: state.into(),
            rtt_histogram: std::iter::once(6).chain(pairs).collect(),
            ..ConnectionRow::default()
        }
    }

    #[test]
    fn rows_are_cumulative_and_each_round_trip_counts_once() {
        let mut trips = RoundTrips::default();
        trips.add(&[row(&[900, 5_000], "active")]);
        trips.add(&[row(&[900, 5_000, 5_100, 2_000_000_000], "gone")]);
        assert_eq!(trips.counts.iter().sum::<u64>(), 4);
        // 0.9 µs is below the first bound, 5 µs between 4.096 and 8.192 µs, 2 s above the last.
        assert_eq!((trips.counts[0], trips.counts[3], trips.counts[BOUNDS]), (1, 2, 1));
        assert!(trips.added.is_empty(), "a direction that is gone needs no memory");
        let exact = 2_000_011_000.0;
        assert!((trips.sum_ns - exact).abs() < 0.01 * exact, "{}", trips.sum_ns);
    }

    #[test]
    fn bounds_are_exact_at_every_resolution() {
        for bits in 0..=6_u32 {
            for power in 0..40 {
                let value = 1_u64 << power;
                let parts = 1_u64 << bits;
                // The bucket of a power of two begins there.
                let number = match value < parts {
                    true => value,
                    false => (u64::from(power - bits) + 1) * parts,
                };
                assert_eq!(lowest(number, bits), value, "{bits} bits, 2^{power}");
            }
        }
    }
}
