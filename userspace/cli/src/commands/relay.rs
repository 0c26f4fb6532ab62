//! Sends rows to a collector: through the spool, from which a thread sends them. A process has one.

use crate::arguments::SendArguments;
use anyhow::{Context, Result};
use rocescope_collector::control::Member;
use rocescope_collector::control::message::DroppedRows;
use rocescope_collector::{Files, Sender, Spool, sender, spool};
use rocescope_model::Cells;
use rocescope_runtime::status;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the end waits for the collector; rows it has not acknowledged by then stay in the spool.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Relay {
    spooler: Spooler,
    sender: Sender,
    /// Reports dropped rows to the controller.
    member: Option<Arc<Member>>,
    dropped: DroppedRows,
    reported: (bool, Option<String>),
    refused_by_collector: Option<String>,
}

/// Writes rows to the spool; each thread that makes rows has one.
#[derive(Clone)]
pub(super) struct Spooler {
    spool: Arc<Spool>,
    /// The last reason why rows could not be written.
    refused: Arc<Mutex<Option<String>>>,
}

impl Spooler {
    /// Appends rows to the spool. A full disk loses rows, which are counted, but ends nothing.
    pub(super) fn append(&self, rows: &dyn Cells) {
        if rows.rows() == 0 {
            return;
        }
        if let Err(error) = self.spool.append(rows) {
            let why = error.to_string();
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused.as_ref() != Some(&why) {
                status!("{why}");
                *refused = Some(why);
            }
        }
    }
}

impl Relay {
    /// The relay, if a collector is set. If that is a controller, it configures `member`.
    pub(super) fn open(arguments: &SendArguments, observer: &str, member: Option<Arc<Member>>) -> Result<Option<Self>> {
        let SendArguments {
            collector: Some(url),
            cert: Some(certificate),
            key: Some(key),
            ca: Some(authority),
            spool: Some(directory),
            spool_bytes,
        } = arguments.clone()
        else {
            return Ok(None);
        };
        let spool = Arc::new(Spool::open(&directory, spool_bytes)?);
        let files = Files {
            certificate,
            key,
            authority,
        };
        files.check_observer(observer)?;
        let settings = sender::Settings::new(url, files, observer);
        let sender = Sender::start_with(Some(Arc::clone(&spool)), member.clone(), settings).context("the collector")?;
        Ok(Some(Self {
            spooler: Spooler {
                spool,
                refused: Arc::default(),
            },
            sender,
            member,
            dropped: DroppedRows::default(),
            reported: (false, None),
            refused_by_collector: None,
        }))
    }

    /// A handle that writes rows from any thread.
    pub(super) fn spooler(&self) -> Spooler {
        self.spooler.clone()
    }

    /// Reports dropped rows, and a change of the connection to the collector.
    pub(super) fn report_changes(&mut self) {
        self.report_dropped();
        let status = self.sender.status();
        if let Some(why) = &status.last_refusal
            && status.last_refusal != self.refused_by_collector
        {
            status!("collector refused rows: {why}");
            self.refused_by_collector.clone_from(&status.last_refusal);
        }
        let now = (status.connected, status.last_error);
        if now == self.reported {
            return;
        }
        match &now {
            (true, _) if !self.reported.0 => status!("collector connected"),
            (false, Some(why)) => {
                let waiting = self.spooler.spool.counts().rows;
                let what = match status.was_reached {
                    true => "the connection to the collector ended",
                    false => "collector unreachable",
                };
                status!("{what}; {waiting} rows spooled: {why}");
            }
            _ => {}
        }
        self.reported = now;
    }

    /// Reports dropped rows to the controller, and the first that a full spool drops to the log.
    fn report_dropped(&mut self) {
        let dropped = dropped(&self.spooler.spool.counts());
        if dropped == self.dropped {
            return;
        }
        if self.dropped.spool_full == 0 && dropped.spool_full > 0 {
            status!(
                "the spool is full: its oldest rows are dropped, {} so far; --spool-bytes sets its size",
                dropped.spool_full
            );
        }
        if let Some(member) = &self.member {
            member.has_dropped(dropped);
        }
        self.dropped = dropped;
    }

    /// Sends spooled rows for a limited time; returns the final counts.
    pub(super) fn finish(self) -> String {
        let status = self.sender.status();
        self.sender.finish(GRACE);
        let counts = self.spooler.spool.counts();
        let mut text = format!(
            "collector: {} rows acknowledged, {} left in the spool",
            counts.acknowledged_rows, counts.rows
        );
        for (why, rows) in dropped(&counts).reasons() {
            if rows > 0 {
                text += &format!(", {rows} dropped: {}", why.replace('_', " "));
            }
        }
        if let Some(why) = status.last_refusal {
            text += &format!(" ({why})");
        }
        text
    }
}

/// The rows that left a spool in another way than to the collector.
fn dropped(counts: &spool::Counts) -> DroppedRows {
    DroppedRows {
        spool_full: counts.dropped_full_rows,
        disk_full: counts.dropped_disk_rows,
        damaged: counts.dropped_damaged_rows,
        refused: counts.refused_rows,
    }
}
