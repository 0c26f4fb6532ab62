//! What the `rocescope` binary does: arguments, wiring, output.
//!
//! | module | what it does |
//! |---|---|
//! | [`anonymize`] | addresses that keep their prefixes and nothing else |
//! | [`arguments`] | the command line |
//! | [`configuration`] | the layers below the command line: environment, file, defaults |
//! | [`filters`] | filters as arguments |
//! | [`commands`] | one file a subcommand |
//! | [`session`] | a source of frames, driven through the observer into the intake |
//! | [`intake`] | runs in, a summary and a dataset out |
//! | [`dataset`] | the dataset that a capture writes, and how much of it stays |
//! | [`drops`] | what was dropped before this program saw it |
//! | [`metrics`] | the endpoint that Prometheus reads |
//! | [`output`] | the summary of a capture as text and as JSON |
//! | [`recorder`] | frames in memory, and files of them around events |
//! | [`mod@reference`] | what is generated from the command line: pages, completions, template |
//! | [`resources`] | what this process uses |
//! | [`service`] | what systemd hears |
//! | [`mod@say`] | lines for the user while something runs |
//! | [`signals`] | SIGINT and SIGTERM end the input, SIGUSR1 asks for the counts |
//! | [`progress`] | the bar on a terminal |

pub mod anonymize;
pub mod arguments;
pub mod commands;
pub mod configuration;
pub mod dataset;
pub mod drops;
pub mod filters;
pub mod intake;
pub mod metrics;
pub mod output;
pub mod progress;
pub mod recorder;
pub mod reference;
pub mod resources;
pub mod say;
pub mod service;
pub mod session;
pub mod signals;
pub mod units;

pub use arguments::Arguments;
pub use commands::run;
