//! One stream of parcels: each is checked, passed to the writer, and answered in order.

use super::agents::Slot;
use super::commit::{self, CommitResult};
use super::order::Order;
use super::refusal::Refusal;
use super::service::put_result;
use super::shared::{MIN_PARCEL_BYTES, Shared};
use crate::label::{Answer, Label, Outcome};
use crate::{MAX_IN_FLIGHT, MESSAGE_BYTES};
use arrow_flight::{FlightData, PutResult};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use rocescope_model::human::is_visible;
use rocescope_model::{
    Cells, ConnectionRow, CounterRow, EventRow, FlowRow, LoopbackRow, Mismatch, PathRow, ProbeRow, QueuePairRow, Row,
    SmallFlowRow, StepProbeRow, StepRow, Table, Time, Type, Value,
};
use rocescope_store::{Batch, Numbered, Parcel};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tonic::{Code, Status, Streaming};

/// The answers to a stream, in order.
pub(super) type Answers = BoxStream<'static, tonic::Result<PutResult>>;

/// Checks and submits the parcels of a connection's streams.
#[derive(Clone)]
pub(super) struct Intake {
    pub(super) shared: Arc<Shared>,
    pub(super) slot: Arc<Slot>,
    pub(super) submit: SyncSender<commit::Parcel>,
    /// Whether an operator asks, and not an agent.
    pub(super) is_operator: bool,
}

/// A parcel that waits for its answer.
enum Pending {
    Submitted(oneshot::Receiver<CommitResult>),
    Answered(Answer),
    /// Ends the stream.
    Over(Status),
}

impl Intake {
    /// Reads the stream to its end in a task of its own; the caller reads the answers.
    pub(super) fn take(&self, parcels: Streaming<FlightData>) -> Answers {
        self.slot.active.store(true, Ordering::Relaxed);
        // As many as an agent has in flight; HTTP/2 flow control holds back the rest.
        let (pending, answers) = mpsc::channel(MAX_IN_FLIGHT);
        tokio::spawn(self.clone().read(parcels, pending));
        Box::pin(stream::unfold(Some(answers), |answers| async {
            let mut answers = answers?;
            match answers.recv().await? {
                Pending::Answered(answer) => Some((Ok(put_result(&answer)), Some(answers))),
                Pending::Over(status) => Some((Err(status), None)),
                Pending::Submitted(answer_to) => match answer_to.await {
                    Ok(Ok(answer)) => Some((Ok(put_result(&answer)), Some(answers))),
                    Ok(Err(reason)) => Some((Err(Status::unavailable(reason)), None)),
                    Err(_) => Some((Err(Status::unavailable("the collector is shutting down")), None)),
                },
            }
        }))
    }

    async fn read(self, mut parcels: Streaming<FlightData>, pending: mpsc::Sender<Pending>) {
        let mut schema = Bytes::new();
        let order = Arc::default();
        loop {
            let next = match parcels.message().await {
                Ok(Some(data)) if data.app_metadata.is_empty() => {
                    // A copy: the message around it may be large.
                    schema = Bytes::copy_from_slice(&data.data_header);
                    continue;
                }
                Ok(Some(data)) => self.check(&schema, &data, &order).await,
                Ok(None) => return,
                Err(status) => {
                    self.count_end(&status);
                    Pending::Over(status)
                }
            };
            let over = matches!(next, Pending::Over(_));
            if pending.send(next).await.is_err() || over {
                return;
            }
        }
    }

    async fn check(&self, schema: &[u8], data: &FlightData, order: &Arc<Order>) -> Pending {
        let Some(label) = Label::parse(&data.app_metadata) else {
            return self.over(Refusal::Protocol, "parcel without a label");
        };
        if !label.agent.eq_ignore_ascii_case(&self.slot.name) {
            let why = format!("rows of {:?} from {}", label.agent, self.slot.name);
            return self.over(Refusal::OtherAgent, &why);
        }
        let parcel = Parcel {
            schema,
            header: &data.data_header,
            body: &data.data_body,
        };
        let batch = match parcel.open() {
            Ok(batch) => batch,
            Err(unfit) => return self.refuse(&label, Refusal::Unfit, &unfit.to_string()),
        };
        if let Err((refusal, why)) = check_rows(&batch, &label, self.shared.settings.max_ahead) {
            return self.refuse(&label, refusal, &why);
        }
        let room = data.data_body.len().clamp(MIN_PARCEL_BYTES, MESSAGE_BYTES);
        let permits = u32::try_from(room).unwrap_or(u32::MAX);
        let waiting = Arc::clone(&self.shared.waiting);
        let Ok(room) = waiting.acquire_many_owned(permits).await else {
            return Pending::Over(Status::unavailable("the collector is shutting down"));
        };
        let (answer_to, waiting) = oneshot::channel();
        let parcel = commit::Parcel {
            label,
            batch,
            bytes: (data.data_header.len() + data.data_body.len()) as u64,
            slot: Arc::clone(&self.slot),
            order: Arc::clone(order),
            answer_to,
            _room: room,
        };
        match self.submit.try_send(parcel) {
            Ok(()) => Pending::Submitted(waiting),
            Err(_) => Pending::Over(Status::unavailable("the collector is shutting down")),
        }
    }

    /// Ends the stream: the peer violates the protocol.
    fn over(&self, refusal: Refusal, why: &str) -> Pending {
        self.shared.refusals.count(refusal, &self.slot.peer, why);
        Pending::Over(match refusal {
            Refusal::OtherAgent => Status::permission_denied(why),
            _ => Status::invalid_argument(why),
        })
    }

    /// Refuses this parcel only.
    fn refuse(&self, label: &Label, refusal: Refusal, why: &str) -> Pending {
        let line = format!("parcel of {}: {why}", self.slot.name);
        self.shared.refusals.count(refusal, &self.slot.peer, &line);
        Pending::Answered(Answer {
            number: label.number,
            outcome: Outcome::Refused(why.to_owned()),
        })
    }

    fn count_end(&self, status: &Status) {
        let refusal = match status.code() {
            Code::OutOfRange | Code::ResourceExhausted => Refusal::TooLarge,
            // A lost connection is no violation.
            Code::Cancelled | Code::Unknown | Code::Unavailable => return,
            _ => Refusal::Protocol,
        };
        let why = format!("{}: {}", self.slot.name, status.message());
        self.shared.refusals.count(refusal, &self.slot.peer, &why);
    }
}

/// Reads the rows of a table: a value may fit its column and not its row, such as port -1, and readers of the dataset
/// would fail on it.
type Read = fn(&Batch) -> Result<(), Mismatch>;

fn read<R: Row>(batch: &Batch) -> Result<(), Mismatch> {
    batch.typed::<R>().map(drop)
}

/// The tables of agents, and those of capture boxes.
const RECEIVED: [(&Table, Read); 11] = [
    (ProbeRow::TABLE, read::<ProbeRow>),
    (PathRow::TABLE, read::<PathRow>),
    (CounterRow::TABLE, read::<CounterRow>),
    (QueuePairRow::TABLE, read::<QueuePairRow>),
    (SmallFlowRow::TABLE, read::<SmallFlowRow>),
    (LoopbackRow::TABLE, read::<LoopbackRow>),
    (StepRow::TABLE, read::<StepRow>),
    (StepProbeRow::TABLE, read::<StepProbeRow>),
    (FlowRow::TABLE, read::<FlowRow>),
    (EventRow::TABLE, read::<EventRow>),
    (ConnectionRow::TABLE, read::<ConnectionRow>),
];

/// Whether the rows may be stored: they belong to a table that agents or capture boxes send, they are readable, of this
/// sender, of one hour, and not dated ahead.
fn check_rows(batch: &Batch, label: &Label, max_ahead: Duration) -> Result<(), (Refusal, String)> {
    let table = batch.table();
    let Some((_, read)) = RECEIVED.iter().find(|(received, _)| *received == table) else {
        let why = format!("neither agents nor capture boxes send the table {}", table.name);
        return Err((Refusal::Unfit, why));
    };
    let read = read(batch);
    read.map_err(|mismatch| (Refusal::Unfit, mismatch.to_string()))?;
    let observer = table.position("observer").unwrap_or(usize::MAX);
    for row in 0..batch.rows() {
        match batch.value(row, observer) {
            Value::Text(name) if name == label.agent => {}
            other => {
                let why = format!("a row of observer {other:?} from {}", label.agent);
                return Err((Refusal::OtherAgent, why));
            }
        }
    }
    check_times(batch, max_ahead)?;
    check_names(batch)?;
    let number = label.number;
    Numbered::new(&label.agent, number.epoch, number.sequence, batch)
        .map(|_| ())
        .map_err(|why| (Refusal::Unfit, why.to_owned()))
}

/// An open window of the analysis stays in memory until its time comes.
fn check_times(batch: &Batch, max_ahead: Duration) -> Result<(), (Refusal, String)> {
    let now = rocescope_runtime::clock::now().0;
    let last = now.saturating_add(i64::try_from(max_ahead.as_nanos()).unwrap_or(i64::MAX));
    for name in ["time", "time_ns", "window_start", "window_start_ns"] {
        let Some(column) = batch.table().position(name) else {
            continue;
        };
        for row in 0..batch.rows() {
            let (Value::I64(at) | Value::Time(Time(at))) = batch.value(row, column) else {
                continue;
            };
            if at > last {
                let ahead = (at - now) / 1_000_000_000;
                let why = format!("a row is dated {ahead} s ahead of the collector's clock: synchronize the clocks");
                return Err((Refusal::DatedAhead, why));
            }
        }
    }
    Ok(())
}

/// Every reader of the dataset prints names.
fn check_names(batch: &Batch) -> Result<(), (Refusal, String)> {
    for (at, column) in batch.table().columns.iter().enumerate() {
        if column.kind != Type::Text {
            continue;
        }
        for row in 0..batch.rows() {
            match batch.value(row, at) {
                Value::Text(text) if !text.chars().all(is_visible) => {
                    let why = format!("column {}: {text:?} has control characters", column.name);
                    return Err((Refusal::Unfit, why));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
