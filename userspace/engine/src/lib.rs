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
//! | [`dataset`] | the dataset that a capture writes, and its retention |
//! | `file_writer` | the windows of a file, written by a thread of its own |
//! | `gap` | windows that a full disk kept out of the dataset |
//! | `stored` | the windows that a dataset already has |
//! | [`reserve`] | the part of a file system that a dataset leaves free |
//! | [`recorder`] | the flight recorder: frames in memory, and files around events |
//! | [`frames`] | the frames that match the filter: counted up to a limit, and written to a file |
//! | [`metrics`] | the endpoint that Prometheus reads |
//! | [`drops`] | frames dropped before this program saw them |
//! | [`anonymize`] | prefix-preserving anonymization of IP addresses |
//! | [`signals`] | SIGINT and SIGTERM end the input, SIGUSR1 asks for the counts |
//! | [`service`] | notifications to systemd |
//! | [`resources`] | the resources of this process |
//! | [`notice`] | the notices of a running capture |
//! | [`error`] | why a capture does not start, or ends early |

pub mod anonymize;
pub mod dataset;
pub mod drops;
pub mod error;
mod file_writer;
pub mod frames;
mod gap;
pub mod intake;
pub mod kept;
pub mod live;
pub mod metrics;
pub mod not_stored;
pub mod notice;
pub mod outcome;
pub mod recorder;
pub mod replay;
pub mod request;
pub mod reserve;
pub mod resources;
pub mod service;
pub mod session;
pub mod signals;
mod stored;

pub use error::{EngineError, Result};
pub use notice::{Notice, Notices};
pub use outcome::{Incomplete, Outcome};
pub use request::{CaptureRequest, DatasetRequest, IntakeRequest, RecorderRequest};
pub use session::Session;
pub use signals::Signals;
