//! Readings of switches from a Prometheus server that scrapes their exporters.
//!
//! | module | what it does |
//! |---|---|
//! | `mapping` | which metric and labels become which column, from a file or a preset |
//! | `answer` | the samples in an answer of the server |
//! | `query` | the paths that are asked for |
//! | `source` | polls the server, and joins the samples of a scrape to readings |
//!
//! A query is an instant query for a range (`metric[30s]`): it gives the samples as they were scraped, with their times. A
//! query for a series of steps would give values that the server made up between them.

mod answer;
mod mapping;
mod query;
mod source;

pub use mapping::{BadMapping, Mapping, PRESETS};
pub use source::{Error, Prometheus};
