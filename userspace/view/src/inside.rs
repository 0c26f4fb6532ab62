//! Loopback tests inside hosts, and what they show: the rows of the pane, with the diagnosis of each host.

use rocescope_diagnose::hostping::rows::{Run, runs};
use rocescope_diagnose::hostping::{Document, Judge, Rule};
use rocescope_model::LoopbackRow;

/// The last run of each host.
#[derive(Debug, Default)]
pub struct Inside {
    /// The tests.
    pub rows: Vec<LoopbackRow>,
    /// The diagnosis of each host, by the seed's threshold.
    pub hosts: Vec<(String, Document)>,
}

impl Inside {
    /// Diagnoses these rows: one run of each host.
    #[must_use]
    pub fn new(rows: Vec<LoopbackRow>) -> Self {
        let hosts = runs(rows.clone()).into_iter().map(|(host, _, rows)| {
            let run = Run::of(&rows);
            let judge = Judge {
                topology: &run.topology,
                baseline: Some(&run.baseline),
                rule: Rule::SEED,
                busy: &run.busy,
                loads: &run.loads,
            };
            let diagnosis = judge.diagnose(&run.measured);
            (host, Document::of(&run.topology, &run.measured, &diagnosis))
        });
        Self {
            hosts: hosts.collect(),
            rows,
        }
    }

    /// The diagnosis of a host.
    #[must_use]
    pub fn of(&self, host: &str) -> Option<&Document> {
        self.hosts.iter().find(|(name, _)| name == host).map(|(_, found)| found)
    }

    /// Number of hosts with an abnormal link.
    #[must_use]
    pub fn abnormal_hosts(&self) -> u64 {
        let abnormal = self.hosts.iter().filter(|(_, found)| !found.causes.is_empty());
        abnormal.count() as u64
    }
}
