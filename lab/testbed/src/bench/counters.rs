//! `cargo xtask bench counters [SECONDS]`: the cost of `rocescope counters` on a host with eight NICs.
//!
//! The NICs are made: 120 files each in memory (tmpfs). A fifth of them changes every second, as on a busy host. What a
//! read of a real device costs besides is up to its driver.

use super::cost::{private_dirty, ran, status};
use anyhow::{Context, Result, bail, ensure};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::{command, run as run_command};
use xtask::product::{build, text};

const NICS: usize = 8;
const FILES: usize = 120;
/// Every fifth file changes.
const CHANGING: usize = 5;
/// The project's limits.
const CPU_MAX: f64 = 0.005;
const RESIDENT_MAX: u64 = 8 * 1024;
/// Segments are sealed once a minute: every measurement includes that.
const SECONDS: u64 = 62;
const SETTLE: Duration = Duration::from_secs(3);

/// A directory in memory.
pub(super) struct Tree(pub(super) PathBuf);

impl Drop for Tree {
    fn drop(&mut self) {
        // No measurement depends on the removal.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Tree {
    pub(super) fn new() -> Result<Self> {
        let tree = Self(format!("/dev/shm/rocescope-bench-{}", std::process::id()).into());
        for nic in 0..NICS {
            let port = tree.port(nic);
            for (name, content) in [
                ("state", "4: ACTIVE"),
                ("phys_state", "5: LinkUp"),
                ("link_layer", "Ethernet"),
                ("rate", "400 Gb/sec (4X NDR)"),
            ] {
                write(&port.join(name), content)?;
            }
        }
        tree.advance(0)?;
        Ok(tree)
    }

    fn port(&self, nic: usize) -> PathBuf {
        self.0.join(format!("class/infiniband/mlx5_{nic}/ports/1"))
    }

    /// Writes all files at step 0, then those that change.
    pub(super) fn advance(&self, step: usize) -> Result<()> {
        for nic in 0..NICS {
            for file in (0..FILES).filter(|file| step == 0 || file % CHANGING == 0) {
                let directory = if file < FILES / 4 { "counters" } else { "hw_counters" };
                let path = self.port(nic).join(directory).join(name(file));
                write(&path, &(1_000_000_007 * (file + 1) + step * 12_345).to_string())?;
            }
        }
        Ok(())
    }
}

/// Some names of the catalogue, some that it does not have.
fn name(file: usize) -> String {
    match file {
        0 => "port_xmit_data".into(),
        5 => "port_rcv_data".into(),
        30 => "np_cnp_sent".into(),
        35 => "rp_cnp_handled".into(),
        _ => format!("counter_{file}"),
    }
}

fn write(path: &Path, content: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a directory")?)?;
    fs::write(path, format!("{content}\n"))?;
    Ok(())
}

pub(super) fn run(options: &[&str]) -> Result<()> {
    let seconds = match options {
        [] => SECONDS,
        [seconds] => seconds.parse().context("seconds")?,
        _ => bail!("cargo xtask bench counters [SECONDS]"),
    };
    let time = Duration::from_secs(seconds);
    let rocescope = text(&build()?);
    let tree = Tree::new()?;
    let out = text(&tree.0.join("dataset"));
    let cases: [(&str, &[&str]); 4] = [
        ("reads", &["--quiet"]),
        ("... a line for each port", &[]),
        ("... into a dataset", &["--quiet", "--out", &out]),
        ("... for Prometheus", &["--quiet", "--metrics", "127.0.0.1:0"]),
    ];
    println!(
        "| {NICS} NICs with {FILES} files, every second | CPU | resident, mean | max | peak since the start | private \
         and changed |"
    );
    println!("|---|---|---|---|---|---|");
    let mut above = Vec::new();
    for (name, arguments) in cases {
        let mut agent = Command::new(&rocescope);
        agent
            .args(["counters", "--interval", "1s", "--sysfs-root"])
            .arg(&tree.0)
            .args(arguments);
        let mut agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let measured = watch(&tree, agent.id(), time);
        run_command(&mut command("kill", &["-INT", &agent.id().to_string()]))?;
        ensure!(agent.wait()?.success(), "`rocescope counters` failed");
        let measured = measured?;
        println!("| {name} | {measured} |");
        let checks = [
            (measured.cpu <= CPU_MAX, "CPU"),
            (measured.max <= RESIDENT_MAX, "resident memory"),
            (measured.peak <= RESIDENT_MAX, "the peak of resident memory"),
        ];
        let failed = checks.iter().filter(|(is_met, _)| !is_met);
        above.extend(failed.map(|(_, what)| format!("{name}: {what}")));
    }
    ensure!(above.is_empty(), "above the limit: {}", above.join("; "));
    Ok(())
}

/// The share of a core, and memory in KiB.
struct Measured {
    cpu: f64,
    /// Resident, of the samples.
    mean: u64,
    max: u64,
    /// Resident since the start, which the kernel keeps: also between two samples.
    peak: u64,
    /// Private and changed, maximum of the samples.
    private: u64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu,
            mean,
            max,
            peak,
            private,
        } = self;
        let cpu = cpu * 100.0;
        write!(f, "{cpu:.2} % | {mean} KiB | {max} KiB | {peak} KiB | {private} KiB")
    }
}

fn watch(tree: &Tree, pid: u32, time: Duration) -> Result<Measured> {
    sleep(SETTLE);
    let (begun, before) = (Instant::now(), ran(pid)?);
    let (mut sum, mut count, mut max, mut private) = (0, 0, 0, 0);
    let mut step = 0;
    while begun.elapsed() < time {
        sleep(Duration::from_millis(500));
        step += 1;
        if step % 2 == 0 {
            tree.advance(step)?;
        }
        let resident = status(pid, "VmRSS:")?;
        (sum, count, max) = (sum + resident, count + 1, max.max(resident));
        private = private.max(private_dirty(pid)?);
    }
    let cpu = (ran(pid)? - before) as f64 / 1e9 / begun.elapsed().as_secs_f64();
    Ok(Measured {
        cpu,
        mean: sum / count.max(1),
        max,
        peak: status(pid, "VmHWM:")?,
        private,
    })
}
