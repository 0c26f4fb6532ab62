//! What tests share. Only tests depend on it, and it depends on no other crate of the workspace but the declarations of
//! libibverbs.
//!
//! | module | contents |
//! |---|---|
//! | `binary` | `rocescope` itself: run to its end, text and JSON of what it printed |
//! | `running` | a process in the background: its messages, signals, its end |
//! | `wait` | waiting for a condition; only a hang reaches the deadline |
//! | [`browser`] | Chromium without a screen |
//! | `metrics` | HELP texts |
//! | `namespaces` | network namespaces, and links between them |
//! | `certificates` | an authority, and certificates as operators make them |
//! | [`gnmi`] | a switch with a gNMI server |
//! | `disk` | a small file system, and a file that fills it |
//! | [`verbs`] | a test double of libibverbs |
//! | `shared` | data that lie beside the project |
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod binary;
pub mod browser;
mod certificates;
mod disk;
pub mod gnmi;
mod metrics;
mod namespaces;
mod running;
mod shared;
pub mod verbs;
mod wait;

pub use binary::{binary, command, json, refusal, run, run_in, text};
pub use certificates::{Authority, Signed, make_as_documented};
pub use disk::{Ballast, SmallDisk};
pub use metrics::assert_help_texts;
pub use namespaces::Namespaces;
pub use running::{Ended, Running};
pub use shared::{fails_in_ci, shared};
pub use wait::{DEADLINE, until, until_some};
