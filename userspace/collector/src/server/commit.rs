//! The thread that writes: many parcels of many agents at a time, then one wait for the disk, then the
//! answers.

use super::agents::Seat;
use super::shared::Shared;
use crate::Error;
use crate::label::{Answer, Label, Outcome};
use rocescope_model::Cells;
use rocescope_store::{Batch, Error as StoreError, Numbered, Summary, Writer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Parcels written together, at most.
const MOST: usize = 4096;
/// How often open segments are looked at, and the analysis is asked, when nothing comes.
const TICK: Duration = Duration::from_millis(250);
/// Batches of the analysis that wait for a writer; beyond it the oldest are lost and counted.
const MOST_OWED: usize = 1000;

/// Sees the rows as they are stored, and may have rows of its own to store.
pub trait Analysis: Send {
    /// Rows that were stored just now. No row comes twice.
    fn stored(&mut self, rows: &Batch);

    /// Asked several times a second: rows that are due.
    fn due(&mut self) -> Vec<Rows>;

    /// Asked once, at the end.
    fn finish(&mut self) -> Vec<Rows>;
}

/// Rows of any table.
pub type Rows = Box<dyn Cells + Send>;

/// What became of a parcel, or why it must be sent again.
pub(super) type Verdict = Result<Answer, String>;

/// A parcel on its way to the disk.
pub(super) struct Parcel {
    pub(super) label: Label,
    pub(super) batch: Batch,
    /// What it took on the way here.
    pub(super) bytes: u64,
    pub(super) seat: Arc<Seat>,
    pub(super) verdict: oneshot::Sender<Verdict>,
    /// Its share of the bytes that may wait.
    pub(super) _room: OwnedSemaphorePermit,
}

/// The writing thread.
pub(super) struct Commit {
    shared: Arc<Shared>,
    /// `None` after it failed, until it is made again.
    writer: Option<Writer>,
    /// When it failed, and how.
    failed: Option<(Instant, String)>,
    analysis: Option<Box<dyn Analysis>>,
    /// What it wants stored and is not yet.
    owed: VecDeque<Rows>,
}

impl Commit {
    pub(super) fn new(
        shared: Arc<Shared>,
        writer: Writer,
        analysis: Option<Box<dyn Analysis>>,
    ) -> Self {
        Self {
            shared,
            writer: Some(writer),
            failed: None,
            analysis,
            owed: VecDeque::new(),
        }
    }

    /// Writes until nobody submits any more.
    pub(super) fn run(mut self, submitted: &Receiver<Parcel>) -> Result<Summary, Error> {
        loop {
            let mut parcels = Vec::new();
            match submitted.recv_timeout(TICK) {
                Ok(parcel) => parcels.push(parcel),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let until = Instant::now() + self.shared.settings.gather;
            while !parcels.is_empty() && parcels.len() < MOST {
                let rest = until.saturating_duration_since(Instant::now());
                match submitted.recv_timeout(rest) {
                    Ok(parcel) => parcels.push(parcel),
                    Err(_) => break,
                }
            }
            self.reopen();
            if !parcels.is_empty() {
                self.commit(parcels);
            }
            let due = self.analysis.as_mut().map(|analysis| analysis.due());
            self.append(due.unwrap_or_default());
            self.write(|writer| writer.rotate(Instant::now()));
        }
        let last = self.analysis.as_mut().map(|analysis| analysis.finish());
        self.append(last.unwrap_or_default());
        let summary = self.writer.map(Writer::finish);
        Ok(summary.unwrap_or_else(|| Ok(Summary::default()))?)
    }

    fn commit(&mut self, parcels: Vec<Parcel>) {
        let sync = self.shared.settings.sync;
        let new = self.write(|writer| store(writer, &parcels, sync));
        let totals = &self.shared.totals;
        let Some(new) = new else {
            totals.failed_parcels.add(parcels.len() as u64);
            let why = self.failed.as_ref().map(|(_, why)| why.clone());
            let why = why.unwrap_or_default();
            for parcel in parcels {
                let _ = parcel.verdict.send(Err(why.clone()));
            }
            return;
        };
        totals.commits.add(1);
        for (parcel, new) in parcels.into_iter().zip(new) {
            let rows = parcel.batch.rows() as u64;
            let outcome = if new {
                totals.rows.add(rows);
                totals.parcels.add(1);
                totals.bytes.add(parcel.bytes);
                parcel.seat.stored(rows);
                if let Some(analysis) = &mut self.analysis {
                    analysis.stored(&parcel.batch);
                }
                Outcome::Stored
            } else {
                totals.known_rows.add(rows);
                totals.known_parcels.add(1);
                Outcome::Known
            };
            let number = parcel.label.number;
            // That its agent has gone is no matter: it will ask again.
            let _ = parcel.verdict.send(Ok(Answer { number, outcome }));
        }
    }

    /// Stores rows of the analysis; while they cannot be, they wait.
    fn append(&mut self, rows: Vec<Rows>) {
        self.owed.extend(rows);
        while let Some(cells) = self.owed.pop_front() {
            if self
                .write(|w| w.append_cells(&*cells, Instant::now()))
                .is_none()
            {
                self.owed.push_front(cells);
                break;
            }
        }
        while self.owed.len() > MOST_OWED {
            let lost = self.owed.pop_front().map_or(0, |cells| cells.rows() as u64);
            let totals = &self.shared.totals;
            totals.lost_analysis_rows.add(lost);
        }
    }

    /// Does something with the writer. One that failed goes: it seals what it can, and the next one
    /// begins with what is really there.
    fn write<T>(&mut self, what: impl FnOnce(&mut Writer) -> Result<T, StoreError>) -> Option<T> {
        match what(self.writer.as_mut()?) {
            Ok(done) => Some(done),
            Err(error) => {
                self.writer = None;
                self.fail(&error);
                None
            }
        }
    }

    fn reopen(&mut self) {
        let settings = &self.shared.settings;
        let Some((when, _)) = &self.failed else {
            return;
        };
        if self.writer.is_some() || when.elapsed() < settings.retry {
            return;
        }
        match Writer::create(&settings.dataset, settings.options.clone()) {
            Ok(writer) => {
                (settings.tell)("the dataset can be written again");
                (self.writer, self.failed) = (Some(writer), None);
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &StoreError) {
        let why = error.to_string();
        let told = self.failed.as_ref().is_some_and(|(_, told)| *told == why);
        if !told {
            let line = format!("nothing is stored or acknowledged: {why}");
            (self.shared.settings.tell)(&line);
        }
        self.failed = Some((Instant::now(), why));
    }
}

/// Stores parcels, and waits for the disk if need be. Returns of each whether it was new.
fn store(writer: &mut Writer, parcels: &[Parcel], sync: bool) -> Result<Vec<bool>, StoreError> {
    // The intake let none in that is not one.
    let numbered = parcels.iter().filter_map(|parcel| {
        let Label { agent, number } = &parcel.label;
        Numbered::new(agent, number.epoch, number.sequence, &parcel.batch).ok()
    });
    let numbered: Vec<Numbered<'_>> = numbered.collect();
    let new = writer.append_numbered(&numbered, Instant::now())?;
    if sync {
        writer.sync()?;
    }
    Ok(new)
}
