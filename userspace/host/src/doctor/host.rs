//! Kernel, capabilities, limits, clocks.

use super::finding::Finding;
use crate::privileges;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;

/// The first release with multi-buffer XDP.
const OLDEST: (u32, u32) = (5, 18);
/// The oldest release on which captures were run (docs/softroce.md).
const OLDEST_RUN: (u32, u32) = (6, 1);
/// From this release on, the kernel charges maps to the control group, not to the locked-memory limit.
const CHARGED: (u32, u32) = (5, 11);
/// The memory of the default rings and caches, with a margin.
const LOCKED_BYTES: u64 = 64 << 20;
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];

/// Checks the host.
#[must_use]
pub fn host() -> Vec<Finding> {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = version(&release);
    let mut found = vec![kernel(&release, version), btf()];
    found.extend(jit());
    found.extend(capabilities());
    found.push(locked_memory(version));
    found.extend(clock());
    found
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The first two numbers of a release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(['.', '-']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn kernel(release: &str, version: Option<(u32, u32)>) -> Finding {
    match version {
        None => Finding::warn(
            "kernel",
            format!("Unknown kernel release {release:?}; rocescope needs Linux 6.1 or later."),
        ),
        Some(version) if version < OLDEST => Finding::fail(
            "kernel",
            format!("Linux {release} is too old for XDP capture, which needs 6.1 or later."),
        )
        .remedy("rocescope capture --mode af-packet -i IFACE"),
        Some(version) if version < OLDEST_RUN => Finding::warn(
            "kernel",
            format!("XDP capture was not run on Linux {release}, only on 6.1 and later; `doctor --try` tries it."),
        ),
        Some(_) => Finding::ok("kernel", format!("Linux {release} supports XDP capture.")),
    }
}

fn btf() -> Finding {
    if Path::new("/sys/kernel/btf/vmlinux").exists() {
        Finding::ok("btf", "The kernel provides BTF type information.")
    } else {
        Finding::warn(
            "btf",
            "The kernel has no BTF (CONFIG_DEBUG_INFO_BTF is off): rocescope works without it, other BPF tools may not.",
        )
    }
}

/// `None` outside the initial network namespace, which alone shows the setting.
fn jit() -> Option<Finding> {
    let enabled = read("/proc/sys/net/core/bpf_jit_enable")?;
    Some(if enabled == "0" {
        Finding::fail(
            "jit",
            "The BPF JIT is off: XDP programs are interpreted and run several times slower.",
        )
        .remedy("sysctl -w net.core.bpf_jit_enable=1")
    } else {
        Finding::ok("jit", "The BPF JIT is on.")
    })
}

fn capabilities() -> Vec<Finding> {
    let of = |needed: &[privileges::Capability], way: &str, remedy: Option<String>| {
        let missing = match privileges::missing(needed) {
            Err(error) => {
                let message = format!("Cannot read the capabilities of this process: {error}.");
                return Finding::warn("capabilities", message);
            }
            Ok(missing) => missing,
        };
        if missing.is_empty() {
            let message = format!("{way} has all capabilities that it needs.");
            return Finding::ok("capabilities", message);
        }
        let names: Vec<&str> = missing.iter().map(|one| one.name).collect();
        let names = names.join(", ");
        let message = format!("{way} needs {names}, which this process does not have.");
        let finding = Finding::fail("capabilities", message);
        match remedy {
            Some(remedy) => finding.remedy(remedy),
            None => finding,
        }
    };
    // One command: `setcap` replaces what an earlier one granted, and the first includes the second.
    let grant = privileges::grant(&privileges::XDP);
    vec![
        of(&privileges::XDP, "XDP", Some(grant)),
        of(&privileges::AF_PACKET, "AF_PACKET", None),
    ]
}

fn locked_memory(version: Option<(u32, u32)>) -> Finding {
    if version.is_some_and(|version| version >= CHARGED) {
        return Finding::ok(
            "memlock",
            "The locked-memory limit does not apply: this kernel charges maps to the control group.",
        );
    }
    match getrlimit(Resource::Memlock).current {
        Some(bytes) if bytes < LOCKED_BYTES => Finding::fail(
            "memlock",
            format!("The locked-memory limit is {bytes} bytes; the maps need up to {LOCKED_BYTES}."),
        )
        .remedy("ulimit -l unlimited"),
        _ => Finding::ok("memlock", "The locked-memory limit is high enough."),
    }
}

fn clock() -> Option<Finding> {
    let source = read(CLOCK)?;
    Some(if FAST_CLOCKS.contains(&source.as_str()) {
        Finding::ok(
            "clock",
            format!("The clock source is {source}: a read takes tens of nanoseconds."),
        )
    } else {
        Finding::warn(
            "clock",
            format!(
                "The clock source is {source}: a read may take a microsecond, and the program reads it for each run."
            ),
        )
        .remedy(format!("echo tsc > {CLOCK}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn old_kernels_fail_and_those_never_run_are_doubtful() {
        let level = |release: &str| kernel(release, version(release)).level;
        assert_eq!(level("5.15.0-91-generic"), Level::Fail);
        assert_eq!(level("5.18.0"), Level::Warn);
        assert_eq!(level("6.1.0-18-amd64"), Level::Ok);
        assert_eq!(level("unknown"), Level::Warn);
    }
}
