//! Kernel, capabilities, limits, clocks.

use super::finding::Finding;
use crate::privileges;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;

/// Multi-buffer XDP, and links of BPF for it.
const OLDEST: (u32, u32) = (5, 18);
/// From here on memory of maps is charged to the control group, not to the limit of locked memory.
const CHARGED: (u32, u32) = (5, 11);
/// What the default rings and caches take, with room.
const LOCKED_BYTES: u64 = 64 << 20;
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const FAST_CLOCKS: [&str; 4] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
];

/// Looks at the host.
#[must_use]
pub fn host() -> Vec<Finding> {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = version(&release);
    let mut found = vec![kernel(&release, version), types()];
    found.extend(compiler());
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
            format!("The release {release:?} is none that is known."),
        ),
        Some(version) if version < OLDEST => Finding::fail(
            "kernel",
            format!("Linux {release} is older than 5.18, which XDP takes here."),
        )
        .remedy("rocescope capture --mode af-packet -i IFACE"),
        Some(_) => Finding::ok("kernel", format!("Linux {release} has all that is needed.")),
    }
}

fn types() -> Finding {
    if Path::new("/sys/kernel/btf/vmlinux").exists() {
        Finding::ok("btf", "The kernel describes its types.")
    } else {
        Finding::warn(
            "btf",
            "The kernel does not describe its types (CONFIG_DEBUG_INFO_BTF): the XDP program does without, other tools will not.",
        )
    }
}

/// Network namespaces other than the first do not show it.
fn compiler() -> Option<Finding> {
    let enabled = read("/proc/sys/net/core/bpf_jit_enable")?;
    Some(if enabled == "0" {
        Finding::fail(
            "jit",
            "XDP programs are interpreted, which costs a multiple.",
        )
        .remedy("sysctl -w net.core.bpf_jit_enable=1")
    } else {
        Finding::ok("jit", "XDP programs become machine code.")
    })
}

fn capabilities() -> Vec<Finding> {
    let of = |needed: &[privileges::Capability],
              way: &str,
              or: fn(&'static str, String) -> Finding| {
        match privileges::missing(needed) {
            Err(error) => Finding::warn("capabilities", format!("They cannot be read: {error}.")),
            Ok(missing) if missing.is_empty() => {
                Finding::ok("capabilities", format!("All that {way} takes are there."))
            }
            Ok(missing) => {
                let names: Vec<&str> = missing.iter().map(|one| one.name).collect();
                or(
                    "capabilities",
                    format!(
                        "{way} takes {}, which this process lacks.",
                        names.join(", ")
                    ),
                )
                .remedy(privileges::grant(needed))
            }
        }
    };
    vec![
        of(&privileges::XDP, "XDP", Finding::fail),
        of(&privileges::AF_PACKET, "AF_PACKET", Finding::fail),
    ]
}

fn locked_memory(version: Option<(u32, u32)>) -> Finding {
    if version.is_some_and(|version| version >= CHARGED) {
        return Finding::ok(
            "memlock",
            "This kernel charges maps to the control group, not to the limit of locked memory.",
        );
    }
    match getrlimit(Resource::Memlock).current {
        Some(bytes) if bytes < LOCKED_BYTES => {
            Finding::fail("memlock", format!("Only {bytes} bytes may be locked."))
                .remedy("ulimit -l unlimited")
        }
        _ => Finding::ok("memlock", "Enough memory may be locked."),
    }
}

fn clock() -> Option<Finding> {
    let source = read(CLOCK)?;
    Some(if FAST_CLOCKS.contains(&source.as_str()) {
        Finding::ok(
            "clock",
            format!("The clock is {source}, which costs tens of nanoseconds."),
        )
    } else {
        Finding::warn(
            "clock",
            format!("The clock is {source}: reading it may cost a microsecond, and the program reads it for each run."),
        )
        .remedy(format!("echo tsc > {CLOCK}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn an_old_kernel_is_told_from_a_new_one() {
        let level = |release: &str| kernel(release, version(release)).level;
        assert_eq!(level("5.15.0-91-generic"), Level::Fail);
        assert_eq!(level("5.18.0"), Level::Ok);
        assert_eq!(level("6.1.0-18-amd64"), Level::Ok);
        assert_eq!(level("unknown"), Level::Warn);
    }
}
