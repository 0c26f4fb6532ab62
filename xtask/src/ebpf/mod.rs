//! `cargo xtask ebpf`: builds the XDP program and its lock.
//!
//! `ebpf/rocescope.bpf.o` is committed, so that users need only stable Rust; its lock records its sources and tools.
//! `--check` builds it again and compares the two.
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | the compiler call, and the versions of the tools |
//! | `sources` | one hash over all sources of the object |
//! | `lock` | `ebpf/rocescope.bpf.o.lock` |
//! | `check` | the rules for the committed object |

pub mod build;
mod check;
mod lock;
mod sources;

use crate::process::root;
use crate::product::text;
use crate::testbed;
use anyhow::{Context, Result, bail};
use lock::Lock;
use std::fs;
use std::path::PathBuf;

/// The path of the object.
fn object_path() -> PathBuf {
    root().join("ebpf/rocescope.bpf.o")
}

/// `cargo xtask ebpf [--check]`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => write(),
        ["--check"] => check::run(),
        _ => bail!("usage: cargo xtask ebpf [--check]"),
    }
}

/// Builds the object and writes it and its lock.
fn write() -> Result<()> {
    let toolchain = build::Toolchain::find()?;
    let object = build::object(&toolchain, build::PROGRAM)?;
    let lock = Lock::new(&toolchain, sources::hash()?, &object);
    let path = object_path();
    fs::write(&path, &object).with_context(|| path.display().to_string())?;
    lock.write()?;
    println!("{}: {} bytes", path.display(), object.len());
    testbed::run(&["object", &text(&path)])
}
