//! `OBJECT.lock`: the sources and tools of a committed object.

use super::build::{FLAGS, Toolchain};
use super::{Committed, sources};
use crate::process::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// The lock: one `key = "value"` per line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lock {
    pub(super) rustc: String,
    pub(super) llvm: String,
    pub(super) bpf_linker: String,
    pub(super) flags: String,
    /// Hash of the sources.
    pub(super) sources: String,
    /// Hash of the object.
    pub(super) object: String,
}

fn path(of: &Committed) -> PathBuf {
    root().join(format!("{}.lock", of.file))
}

impl Lock {
    pub(super) fn new(toolchain: &Toolchain, sources: String, object: &[u8]) -> Self {
        Self {
            rustc: toolchain.rustc_version.clone(),
            llvm: toolchain.llvm_version.clone(),
            bpf_linker: toolchain.linker_version.clone(),
            flags: FLAGS.into(),
            sources,
            object: sources::hash_of(object),
        }
    }

    pub(super) fn read(of: &Committed) -> Result<Self> {
        let path = path(of);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let value = |key: &str| {
            text.lines()
                .filter_map(|line| line.split_once(" = "))
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value.trim_matches('"').to_owned())
                .with_context(|| format!("{}: no {key}", path.display()))
        };
        Ok(Self {
            rustc: value("rustc")?,
            llvm: value("llvm")?,
            bpf_linker: value("bpf_linker")?,
            flags: value("flags")?,
            sources: value("sources")?,
            object: value("object")?,
        })
    }

    pub(super) fn write(&self, of: &Committed) -> Result<()> {
        let object = of.file.rsplit('/').next().unwrap_or_default();
        let text = format!(
            "# Written by `cargo xtask ebpf`: what {object} was built from and with.\n\
             rustc = \"{}\"\nllvm = \"{}\"\nbpf_linker = \"{}\"\nflags = \"{}\"\n\
             sources = \"{}\"\nobject = \"{}\"\n",
            self.rustc, self.llvm, self.bpf_linker, self.flags, self.sources, self.object
        );
        let path = path(of);
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// Whether the same tools built both with the same flags.
    pub(super) fn same_tools(&self, other: &Self) -> bool {
        (&self.rustc, &self.llvm, &self.bpf_linker, &self.flags)
            == (&other.rustc, &other.llvm, &other.bpf_linker, &other.flags)
    }
}
