//! Totals over the windows of a mesh, and of hosts.

use super::owners::OwnerMetrics;
use rocescope_model::{Over, Row, SlaRow, VerdictRow};
use rocescope_runtime::metrics::{OpenIncidents, WorstConnections};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The metrics of a diagnosis: the analysis adds windows, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct Diagnosed {
    sums: Arc<Mutex<Sums>>,
    incidents: OpenIncidents,
    owners: OwnerMetrics,
    worst: WorstConnections,
}

/// The values of the metrics.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Windows so far.
    pub(super) windows: u64,
    /// Windows that were analyzed again; no other value counts these analyses.
    pub(super) revised: u64,
    /// The sums over all windows; its times are meaningless.
    pub(super) total: SlaRow,
    /// Verdicts by class and kind of place.
    pub(super) verdicts: BTreeMap<(String, String), u64>,
    /// The last window.
    pub(super) last: Option<SlaRow>,
    /// Faults of hosts, by class.
    pub(super) host_faults: BTreeMap<&'static str, HostFaults>,
}

/// The faults of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostFaults {
    /// That began so far.
    pub(super) began: u64,
    /// That go on.
    pub(super) open: u64,
}

impl Diagnosed {
    /// Adds a window.
    pub fn add(&self, sla: &SlaRow, verdicts: &[VerdictRow]) {
        let mut sums = self.lock();
        sums.windows += 1;
        sums.total.merge(sla, Over::Time);
        for verdict in verdicts {
            let kind = (verdict.class.to_string(), verdict.place_kind.to_string());
            *sums.verdicts.entry(kind).or_default() += 1;
        }
        sums.last = Some(sla.clone());
    }

    /// Adds a window that was analyzed again: the sums have the rows that came in time.
    pub fn add_revised(&self) {
        self.lock().revised += 1;
    }

    /// Adds a window of the analysis of hosts: every class, the number of its faults that began, and of those that go on.
    pub fn add_hosts(&self, classes: impl IntoIterator<Item = (&'static str, u64, u64)>) {
        let mut sums = self.lock();
        for (class, began, open) in classes {
            let faults = sums.host_faults.entry(class).or_default();
            faults.began += began;
            faults.open = open;
        }
    }

    /// The open incidents, which the join of the analyses sets.
    #[must_use]
    pub fn incidents(&self) -> OpenIncidents {
        self.incidents.clone()
    }

    /// Traffic by owner, which the join with queue pairs sets.
    #[must_use]
    pub fn owners(&self) -> OwnerMetrics {
        self.owners.clone()
    }

    /// The worst connections, which the reader of captured connections sets.
    #[must_use]
    pub fn worst(&self) -> WorstConnections {
        self.worst.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sums> {
        // Sums are consistent after every addition, even if a thread panicked.
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
