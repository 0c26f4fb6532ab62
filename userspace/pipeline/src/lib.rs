//! Turns run records into rows of finished windows.
//!
//! Everything here is a pure function of records and times, without clock, files, sockets or threads (`no_std`): a test
//! runs an hour of traffic in milliseconds, and a capture file gives the same rows on every machine.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | window length, bounds and thresholds |
//! | [`port_counts`] | the UDP source ports of such directions, with their packets |
//! | [`spray`] | directions over many UDP source ports, which are one flow |
//! | [`windows`] | assigns runs to windows, and closes windows |
//! | [`window`], [`totals`] | the counts of one window |
//! | [`filter`] | selects runs |
//! | [`anonymize`] | replaces addresses |
//! | [`frame_clock`] | the times of frames where a capture's clock contradicts their order |
//! | [`flow_table`] | exact counts per flow, up to a bound |
//! | `index` | finds flows and directions by hash |
//! | [`flow_estimate`] | estimates the number of flows from sketches |
//! | `small_flows` | the smallest flows, for probes along their paths |
//! | [`overflow`] | sketches for flows beyond the bound |
//! | [`fields`] | addresses, VLANs and opcodes as cells of a row |
//! | [`rows`] | turns a finished window into rows of the dataset |
//! | [`sketch_columns`] | the sketches of a window as columns |
//! | [`rate_change`] | elephants, and sudden changes of rate between windows |
//! | [`merge`] | merges the rows of several observers |
//! | `impairment` | retransmitted and reordered packets of the flows of a window |
//! | [`connections`] | queue pairs: loss, order, latency, congestion |
//! | [`steps`] | steps of collectives |
//! | [`pdcs`] | packet delivery contexts of UET, likewise |
//! | `mirror` | mirror loss and mirror duplicates |
//! | `total`, [`summary`] | the whole capture: sums, and the summary that is printed |
//! | `time` | times of packets, whose difference cannot wrap |
//!
//! Invariant: the sums over all windows, and the summary, equal the packet and byte counters of the capture in any
//! order of arrival.
#![no_std]

extern crate alloc;

pub mod anonymize;
pub mod connections;
mod delivery;
pub mod fields;
pub mod filter;
pub mod flow_estimate;
pub mod flow_table;
pub mod frame_clock;
mod impairment;
mod index;
pub mod merge;
pub mod overflow;
mod pauses;
pub mod pdcs;
pub mod port_counts;
pub mod rate_change;
pub mod rows;
pub mod settings;
pub mod sketch_columns;
mod small_flows;
pub mod spray;
pub mod steps;
pub mod summary;
mod time;
mod total;
pub mod totals;
pub mod window;
pub mod windows;

pub use delivery::Delivery;
pub use flow_estimate::LINEAR_COUNTING_BITS;
pub use frame_clock::FrameClock;
pub use rocescope_sketches::count_min::{DEPTH as COUNT_MIN_DEPTH, WIDTH as COUNT_MIN_WIDTH};
pub use settings::{Settings, SettingsError};
pub use summary::{Summary, TopFlow};
pub use windows::Pipeline;
