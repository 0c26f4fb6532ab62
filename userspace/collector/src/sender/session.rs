//! The life of one connection: parcels out, answers in.

use super::connection::Connection;
use super::{Phase, Settings, Shared};
use crate::label::{Answer, Number, Outcome};
use crate::{Spool, UNDER_WAY};
use bytes::Bytes;
use rocescope_store::Parcel;
use std::collections::BTreeMap;
use tokio::time::{Instant, sleep_until, timeout};

/// Most bytes under way, beyond the last parcel: an agent has little memory.
const UNDER_WAY_BYTES: usize = 512 << 10;

const SILENT: &str = "the collector does not answer";

/// Sends until the owner wants an end and nothing waits.
///
/// # Errors
/// Why the connection is of no more use.
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
        under_way: BTreeMap::new(),
    };
    shared.status().connections += 1;
    let mut phase = shared.phase.subscribe();
    let mut heard = Instant::now();
    loop {
        let filled = timeout(settings.patience, session.fill());
        filled.await.unwrap_or_else(|_| Err(SILENT.into()))?;
        let idle = session.under_way.is_empty();
        if idle {
            heard = Instant::now();
            if shared.is(Phase::Ending) && spool.after(session.cursor).is_none() {
                return Ok(());
            }
        }
        tokio::select! {
            answer = session.connection.answer() => {
                session.take(answer?);
                heard = Instant::now();
            }
            () = spool.appended.notified() => {}
            _ = phase.changed() => {}
            () = sleep_until(heard + settings.patience), if !idle => {
                return Err(SILENT.into());
            }
        }
    }
}

struct Session<'a> {
    spool: &'a Spool,
    shared: &'a Shared,
    connection: Connection,
    /// The parcel that was sent last.
    cursor: Option<Number>,
    /// Bytes of those that are not answered.
    under_way: BTreeMap<Number, usize>,
}

impl Session<'_> {
    /// Sends what may be sent.
    async fn fill(&mut self) -> Result<(), String> {
        while self.under_way.len() < UNDER_WAY
            && self.under_way.values().sum::<usize>() < UNDER_WAY_BYTES
        {
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
                    self.under_way.insert(number, bytes.len());
                }
                Err(_) => self.spool.damaged(number),
            }
        }
        Ok(())
    }

    fn take(&mut self, answer: Answer) {
        let number = answer.number;
        // An answer to what was never asked is nobody's business.
        if self.under_way.remove(&number).is_none() {
            return;
        }
        let mut status = self.shared.status();
        status.connected = true;
        match answer.outcome {
            Outcome::Stored | Outcome::Known => self.spool.acknowledge(number),
            Outcome::Refused(reason) => {
                status.last_refusal = Some(reason);
                self.spool.refuse(number);
            }
        }
    }
}
