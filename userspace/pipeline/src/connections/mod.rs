//! What the traffic shows of each queue pair: connections, loss, latency, congestion.
//!
//! Turns run records and control packets into rows of `connections` and `events`. State belongs to the *direction*, a
//! flow without its UDP source port; a connection is two directions that answer each other.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | times and bounds |
//! | `state` | the state of all connections |
//! | `turn` | processes queued input by time |
//! | `ingest` | processes one run, from its direction to its peer |
//! | `ack_run` | the two ends of a run of acknowledgements |
//! | `sort_buffer` | runs and control packets, sorted by their first times |
//! | `key`, `table` | finds the direction of a run |
//! | `prefetch` | directions of the next runs, looked up together |
//! | `direction` | the state of one direction |
//! | `fast_state`, `fast_path` | the part of it that in-order runs need and change |
//! | `psn_tracker`, `intervals` | the highest PSN, the gaps below it, what fills them |
//! | `send_sequence` | the packets that a sender sends one after another |
//! | `responder` | the PSN that the responder expects, from the order at the tap |
//! | `mirror_dedup` | duplicates that a mirror makes |
//! | `context` | what one run needs from the state of all connections |
//! | `requests`, `answers` | process a run of requests, ACKs or responses |
//! | `classification` | in order, reordered, duplicate or retransmitted |
//! | `retransmission` | counts a run by its classification |
//! | `reordering`, `sender_way` | how much the fabric reorders, and what a sender repeats |
//! | `sprayed` | requests whose order shows nothing |
//! | `sprayed_pass`, `sprayed_answers`, `sprayed_times`, `sprayed_losses` | their passes, NAKs, times, and what was lost |
//! | `losses` | counts packets as lost |
//! | `uc` | requests that no one acknowledges |
//! | `reuse` | a queue pair number that is used again |
//! | `response_recovery` | responses that were requested again: lost, late or stale |
//! | `timeout` | retransmitted after a timeout: lost, or answered late |
//! | `doubts` | packets that passed alone after a NAK for them |
//! | `undecided` | packets that later copies or answers decide: skipped, late or repeated, named by a NAK |
//! | `gap_fate`, `gaps` | fate of PSNs that never passed |
//! | `new_payload` | new payload of a run |
//! | `outstanding`, `latency` | outstanding requests, and latencies of their answers |
//! | [`congestion`] | ECN, CNPs, and the rate before and after one |
//! | `traffic_classes` | DSCPs and ECN capability |
//! | [`recovery`], [`event`] | retransmission episodes, and other events |
//! | `peer_candidates`, `pairing` | pairs directions from PSNs alone |
//! | `setup`, `cm` | CM datagrams and TCP handshakes |
//! | `inline_queue`, `message_sizes` | a queue and a histogram that usually hold one element |
//! | `capture_loss` | intervals in which the capture lost runs |
//! | `closing` | closes open state when a direction ends |
//! | `connection_rows`, `event_rows` | turn a connection and its events into rows |
//!
//! The terms, for requests of one direction. `high` is the highest PSN seen. A packet above
//! `high` + 1 opens a *gap*. One at or below `high` that fills a gap is *reordered* if it arrives before any NAK that
//! names it and within the reorder time, else it is *retransmitted* and was lost upstream of the tap. One seen before
//! is a *duplicate* if it follows within the duplicate time without a request for it, else *retransmitted*. A gap that
//! is never filled is a *lost gap*.
//!
//! Memory: a direction is bounded by [`DIRECTION_BYTES`], its histograms, gaps and outstanding requests
//! by [`MAX_HEAP_BYTES`]; all of it by [`max_bytes`](ConnectionSettings::max_bytes).

pub mod congestion;
pub mod event;
pub mod recovery;
pub mod settings;

mod ack_run;
mod answers;
mod capture_loss;
mod captured_twice;
mod classification;
mod closing;
mod cm;
mod connection_rows;
mod context;
mod direction;
mod doubts;
mod event_rows;
mod fast_path;
mod fast_state;
mod gap_fate;
mod gaps;
mod ingest;
mod inline_queue;
mod intervals;
mod key;
mod latency;
mod losses;
mod marked;
mod message_sizes;
mod mirror_dedup;
mod new_payload;
mod outstanding;
mod pairing;
mod peer_candidates;
mod prefetch;
mod psn_tracker;
mod reordering;
mod requester;
mod requests;
mod responder;
mod response_recovery;
mod response_rounds;
mod retransmission;
mod reuse;
mod send_sequence;
mod sender_way;
mod setup;
mod sort_buffer;
mod sprayed;
mod sprayed_answers;
mod sprayed_losses;
mod sprayed_pass;
mod sprayed_times;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod timeout;
mod traffic_classes;
mod turn;
mod uc;
mod undecided;

pub use direction::PairedBy;
pub(crate) use key::DirectionKey;
pub use settings::ConnectionSettings;
pub use state::{ConnectionSummary, Connections, DIRECTION_BYTES, MAX_HEAP_BYTES, ROWS_AT_ONCE};
