//! Run records in, rows of finished windows out.
//!
//! Everything here is a pure function of the records and times passed in: no clock, file, socket
//! or thread can be reached (`no_std`), so a test runs an hour of traffic in milliseconds, and a
//! capture file gives the same rows on every machine.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | window length, bounds and thresholds |
//! | [`windows`] | which window a run belongs to, and when a window is finished |
//! | [`window`] | what one window adds up |
//! | [`filter`] | which runs are wanted |
//! | [`anonymize`] | other addresses in the place of those on the wire |
//! | [`flow_table`] | exact counts a flow, up to a bound |
//! | `index` | numbers of flows and of directions, by hash |
//! | [`flow_estimate`] | how many flows the sketches say there were |
//! | [`overflow`] | the sketches that take over beyond the bound |
//! | [`fields`] | addresses, VLANs and opcodes as cells of a row |
//! | [`rows`] | a finished window as rows of the dataset |
//! | [`rate_change`] | elephants, and flows whose rate jumps between windows |
//! | [`merge`] | the rows of several capture points as those of one |
//! | `impairment` | retransmitted and reordered packets of the flows of a window |
//! | [`connections`] | queue pairs: loss, order, latency, congestion |
//! | `mirror` | packets that a mirror port lost or duplicated |
//! | `total`, [`summary`] | the whole capture: sums, and the summary that is printed |
//!
//! The invariant: sums over all windows, and the summary, equal the counters of the capture, packet
//! by packet and byte by byte, whatever the order of arrival.
#![no_std]

extern crate alloc;

pub mod anonymize;
pub mod connections;
pub mod fields;
pub mod filter;
pub mod flow_estimate;
pub mod flow_table;
mod impairment;
mod index;
pub mod merge;
mod mirror;
pub mod overflow;
pub mod rate_change;
pub mod rows;
pub mod settings;
pub mod summary;
mod total;
pub mod window;
pub mod windows;

pub use flow_estimate::LINEAR_COUNTING_BITS;
pub use mirror::Mirror;
pub use settings::{Settings, SettingsError};
pub use summary::{Summary, TopFlow};
pub use windows::Pipeline;
