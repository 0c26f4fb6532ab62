//! The `rocescope` binary: arguments, wiring, output. `rocescope-engine` runs captures.
//!
//! | module | what it does |
//! |---|---|
//! | [`arguments`] | the command line |
//! | [`configuration`] | the layers below the command line: environment, file, defaults |
//! | [`filters`], [`units`] | parsers for values of arguments |
//! | `requests` | requests to the engine, from arguments |
//! | `reload` | reloads the configuration while a capture runs |
//! | [`commands`] | one file for each subcommand |
//! | `color` | whether standard output shows colors |
//! | [`mod@reference`] | files generated from the command line: pages, completions, template |
//! | [`mod@status`] | status lines on standard error |
//! | `status_line` | the line that a live capture prints at an interval |
//! | `stdout` | results on standard output |
//! | [`progress`] | the progress bar |

pub mod arguments;
mod color;
pub mod commands;
pub mod configuration;
pub mod filters;
pub mod progress;
pub mod reference;
mod reload;
mod requests;
mod rows;
pub mod status;
mod status_line;
mod stdout;
pub mod units;

pub use arguments::Arguments;
pub use commands::run;
pub(crate) use stdout::print;
