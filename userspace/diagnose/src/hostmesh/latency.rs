//! Late probes of a window, and slow hosts.

use super::baseline::{Baseline, medians};
use super::by_key::ByKey;
use super::cells::Cells;
use super::count::Count;
use super::names::Names;
use super::place::FaultLocation;
use super::quantiles::{Quantiles, quantiles};
use super::record::{Record, quantile};
use super::settings::Settings;
use super::suspects::Suspect;
use super::tuples::Tuples;
use alloc::vec;
use alloc::vec::Vec;

/// Network latencies of a window by pair of NICs and DSCP.
pub(crate) fn network<'a>(records: &'a [Record], tuples: &'a Tuples) -> impl Iterator<Item = (u32, i32)> + Clone + 'a {
    records.iter().filter_map(|record| {
        let value = record.network_ns()?;
        Some((tuples.all[record.tuple as usize].lane, value))
    })
}

/// Host delays of a window by host.
pub(crate) fn processing<'a>(
    records: &'a [Record],
    tuples: &'a Tuples,
    names: &'a Names,
) -> impl Iterator<Item = (u32, i32)> + Clone + 'a {
    records.iter().filter_map(|record| {
        let value = record.processing_ns()?;
        let src = tuples.all[record.tuple as usize].key.src;
        Some((names.nics[src as usize].host, value))
    })
}

/// One quantity of all probes of a window.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) by_key: ByKey<i32>,
    /// By key.
    pub(crate) medians: Vec<Option<i32>>,
    pub(crate) quantiles: Quantiles,
}

impl Times {
    pub(crate) fn of(keys: usize, values: impl Iterator<Item = (u32, i32)> + Clone) -> Self {
        let mut by_key = ByKey::group(keys, values);
        let medians = medians(&mut by_key);
        let quantiles = quantiles(&mut by_key.values().to_vec());
        Self {
            by_key,
            medians,
            quantiles,
        }
    }
}

/// How many times the distance that a quarter of the values exceed makes the median of a 5-tuple slow.
const FAR: i32 = 8;
/// The fewest values of a 5-tuple that show that it is slow.
const MIN_OF_TUPLE: usize = 3;

/// The network latencies by pair of NICs and DSCP, without 5-tuples that as a whole are far above the median of theirs. A queue
/// that was there before the first window must not pass for jitter: the spread of a pair would hide it.
pub(crate) fn steady(network: &Times, records: &[Record], tuples: &Tuples, min_ns: i64) -> ByKey<i32> {
    let distance = |lane: u32, value: i32| {
        let median = network.medians.get(lane as usize).copied()??;
        Some(value.saturating_sub(median))
    };
    let mut distances: Vec<i32> = self::network(records, tuples)
        .filter_map(|(lane, value)| distance(lane, value))
        .collect();
    let typical = quantile(&mut distances, 0.75).unwrap_or(0);
    let far = i64::from(typical.saturating_mul(FAR)).max(min_ns);
    let values = records
        .iter()
        .filter_map(|record| Some((record.tuple, record.network_ns()?)));
    let mut of_tuple = ByKey::group(tuples.all.len(), values);
    let slow: Vec<bool> = of_tuple
        .each_mut()
        .zip(&tuples.all)
        .map(|(values, tuple)| {
            let median = (values.len() >= MIN_OF_TUPLE).then(|| quantile(values, 0.5)).flatten();
            let above = median.and_then(|median| distance(tuple.lane, median));
            above.is_some_and(|above| i64::from(above) > far)
        })
        .collect();
    let steady = records.iter().filter_map(|record| {
        let value = record.network_ns().filter(|_| !slow[record.tuple as usize])?;
        Some((tuples.all[record.tuple as usize].lane, value))
    });
    ByKey::group(tuples.lanes.len(), steady)
}

/// Counts in each cell the probes that can be compared with the baseline and with the median of the reverse direction
/// (by pair and DSCP), and the late ones.
pub(crate) fn mark(
    baseline: &Baseline,
    ways_back: &[Option<i32>],
    cells: &mut Cells,
    records: &[Record],
    tuples: &Tuples,
    margin_ns: i64,
) {
    cells.update(records, |cell, record| {
        let Some(ns) = record.network_ns() else {
            return;
        };
        let lane = tuples.all[record.tuple as usize].lane;
        if let Some(late) = baseline.is_late(lane, ns, margin_ns) {
            cell.timed += 1;
            cell.late += u32::from(late);
        }
        if let Some(back) = ways_back[lane as usize] {
            cell.compared += 1;
            cell.slower += u32::from(i64::from(ns) > i64::from(back) + baseline.margin_of(lane, margin_ns));
        }
    });
}

/// How many times the median of all hosts is slow, whatever is normal for a host.
const TIMES_OTHERS: i64 = 8;
/// The fewest hosts that show what is normal for all.
const MIN_HOSTS: usize = 3;

/// Returns the hosts with a large share of delays far above their own median, or above that of all hosts, if other hosts have
/// none. A host that was slow before the first window exceeds only the others: `medians` are those of this window, and `min_ns` the
/// least that clocks can compare.
pub(crate) fn slow_hosts(
    baseline: &Baseline,
    values: impl Iterator<Item = (u32, i32)>,
    (medians, min_ns): (&[Option<i32>], i64),
    settings: &Settings,
) -> Vec<Suspect> {
    let mut counts = vec![Count::default(); medians.len()];
    let mut total = Count::default();
    let margin_ns = baseline.margin_ns(settings.min_late_ns);
    let mut known: Vec<i32> = medians.iter().copied().flatten().collect();
    let usual = quantile(&mut known, 0.5).filter(|_| known.len() >= MIN_HOSTS);
    let limit = usual.map(|usual| (TIMES_OTHERS * i64::from(usual)).max(min_ns));
    for (host, value) in values {
        let own = margin_ns.and_then(|margin_ns| baseline.is_late(host, value, margin_ns));
        let of_all = limit.map(|limit| i64::from(value) > limit);
        if own.is_some() || of_all.is_some() {
            let late = own == Some(true) || of_all == Some(true);
            let count = &mut counts[host as usize];
            count.probes += 1;
            count.anomalous += u64::from(late);
            total.probes += 1;
            total.anomalous += u64::from(late);
        }
    }
    let mut found: Vec<Suspect> = Vec::new();
    for (host, count) in (0_u32..).zip(counts) {
        let others = Count {
            probes: total.probes - count.probes,
            anomalous: total.anomalous - count.anomalous,
        };
        let score = count.score(others.share().max(0.02));
        #[expect(clippy::cast_precision_loss, reason = "hosts are far below 2^53")]
        let needed = libm::log(medians.len() as f64 / settings.chance);
        let slow = count.share() >= settings.late_share && count.anomalous > settings.max_ignored;
        if slow && count.probes >= settings.min_probes && score > needed {
            found.push(Suspect::new(FaultLocation::Host(host), count, score));
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(settings.max_verdicts);
    found
}
