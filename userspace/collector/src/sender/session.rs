//! The life of one connection: parcels out, answers in.

use super::connection::Connection;
use super::{Phase, Settings, Shared};
use crate::label::{Answer, Number, Outcome};
use crate::{MAX_IN_FLIGHT, Spool};
use bytes::Bytes;
use rocescope_model::human::visible;
use rocescope_store::Parcel;
use std::collections::BTreeMap;
use tokio::time::{Instant, sleep_until, timeout};

/// Maximum unacknowledged bytes, not counting the last parcel: an agent has little memory.
const MAX_IN_FLIGHT_BYTES: usize = 512 << 10;

const SILENT: &str = "the collector does not answer";

/// Sends until the owner ends the sender and the spool is empty.
///
/// # Errors
/// Why the connection failed.
pub(super) async fn run(
    spool: &Spool,
    connection: Connection,
    settings: &Settings,
    shared: &Shared,
) -> Result<(), String> {
    let mut session = Session {
        spool,
        shared,
        connection,
        cursor: None,
        in_flight: BTreeMap::new(),
    };
    shared.status().connections += 1;
    let mut phase = shared.phase.subscribe();
    let mut last_answer = Instant::now();
    loop {
        let filled = timeout(settings.patience, session.fill());
        filled.await.unwrap_or_else(|_| Err(SILENT.into()))?;
        let idle = session.in_flight.is_empty();
        if idle {
            last_answer = Instant::now();
            if shared.is(Phase::Ending) && spool.after(session.cursor).is_none() {
                return Ok(());
            }
        }
        tokio::select! {
            answer = session.connection.answer() => {
                session.take(answer?);
                last_answer = Instant::now();
            }
            () = spool.appended.notified() => {}
            _ = phase.changed() => {}
            () = sleep_until(last_answer + settings.patience), if !idle => {
                return Err(SILENT.into());
            }
        }
    }
}

struct Session<'a> {
    spool: &'a Spool,
    shared: &'a Shared,
    connection: Connection,
    /// The last parcel sent.
    cursor: Option<Number>,
    /// Bytes of the unanswered parcels.
    in_flight: BTreeMap<Number, usize>,
}

impl Session<'_> {
    /// Sends parcels up to the limits of what may be in flight.
    async fn fill(&mut self) -> Result<(), String> {
        while self.in_flight.len() < MAX_IN_FLIGHT && self.in_flight.values().sum::<usize>() < MAX_IN_FLIGHT_BYTES {
            let Some(number) = self.spool.after(self.cursor) else {
                return Ok(());
            };
            self.cursor = Some(number);
            let Some(bytes) = self.spool.read(number).map(Bytes::from) else {
                continue;
            };
            match Parcel::split(&bytes) {
                Ok(parcel) => {
                    self.connection.put(number, &bytes, parcel).await?;
                    self.in_flight.insert(number, bytes.len());
                }
                Err(_) => self.spool.damaged(number),
            }
        }
        Ok(())
    }

    fn take(&mut self, answer: Answer) {
        let number = answer.number;
        // Ignore an answer to a parcel that is not in flight.
        if self.in_flight.remove(&number).is_none() {
            return;
        }
        let mut status = self.shared.status();
        status.connected = true;
        match answer.outcome {
            Outcome::Stored | Outcome::Known => self.spool.acknowledge(number),
            Outcome::Refused(reason) => {
                status.last_refusal = Some(visible(&reason));
                self.spool.refuse(number);
            }
        }
    }
}
