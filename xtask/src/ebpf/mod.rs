//! `cargo xtask ebpf`: builds the kernel programs and their locks.
//!
//! The objects are committed, so that users need only stable Rust; the lock beside each records its sources and tools.
//! `--check` builds them again and compares.
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | the compiler call, and the versions of the tools |
//! | `sources` | one hash over all sources of an object |
//! | `lock` | the lock of an object |
//! | `check` | the rules for the committed objects |

pub mod build;
mod check;
mod lock;
mod sources;

use crate::process::root;
use crate::product::text;
use crate::testbed;
use anyhow::{Context, Result, bail};
use build::{Package, Toolchain};
use lock::Lock;
use std::fs;
use std::path::PathBuf;

/// An object that is committed, with its lock beside it.
#[derive(Clone, Copy, Debug)]
struct Committed {
    package: Package,
    /// Its path in the tree.
    file: &'static str,
    /// The packages that it is built from: their manifests and everything below `src`.
    sources: &'static [&'static str],
}

/// The XDP program.
const XDP: Committed = Committed {
    package: build::PROGRAM,
    file: "ebpf/rocescope.bpf.o",
    sources: &["ebpf/program", "ebpf/record", "ebpf/wire"],
};
/// The programs on functions of the verbs core. Only a kernel with RDMA runs them: `cargo xtask softroce queue_pairs`.
const QUEUE_PAIRS: Committed = Committed {
    package: build::QUEUE_PAIRS,
    file: "ebpf/queue_pairs.bpf.o",
    sources: &["ebpf/queue_pairs", "ebpf/record", "ebpf/wire"],
};

impl Committed {
    fn path(&self) -> PathBuf {
        root().join(self.file)
    }

    /// The object in the tree.
    fn read(&self) -> Result<Vec<u8>> {
        fs::read(self.path()).context(self.file)
    }
}

/// `cargo xtask ebpf [--check]`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => write(),
        ["--check"] => check::run(),
        _ => bail!("usage: cargo xtask ebpf [--check]"),
    }
}

/// Builds the objects and writes them and their locks.
fn write() -> Result<()> {
    let toolchain = Toolchain::find()?;
    for committed in [XDP, QUEUE_PAIRS] {
        let object = build::object(&toolchain, committed.package)?;
        let lock = Lock::new(&toolchain, sources::hash(&committed)?, &object);
        fs::write(committed.path(), &object).context(committed.file)?;
        lock.write(&committed)?;
        println!("{}: {} bytes", committed.file, object.len());
    }
    testbed::run(&["object", &text(&XDP.path())])
}
