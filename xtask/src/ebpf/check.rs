//! The rules for the committed object.
//!
//! Its sources must be those in the tree. A rebuild with the tools of the lock must be identical. Other tools build
//! another object, which must publish the same records as user space; the tests of `rocescope-capture` check that for
//! the committed one. The kernel must load it.

use super::lock::Lock;
use super::{build, object_path, sources};
use crate::process::root;
use crate::product::text;
use crate::testbed;
use anyhow::{Context, Result, ensure};
use std::fs;

pub(super) fn run() -> Result<()> {
    let remedy = "run `cargo xtask ebpf` and commit ebpf/rocescope.bpf.o and its lock";
    let path = object_path();
    let committed = fs::read(&path).with_context(|| path.display().to_string())?;
    let lock = Lock::read()?;
    ensure!(
        lock.object == sources::hash_of(&committed),
        "the object does not match its lock: {remedy}"
    );
    let toolchain = build::Toolchain::find()?;
    let rebuilt = build::object(&toolchain, build::PROGRAM)?;
    let now = Lock::new(&toolchain, sources::hash()?, &rebuilt);
    ensure!(
        lock.sources == now.sources,
        "the sources of the XDP program have changed: {remedy}"
    );
    if lock.same_tools(&now) {
        ensure!(
            committed == rebuilt,
            "the same sources and tools give another object: {remedy}"
        );
        println!("rebuilt: identical");
    } else {
        println!(
            "rebuilt with other tools (rustc {}, LLVM {}, bpf-linker {} here; {}, {}, {} in the lock): comparing records",
            now.rustc, now.llvm, now.bpf_linker, lock.rustc, lock.llvm, lock.bpf_linker
        );
        let other = root().join("target/ebpf/rebuilt.o");
        fs::write(&other, &rebuilt).with_context(|| other.display().to_string())?;
        testbed::run(&["object", &text(&other), "--records"])?;
    }
    testbed::run(&["object", &text(&path)])
}
