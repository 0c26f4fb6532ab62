//! The life of one connection: parcels out, answers in.

use super::connection::Connection;
use super::subscription::Subscription;
use super::{Ends, Phase, Settings, Shared};
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
    ends: &Ends,
    mut connection: Connection,
    settings: &Settings,
    shared: &Shared,
) -> Result<(), String> {
    let mut subscription = match &ends.member {
        None => None,
        Some(member) => {
            let opened = timeout(settings.patience, Subscription::open(&mut connection, member)).await;
            let opened = opened.unwrap_or_else(|_| Err(SILENT.into()))?;
            let mut status = shared.status();
            status.is_controlled = Some(opened.is_some());
            status.connected = true;
            opened
        }
    };
    let mut session = Session {
        spool: ends.spool.as_deref(),
        shared,
        connection,
        cursor: None,
        in_flight: BTreeMap::new(),
    };
    shared.status().connections += 1;
    let mut phase = shared.phase.subscribe();
    let mut last_answer = Instant::now();
    let mut failed = None;
    loop {
        let filled = timeout(settings.patience, session.fill());
        filled.await.unwrap_or_else(|_| Err(SILENT.into()))?;
        let idle = session.in_flight.is_empty();
        if idle {
            last_answer = Instant::now();
            if shared.is(Phase::Ending) && ends.is_sent(session.cursor) {
                return Ok(());
            }
        }
        tokio::select! {
            answer = session.connection.answer() => {
                session.take(answer?);
                last_answer = Instant::now();
            }
            () = appended(session.spool) => {}
            () = step(&mut subscription, &mut failed) => {
                if let Some(reason) = failed {
                    return Err(reason);
                }
            }
            _ = phase.changed() => {}
            () = sleep_until(last_answer + settings.patience), if !idle => {
                return Err(SILENT.into());
            }
        }
    }
}

/// Waits for rows; without a spool there are none.
async fn appended(spool: Option<&Spool>) {
    match spool {
        Some(spool) => spool.appended.notified().await,
        None => std::future::pending().await,
    }
}

/// Serves the subscription, if there is one; a failure ends the connection.
async fn step(subscription: &mut Option<Subscription>, failed: &mut Option<String>) {
    match subscription {
        Some(subscription) => *failed = subscription.step().await.err(),
        None => std::future::pending().await,
    }
}

struct Session<'a> {
    spool: Option<&'a Spool>,
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
        let Some(spool) = self.spool else {
            return Ok(());
        };
        while self.in_flight.len() < MAX_IN_FLIGHT && self.in_flight.values().sum::<usize>() < MAX_IN_FLIGHT_BYTES {
            let Some(number) = spool.after(self.cursor) else {
                return Ok(());
            };
            self.cursor = Some(number);
            let Some(bytes) = spool.read(number).map(Bytes::from) else {
                continue;
            };
            match Parcel::split(&bytes) {
                Ok(parcel) => {
                    self.connection.put(number, &bytes, parcel).await?;
                    self.in_flight.insert(number, bytes.len());
                }
                Err(_) => spool.damaged(number),
            }
        }
        Ok(())
    }

    fn take(&mut self, answer: Answer) {
        let number = answer.number;
        // Ignore an answer to a parcel that is not in flight.
        let Some(spool) = self.spool.filter(|_| self.in_flight.remove(&number).is_some()) else {
            return;
        };
        let mut status = self.shared.status();
        status.connected = true;
        match answer.outcome {
            Outcome::Stored | Outcome::Known => spool.acknowledge(number),
            Outcome::Refused(reason) => {
                status.last_refusal = Some(visible(&reason));
                spool.refuse(number);
            }
        }
    }
}
