//! One stream of parcels: each is judged, handed to the writer, and answered in its order.

use super::agents::Seat;
use super::commit::{self, Verdict};
use super::refusal::Refusal;
use super::service::put_result;
use super::shared::{LEAST_BYTES, Shared};
use crate::label::{Answer, Label, Outcome};
use crate::{MESSAGE_BYTES, UNDER_WAY};
use arrow_flight::{FlightData, PutResult};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use rocescope_model::{Cells, PathRow, ProbeRow, Row, Value};
use rocescope_store::{Batch, Numbered, Parcel};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use tokio::sync::{mpsc, oneshot};
use tonic::{Code, Status, Streaming};

/// The answers to a stream, in its order.
pub(super) type Answers = BoxStream<'static, tonic::Result<PutResult>>;

/// What a connection's streams are judged by.
#[derive(Clone)]
pub(super) struct Intake {
    pub(super) shared: Arc<Shared>,
    pub(super) seat: Arc<Seat>,
    pub(super) submit: SyncSender<commit::Parcel>,
}

/// What was submitted, or is known already.
enum Pending {
    Submitted(oneshot::Receiver<Verdict>),
    Judged(Answer),
    /// The stream ends here.
    Over(Status),
}

impl Intake {
    /// Reads the stream to its end, beside whoever reads the answers.
    pub(super) fn take(&self, parcels: Streaming<FlightData>) -> Answers {
        self.seat.active.store(true, Ordering::Relaxed);
        // As many as an honest agent has under way; the rest waits on its side.
        let (pending, answers) = mpsc::channel(UNDER_WAY);
        tokio::spawn(self.clone().read(parcels, pending));
        Box::pin(stream::unfold(Some(answers), |answers| async {
            let mut answers = answers?;
            match answers.recv().await? {
                Pending::Judged(answer) => Some((Ok(put_result(&answer)), Some(answers))),
                Pending::Over(status) => Some((Err(status), None)),
                Pending::Submitted(verdict) => match verdict.await {
                    Ok(Ok(answer)) => Some((Ok(put_result(&answer)), Some(answers))),
                    Ok(Err(reason)) => Some((Err(Status::unavailable(reason)), None)),
                    Err(_) => Some((Err(Status::unavailable("the collector ends")), None)),
                },
            }
        }))
    }

    async fn read(self, mut parcels: Streaming<FlightData>, pending: mpsc::Sender<Pending>) {
        let mut schema = Bytes::new();
        loop {
            let next = match parcels.message().await {
                Ok(Some(data)) if data.app_metadata.is_empty() => {
                    // A copy: the message around it may be large.
                    schema = Bytes::copy_from_slice(&data.data_header);
                    continue;
                }
                Ok(Some(data)) => self.judge(&schema, &data).await,
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

    async fn judge(&self, schema: &[u8], data: &FlightData) -> Pending {
        let Some(label) = Label::parse(&data.app_metadata) else {
            return self.over(Refusal::Protocol, "a parcel has no label");
        };
        if !label.agent.eq_ignore_ascii_case(&self.seat.name) {
            let why = format!("rows of {:?} from {}", label.agent, self.seat.name);
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
        if let Err((refusal, why)) = fit(&batch, &label) {
            return self.refuse(&label, refusal, &why);
        }
        let room = data.data_body.len().clamp(LEAST_BYTES, MESSAGE_BYTES);
        let permits = u32::try_from(room).unwrap_or(u32::MAX);
        let waiting = Arc::clone(&self.shared.waiting);
        let Ok(room) = waiting.acquire_many_owned(permits).await else {
            return Pending::Over(Status::unavailable("the collector ends"));
        };
        let (verdict, waiting) = oneshot::channel();
        let parcel = commit::Parcel {
            label,
            batch,
            bytes: (data.data_header.len() + data.data_body.len()) as u64,
            seat: Arc::clone(&self.seat),
            verdict,
            _room: room,
        };
        match self.submit.try_send(parcel) {
            Ok(()) => Pending::Submitted(waiting),
            Err(_) => Pending::Over(Status::unavailable("the collector ends")),
        }
    }

    /// The stream ends: whoever sends such a thing will send more of it.
    fn over(&self, refusal: Refusal, why: &str) -> Pending {
        self.shared.refusals.count(refusal, &self.seat.peer, why);
        Pending::Over(match refusal {
            Refusal::OtherAgent => Status::permission_denied(why),
            _ => Status::invalid_argument(why),
        })
    }

    /// This parcel is of no use; the next may be.
    fn refuse(&self, label: &Label, refusal: Refusal, why: &str) -> Pending {
        let line = format!("a parcel of {}: {why}", self.seat.name);
        self.shared.refusals.count(refusal, &self.seat.peer, &line);
        Pending::Judged(Answer {
            number: label.number,
            outcome: Outcome::Refused(why.to_owned()),
        })
    }

    fn count_end(&self, status: &Status) {
        let refusal = match status.code() {
            Code::OutOfRange | Code::ResourceExhausted => Refusal::TooLarge,
            // The connection is gone, which is no offence.
            Code::Cancelled | Code::Unknown | Code::Unavailable => return,
            _ => Refusal::Protocol,
        };
        let why = format!("{}: {}", self.seat.name, status.message());
        self.shared.refusals.count(refusal, &self.seat.peer, &why);
    }
}

/// Whether the rows may be stored: of a table that agents have, readable, of this agent, of one hour.
fn fit(batch: &Batch, label: &Label) -> Result<(), (Refusal, String)> {
    let table = batch.table();
    // A port of -1 fits its column and no row: whoever read the dataset would stumble over it.
    let read = if table == ProbeRow::TABLE {
        batch.typed::<ProbeRow>().map(drop)
    } else if table == PathRow::TABLE {
        batch.typed::<PathRow>().map(drop)
    } else {
        let why = format!("agents do not write the table {}", table.name);
        return Err((Refusal::Unfit, why));
    };
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
    let number = label.number;
    Numbered::new(&label.agent, number.epoch, number.sequence, batch)
        .map(|_| ())
        .map_err(|why| (Refusal::Unfit, why.to_owned()))
}
