//! The registry of the dataset: the single definition of every table and its columns.
//!
//! The `table!` macro defines each table in one file of [`tables`]. That definition generates the typed row that the
//! pipeline fills, the [`Table`] that the store turns into an Arrow schema, the JSON keys, the columns of text output
//! and the pages of documentation. A column added there appears everywhere.
//!
//! This crate does no I/O, holds no state, and does not depend on Parquet.
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@column`] | [`Table`], [`Column`], their [`Type`] and [`Unit`] |
//! | [`aggregate`] | how a column is merged over time and over observers |
//! | [`value`] | [`Value`]: a borrowed cell of any row |
//! | [`cell`] | [`Cell`]: the Rust types of cells, and their conversion to `Value` and back |
//! | [`row`] | [`Row`] and [`Cells`]: one typed row, or many rows behind one trait object |
//! | [`tables`] | the rows, one file for each table, and [`WindowRows`], the rows of a finished window |
//! | [`text`], [`time`], [`sparse`], [`dscp_set`] | small cell types that `core` does not have |
//! | [`mod@units`] | sizes, rates and durations as users write them |
//! | `source_port` | the UDP source port of a queue pair, from its flow label |
//! | [`recent`] | texts of a column that were read recently |
//! | [`json`] | the one JSON writer: any structure, and rows as objects |
//! | [`lines`] | windows as JSON lines |
//! | [`render`], [`human`] | rows as an aligned text table, with or without human units |
//! | [`catalogue`] | the metrics of hosts: meaning, unit, and the names that drivers have for them |
//! | [`csv`] | rows as CSV |
//! | [`filter`] | the filter language over the columns |
//! | [`mod@host_ports`] | the ports of hosts in a window, from their counters |
//! | [`mod@group`] | traffic by source, destination, queue pair or opcode |
//! | [`footer`] | the metadata keys of a segment |
//! | [`rollup`] | what rows of longer windows have of a table: [`Rollup`], [`Resolution`] |
//! | [`mod@nearest`] | suggestions for misspelt names |
//! | [`schema`], [`markdown`] | the registry as text and JSON, and the page `docs/formats.md` |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aggregate;
pub mod catalogue;
pub mod cell;
pub mod column;
pub mod csv;
pub mod dscp_set;
pub mod filter;
pub mod footer;
pub mod group;
pub mod host_ports;
pub mod hosts;
pub mod human;
pub mod json;
pub mod lines;
pub mod markdown;
pub mod markdown_table;
pub mod nearest;
pub mod recent;
pub mod render;
pub mod revisions;
pub mod rollup;
pub mod row;
pub mod schema;
mod source_port;
pub mod sparse;
pub mod tables;
pub mod text;
pub mod time;
mod udp_path;
pub mod units;
pub mod value;

pub use aggregate::{Aggregate, Over, Rule};
pub use cell::{Cell, StoredCell};
pub use column::{Column, Table, Type, Unit};
pub use dscp_set::DscpSet;
pub use group::GroupBy;
pub use revisions::{Revised, Revisions};
pub use rocescope_wire::ROCE_UDP_PORT;
pub use rollup::{ROLLUPS, Resolution, Rollup};
pub use row::{Cells, Mismatch, Row};
pub use source_port::source_port;
pub use sparse::SparseBytes;
pub use tables::{
    AGENT_TABLES, CAPTURE_TABLES, COLLECTIVE_TABLES, COUNTER_TABLES, ChangeRow, ConnectionOwnersRow, ConnectionRow,
    CounterRow, DERIVED_TABLES, DIAGNOSIS_TABLES, EventRow, FIRST_PROBE_QPN, FLOW_PATH_TABLES, FlowPathRow, FlowRow,
    GroupRow, HOST_DIAGNOSIS_TABLES, HostPortRow, HostVerdictRow, INCIDENT_NOTE_TABLES, INCIDENT_TABLES,
    IncidentNoteRow, IncidentRow, LINK_LOAD_TABLES, LOOPBACK_TABLES, LinkLoadRow, LinkRow, LoopbackRow, MeshRows,
    OPERATION_TABLES, OWNED_CONNECTIONS, OpcodeRow, OwnedConnections, PROBE_PAYLOAD_BYTES, PROBE_TABLES, PairRow,
    PathRow, PdcRow, ProbeRow, QUEUE_PAIR_TABLES, QueuePairRow, RUN_TABLES, RunRow, STEP_CAPTURE_TABLES, SWITCH_TABLES,
    SlaRow, SmallFlowRow, SpreadRow, StepProbeRow, StepRow, SwitchDropRow, SwitchPortRow, TABLES, TelemetryRow,
    VerdictRow, WindowRow, WindowRows,
};
pub use text::Text;
pub use time::Time;
pub use udp_path::UdpPath;
pub use value::Value;

/// Version of the dataset's layout and tables, in the footer of every segment.
///
/// Increases when a reader of the old version would misread a new file; see [`markdown::page`] for the rule.
pub const FORMAT_VERSION: u32 = 2;

/// The directory of a dataset with a marker for each segment that a store has, at the same path below it:
/// `rocescope dataset ship` makes it, and retention deletes no other segment while it is there.
pub const SHIPPED: &str = ".shipped";

/// Suffix of the marker of a segment that `rocescope dataset ship` began to copy: the store may have it.
pub const SHIPPING_SUFFIX: &str = ".begun";
