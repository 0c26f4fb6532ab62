//! What the traffic shows of each queue pair: connections, loss, latency, congestion.
//!
//! Turns run records and control packets into rows of `connections` and `events`. State belongs to the *direction*, a
//! flow without its UDP source port; a connection is two directions that answer each other.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | times and bounds |
//! | `state` | the state of all connections |
//! | `direction` | the state of one direction |
//! | `context` | what one run needs from the state of all connections |
//! | `intake` | input in the order of its times, and the direction and peer of each run |
//! | `fast` | the fast path: in-order runs of a direction touch two cache lines |
//! | `pairing` | which direction a run belongs to, and which two directions are one connection |
//! | `order` | the order of PSNs: gaps, and who explains them |
//! | `requests` | a run of requests: what is new, repeated, outstanding |
//! | `responses` | acknowledgements, NAKs and responses |
//! | `spray` | requests whose order shows nothing, because the fabric sprays them |
//! | `losses` | packets that were lost, or may have been |
//! | `duplicates` | packets that pass again although their sender transmitted them once |
//! | `metrics` | figures of a direction beside its losses |
//! | `closing` | closes open state when a direction ends |
//! | `rows` | rows of connections and events |
//!
//! The terms, for requests of one direction. `high` is the highest PSN seen. A packet above
//! `high` + 1 opens a *gap*. One at or below `high` that fills a gap is *reordered* if it arrives before any NAK that
//! names it and within the reorder time, else it is *retransmitted* and was lost upstream of the tap. One seen before
//! is a *duplicate* if it follows within the duplicate time without a request for it, else *retransmitted*. A gap that
//! is never filled is a *unfilled gap*.
//!
//! Memory: a direction is bounded by [`DIRECTION_BYTES`], its histograms, gaps and outstanding requests
//! by [`MAX_HEAP_BYTES`]; all of it by [`max_bytes`](ConnectionSettings::max_bytes).

pub mod settings;

mod closing;
mod context;
mod direction;
mod duplicates;
mod fast;
mod intake;
mod losses;
mod metrics;
mod order;
mod pairing;
mod requests;
mod responses;
mod rows;
mod spray;
mod state;
#[cfg(test)]
mod tests;

pub use direction::PairedBy;
pub(crate) use pairing::key::DirectionKey;
pub use settings::ConnectionSettings;
pub use state::{ConnectionSummary, Connections, DIRECTION_BYTES, MAX_HEAP_BYTES, ROWS_AT_ONCE};
