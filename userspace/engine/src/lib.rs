//! What runs a capture: frames in, a summary, a dataset and figures out.
//!
//! The engine knows no command line and prints nothing. Who starts a capture makes a [`CaptureRequest`],
//! takes [`Notice`]s while it runs, and gets an [`Outcome`] at its end.
//!
//! | module | what it does |
//! |---|---|
//! | [`request`] | what a capture is asked for |
//! | [`live`] | captures of interfaces |
//! | [`replay`] | captures of files and pipes |
//! | [`session`] | a source of frames, driven through the observer into the intake |
//! | [`intake`] | runs in; rows to the dataset, the recorder and the metrics |
//! | [`outcome`] | what a capture ends with, and whether it is whole |
//! | [`dataset`] | the dataset that a capture writes, and how much of it stays |
//! | [`recorder`] | frames in memory, and files of them around events |
//! | [`metrics`] | the endpoint that Prometheus reads |
//! | [`drops`] | what was dropped before this program saw it |
//! | [`anonymize`] | addresses that keep their prefixes and nothing else |
//! | [`signals`] | SIGINT and SIGTERM end the input, SIGUSR1 asks for the counts |
//! | [`service`] | what systemd hears |
//! | [`resources`] | what this process uses |
//! | [`notice`] | what a running capture reports |
//! | [`error`] | why a capture does not start, or ends early |

pub mod anonymize;
pub mod dataset;
pub mod drops;
pub mod error;
pub mod intake;
pub mod live;
pub mod metrics;
pub mod notice;
pub mod outcome;
pub mod recorder;
pub mod replay;
pub mod request;
pub mod resources;
pub mod service;
pub mod session;
pub mod signals;

pub use error::{EngineError, Result};
pub use notice::{Notice, Notices};
pub use outcome::{Incomplete, Outcome};
pub use request::{CaptureRequest, DatasetRequest, IntakeRequest, RecorderRequest};
pub use session::Session;
pub use signals::Signals;
