//! The loop that joins an agent and a backend.

use crate::agent::Agent;
use crate::backend::{Backend, Error};
use crate::types::{Event, Nanos};

/// Runs the agent until `until`: sends due packets, waits, and passes events to the agent.
///
/// Returns early, with `false` after a signal, and with `true` once the agent is stopped and has nothing in flight.
///
/// # Errors
/// The backend is no longer usable.
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
            agent.handle(&event);
        }
        // The agent has all events before this instant.
        agent.expire(waited.seen);
        if waited.woken || waited.seen >= until {
            return Ok(false);
        }
    }
}
