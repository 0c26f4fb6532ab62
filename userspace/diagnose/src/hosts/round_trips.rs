//! The round trips that a row of `connections` adds to the one before.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_model::ConnectionRow;

/// Directions whose last histogram is kept.
const KEPT: usize = 100_000;

/// The last histogram of each direction; rows are cumulative.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    last: HashMap<(String, i64, bool), Histogram>,
}

/// Bits, and counts by bucket.
#[derive(Clone, Debug, Default, PartialEq)]
struct Histogram {
    bits: u32,
    counts: BTreeMap<u64, u64>,
}

impl RoundTrips {
    /// The median of the round trips since the row before, in nanoseconds; `None` without any, or if the two histograms
    /// have another resolution.
    pub(crate) fn median_since_last(&mut self, row: &ConnectionRow) -> Option<f64> {
        let now = Histogram::read(&row.rtt_histogram)?;
        let key = (row.observer.to_string(), row.connection, &*row.role == "a_to_b");
        let before = self.last.get(&key);
        let new = match before {
            Some(before) => now.minus(before),
            None => Some(now.clone()),
        };
        if &*row.state == "gone" {
            self.last.remove(&key);
        } else if self.last.len() < KEPT || before.is_some() {
            self.last.insert(key, now);
        }
        new?.median()
    }
}

impl Histogram {
    fn read(numbers: &[i64]) -> Option<Self> {
        let (bits, pairs) = numbers.split_first()?;
        let positive = |value: i64| u64::try_from(value).ok();
        let counts: Vec<(u64, u64)> = pairs
            .chunks_exact(2)
            .filter_map(|pair| Some((positive(pair[0])?, positive(pair[1])?)))
            .collect();
        Some(Self {
            bits: u32::try_from(*bits).ok().filter(|bits| *bits <= 16)?,
            counts: counts.into_iter().collect(),
        })
    }

    fn minus(&self, before: &Self) -> Option<Self> {
        if self.bits != before.bits {
            return None;
        }
        let mut counts = self.counts.clone();
        for (bucket, count) in &before.counts {
            let left = counts.get_mut(bucket)?;
            *left = left.checked_sub(*count)?;
        }
        Some(Self {
            bits: self.bits,
            counts,
        })
    }

    /// The middle of the bucket with the median.
    fn median(&self) -> Option<f64> {
        let samples: u64 = self.counts.values().sum();
        let mut left = samples.div_ceil(2);
        for (bucket, count) in &self.counts {
            if *count > 0 && *count >= left {
                return Some(f64::midpoint(
                    lowest(*bucket, self.bits),
                    lowest(*bucket + 1, self.bits),
                ));
            }
            left -= count;
        }
        None
    }
}

/// Where a bucket begins, in nanoseconds: `docs/connections.md`.
fn lowest(bucket: u64, bits: u32) -> f64 {
    let range = 1_u64 << bits;
    if bucket < range {
        return bucket as f64;
    }
    (range + bucket % range) as f64 * libm::exp2((bucket / range) as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::RoundTrips;
    use rocescope_model::ConnectionRow;

    fn row(histogram: &[i64]) -> ConnectionRow {
        ConnectionRow {
            rtt_histogram: histogram.to_vec(),
            ..ConnectionRow::default()
        }
    }

    #[test]
    fn a_row_tells_what_is_new_since_the_row_before() {
        let mut round_trips = RoundTrips::default();
        // 4 bits: bucket 20 begins at 20, bucket 40 at (16 + 8) * 2.
        assert_eq!(round_trips.median_since_last(&row(&[4, 20, 5])), Some(20.5));
        assert_eq!(round_trips.median_since_last(&row(&[4, 20, 5, 40, 3])), Some(49.0));
        assert_eq!(round_trips.median_since_last(&row(&[4, 20, 5, 40, 3])), None);
        // Another resolution: unknown, and the next row is compared again.
        assert_eq!(round_trips.median_since_last(&row(&[3, 12, 9])), None);
        assert_eq!(round_trips.median_since_last(&row(&[3, 12, 10])), Some(12.5));
        assert_eq!(round_trips.median_since_last(&row(&[])), None);
    }
}
