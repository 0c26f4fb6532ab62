//! What every command that runs for long shares. It prints nothing: the program installs a sink for status lines.
//!
//! | module | what it does |
//! |---|---|
//! | [`signals`] | SIGINT and SIGTERM end the input, SIGUSR1 asks for the counts |
//! | [`job`] | a program that runs under this one |
//! | [`service`] | notifications to systemd |
//! | [`resources`] | the resources of this process |
//! | [`cost`] | the cost of an agent: its share of a core, and its memory |
//! | [`metrics`] | the endpoint that Prometheus reads |
//! | [`dataset`] | a dataset that grows, and what it writes when the disk is full or fails |
//! | [`storage`] | what it is opened with |
//! | [`retention`] | which segments of it are deleted, and when its rollups are made: `rolling` |
//! | [`reserve`] | the part of a file system that a dataset leaves free |
//! | `gap` | rows that a full disk kept out of the dataset |
//! | [`not_stored`] | these as counts, readable from any thread |
//! | [`clock`] | the clock of all rows |
//! | [`mod@status`] | status lines |
//! | [`hook`] | messages to the outside when something happens |
//! | [`host_name`] | the name of this host |
//! | [`error`] | why a command cannot start to run |

pub mod clock;
pub mod cost;
pub mod dataset;
pub mod error;
mod gap;
pub mod hook;
pub mod host_name;
pub mod job;
pub mod metrics;
pub mod not_stored;
pub mod reserve;
pub mod resources;
pub mod retention;
mod rolling;
pub mod service;
pub mod signals;
pub mod status;
pub mod storage;

pub use error::{Result, RuntimeError};
pub use signals::Signals;
