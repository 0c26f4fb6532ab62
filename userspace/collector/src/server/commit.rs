//! The writing thread: writes parcels of many agents together, syncs once, then answers.

use super::agents::Slot;
use super::order::Order;
use super::shared::Shared;
use crate::Error;
use crate::label::{Answer, Label, Outcome};
use rocescope_model::Cells;
use rocescope_store::{Batch, Error as StoreError, Numbered, Summary, Writer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Maximum parcels written together.
const MAX_PARCELS: usize = 4096;
/// How often an idle thread checks open segments and the analysis.
const TICK: Duration = Duration::from_millis(250);
/// Maximum batches of the analysis that wait for the writer; the oldest beyond it are dropped and counted.
const MAX_QUEUED: usize = 1000;

/// Receives rows as they are stored, and may return rows of its own to store.
pub trait Analysis: Send {
    /// Rows that were stored just now. No row is passed again.
    fn stored(&mut self, rows: &Batch);

    /// Called several times a second: returns rows that are due.
    fn due(&mut self) -> Vec<Rows>;

    /// Called once, at the end.
    fn finish(&mut self) -> Vec<Rows>;
}

/// Rows of any table.
pub type Rows = Box<dyn Cells + Send>;

/// The answer to a parcel, or why the agent has to send it again.
pub(super) type CommitResult = Result<Answer, String>;

/// A parcel on its way to the disk.
pub(super) struct Parcel {
    pub(super) label: Label,
    pub(super) batch: Batch,
    /// Its bytes on the wire.
    pub(super) bytes: u64,
    pub(super) slot: Arc<Slot>,
    /// Whether it may be stored: no earlier parcel of its stream failed.
    pub(super) order: Arc<Order>,
    pub(super) answer_to: oneshot::Sender<CommitResult>,
    /// Its share of the queue's bytes.
    pub(super) _room: OwnedSemaphorePermit,
}

/// The writing thread.
pub(super) struct Commit {
    shared: Arc<Shared>,
    /// `None` from a failure until it is opened again.
    writer: Option<Writer>,
    /// Time and reason of the failure.
    failed: Option<(Instant, String)>,
    analysis: Option<Box<dyn Analysis>>,
    /// Rows of the analysis that are not stored yet.
    queued: VecDeque<Rows>,
}

impl Commit {
    pub(super) fn new(shared: Arc<Shared>, writer: Writer, analysis: Option<Box<dyn Analysis>>) -> Self {
        Self {
            shared,
            writer: Some(writer),
            failed: None,
            analysis,
            queued: VecDeque::new(),
        }
    }

    /// Writes until every submitter is gone.
    pub(super) fn run(mut self, submitted: &Receiver<Parcel>) -> Result<Summary, Error> {
        loop {
            let mut parcels = Vec::new();
            match submitted.recv_timeout(TICK) {
                Ok(parcel) => parcels.push(parcel),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let until = Instant::now() + self.shared.settings.gather;
            while !parcels.is_empty() && parcels.len() < MAX_PARCELS {
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
        let (parcels, behind): (Vec<Parcel>, Vec<Parcel>) =
            parcels.into_iter().partition(|parcel| !parcel.order.is_broken());
        self.fail_parcels(behind, "an earlier parcel of the stream was not stored");
        if parcels.is_empty() {
            return;
        }
        let sync = self.shared.settings.sync;
        let make_room = Arc::clone(&self.shared.settings.make_room);
        let new = self.write(|writer| {
            make_room()?;
            store(writer, &parcels, sync)
        });
        let Some(new) = new else {
            let why = self.failed.as_ref().map(|(_, why)| why.clone());
            self.fail_parcels(parcels, &why.unwrap_or_default());
            return;
        };
        let totals = &self.shared.totals;
        totals.commits.add(1);
        for (parcel, new) in parcels.into_iter().zip(new) {
            let rows = parcel.batch.rows() as u64;
            let outcome = if new {
                totals.rows.add(rows);
                totals.parcels.add(1);
                totals.bytes.add(parcel.bytes);
                parcel.slot.stored(rows);
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
            // An agent that disconnected meanwhile will send it again.
            let _ = parcel.answer_to.send(Ok(Answer { number, outcome }));
        }
    }

    /// Leaves parcels with their agents, and so all that follow them in their streams.
    fn fail_parcels(&self, parcels: Vec<Parcel>, why: &str) {
        self.shared.totals.failed_parcels.add(parcels.len() as u64);
        for parcel in parcels {
            parcel.order.break_off();
            let _ = parcel.answer_to.send(Err(why.to_owned()));
        }
    }

    /// Stores rows of the analysis; rows that cannot be stored wait.
    fn append(&mut self, rows: Vec<Rows>) {
        self.queued.extend(rows);
        while let Some(cells) = self.queued.pop_front() {
            if self.write(|w| w.append_cells(&*cells, Instant::now())).is_none() {
                self.queued.push_front(cells);
                break;
            }
        }
        while self.queued.len() > MAX_QUEUED {
            let lost = self.queued.pop_front().map_or(0, |cells| cells.rows() as u64);
            let totals = &self.shared.totals;
            totals.lost_analysis_rows.add(lost);
        }
    }

    /// Uses the writer. A writer that fails is dropped, which seals what it can; the next one starts from what is on
    /// disk.
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
        let created = (settings.make_room)().and_then(|()| Writer::create(&settings.dataset, settings.options.clone()));
        match created {
            Ok(writer) => {
                (settings.status)("the dataset is writable again");
                self.shared.storing_stopped.store(false, Ordering::Relaxed);
                (self.writer, self.failed) = (Some(writer), None);
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &StoreError) {
        let why = error.to_string();
        let known = self.failed.as_ref().is_some_and(|(_, known)| *known == why);
        if !known {
            let line = format!("cannot store rows, so agents keep them: {why}");
            (self.shared.settings.status)(&line);
        }
        self.shared.storing_stopped.store(true, Ordering::Relaxed);
        self.failed = Some((Instant::now(), why));
    }
}

/// Stores parcels, and syncs if asked to. Returns for each whether it was new.
fn store(writer: &mut Writer, parcels: &[Parcel], sync: bool) -> Result<Vec<bool>, StoreError> {
    // The intake admitted only valid numbers.
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

#[cfg(test)]
mod tests {
    use super::{Commit, CommitResult, Parcel};
    use crate::label::{Label, Number, Outcome};
    use crate::server::agents::Agents;
    use crate::server::order::Order;
    use crate::server::refusal::Refusals;
    use crate::server::shared::Shared;
    use crate::server::{Settings, totals::Totals};
    use crate::tls::{Files, Identity};
    use rocescope_model::{ProbeRow, Time};
    use rocescope_store::{Error, Parcel as Encoded, Writer, parcel, scan};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
    use tokio::sync::{Semaphore, oneshot};

    /// A collector whose disk is full while `is_full` is set.
    fn collector(dataset: &Path, is_full: &Arc<AtomicBool>) -> Commit {
        let files = Files {
            certificate: "c".into(),
            key: "k".into(),
            authority: "a".into(),
        };
        let mut settings = Settings::new(([127, 0, 0, 1], 0).into(), files, dataset.to_owned());
        settings.retry = Duration::ZERO;
        let is_full = Arc::clone(is_full);
        settings.make_room = Arc::new(move || match is_full.load(Ordering::Relaxed) {
            true => Err(Error::NoSpace {
                action: "write",
                path: "dataset".into(),
            }),
            false => Ok(()),
        });
        let writer = Writer::create(&settings.dataset, settings.options.clone()).unwrap();
        let shared = Shared {
            agents: Agents::new(1),
            refusals: Refusals::new(Arc::clone(&settings.status)),
            totals: Totals::default(),
            waiting: Arc::new(Semaphore::new(1)),
            storing_stopped: AtomicBool::new(false),
            controller: None,
            seats: Arc::default(),
            settings,
        };
        Commit::new(Arc::new(shared), writer, None)
    }

    /// Submits the parcels of these sequences together; returns the answers.
    fn commit(commit: &mut Commit, order: &Arc<Order>, sequences: &[i64]) -> Vec<CommitResult> {
        let (parcels, answers): (Vec<Parcel>, Vec<_>) = sequences
            .iter()
            .map(|sequence| {
                let row = ProbeRow {
                    observer: "h0".into(),
                    time: Time(1_795_228_209_000_000_000),
                    sequence: sequence.unsigned_abs(),
                    ..ProbeRow::default()
                };
                let bytes = parcel::encode(&vec![row], 1).unwrap().remove(0).1;
                let (answer_to, answer) = oneshot::channel();
                let parcel = Parcel {
                    label: Label {
                        agent: "h0".into(),
                        number: Number {
                            epoch: 1,
                            sequence: *sequence,
                        },
                    },
                    batch: Encoded::split(&bytes).unwrap().open().unwrap(),
                    bytes: bytes.len() as u64,
                    slot: Agents::guest(Identity::named("h0"), ([127, 0, 0, 1], 1).into()),
                    order: Arc::clone(order),
                    answer_to,
                    _room: Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(),
                };
                (parcel, answer)
            })
            .unzip();
        commit.reopen();
        commit.commit(parcels);
        answers
            .into_iter()
            .map(|mut answer| answer.try_recv().unwrap())
            .collect()
    }

    fn outcomes(answers: Vec<CommitResult>) -> Vec<Outcome> {
        answers.into_iter().map(|answer| answer.unwrap().outcome).collect()
    }

    /// The disk had room again while parcels of a stream still waited. They were stored, and the number of the last stood
    /// for the earlier ones: when the agent sent these again, they were acknowledged and never stored.
    #[test]
    fn parcels_that_follow_a_failed_one_are_not_stored_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let is_full = Arc::new(AtomicBool::new(true));
        let mut collector = collector(directory.path(), &is_full);
        let first = Arc::new(Order::default());
        assert!(commit(&mut collector, &first, &[1, 2]).iter().all(Result::is_err));
        is_full.store(false, Ordering::Relaxed);
        assert!(commit(&mut collector, &first, &[3, 4]).iter().all(Result::is_err));
        assert_eq!(collector.shared.totals.counts().failed_parcels, 4);

        let again = Arc::new(Order::default());
        let answers = commit(&mut collector, &again, &[1, 2, 3, 4]);
        assert_eq!(outcomes(answers), vec![Outcome::Stored; 4]);
        let answers = commit(&mut collector, &again, &[2, 5]);
        assert_eq!(outcomes(answers), [Outcome::Known, Outcome::Stored]);
        drop(collector);
        let rows = scan(directory.path()).unwrap().rows::<ProbeRow>().unwrap();
        let sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
        assert_eq!(sequences, [1, 2, 3, 4, 5]);
    }
}
