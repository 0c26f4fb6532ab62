//! The loop that joins an agent and a backend.

use crate::agent::Agent;
use crate::backend::{Backend, Error};
use crate::types::{Event, Nanos};

/// Lets the agent probe until `until`: sends what is due, waits, tells what happened.
///
/// Returns early when a signal came, and when the agent was stopped and has nothing under
/// way; whether that is so.
///
/// # Errors
/// The backend can no longer be used.
pub fn drive(
    agent: &mut Agent,
    backend: &mut dyn Backend,
    until: Nanos,
    events: &mut Vec<Event>,
) -> Result<bool, Error> {
    loop {
        while let Some(outgoing) = agent.next_packet(backend.now()) {
            if let Err(refusal) = backend.send(&outgoing) {
                agent.refused(&outgoing, refusal);
            }
        }
        let Some(due) = agent.next_due() else {
            return Ok(true);
        };
        let waited = backend.wait(due.min(until), events)?;
        for event in events.drain(..) {
            agent.happened(&event);
        }
        // What came in before this instant has been told.
        agent.expire(waited.seen);
        if waited.woken || waited.seen >= until {
            return Ok(false);
        }
    }
}
