//! The row of `sla`.

use super::analyzer::Analyzer;
use super::cells::{Cell, Cells};
use super::diagnosis::Where;
use super::paper::Causes;
use super::place::{Crossing, FaultLocation, Size, size};
use super::quantiles::{Quantiles, ratio};
use super::record::Window;
use super::suspects::Symptom;
use alloc::vec::Vec;
use rocescope_model::{SlaRow, Time, VerdictRow};

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

    /// Writes the drops by the places of the verdicts into the row.
    pub(super) fn places(&self, sla: &mut SlaRow, cells: &Cells, verdicts: &[VerdictRow], places: &[Where]) {
        let is_loss = |row: &VerdictRow| row.symptom.as_str() == Symptom::Loss.name();
        let losing = verdicts.iter().zip(places).filter(|(row, _)| is_loss(row));
        let (nics, others): (Vec<FaultLocation>, Vec<FaultLocation>) = losing
            .map(|(_, place)| place.0)
            .filter(|place| *place != FaultLocation::Mesh)
            .partition(|place| size(*place) == Size::Nic);
        let (mut at_nics, mut in_network, mut unlocated) = (0, 0, 0);
        for cell in cells.all.iter().filter(|cell| cell.drops > 0) {
            let crossing = Crossing::of(cell, &self.tuples);
            let meets = |places: &[FaultLocation]| places.iter().any(|place| crossing.meets(*place, &self.names));
            let count = match (meets(&nics), meets(&others)) {
                (true, _) => &mut at_nics,
                (false, true) => &mut in_network,
                (false, false) => &mut unlocated,
            };
            *count += u64::from(cell.drops);
        }
        sla.nic_drops = Some(at_nics);
        sla.network_drops = Some(in_network);
        sla.unlocated_drops = Some(unlocated);
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
