//! The latency of RDMA operations, measured by a thread of its own: an operation may take longer than a probe may wait.

mod thread;

use super::settings::OperationSettings;
use crate::error::{Result, ensure};
use crate::worker::Worker;
use rocescope_collector::control::Member;
use rocescope_model::CounterRow;
use rocescope_probe::Nic;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// What was measured of an operation from a NIC to an address.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Tally {
    /// The NIC.
    pub(super) nic: String,
    /// The agent at the other end.
    pub(super) peer: String,
    /// The operation, and the address of the other end.
    pub(super) operation: String,
    /// Medians of five runs.
    pub(super) measured: u64,
    /// Operations that failed.
    pub(super) failed: u64,
    pub(super) min_ns: Option<u64>,
    pub(super) max_ns: Option<u64>,
}

/// The thread. It ends when this is dropped.
pub(super) struct Operating {
    rows: Receiver<CounterRow>,
    worker: Option<Worker<(), ()>>,
    /// By NIC and operation.
    tallies: BTreeMap<(String, String), Tally>,
}

impl Operating {
    /// Starts it, if it is asked for and a NIC is an RDMA device. The process must have given up its capabilities:
    /// devices take requests only from the credentials that opened them.
    pub(super) fn start(
        wanted: Option<&OperationSettings>,
        observer: &str,
        nics: &[(Nic, u32)],
        member: Option<&Arc<Member>>,
    ) -> Result<Option<Self>> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        ensure!(
            member.is_some() || wanted.peers.is_empty(),
            "`probe` has no controller that introduces other agents: run `rocescope agent`, or omit --operations-peers"
        );
        thread::start(wanted, observer, nics, member.cloned())
    }

    /// The rows since the last call.
    pub(super) fn rows(&mut self) -> Vec<CounterRow> {
        let rows: Vec<CounterRow> = self.rows.try_iter().collect();
        for row in &rows {
            let nic = row.netdev.as_deref().unwrap_or_default().to_owned();
            let operation = row.name.to_string();
            let tally = self.tallies.entry((nic.clone(), operation.clone())).or_default();
            (tally.nic, tally.operation) = (nic, operation);
            tally.peer = row.text.as_deref().unwrap_or_default().to_owned();
            let Some(nanos) = row.raw_value.and_then(|raw| u64::try_from(raw).ok()) else {
                tally.failed += 1;
                continue;
            };
            tally.measured += 1;
            tally.min_ns = Some(tally.min_ns.map_or(nanos, |least| least.min(nanos)));
            tally.max_ns = tally.max_ns.max(Some(nanos));
        }
        rows
    }

    /// What was measured so far.
    pub(super) fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.tallies.values()
    }

    /// Ends the thread; the rest of the rows remains.
    pub(super) fn end(&mut self) {
        // A thread that failed has reported it.
        let _ = self.worker.take().map(Worker::end);
    }
}

impl Drop for Operating {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::{CounterRow, Operating};
    use std::collections::BTreeMap;
    use std::sync::mpsc::channel;

    #[test]
    fn what_was_measured_and_what_failed_are_told_apart() {
        let (send, rows) = channel();
        let mut operating = Operating {
            rows,
            worker: None,
            tallies: BTreeMap::new(),
        };
        for raw_value in [Some(7_000), None, Some(5_000), Some(9_000)] {
            let row = CounterRow {
                netdev: Some("rail0".into()),
                name: "write 10.0.0.2".into(),
                text: Some("h1".into()),
                raw_value,
                ..CounterRow::default()
            };
            send.send(row).unwrap();
        }
        assert_eq!(operating.rows().len(), 4);
        assert_eq!(operating.rows().len(), 0);
        let tallies: Vec<_> = operating.tallies().collect();
        assert_eq!(tallies.len(), 1);
        let found = (
            tallies[0].measured,
            tallies[0].failed,
            tallies[0].min_ns,
            tallies[0].max_ns,
        );
        assert_eq!(found, (3, 1, Some(5_000), Some(9_000)));
    }
}
