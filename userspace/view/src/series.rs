//! Rates of the latest windows, flow by flow.

use rocescope_model::FlowRow;
use std::collections::HashMap;

/// The number of windows in a series.
pub const REACH: usize = 60;

/// Flows that have a series: 16 MiB. Above it, the flows that were silent longest lose theirs.
const MAX_FLOWS: usize = 65_536;

/// The rates of one flow.
#[derive(Debug, Clone)]
struct Ring {
    /// Number of the latest window with a rate.
    newest: u64,
    /// The rate of window `n` at `n % REACH`; NaN if unknown.
    rates: [f32; REACH],
}

/// Rates by flow. A flow without a row had no packets, or was not among the top flows: then its rate is unknown.
#[derive(Debug)]
pub struct Series {
    rings: HashMap<i64, Ring>,
    /// Whether a window's rows include all its flows, indexed like `Ring::rates`.
    whole: [bool; REACH],
}

impl Default for Series {
    fn default() -> Self {
        Self {
            rings: HashMap::new(),
            whole: [false; REACH],
        }
    }
}

impl Series {
    /// Adds the flows of window `number`; `whole` if these are all its flows.
    pub fn push(&mut self, number: u64, flows: &[FlowRow], whole: bool) {
        let reach = REACH as u64;
        self.whole[(number % reach) as usize] = whole;
        for row in flows {
            let ring = self.rings.entry(row.flow_hash).or_insert_with(|| Ring {
                newest: number,
                rates: [f32::NAN; REACH],
            });
            let behind = (number - ring.newest).min(reach);
            for skipped in number + 1 - behind..number {
                ring.rates[(skipped % reach) as usize] = f32::NAN;
            }
            let at = (number % reach) as usize;
            // Two observers may have seen the flow.
            let before = if behind == 0 && ring.rates[at].is_finite() {
                ring.rates[at]
            } else {
                0.0
            };
            ring.rates[at] = before + row.frame_bps as f32;
            ring.newest = number;
        }
        let mut kept = reach;
        while self.rings.len() > MAX_FLOWS || (kept == reach && number.is_multiple_of(16)) {
            self.rings.retain(|_, ring| number - ring.newest < kept);
            if kept == 1 {
                break;
            }
            kept /= 2;
        }
    }

    /// Frame bits per second of a flow in the windows up to `last`, the earliest first; NaN if unknown.
    #[must_use]
    pub fn rates(&self, flow_hash: i64, last: u64, newest: u64) -> Vec<f32> {
        let reach = REACH as u64;
        let ring = self.rings.get(&flow_hash);
        // Older windows were overwritten.
        let first = (newest + 1).saturating_sub(reach);
        (first..=last)
            .map(|number| {
                let at = (number % reach) as usize;
                let known = ring
                    .filter(|ring| number <= ring.newest && ring.newest - number < reach)
                    .map(|ring| ring.rates[at])
                    .filter(|rate| rate.is_finite());
                let unknown = if self.whole[at] { 0.0 } else { f32::NAN };
                known.unwrap_or(unknown)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(flow_hash: i64, frame_bps: f64) -> FlowRow {
        FlowRow {
            flow_hash,
            frame_bps,
            ..FlowRow::default()
        }
    }

    #[test]
    fn silence_is_zero_in_complete_windows_and_unknown_in_others() {
        let mut series = Series::default();
        series.push(0, &[flow(1, 8.0)], true);
        series.push(1, &[], true);
        series.push(2, &[], false);
        series.push(3, &[flow(1, 4.0)], true);
        let rates = series.rates(1, 3, 3);
        assert_eq!(rates[..2], [8.0, 0.0]);
        assert!(rates[2].is_nan());
        assert_eq!(rates[3], 4.0);
        assert_eq!(series.rates(1, 0, 3), [8.0]);
        assert_eq!(series.rates(2, 1, 3), [0.0, 0.0]);
    }

    #[test]
    fn rates_older_than_the_reach_are_forgotten() {
        let mut series = Series::default();
        for number in 0..200 {
            let flows = if number < 3 || number == 199 {
                vec![flow(1, 1.0)]
            } else {
                vec![]
            };
            series.push(number, &flows, true);
        }
        let rates = series.rates(1, 199, 199);
        assert_eq!(rates.len(), REACH);
        assert_eq!(rates.iter().sum::<f32>(), 1.0);
        assert_eq!(rates.last(), Some(&1.0));
    }

    #[test]
    fn the_number_of_flows_is_bounded() {
        let mut series = Series::default();
        for number in 0..3 {
            let flows: Vec<FlowRow> = (0..40_000)
                .map(|flow_of| flow(number * 40_000 + flow_of, 1.0))
                .collect();
            series.push(number as u64, &flows, true);
        }
        assert!(series.rings.len() <= MAX_FLOWS);
        assert_eq!(series.rates(80_000, 2, 2).last(), Some(&1.0));
    }
}
