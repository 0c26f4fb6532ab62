//! The analysis of collectives: their steps. What the network showed meanwhile is read after the steps that it is
//! joined with, by [`diagnosis`].

pub mod diagnosis;
pub mod samples;

use crate::{Analysis, Input, Reads};
use rocescope_collective::hang::{Hang, Hangs};
use rocescope_collective::names::{Hosts, Names};
use rocescope_collective::read::nccl_ras;
use rocescope_collective::steps::{Builder, Steps};
use rocescope_model::{StepRow, Time};
use std::collections::BTreeMap;

/// Collects the steps of each collective.
#[derive(Debug, Default)]
pub struct Collectives {
    names: Names,
    hosts: Hosts,
    open: BTreeMap<String, Collective>,
    hangs: Hangs,
}

/// A collective.
#[derive(Debug, Clone, PartialEq)]
pub struct Collective {
    /// Its name.
    pub name: String,
    /// The start of its first step.
    pub start_ns: i64,
    /// The end of its last one.
    pub end_ns: i64,
    steps: Builder,
}

impl Collectives {
    /// Hosts have these names.
    #[must_use]
    pub fn new(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// The collectives that hang, after the last row.
    #[must_use]
    pub fn hangs(&self) -> Vec<Hang> {
        self.hangs.find()
    }

    /// Whether there are reports of NCCL's RAS.
    #[must_use]
    pub fn has_counts(&self) -> bool {
        self.hangs.has_counts()
    }

    /// The steps of a collective, after the last row.
    #[must_use]
    pub fn steps(&self, collective: Collective) -> Steps {
        let mut steps = collective.steps.finish();
        self.hosts.name(&mut steps);
        steps
    }
}

impl Analysis for Collectives {
    type Report = Collective;

    const INPUTS: &'static [Input<Self>] = &[Input::new::<StepRow>()];
    const HAS_WINDOWS: bool = false;

    fn start(report: &Collective) -> Time {
        Time(report.start_ns)
    }

    fn finish(&mut self) -> Option<Collective> {
        self.open.pop_first().map(|(_, collective)| collective)
    }
}

impl Reads<StepRow> for Collectives {
    fn time_ns(row: &StepRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &StepRow) {
        self.names.learn(row, &mut self.hosts);
        self.hangs.add(row);
        if *row.format == *nccl_ras::FORMAT {
            // Counts of calls, which belong to no collective.
            return;
        }
        if !self.open.contains_key(&*row.collective) {
            let collective = Collective {
                name: row.collective.to_string(),
                start_ns: i64::MAX,
                end_ns: i64::MIN,
                steps: Builder::default(),
            };
            self.open.insert(collective.name.clone(), collective);
        }
        if let Some(collective) = self.open.get_mut(&*row.collective) {
            collective.steps.add(row);
            if row.step > 0 {
                let end_ns = row.time_ns.saturating_add(row.duration_ns.unwrap_or(0));
                collective.start_ns = row.time_ns.min(collective.start_ns);
                collective.end_ns = end_ns.max(collective.end_ns);
            }
        }
    }
}
