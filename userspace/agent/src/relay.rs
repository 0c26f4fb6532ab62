//! Sends rows to a collector: through the spool, from which a thread sends them. A process has one.

use crate::error::{AgentError, Result};
use crate::part::Rows;
use rocescope_collector::control::Member;
use rocescope_collector::control::message::DroppedRows;
use rocescope_collector::{Files, Sender, Spool, sender, spool};
use rocescope_model::Cells;
use rocescope_runtime::status;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the end waits for the collector; rows it has not acknowledged by then stay in the spool.
pub const GRACE: Duration = Duration::from_secs(5);

/// Where rows go.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// The collector.
    pub url: String,
    /// Certificates and key of this host.
    pub files: Files,
    /// The directory of the spool.
    pub spool: PathBuf,
    /// Its maximum size.
    pub spool_bytes: u64,
}

/// The spool, and the thread that sends from it.
#[derive(Debug)]
pub struct Relay {
    spool: Arc<Spool>,
    sender: Sender,
    /// Reports dropped rows to the controller.
    member: Option<Arc<Member>>,
    dropped: DroppedRows,
    reported: (bool, Option<String>),
    refused_by_collector: Option<String>,
}

impl Relay {
    /// The relay of this host. If the collector is a controller, it configures `member`.
    ///
    /// # Errors
    /// The certificates are those of another host, the spool cannot be opened, or the URL is invalid.
    pub fn open(settings: RelaySettings, observer: &str, member: Option<Arc<Member>>) -> Result<Self> {
        let RelaySettings {
            url,
            files,
            spool,
            spool_bytes,
        } = settings;
        let spool = Arc::new(Spool::open(&spool, spool_bytes)?);
        files.check_observer(observer)?;
        let settings = sender::Settings::new(url, files, observer);
        let sender =
            Sender::start_with(Some(Arc::clone(&spool)), member.clone(), settings).map_err(AgentError::Collector)?;
        Ok(Self {
            spool,
            sender,
            member,
            dropped: DroppedRows::default(),
            reported: (false, None),
            refused_by_collector: None,
        })
    }

    /// Where any thread appends rows: to the spool. A full disk loses rows, which are counted, but ends nothing.
    #[must_use]
    pub fn rows(&self) -> Rows {
        spooled(Arc::clone(&self.spool))
    }

    /// Reports dropped rows, and a change of the connection to the collector.
    pub fn report_changes(&mut self) {
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
                let waiting = self.spool.counts().rows;
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
        let dropped = dropped(&self.spool.counts());
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
    #[must_use]
    pub fn finish(self) -> String {
        let status = self.sender.status();
        self.sender.finish(GRACE);
        let counts = self.spool.counts();
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

/// Appends rows to a spool. A reason why rows cannot be written is reported once, until there is another.
#[must_use]
pub fn spooled(spool: Arc<Spool>) -> Rows {
    let refused: Mutex<Option<String>> = Mutex::default();
    Rows::to(move |rows: &dyn Cells| {
        let Err(error) = spool.append(rows) else {
            return;
        };
        let why = error.to_string();
        let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.as_ref() != Some(&why) {
            status!("{why}");
            *refused = Some(why);
        }
    })
}
