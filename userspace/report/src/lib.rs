//! Reports of a dataset: reads rows; writes text, markdown, JSON, CSV and one HTML page.
//!
//! ```text
//! rows -> collect (bounded sums) -> Report -> sections -> text, markdown, html
//!                                         `-----------> json, tables
//! ```
//!
//! A dataset may contain days, so [`Collector`] takes the rows as they are read and keeps only sums. Its memory is
//! bounded: [`series::MAX_POINTS`] points in time, [`collect::FOLLOWED_FLOWS`] flows, the connections that are alive at
//! one moment, and the requested number of rows of every list. The document states what was merged or omitted.
//!
//! This crate reads and writes no files and reads no clock. Text from rows, names and paths is always escaped: see
//! [`html`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@collect`] | [`Collector`]: rows in, a [`Report`] out |
//! | [`report`] | [`Report`]: the data of all documents |
//! | [`series`] | values over time, down-sampled on the fly |
//! | [`sections`] | the document: findings, facts, tables and charts in an operator's order |
//! | [`mod@compare`] | what changed between two reports |
//! | [`chart`] | charts as SVG, one file for each kind |
//! | [`text`], [`markdown`], [`html`] | the sections in each format |
//! | [`mod@json`], [`tables`] | the values, for programs |

pub mod chart;
pub mod collect;
pub mod compare;
pub mod html;
pub mod json;
pub mod markdown;
pub mod report;
pub mod sections;
pub mod series;
pub mod tables;
pub mod text;
mod words;

pub use collect::agreement::Agreement;
pub use collect::{Collector, Origin, Scope};
pub use report::{HostFaults, Report};
