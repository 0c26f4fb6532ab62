//! Sends rows to a collector: through the spool, from which a thread sends them. A process has one.

use crate::arguments::SendArguments;
use crate::status;
use anyhow::{Context, Result};
use rocescope_collector::control::Member;
use rocescope_collector::{Files, Sender, Spool, sender};
use rocescope_model::Cells;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the end waits for the collector; rows it has not acknowledged by then stay in the spool.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Relay {
    spooler: Spooler,
    sender: Sender,
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
        let sender = Sender::start_with(Some(Arc::clone(&spool)), member, settings).context("the collector")?;
        Ok(Some(Self {
            spooler: Spooler {
                spool,
                refused: Arc::default(),
            },
            sender,
            reported: (false, None),
            refused_by_collector: None,
        }))
    }

    /// A handle that writes rows from any thread.
    pub(super) fn spooler(&self) -> Spooler {
        self.spooler.clone()
    }

    /// Reports a change of the connection to the collector.
    pub(super) fn report_changes(&mut self) {
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

    /// Sends spooled rows for a limited time; returns the final counts.
    pub(super) fn finish(self) -> String {
        let status = self.sender.status();
        self.sender.finish(GRACE);
        let counts = self.spooler.spool.counts();
        let mut text = format!(
            "collector: {} rows acknowledged, {} left in the spool",
            counts.acknowledged_rows, counts.rows
        );
        for (rows, why) in [
            (counts.dropped_full_rows, "dropped: spool full"),
            (counts.dropped_disk_rows, "dropped: disk full"),
            (counts.dropped_damaged_rows, "dropped: damaged on disk"),
            (counts.refused_rows, "refused"),
        ] {
            if rows > 0 {
                text += &format!(", {rows} {why}");
            }
        }
        if let Some(why) = status.last_refusal {
            text += &format!(" ({why})");
        }
        text
    }
}
