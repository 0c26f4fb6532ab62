//! The analysis of a window whose rows are all there.

use super::analyzer::Analyzer;
use super::cells::Cells;
use super::coverage::Coverage;
use super::flows::Where;
use super::latency;
use super::paper::{Votes, attribute};
use super::place::Place;
use super::record::Window;
use super::suspects::{Scan, Suspect, Symptom};
use super::untraced::unreached;
use super::verdict::Bench;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{SlaRow, Text, VerdictRow};

/// What a window showed.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowDiagnosis {
    /// Start of the window.
    pub start_ns: i64,
    /// Its row of `sla`.
    pub sla: SlaRow,
    /// Its rows of `verdicts`, the likeliest first.
    pub verdicts: Vec<VerdictRow>,
    /// The place of each verdict.
    pub places: Vec<Where>,
    /// NICs that are anomalous by the paper's rule in this window, as `host/nic`.
    pub anomalous_nics: Vec<String>,
    /// Every learnt link, by number; [`Analyzer::link_rows`] makes rows of it.
    pub coverage: Vec<Coverage>,
}

impl Analyzer {
    pub(super) fn analyse(&mut self, number: i64, window: &Window) -> WindowDiagnosis {
        let start_ns = number * self.settings.window_ns;
        let end_ns = start_ns + self.settings.window_ns;
        let records = &window.records;
        let mut cells = Cells::group(records, start_ns, &self.tuples);
        let mut sla = self.totals(number, &cells, window);

        let nics = self.names.nics.len();
        let anomalous = self
            .sticky
            .judge(&cells, &self.tuples, &self.settings, nics, end_ns);
        let causes = attribute(&self.sticky, &mut cells, records, &self.tuples, start_ns);
        let votes = Votes::cast(&cells, &self.tuples, &self.names, &self.settings);

        let mut unjudged = Vec::new();
        let enough = u64::try_from(records.len()).unwrap_or(u64::MAX) >= self.settings.least_window;
        if !enough {
            let least = self.settings.least_window;
            unjudged.push(format!("only {} probes, {least} are needed", records.len()));
        }
        let least_ns = self.settings.least_late_ns.max(2 * window.clock_error_ns);
        let margin = self.network.margin_ns(least_ns);
        if let Some(margin) = margin {
            latency::mark(&self.network, &mut cells, records, &self.tuples, margin);
        }
        let (mut loss, mut late, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        if enough {
            loss = self.lossy(&cells, end_ns);
            let (tuples, names) = (&self.tuples, &self.names);
            let settings = &self.settings;
            match margin {
                None => unjudged.push("latency: no window to compare with yet".into()),
                Some(_) => {
                    let mut scan = Scan::new(&cells, tuples, names, settings, Symptom::Latency);
                    late = scan.run(settings.most_verdicts);
                }
            }
            if let Some(margin) = self.processing.margin_ns(settings.least_late_ns) {
                let values = latency::processing(records, tuples, names);
                let hosts = names.hosts.len();
                slow = latency::slow_hosts(&self.processing, values, hosts, settings, margin);
            }
            let values = latency::network(records, tuples);
            self.network
                .learn(tuples.pairs.len(), values, late.is_empty());
            let values = latency::processing(records, tuples, names);
            self.processing
                .learn(names.hosts.len(), values, slow.is_empty());
        }

        let history = core::mem::take(&mut self.history);
        let (verdicts, places, history) = Bench {
            analyzer: &*self,
            history,
            cells: &cells,
            records,
            votes: &votes,
            start_ns,
            late: &late,
        }
        .verdicts([
            (Symptom::Loss, &loss),
            (Symptom::Latency, &late),
            (Symptom::Delay, &slow),
        ]);
        self.history = history;
        self.history.forget(start_ns, self.settings.window_ns);
        Self::drops(&mut sla, causes, &anomalous);
        sla.verdicts = u64::try_from(verdicts.len()).unwrap_or(u64::MAX);
        if verdicts.is_empty() && causes.untraced > self.settings.most_ignored {
            unjudged.push(format!(
                "{} drops lie on paths that no trace has reached",
                causes.untraced
            ));
        }
        sla.unjudged = Text::from(unjudged.join("; "));
        WindowDiagnosis {
            start_ns,
            sla,
            verdicts,
            places,
            anomalous_nics: anomalous
                .iter()
                .map(|nic| self.names.nic_name(*nic))
                .collect(),
            coverage: self.cover(&cells, &votes),
        }
    }

    /// The places that explain the drops. Probes of a NIC that was at fault within the last minute say nothing
    /// of links and switches, as by the paper's rule, whatever becomes of the NIC.
    fn lossy(&self, cells: &Cells, end_ns: i64) -> Vec<Suspect> {
        let settings = &self.settings;
        let mut scan = Scan::new(cells, &self.tuples, &self.names, settings, Symptom::Loss);
        let start_ns = end_ns - settings.window_ns;
        let lately = self.history.nics_since(start_ns - settings.sticky_ns);
        let mut found: Vec<Suspect> = lately.iter().filter_map(|nic| scan.of_nic(*nic)).collect();
        for nic in lately {
            scan.without(Place::Nic(nic));
        }
        let most = settings.most_verdicts.saturating_sub(found.len());
        found.extend(scan.run(most));
        let unreached = unreached(cells, &self.tuples, &self.names, settings, &found);
        found.extend(unreached);
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(settings.most_verdicts);
        found
    }

    /// Whether a place is a NIC that is anomalous by the paper's rule at a time.
    pub(super) fn is_sticky(&self, place: Place, at_ns: i64) -> bool {
        match place {
            Place::Nic(nic) | Place::ToNic(nic) | Place::FromNic(nic) => {
                self.sticky.holds(nic, at_ns)
            }
            _ => false,
        }
    }
}
