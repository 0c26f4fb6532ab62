//! Why a command cannot start to run.

use std::io;
use std::net::SocketAddr;

/// The result of a step of the start.
pub type Result<T, E = RuntimeError> = std::result::Result<T, E>;

/// Why a command cannot start to run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The operating system refuses a signal handler.
    #[error("cannot install signal handlers")]
    Signals(#[source] io::Error),
    /// Standard input cannot be read.
    #[error("cannot read standard input")]
    StandardInput(#[source] io::Error),
    /// The metrics cannot be served at this address.
    #[error("cannot serve metrics at {0}: {1}")]
    Metrics(SocketAddr, io::Error),
    /// Capabilities cannot be dropped.
    #[error("cannot read or drop capabilities")]
    Capabilities(#[source] io::Error),
    /// The kernel does not report the name of this host.
    #[error("the name of this host")]
    HostName(#[source] io::Error),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The memory of the start cannot be released.
    #[error("memory")]
    Memory(#[source] io::Error),
}
