//! `cargo xtask object FILE [--records]`: an XDP object in the kernel of this machine.
//!
//! The kernel must load it with the capabilities of a capture, and with `CAP_PERFMON` in addition. With `--records` it
//! must also publish the same records as user space, over all captures.

use anyhow::{Context, Result, bail};
use rocescope_capture::xdp;
use rocescope_host::privileges;
use std::fs;
use xtask::process::{command, run as run_command};

pub(super) fn run(arguments: &[&str]) -> Result<()> {
    let (file, records) = match arguments {
        [file] => (file, false),
        [file, "--records"] => (file, true),
        _ => bail!("cargo xtask object FILE [--records]"),
    };
    // Tests run in the directory of their package.
    let file = fs::canonicalize(file).with_context(|| (*file).to_owned())?;
    costs(&fs::read(&file)?)?;
    if records {
        let mut test = command("cargo", &["test", "--workspace", "--test", "kernel"]);
        run_command(test.env(xdp::OBJECT_VARIABLE, &file))
            .with_context(|| format!("{}: not the records of user space", file.display()))?;
    }
    Ok(())
}

/// Prints the verifier's work.
fn costs(object: &[u8]) -> Result<()> {
    let [bpf, admin, raw] = privileges::XDP;
    for (with, capabilities) in [
        ("CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW", &[bpf, admin, raw][..]),
        ("and CAP_PERFMON", &[bpf, admin, raw, privileges::TRUST][..]),
    ] {
        println!("with {with}:");
        let costs = match xdp::costs(object, capabilities) {
            Ok(costs) => costs,
            Err(error) if error.is_permission() && !privileges::missing(capabilities)?.is_empty() => {
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
