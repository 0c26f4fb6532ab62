//! The rules for the committed objects.
//!
//! Their sources must be those in the tree. A rebuild with the tools of the lock must be identical. Other tools build
//! another XDP program, which must publish the same records as user space; the tests of `rocescope-capture` check that
//! for the committed one. The kernel must load it.

use super::lock::Lock;
use super::{Committed, QUEUE_PAIRS, XDP, build, sources};
use crate::process::root;
use crate::product::text;
use crate::testbed;
use anyhow::{Context, Result, ensure};
use build::Toolchain;
use std::fs;

pub(super) fn run() -> Result<()> {
    let toolchain = Toolchain::find()?;
    compare(&toolchain, &QUEUE_PAIRS)?;
    if let Some(rebuilt) = compare(&toolchain, &XDP)? {
        println!("comparing records");
        let other = root().join("target/ebpf/rebuilt.o");
        fs::write(&other, &rebuilt).with_context(|| other.display().to_string())?;
        testbed::run(&["object", &text(&other), "--records"])?;
    }
    testbed::run(&["object", &text(&XDP.path())])
}

/// Rebuilds an object; returns the one that other tools build.
fn compare(toolchain: &Toolchain, committed: &Committed) -> Result<Option<Vec<u8>>> {
    let file = committed.file;
    let remedy = format!("run `cargo xtask ebpf` and commit {file} and its lock");
    let object = committed.read()?;
    let lock = Lock::read(committed)?;
    ensure!(
        lock.object == sources::hash_of(&object),
        "{file} does not match its lock: {remedy}"
    );
    let rebuilt = build::object(toolchain, committed.package)?;
    let now = Lock::new(toolchain, sources::hash(committed)?, &rebuilt);
    ensure!(
        lock.sources == now.sources,
        "the sources of {file} have changed: {remedy}"
    );
    if lock.same_tools(&now) {
        ensure!(
            object == rebuilt,
            "the same sources and tools give another {file}: {remedy}"
        );
        println!("{file} rebuilt: identical");
        return Ok(None);
    }
    println!(
        "{file} rebuilt with other tools (rustc {}, LLVM {}, bpf-linker {} here; {}, {}, {} in the lock)",
        now.rustc, now.llvm, now.bpf_linker, lock.rustc, lock.llvm, lock.bpf_linker
    );
    Ok(Some(rebuilt))
}
