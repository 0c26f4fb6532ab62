//! Why a part does not start, or fails.

use std::error::Error;
use std::io;
use std::path::PathBuf;

/// The result of a step of an agent.
pub type Result<T, E = AgentError> = std::result::Result<T, E>;

/// Why a part does not start, or fails.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The thread of a part cannot be started.
    #[error("cannot start the thread of {0}")]
    Thread(&'static str, #[source] io::Error),
    /// The thread of a part panicked.
    #[error("the thread of {0} failed, which is a defect")]
    Defect(&'static str),
    /// A file cannot be read.
    #[error("cannot read {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The list of ranks is invalid.
    #[error("{}: {}", .0.display(), .1)]
    Ranks(PathBuf, String),
    /// What is asked for is impossible here.
    #[error("{0}")]
    Refused(String),
    /// Capabilities cannot be read or dropped.
    #[error("capabilities")]
    Capabilities(#[source] io::Error),
    /// A file of the settings cannot be read.
    #[error("{}", .0.display())]
    Input(PathBuf, #[source] io::Error),
    /// The list of other hosts is invalid.
    #[error("{}", .0.display())]
    List(PathBuf, #[source] rocescope_probe::peers::list::ListError),
    /// The PCIe devices of this host.
    #[error(transparent)]
    Hardware(#[from] rocescope_host::pci::Unreadable),
    /// RDMA devices that test themselves.
    #[error(transparent)]
    Loopback(#[from] rocescope_probe::loopback::Failure),
    /// A host tests itself once at a time.
    #[error("another process of this host runs loopback tests: one at a time")]
    IsTested(#[source] io::Error),
    /// NICs that probe.
    #[error(transparent)]
    Probe(#[from] rocescope_probe::backend::Error),
    /// The dataset.
    #[error(transparent)]
    Dataset(#[from] rocescope_store::Error),
    /// The collector, its certificates or the spool.
    #[error("the collector")]
    Collector(#[source] rocescope_collector::Error),
    /// The certificates for the controller.
    #[error("the controller")]
    Controller(#[source] rocescope_collector::Error),
    /// The spool, or certificates of another host.
    #[error(transparent)]
    Spool(#[from] rocescope_collector::Error),
    /// The endpoint of metrics.
    #[error(transparent)]
    Runtime(#[from] rocescope_runtime::RuntimeError),
}

/// An error with its causes, in a line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// Refuses what is impossible.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::error::AgentError::Refused(format!($($text)+)));
        }
    };
}
pub(crate) use ensure;
