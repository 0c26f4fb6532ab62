//! Loopback tests inside a host (Hostping): a NIC writes to the memory and the GPUs of its own host.
//!
//! Nothing here waits: a [`Backend`] posts WRITEs and is polled, so that a run ends within [`CHECK`] and a poll after
//! the host becomes busy. The links that explain slow tests are found in `rocescope_diagnose::hostping`.
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | which tests, how long, how many bytes |
//! | [`run`](mod@run) | runs a plan; ends early if the host becomes busy or a budget is used up |
//! | [`load`] | what others send over the NICs, from their counters |
//! | [`schedule`] | when to test: idle hosts periodically, busy hosts when counters call |
//! | `verbs` | RC queue pairs of RDMA devices |

pub mod load;
pub mod plan;
pub mod run;
pub mod schedule;
pub mod verbs;

pub use load::{Busy, Load, Meter, Own, PACKET, Sample};
pub use plan::{Pair, Plan, Shape};
pub use run::{End, Limits, Outcome, Watch, run};
pub use schedule::{Reason, Schedule};

use crate::types::Nanos;

/// The longest time between two checks whether the host is busy.
pub const CHECK: Nanos = Nanos(20_000_000);

/// What a backend writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Bytes of a message.
    pub size: u64,
    /// Number of messages in flight.
    pub depth: u32,
}

/// Why a pair is not measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// Writes messages from a NIC to an endpoint of the same host. It tests one pair at a time.
pub trait Backend {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The time of a clock that never goes back.
    fn now(&mut self) -> Nanos;

    /// Prepares tests of a pair: memory at the endpoint, and a connection of the NIC to itself.
    ///
    /// # Errors
    /// The pair cannot be measured.
    fn open(&mut self, pair: &Pair) -> Result<(), Failure>;

    /// Whether the open pair can be measured with these.
    fn offers(&self, _: Writes) -> bool {
        true
    }

    /// Bytes of payload in a packet of the open pair: how many packets a counter shows of a message.
    fn packet_bytes(&self) -> u64 {
        PACKET
    }

    /// Starts to write, and keeps this number of messages in flight. Messages of an earlier call complete first.
    ///
    /// # Errors
    /// The NIC refuses.
    fn start(&mut self, writes: Writes) -> Result<(), Failure>;

    /// When the next message completed; none if none has since. It does not wait.
    ///
    /// # Errors
    /// A message failed.
    fn poll(&mut self) -> Result<Option<Nanos>, Failure>;

    /// Ends the tests of the pair. Messages in flight are abandoned.
    fn close(&mut self);
}
