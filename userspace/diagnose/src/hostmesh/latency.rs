//! Late probes of a window, and slow hosts.

use super::baseline::{Baseline, medians};
use super::by_key::ByKey;
use super::cells::Cells;
use super::count::Count;
use super::names::Names;
use super::place::FaultLocation;
use super::quantiles::{Quantiles, quantiles};
use super::record::Record;
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

/// Returns the hosts with a large share of delays far above their own median, if other hosts have none.
pub(crate) fn slow_hosts(
    baseline: &Baseline,
    values: impl Iterator<Item = (u32, i32)>,
    hosts: usize,
    settings: &Settings,
    margin_ns: i64,
) -> Vec<Suspect> {
    let mut counts = vec![Count::default(); hosts];
    let mut total = Count::default();
    for (host, value) in values {
        if let Some(late) = baseline.is_late(host, value, margin_ns) {
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
        let needed = libm::log(hosts as f64 / settings.chance);
        let slow = count.share() >= settings.late_share && count.anomalous > settings.max_ignored;
        if slow && count.probes >= settings.min_probes && score > needed {
            found.push(Suspect::new(FaultLocation::Host(host), count, score));
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(settings.max_verdicts);
    found
}
