//! The row of `sla`.

use super::analyzer::Analyzer;
use super::cells::{Cell, Cells};
use super::paper::Causes;
use super::quantiles::{Quantiles, ratio};
use super::record::Window;
use rocescope_model::{SlaRow, Time};

impl Analyzer {
    /// Returns the row without the results of the paper's rules.
    pub(super) fn totals(&mut self, number: i64, cells: &Cells, window: &Window) -> SlaRow {
        self.seen.resize(self.names.hosts.len(), i64::MIN);
        for record in window.records.iter().filter(|record| record.is_of_sender()) {
            let src = self.tuples.all[record.tuple as usize].key.src;
            self.seen[self.names.nics[src as usize].host as usize] = number;
        }
        let minute = self.settings.sticky_ns.div_euclid(self.settings.window_ns);
        let hosts = self.seen.iter().filter(|seen| **seen == number).count();
        let silent = self
            .seen
            .iter()
            .filter(|seen| **seen < number && **seen >= number - minute);
        let start = Time(number * self.settings.window_ns);
        let sum = |of: fn(&Cell) -> u32| -> u64 { cells.all.iter().map(|cell| u64::from(of(cell))).sum() };
        let corrupt = sum(|cell| cell.corrupt);
        SlaRow {
            observer: self.observer(),
            window_start: start,
            window_start_ns: start.0,
            window_ns: self.settings.window_ns,
            revision: Some(0),
            hosts: u64::try_from(hosts).unwrap_or(u64::MAX),
            silent_hosts: u64::try_from(silent.count()).unwrap_or(u64::MAX),
            probes: sum(|cell| cell.sent),
            timeouts: sum(|cell| cell.drops) - corrupt,
            corrupt,
            unsent: sum(|cell| cell.unsent),
            late: core::mem::take(&mut self.late),
            clock_error_ns: window.clock_error_ns,
            ..SlaRow::default()
        }
    }

    /// Writes quantiles into the row.
    pub(super) fn quantiles(sla: &mut SlaRow, network: Quantiles, processing: Quantiles) {
        let [p50, p90, p99, p999] = network;
        sla.network_p50_ns = p50;
        sla.network_p90_ns = p90;
        sla.network_p99_ns = p99;
        sla.network_p999_ns = p999;
        let [p50, p90, p99, p999] = processing;
        sla.processing_p50_ns = p50;
        sla.processing_p90_ns = p90;
        sla.processing_p99_ns = p99;
        sla.processing_p999_ns = p999;
    }

    /// Writes the drops by cause into the row.
    pub(super) fn drops(sla: &mut SlaRow, causes: Causes, anomalous: &[u32]) {
        let Causes { rnic, switch, untraced } = causes;
        sla.anomalous_nics = u64::try_from(anomalous.len()).unwrap_or(u64::MAX);
        sla.rnic_drops = rnic;
        sla.switch_drops = switch;
        sla.untraced_drops = untraced;
        sla.rnic_drop_ratio = ratio(rnic, sla.probes);
        sla.switch_drop_ratio = ratio(switch, sla.probes);
    }
}
