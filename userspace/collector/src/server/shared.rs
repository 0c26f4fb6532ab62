//! What the threads of the collector share.

use super::agents::Agents;
use super::controller::Controller;
use super::refusal::Refusals;
use super::seats::Seats;
use super::settings::Settings;
use super::totals::Totals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::Semaphore;

/// Fewest bytes that a parcel counts for: bounds how many may wait.
pub(super) const MIN_PARCEL_BYTES: usize = 16 << 10;

/// The live state, which connections write and the status line reads.
pub(crate) struct Shared {
    pub(super) agents: Agents,
    pub(super) refusals: Refusals,
    pub(super) totals: Totals,
    pub(super) waiting: Arc<Semaphore>,
    pub(super) storing_stopped: AtomicBool,
    pub(super) controller: Option<Arc<Controller>>,
    /// Connections of operators, and of others that ask what they ask.
    pub(super) seats: Arc<Seats>,
    pub(super) settings: Settings,
}
