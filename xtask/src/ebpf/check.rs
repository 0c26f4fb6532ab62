//! The rules that CI applies to the committed object.
//!
//! Its sources must be those in the tree. With the tools of the lock a rebuild must be equal to the
//! byte; with others this says so, and both objects must publish the records of user space, which
//! the tests of `rocescope-capture` hold against each other over all captures.

use super::lock::Lock;
use super::{build, object_path, sources};
use crate::process::root;
use anyhow::{Context, Result, ensure};
use rocescope_capture::xdp;
use rocescope_host::privileges;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) fn run() -> Result<()> {
    let again = "run `cargo xtask ebpf` and commit ebpf/rocescope.bpf.o and its lock";
    let path = object_path();
    let committed = fs::read(&path).with_context(|| path.display().to_string())?;
    let lock = Lock::read()?;
    ensure!(
        lock.object == sources::hash_of(&committed),
        "the object is not that of its lock: {again}"
    );
    let toolchain = build::Toolchain::find()?;
    let rebuilt = build::object(&toolchain, build::PROGRAM)?;
    let now = Lock::new(&toolchain, sources::hash()?, &rebuilt);
    ensure!(
        lock.sources == now.sources,
        "the sources of the XDP program have changed: {again}"
    );
    if lock.same_tools(&now) {
        ensure!(
            committed == rebuilt,
            "the same sources and tools give another object: {again}"
        );
        println!("rebuilt: equal to the byte");
    } else {
        println!(
            "rebuilt with other tools (rustc {}, LLVM {}, bpf-linker {} here; {}, {}, {} in the lock): comparing records",
            now.rustc, now.llvm, now.bpf_linker, lock.rustc, lock.llvm, lock.bpf_linker
        );
        let other = root().join("target/ebpf/rebuilt.o");
        fs::write(&other, &rebuilt).with_context(|| other.display().to_string())?;
        same_records(&other)?;
    }
    costs(&committed)?;
    same_records(&path)
}

/// Runs the test that holds an object against the code in user space.
fn same_records(object: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root())
        .args(["test", "--package", "rocescope-capture", "--test", "kernel"])
        .env(xdp::OBJECT_VARIABLE, object)
        .status()
        .context("cargo")?;
    ensure!(
        status.success(),
        "{}: its records are not those of user space",
        object.display()
    );
    Ok(())
}

/// Loads an object with what a capture has, and with the verifier's trust beside it; prints what the
/// verifier had to do.
pub(super) fn costs(object: &[u8]) -> Result<()> {
    let [bpf, admin, raw] = privileges::XDP;
    for (with, capabilities) in [
        (
            "CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW",
            &[bpf, admin, raw][..],
        ),
        ("and CAP_PERFMON", &[bpf, admin, raw, privileges::TRUST][..]),
    ] {
        println!("with {with}:");
        let costs = match xdp::costs(object, capabilities) {
            Ok(costs) => costs,
            Err(error)
                if error.is_permission() && !privileges::missing(capabilities)?.is_empty() =>
            {
                println!("  not loaded: {error}");
                return Ok(());
            }
            Err(error) => return Err(error).context("the object does not load"),
        };
        for cost in costs {
            println!(
                "  {:<16} {:>6} instructions verified in {:.0} ms, stack {} of 512 bytes, {} bytes of machine code",
                cost.program,
                cost.verified_instructions,
                cost.load_time.as_secs_f64() * 1e3,
                cost.stack_bytes,
                cost.machine_code_bytes,
            );
        }
    }
    Ok(())
}
