//! A dataset as a document: rows in; text, markdown, JSON, CSV and one HTML page out.
//!
//! ```text
//! rows -> collect (bounded sums) -> Report -> sections -> text, markdown, html
//!                                         `-----------> json, csv
//! ```
//!
//! A dataset may hold days, so [`Collector`] takes its rows as they are read and keeps sums alone.
//! What it keeps is bounded, whatever comes: [`series::MOST_POINTS`] points of time,
//! [`collect::FOLLOWED_FLOWS`] flows, the connections that live at one moment, and the asked for
//! number of rows of every list. What was merged or left out is said in the document.
//!
//! What this crate is not: it reads no file, writes none, and knows no clock. Whatever comes from
//! rows, names and paths is text, never markup: see [`html`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@collect`] | [`Collector`]: rows in, a [`Report`] out |
//! | [`report`] | [`Report`]: everything that documents are made from |
//! | [`series`] | figures over time, down-sampled as they come |
//! | [`sections`] | the document: sentences, facts, tables and charts in an operator's order |
//! | [`chart`] | charts as SVG, one file a kind |
//! | [`text`], [`markdown`], [`html`] | the sections, written out |
//! | [`mod@json`], [`csv`] | the figures, for programs |

pub mod chart;
pub mod collect;
pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod report;
pub mod sections;
pub mod series;
pub mod text;
mod words;

pub use collect::{Collector, Origin, Scope};
pub use report::Report;
