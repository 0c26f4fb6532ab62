//! The analysis of a complete window.

use super::analyzer::Analyzer;
use super::asymmetry::{one_way_share, ways_back};
use super::by_key::ByKey;
use super::cells::Cells;
use super::cores::both;
use super::diagnosis::WindowDiagnosis;
use super::faint::Unexplained;
use super::lasting::lasting;
use super::latency::{self, Times};
use super::onward::extend;
use super::paper::{Votes, attribute};
use super::place::{Crossing, FaultLocation};
use super::record::{Record, Window};
use super::suspects::{Scan, Suspect, Symptom};
use super::unanswered::Answers;
use super::unlocated::{Known, Unlocated};
use super::untraced::unreached;
use super::verdict::{Judge, Verdicts};
use alloc::format;
use alloc::vec::Vec;
use rocescope_model::Text;

/// The suspects of a window, by symptom.
#[derive(Debug, Default)]
struct Found {
    loss: Vec<Suspect>,
    late: Vec<Suspect>,
    one_way: Vec<Suspect>,
    slow: Vec<Suspect>,
    silent: Vec<Suspect>,
    unlocated: Option<Unlocated>,
}

impl Found {
    /// Returns the records of each cell if a suspect needs them.
    fn cells(&self, cells: &Cells) -> ByKey<u32> {
        match self.loss.is_empty() && self.unlocated.is_none() {
            true => ByKey::default(),
            false => cells.records(),
        }
    }
}

impl Analyzer {
    pub(super) fn analyse(&mut self, number: i64, window: &Window) -> WindowDiagnosis {
        let start_ns = number * self.settings.window_ns;
        let end_ns = start_ns + self.settings.window_ns;
        let records = &window.records;
        let mut cells = Cells::group(records, start_ns, &self.tuples);
        extend(&mut cells, &mut self.tuples, &mut self.names);
        let unsettled = self.settle_unsent(number, &mut cells, records);
        let mut sla = self.totals(number, &cells, window);

        let nics = self.names.nics.len();
        let anomalous = self.sticky.judge(&cells, &self.tuples, &self.settings, nics, end_ns);
        let causes = attribute(&self.sticky, &mut cells, records, &self.tuples, start_ns);
        let votes = Votes::cast(&cells, &self.tuples, &self.names, &self.settings);

        let mut unjudged = Vec::new();
        let enough = u64::try_from(records.len()).unwrap_or(u64::MAX) >= self.settings.min_window;
        if !enough {
            let min = self.settings.min_window;
            unjudged.push(format!("only {} of {min} required probes", records.len()));
        }
        let (network, processing) = self.times(records);
        Self::quantiles(&mut sla, network.quantiles, processing.quantiles);
        let min_ns = self.settings.min_late_ns.max(2 * window.clock_error_ns);
        let margin = self.network.margin_ns(min_ns);
        if let Some(margin) = margin {
            let ways_back = ways_back(&self.tuples, &network.medians);
            let (baseline, tuples) = (&self.network, &self.tuples);
            latency::mark(baseline, &ways_back, &mut cells, records, tuples, margin);
        }
        let mut found = Found::default();
        if enough {
            if margin.is_none() {
                unjudged.push("latency: no earlier window to compare with".into());
            }
            let (unexplained, unknown);
            (
                (found.loss, unexplained, unknown),
                (found.late, found.one_way, found.slow),
            ) = both(
                self.both,
                || self.lossy(&cells, start_ns),
                || self.slow(&cells, records, (&processing.medians, min_ns), margin.is_some()),
            );
            self.learn((&network, &processing), records, min_ns, &found);
            found.loss.extend(self.faint.add(unexplained, &self.settings));
            let before = self.history.losing(start_ns);
            let graph = (&self.tuples, &self.names);
            let lasting = lasting(before, &found.loss, &cells, graph, &self.settings);
            found.loss.extend(lasting);
            found.loss.sort_by(|a, b| b.score.total_cmp(&a.score));
            if unknown > 0 {
                unjudged.push(format!("{unknown} drops are on paths with an unknown hop"));
            }
        }
        found.silent = self.silent(number, records);
        let answers = self.answers(records);
        found.unlocated = self.unlocated(&cells, &found, &answers, enough);
        found.loss.truncate(self.settings.max_verdicts);
        sla.asymmetric_ratio = one_way_share(&cells, &self.tuples, &self.names);

        let mut history = core::mem::take(&mut self.history);
        history.see(start_ns, |place| {
            let arrived = cells.all.iter().filter(|cell| cell.sent > cell.drops);
            let mut crossings = arrived.map(|cell| Crossing::of(cell, &self.tuples));
            crossings.any(|crossing| crossing.meets(place, &self.names))
        });
        let Verdicts {
            rows: verdicts,
            places,
            uncertain,
            history,
        } = Judge {
            analyzer: &*self,
            history,
            cells: &cells,
            of_cell: found.cells(&cells),
            records,
            votes: &votes,
            start_ns,
            late: &found.late,
            unlocated: found.unlocated.as_ref(),
        }
        .verdicts([
            (Symptom::Loss, &found.loss),
            (Symptom::Latency, &found.late),
            (Symptom::Asymmetry, &found.one_way),
            (Symptom::Delay, &found.slow),
            (Symptom::Silence, &found.silent),
        ]);
        self.history = history;
        self.history.forget(start_ns, self.settings.window_ns);
        Self::drops(&mut sla, causes, &anomalous);
        self.places(&mut sla, &cells, &verdicts, &places);
        sla.verdicts = u64::try_from(verdicts.len()).unwrap_or(u64::MAX);
        if verdicts.is_empty() && causes.untraced > self.settings.max_ignored {
            unjudged.push(format!(
                "{} drops are on paths that no trace has reached",
                causes.untraced
            ));
        }
        if verdicts.is_empty() && unsettled > self.settings.max_ignored {
            unjudged.push(format!("{unsettled} unsent probes are no evidence"));
        }
        if uncertain > 0 {
            unjudged.push(format!("{uncertain} drops are on paths that have probably changed"));
        }
        unjudged.extend(self.unanswered(&answers));
        sla.unjudged = Text::from(unjudged.join("; "));
        WindowDiagnosis {
            start_ns,
            sla,
            verdicts,
            places,
            anomalous_nics: anomalous.iter().map(|nic| self.names.nic_name(*nic)).collect(),
            coverage: self.cover(&cells, &votes),
        }
    }

    /// Returns the network latencies by pair of NICs and DSCP, and the host delays by host.
    fn times(&self, records: &[Record]) -> (Times, Times) {
        let Self { names, tuples, .. } = self;
        both(
            self.both,
            || Times::of(tuples.lanes.len(), latency::network(records, tuples)),
            || Times::of(names.hosts.len(), latency::processing(records, tuples, names)),
        )
    }

    /// Returns the hosts that have fallen silent.
    fn silent(&mut self, number: i64, records: &[Record]) -> Vec<Suspect> {
        let Self {
            silence,
            names,
            tuples,
            settings,
            ..
        } = self;
        let start_ns = number * settings.window_ns;
        let own = records.iter().filter(|record| record.is_of_sender());
        let probes = own.map(|record| {
            let src = tuples.all[record.tuple as usize].key.src;
            (names.nics[src as usize].host, start_ns + record.offset_ns())
        });
        silence.judge(number, names.hosts.len(), probes, settings)
    }

    /// Adds this window to the baselines.
    fn learn(&mut self, (network, processing): (&Times, &Times), records: &[Record], min_ns: i64, found: &Found) {
        let quiet = found.late.is_empty();
        let still = found.slow.is_empty();
        let (network_baseline, processing_baseline) = (&mut self.network, &mut self.processing);
        let senders = self.tuples.senders();
        let hosts: Vec<u32> = (0..).take(processing.medians.len()).collect();
        let tuples = &self.tuples;
        both(
            self.both,
            || {
                let steady = match quiet {
                    true => latency::steady(network, records, tuples, min_ns),
                    false => ByKey::default(),
                };
                network_baseline.learn(&steady, &network.medians, &senders, quiet);
            },
            || processing_baseline.learn(&processing.by_key, &processing.medians, &hosts, still),
        );
    }

    /// Returns the places that are late compared with their baseline; of the rest, those that are late compared with
    /// the reverse direction; and the slow hosts, by the medians of all.
    fn slow(
        &self,
        cells: &Cells,
        records: &[Record],
        of_hosts: (&[Option<i32>], i64),
        is_judged: bool,
    ) -> (Vec<Suspect>, Vec<Suspect>, Vec<Suspect>) {
        let Self {
            settings,
            tuples,
            names,
            processing,
            ..
        } = self;
        let (mut late, mut one_way) = (Vec::new(), Vec::new());
        if is_judged {
            let scan = |symptom| Scan::new(cells, tuples, names, settings, symptom);
            late = scan(Symptom::Latency).run(settings.max_verdicts);
            let mut rest = scan(Symptom::Asymmetry);
            for suspect in &late {
                rest.without(suspect.place);
            }
            one_way = rest.run(settings.max_verdicts);
        }
        let values = latency::processing(records, tuples, names);
        let slow = latency::slow_hosts(processing, values, of_hosts, settings);
        (late, one_way, slow)
    }

    /// Returns the places that explain the drops, the probes over no such place, and the drops that say nothing.
    fn lossy(&self, cells: &Cells, start_ns: i64) -> (Vec<Suspect>, Unexplained, u64) {
        let settings = &self.settings;
        let scan = Scan::new(cells, &self.tuples, &self.names, settings, Symptom::Loss);
        let (mut found, unexplained, unknown) = scan.lossy(cells, start_ns);
        let unreached = unreached(cells, &self.tuples, &self.names, settings, &found);
        found.extend(unreached);
        (found, unexplained, unknown)
    }

    /// Returns the loss that no suspect and no silent host explains.
    fn unlocated(&self, cells: &Cells, found: &Found, answers: &Answers, is_judged: bool) -> Option<Unlocated> {
        let known = Known {
            loss: &found.loss,
            silent: &found.silent,
            answers,
            is_judged,
        };
        Unlocated::of(cells, (&self.tuples, &self.names), &self.settings, known)
    }

    /// Whether a place is a NIC that the paper's rule calls anomalous at this time.
    pub(super) fn is_sticky(&self, place: FaultLocation, at_ns: i64) -> bool {
        match place {
            FaultLocation::Nic(nic) | FaultLocation::ToNic(nic) | FaultLocation::FromNic(nic) => {
                self.sticky.holds(nic, at_ns)
            }
            _ => false,
        }
    }
}
