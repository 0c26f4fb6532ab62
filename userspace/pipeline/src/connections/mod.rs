//! What the wire tells of each queue pair: connections, loss, latency, congestion.
//!
//! Run records and whole events in, rows of `connections` and `events` out. State belongs to the
//! *direction*, a flow without its UDP source port; a connection is two directions that answer each
//! other.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | times and bounds |
//! | `order` | runs and whole events, put in order of their first times |
//! | `key`, `table` | which direction a run belongs to |
//! | `ahead` | directions of the next runs, looked up together |
//! | `direction` | the state of one direction |
//! | `hot`, `ordinary` | the part of it that ordinary runs need, and what they do to it |
//! | `sequence` | the highest PSN, the gaps below it, what fills them |
//! | `pass` | what the sender is sending, for the first time or again |
//! | `receiver` | what the receiver makes of it, as far as the order at the tap tells |
//! | `twice` | copies that a mirror makes |
//! | `requests`, `answers` | what a run of requests, ACKs or responses does to that state |
//! | `way` | how a run came to pass: onward, overtaken, copied, or because its sender went back, and why |
//! | `retransmission` | what it counts as therefore |
//! | `doubt` | sent again though nothing asked for it |
//! | `left_out` | what did not pass again, and may come late |
//! | `waiting`, `latency` | requests on their way, and how long their answers took |
//! | [`congestion`] | ECN, CNPs, and the rate before and after one |
//! | [`episode`], [`event`] | retransmissions in one go, and all else that deserves a line |
//! | `pairing`, `peers` | which direction answers which, from PSNs alone |
//! | `setup`, `managed` | CM datagrams and TCP handshakes |
//! | `few`, `sizes` | a queue and a histogram that mostly hold one thing |
//! | `blind` | intervals in which the capture lost runs |
//! | `ingest` | one item, from its direction to its peer |
//! | `report`, `event_rows` | a connection as rows, and what happened to it |
//!
//! The terms, for requests of one direction. `high` is the highest PSN seen. A packet above
//! `high` + 1 opens a *gap*. One at or below `high` that fills a gap is *out of order* when it comes
//! before any NAK that names it and within the reorder time, else it is *retransmitted* and was
//! lost before the tap. One seen before is a *duplicate* when it follows within the duplicate time
//! and nothing asked for it, else *retransmitted*. A gap that is never filled is a *lost gap*.
//!
//! Memory: a direction is bounded by [`DIRECTION_BYTES`], its histograms, gaps and waiting requests
//! by [`MOST_HEAP_BYTES`]; directions by
//! [`most_directions`](ConnectionSettings::most_directions).

pub mod congestion;
pub mod episode;
pub mod event;
pub mod settings;

mod ahead;
mod answers;
mod blind;
mod closing;
mod context;
mod direction;
mod doubt;
mod event_rows;
mod few;
mod gap_fate;
mod gaps;
mod hot;
mod ingest;
mod key;
mod latency;
mod left_out;
mod managed;
mod new_payload;
mod order;
mod ordinary;
mod pairing;
mod pass;
mod peers;
mod receiver;
mod report;
mod requests;
mod retransmission;
mod sequence;
mod setup;
mod sizes;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod turn;
mod twice;
mod waiting;
mod way;

pub use direction::PairedBy;
pub use settings::ConnectionSettings;
pub use state::{ConnectionSummary, Connections, DIRECTION_BYTES, MOST_HEAP_BYTES, ROWS_AT_ONCE};
