//! Whose traffic is, as the rows of a collector come: for its incidents, and as metrics of each minute, beside those of the
//! worst connections.

use crate::{Error, Input, Reads};
use rocescope_collector::metrics::Diagnosed;
use rocescope_collector::metrics::owners::{MAX_OWNERS, OwnerMetrics, Window};
use rocescope_diagnose::growth::Growth;
use rocescope_diagnose::owners::Owners;
use rocescope_diagnose::owners::traffic::Traffic;
use rocescope_model::time::MINUTE_NS;
use rocescope_model::{Cells as _, Column, ConnectionRow, QueuePairRow, Row};
use rocescope_runtime::metrics::WorstConnections;
use rocescope_store::{Batch, Scan, TimeRange};

/// Queue pairs and their owners, and what they sent since the last minute began.
pub(super) struct Owned {
    pub(super) owners: Owners,
    growth: Growth,
    traffic: Traffic,
    metrics: OwnerMetrics,
    worst: WorstConnections,
    /// Length of a window, and when the open one began.
    window_ns: i64,
    begun_ns: i64,
}

impl Owned {
    /// Windows are shorter by `scale`.
    pub(super) fn new(metrics: &Diagnosed, scale: u16, now_ns: i64) -> Self {
        Self {
            owners: Owners::default(),
            growth: Growth::default(),
            traffic: Traffic::default(),
            metrics: metrics.owners(),
            worst: metrics.worst(),
            window_ns: MINUTE_NS / i64::from(scale.max(1)),
            begun_ns: now_ns,
        }
    }

    /// Reads what an earlier collector stored: what its rows count has been counted.
    pub(super) fn resume(&mut self, found: &Scan, time: TimeRange) -> Result<(), Error> {
        Input::new::<QueuePairRow>().read(self, found, time)?;
        Input::new::<ConnectionRow>().read(self, found, time)?;
        self.traffic.take(0);
        self.worst.clear();
        Ok(())
    }

    /// Takes rows, if they are of a table that it reads.
    pub(super) fn stored(&mut self, rows: &Batch) {
        let table = rows.table();
        if table == QueuePairRow::TABLE {
            Input::new::<QueuePairRow>().feed(self, rows);
        } else if table == ConnectionRow::TABLE {
            Input::new::<ConnectionRow>().feed(self, rows);
        }
    }

    /// Sets the metrics, if a window has ended; none of owners as long as no agent reports queue pairs.
    pub(super) fn due(&mut self, now_ns: i64) {
        let length_ns = now_ns.saturating_sub(self.begun_ns);
        if length_ns < self.window_ns {
            return;
        }
        self.begun_ns = now_ns;
        self.worst.end();
        let owners = self.traffic.take(MAX_OWNERS);
        if !self.owners.is_empty() {
            self.metrics.set(Window {
                length_ns,
                owners,
                crowded_out: self.growth.crowded_out(),
            });
        }
    }

    /// Forgets what ended before a time.
    pub(super) fn forget(&mut self, before_ns: i64) {
        self.owners.forget(before_ns);
        self.growth.forget(before_ns);
    }
}

impl Reads<QueuePairRow> for Owned {
    fn is_read(column: &Column) -> bool {
        <Owners as Reads<QueuePairRow>>::is_read(column)
    }

    fn time_ns(row: &QueuePairRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &QueuePairRow) {
        self.owners.row(row);
    }
}

impl Reads<ConnectionRow> for Owned {
    fn is_read(column: &Column) -> bool {
        const READ: [&str; 18] = [
            "observer",
            "connection",
            "role",
            "state",
            "src",
            "dst",
            "src_qpn",
            "dst_qpn",
            "time_ns",
            "first_ns",
            "last_ns",
            "packets",
            "payload_bytes",
            "retransmitted_packets",
            "fabric_lost_upstream_packets",
            "fabric_lost_downstream_packets",
            "unanswered_packets",
            "rtt_p99_ns",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &ConnectionRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &ConnectionRow) {
        if let Some(grown) = self.growth.row(row) {
            let (lost, retransmitted) = (grown.fabric_lost_packets, grown.retransmitted_packets);
            self.worst.add(row, lost, retransmitted);
            self.traffic.add(row, grown, &self.owners);
        }
    }
}
