//! Runs a capture: frames in, a summary, a dataset and metrics out.
//!
//! The engine has no command line and prints nothing. The caller makes a [`CaptureRequest`], receives
//! [`Notice`]s while the capture runs, and an [`Outcome`] at its end.
//!
//! | module | what it does |
//! |---|---|
//! | [`request`] | the request for a capture |
//! | [`live`] | captures of interfaces |
//! | [`replay`] | captures of files and pipes |
//! | [`session`] | a source of frames, driven through the observer into the intake |
//! | [`intake`] | runs in; rows to the dataset, the recorder and the metrics |
//! | [`kept`] | rows of connections and events in memory, until the end |
//! | [`outcome`] | the result of a capture, and whether it is complete |
//! | [`origin`] | the origin of the frames of a dataset, and the dataset that a capture writes |
//! | `file_writer` | the windows of a file, written by a thread of its own |
//! | `stored` | the windows that a dataset already has |
//! | [`recorder`] | the flight recorder: frames in memory, and files around events |
//! | [`frames`] | the frames that match the filter: counted up to a limit, and written to files |
//! | [`merge`] | merges datasets |
//! | [`metrics`] | the metrics of a capture or a collector |
//! | [`document`] | the outcome, connections, findings and interfaces as text and as JSON |
//! | [`drops`] | frames dropped before this program saw them |
//! | [`anonymize`] | prefix-preserving anonymization of IP addresses |
//! | [`notice`] | the notices of a running capture |
//! | [`error`] | why a capture does not start, or ends early |

pub mod anonymize;
pub mod document;
pub mod drops;
pub mod error;
mod file_writer;
pub mod frames;
pub mod intake;
pub mod kept;
pub mod live;
pub mod merge;
pub mod metrics;
pub mod notice;
pub mod origin;
pub mod outcome;
pub mod recorder;
pub mod replay;
pub mod request;
pub mod session;
mod stored;

pub use error::{EngineError, Result};
pub use notice::{Notice, Notices};
pub use outcome::{Incomplete, Outcome};
pub use request::{CaptureRequest, DatasetRequest, IntakeRequest, RecorderRequest};
pub use session::Session;
