//! Why a live capture cannot start or continue.

use aya::EbpfError;
use aya::maps::MapError;
use aya::programs::ProgramError;
use std::io;

/// Why a live capture cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object does not load on this kernel.
    #[error("the XDP program cannot be loaded: {0}")]
    Object(#[from] EbpfError),
    /// The object lacks a program or map.
    #[error("the XDP program has no {0}")]
    Missing(&'static str),
    /// The verifier or the kernel refuses a program.
    #[error("the kernel refuses the XDP program: {0}")]
    Program(#[from] ProgramError),
    /// A map cannot be made or read.
    #[error("a map of the XDP program: {0}")]
    Map(#[from] MapError),
    /// Another program is attached.
    #[error("another XDP program is attached to interface {0} and stays untouched (`ip link` shows it)")]
    Occupied(u32),
    /// The interface does not support the program in this mode.
    #[error("the interface rejects XDP programs in {mode} mode")]
    Attach {
        /// Index of the interface.
        interface: u32,
        /// The mode that was tried.
        mode: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
    /// This process may not run on a CPU, so it cannot flush its runs.
    #[error("this process may not run on CPU {cpu}: allow it all CPUs, because each holds runs")]
    Cpu {
        /// The CPU.
        cpu: u32,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The CPUs cannot be listed.
    #[error("{path}")]
    Cpus {
        /// The path that lists them.
        path: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
    /// A call of `bpf(2)`.
    #[error("bpf: {0}")]
    Call(#[source] io::Error),
    /// Capabilities cannot be given up.
    #[error("capabilities: {0}")]
    Capabilities(io::Error),
    /// The flush thread has ended.
    #[error("the flush thread: {0}")]
    Thread(String),
}

impl Error {
    /// Whether a capability is missing.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        let mut error: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(cause) = error {
            if let Some(io) = cause.downcast_ref::<io::Error>() {
                return io.kind() == io::ErrorKind::PermissionDenied;
            }
            error = cause.source();
        }
        false
    }

    /// Whether the interface or its driver does not support the requested mode.
    #[must_use]
    pub(super) const fn is_mode(&self) -> bool {
        matches!(self, Self::Attach { .. })
    }
}
