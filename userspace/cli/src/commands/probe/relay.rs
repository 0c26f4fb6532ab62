//! Rows to a collector: into the spool, from where a thread sends them.

use crate::arguments::SendArguments;
use crate::say;
use anyhow::{Context, Result};
use rocescope_collector::{Files, Sender, Spool, sender};
use rocescope_model::Cells;
use std::sync::Arc;
use std::time::Duration;

/// How long the end waits for the collector; what it has not acknowledged by then waits in the spool.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Relay {
    spool: Arc<Spool>,
    sender: Sender,
    told: (bool, Option<String>),
    refused: Option<String>,
}

impl Relay {
    /// What is asked for, if it is.
    pub(super) fn open(arguments: &SendArguments, observer: &str) -> Result<Option<Self>> {
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
        let settings = sender::Settings::new(url, files, observer);
        let sender = Sender::start(Arc::clone(&spool), settings).context("the collector")?;
        Ok(Some(Self {
            spool,
            sender,
            told: (false, None),
            refused: None,
        }))
    }

    /// Takes rows. A full disk costs rows, which are counted, and does not end probing.
    pub(super) fn append(&mut self, rows: &dyn Cells) {
        if rows.rows() > 0
            && let Err(error) = self.spool.append(rows)
        {
            let why = error.to_string();
            if self.refused.as_ref() != Some(&why) {
                say!("{why}");
                self.refused = Some(why);
            }
        }
    }

    /// Says what has changed between here and the collector.
    pub(super) fn look(&mut self) {
        let status = self.sender.status();
        let now = (status.connected, status.last_error);
        if now == self.told {
            return;
        }
        match &now {
            (true, _) if !self.told.0 => say!("the collector takes our rows"),
            (false, Some(why)) => {
                let waiting = self.spool.counts().rows;
                say!("the collector does not take our rows, {waiting} wait: {why}");
            }
            _ => {}
        }
        self.told = now;
    }

    /// Sends what waits, for a while, and says what became of everything.
    pub(super) fn finish(self) -> String {
        let status = self.sender.status();
        self.sender.finish(GRACE);
        let counts = self.spool.counts();
        let mut text = format!(
            "collector: {} rows acknowledged, {} wait in the spool",
            counts.acknowledged_rows, counts.rows
        );
        for (rows, why) in [
            (counts.dropped_full_rows, "dropped, the spool was full"),
            (counts.dropped_disk_rows, "dropped, the disk was full"),
            (counts.dropped_damaged_rows, "dropped, damaged on the disk"),
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
