//! The machine of the measurement.

use std::fs;

/// One line with processor, cores, memory, kernel and load.
pub(super) fn described() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let model = field(&cpus, "model name").unwrap_or("unknown processor");
    let cores = cpus.lines().filter(|line| line.starts_with("processor")).count();
    let memory = read("/proc/meminfo");
    let memory_kib = field(&memory, "MemTotal").and_then(|size| size.split(' ').next()?.parse().ok());
    let memory_gib = memory_kib.unwrap_or(0.0f64) / f64::from(1 << 20);
    let release = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    format!(
        "{model}, {cores} cores, {memory_gib:.0} GiB, Linux {}, load when it ended {}\n",
        release.trim(),
        load.split(' ').next().unwrap_or("unknown")
    )
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}
