//! Why this kernel does not report queue pairs.

use aya::EbpfError;
use aya::maps::MapError;
use aya::programs::ProgramError;
use std::io;
use std::path::PathBuf;

/// Why this kernel does not report queue pairs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel does not describe its types.
    #[error("the kernel does not describe its types ({})", .0.display())]
    Types(PathBuf, #[source] io::Error),
    /// A file of types cannot be used.
    #[error("{0}")]
    Btf(&'static str),
    /// A type or field is missing.
    #[error(
        "this kernel describes no {0}: its RDMA core is not loaded (`modprobe ib_core`), not described, or of another version"
    )]
    Field(String),
    /// A field has another size than the programs read.
    #[error("{field} has {bytes} bytes in this kernel, and not {expected}")]
    Size {
        /// The field.
        field: String,
        /// Its size.
        bytes: u32,
        /// What the programs read.
        expected: u32,
    },
    /// The object is not whole.
    #[error("the object has no {0}")]
    Missing(&'static str),
    /// The object cannot be loaded.
    #[error(transparent)]
    Object(#[from] Box<EbpfError>),
    /// The kernel refuses a program.
    #[error("{0}")]
    Load(&'static str, #[source] Box<ProgramError>),
    /// The names of the kernel's functions cannot be read.
    #[error("/proc/kallsyms")]
    Functions(#[source] io::Error),
    /// The kernel lacks a function.
    #[error("the kernel has no function {0}: its RDMA core is not loaded (`modprobe ib_core`), or of another version")]
    Function(&'static str),
    /// A program cannot be attached.
    #[error(
        "cannot attach to {0} of the kernel: is ib_core loaded (`modprobe ib_core`), and does the kernel have kprobes?"
    )]
    Attach(&'static str, #[source] Box<ProgramError>),
    /// A map cannot be used.
    #[error(transparent)]
    Map(#[from] Box<MapError>),
}

impl Error {
    /// The error with its causes, in a line: the log of the verifier, which has hundreds, is left out.
    #[must_use]
    pub fn in_a_line(&self) -> String {
        let mut line = String::new();
        let mut cause: Option<&dyn std::error::Error> = Some(self);
        while let Some(error) = cause {
            let text = error.to_string();
            let text = text.lines().next().unwrap_or_default().trim_end_matches('.');
            if !line.contains(text) {
                let separator = if line.is_empty() { "" } else { ": " };
                line += &format!("{separator}{text}");
            }
            cause = error.source();
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_in_one_line() {
        let error = io::Error::other("no such file\nand more");
        let error = Error::Types("/sys/kernel/btf/vmlinux".into(), error);
        let line = "the kernel does not describe its types (/sys/kernel/btf/vmlinux): no such file";
        assert_eq!(error.in_a_line(), line);
    }
}
