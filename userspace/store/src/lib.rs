//! The Parquet dataset: write, seal, repair, scan, read back, retain.
//!
//! What lies where, and why a sealed file is always whole, is in `docs/formats.md`, which
//! [`rocescope_model::markdown`] writes. In short: every table is a Hive-partitioned directory; the
//! rows of finished windows go to a *journal*, an Arrow IPC stream, at once; a journal becomes a
//! Parquet *segment* when it is old or large enough, when its hour ends, and at the end.
//!
//! This is the only crate that knows Arrow and Parquet, and none of their types leaves it. Tables
//! are those of the model; nothing here knows a column by name. No clock is read: the age of a
//! segment is judged by the instants that the caller passes in.
//!
//! | module | what it holds |
//! |---|---|
//! | [`writer`] | [`Writer`]: rows in, segments out; [`Numbered`] ones once, however often they come |
//! | [`parcel`] | [`Parcel`]: rows on the way from one process to another |
//! | [`summary`] | what a writer has put on disk |
//! | [`mod@scan`] | [`open`](open()), [`scan`](scan()): what a dataset holds, and what in it does not read |
//! | [`query`] | [`Query`]: rows by table, time and observer; only what may hold them is opened |
//! | [`read`] | [`Batch`]: rows of a segment, as values or typed |
//! | [`mod@repair`] | [`repair`](repair()): seals what a killed writer left |
//! | [`mod@retain`] | [`retain`](retain()): deletes the oldest segments |
//! | [`error`] | [`Error`] |
//! | `journal`, `seal`, `together` | the open segment, and how one or several become sealed ones |
//! | `encode`, `decode`, `schema` | rows to Arrow and back, by the model's column types |
//! | `marks` | what of each sender of numbered rows is there |
//! | `split` | rows into batches of one partition |
//! | `name`, `walk`, `durable`, `lock` | file names, directory walks, syncing, one writer an observer |
//!
//! ```
//! use rocescope_model::{OpcodeRow, Time, WindowRows};
//! use rocescope_store::{Options, Writer, scan};
//! use std::time::Instant;
//!
//! # let root = tempfile::tempdir()?;
//! # let root = root.path();
//! let start = Time(1_795_228_209_000_000_000);
//! let cnp = OpcodeRow {
//!     window_start: start,
//!     window_start_ns: start.0,
//!     opcode: "CNP".into(),
//!     packets: 7,
//!     ..OpcodeRow::default()
//! };
//! let rows = WindowRows { opcodes: vec![cnp], ..Default::default() };
//!
//! let mut writer = Writer::create(root, Options::new("rail3"))?;
//! writer.append(&rows, Instant::now())?;
//! let summary = writer.finish()?;
//! assert_eq!(summary.table("opcodes").rows, 1);
//!
//! let found = scan(root)?;
//! let back = found.rows::<OpcodeRow>()?;
//! assert_eq!(back, rows.opcodes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod durable;
mod encode;
mod journal;
mod lock;
mod marks;
mod name;
mod schema;
mod seal;
mod split;
mod together;
mod walk;

pub mod error;
pub mod parcel;
pub mod query;
pub mod read;
pub mod repair;
pub mod retain;
pub mod scan;
pub mod summary;
pub mod writer;

pub use error::Error;
pub use parcel::Parcel;
pub use query::{Query, Rows, TimeRange};
pub use read::Batch;
pub use repair::{Repaired, repair};
pub use retain::{Limits, Retained, retain};
pub use scan::{Scan, Segment, Unreadable, open, scan};
pub use summary::{Summary, TableSummary};
pub use writer::{Numbered, Options, Writer};
