//! Why a live capture cannot start or continue.

use aya::EbpfError;
use aya::maps::MapError;
use aya::programs::ProgramError;
use rocescope_host::xdp_program::Process;
use std::io;

/// Why a live capture cannot start or continue. A cause that is part of the message is not a source: an error chain
/// would print it twice.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object does not load on this kernel.
    #[error("the XDP program cannot be loaded: {}", whole(.0.as_ref()))]
    Object(Box<EbpfError>),
    /// The object lacks a program or map.
    #[error("the XDP program has no {0}")]
    Missing(&'static str),
    /// The verifier or the kernel refuses a program.
    #[error("the kernel refuses the XDP program: {}", whole(.0.as_ref()))]
    Program(Box<ProgramError>),
    /// A map cannot be made or read.
    #[error("a map of the XDP program: {}", whole(.0.as_ref()))]
    Map(Box<MapError>),
    /// Another program is attached.
    #[error("{}", occupied(*.interface, .process.as_ref()))]
    Occupied {
        /// Index of the interface.
        interface: u32,
        /// The process whose program it is, if it is known.
        process: Option<Process>,
    },
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
    Call(io::Error),
    /// Capabilities cannot be given up.
    #[error("capabilities: {0}")]
    Capabilities(io::Error),
    /// The flush thread has ended.
    #[error("the flush thread: {0}")]
    Thread(String),
}

fn occupied(interface: u32, process: Option<&Process>) -> String {
    let beside = "`--mode af-packet` captures beside it if it passes frames on";
    match process {
        Some(Process { name, number }) if name == "rocescope" => format!(
            "rocescope already captures there with XDP (process {number}); {beside}: `--verdict pass`, the default \
             only where the interface is in use"
        ),
        Some(process) => format!("the XDP program of {process} is attached there and stays untouched; {beside}"),
        None => format!(
            "another XDP program is attached to interface {interface} and stays untouched (`ip link` shows it); {beside}"
        ),
    }
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

/// An error with its causes. Some errors of the library contain the text of their cause, others do not.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

impl From<EbpfError> for Error {
    fn from(error: EbpfError) -> Self {
        Self::Object(Box::new(error))
    }
}

impl From<ProgramError> for Error {
    fn from(error: ProgramError) -> Self {
        Self::Program(Box::new(error))
    }
}

impl From<MapError> for Error {
    fn from(error: MapError) -> Self {
        Self::Map(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_cause_is_printed_once() {
        let cause = || io::Error::other("the cause");
        for error in [
            Error::from(ProgramError::IOError(cause())),
            Error::from(MapError::IoError(cause())),
            Error::from(EbpfError::FileError {
                path: "object".into(),
                error: cause(),
            }),
            Error::Call(cause()),
            Error::Capabilities(cause()),
        ] {
            let mut chain = error.to_string();
            let mut source = error.source();
            while let Some(error) = source {
                chain = format!("{chain}: {error}");
                source = error.source();
            }
            assert_eq!(chain.matches("the cause").count(), 1, "{chain}");
        }
    }
}
