//! What the `rocescope` binary does: arguments, wiring, output. What runs a capture is `rocescope-engine`.
//!
//! | module | what it does |
//! |---|---|
//! | [`arguments`] | the command line |
//! | [`configuration`] | the layers below the command line: environment, file, defaults |
//! | [`filters`], [`units`] | values of arguments |
//! | `requests` | what the engine is asked for, from arguments |
//! | `reload` | the configuration, read again while a capture runs |
//! | [`commands`] | one file a subcommand |
//! | [`output`] | the summary of a capture as text and as JSON |
//! | [`collector_metrics`] | what a collector shows to Prometheus |
//! | [`mod@reference`] | what is generated from the command line: pages, completions, template |
//! | [`mod@say`] | lines for the user while something runs |
//! | `stdout` | results |
//! | [`progress`] | the bar on a terminal |

pub mod arguments;
pub mod collector_metrics;
pub mod commands;
pub mod configuration;
pub mod filters;
pub mod output;
pub mod progress;
pub mod reference;
mod reload;
mod requests;
pub mod say;
mod stdout;
pub mod units;

pub use arguments::Arguments;
pub use commands::run;
pub(crate) use stdout::print;
