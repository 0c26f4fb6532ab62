//! A machine for one use: systemd as the first process of its own namespaces, over a root whose changes stay in memory.
//! It ends with the program that made it and leaves nothing behind.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::{command, show};
use xtask::product::{target, text};

/// The first process runs this script before systemd.
const BOOT: &str = include_str!("boot.sh");
/// A boot takes two seconds.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct Machine {
    /// `unshare`, whose only child is systemd, and which ends with it.
    unshare: Child,
    /// The process ID of systemd in this namespace.
    init: u32,
    /// Removed after the end of all processes.
    _cgroup: Cgroup,
    log: PathBuf,
}

impl Machine {
    /// Boots over the root `below`; returns when all units of the boot are up.
    ///
    /// # Errors
    /// No permission, a missing kernel feature, or a systemd that does not start: the error has its output.
    pub(super) fn boot(below: &Path) -> Result<Self> {
        let directory = target()?.join("machine");
        let at = directory.join("root");
        fs::create_dir_all(&at)?;
        let log = directory.join("boot.log");
        let cgroup = Cgroup::new()?;
        let join = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", cgroup.0.display());
        // The first process ends with this one; each of the others replaces the one before.
        let mut unshare = command("setpriv", &["--pdeathsig", "KILL", "sh", "-ec", &join]);
        unshare.args(["sh", "unshare", "--fork", "--kill-child", "--pid", "--mount"]);
        unshare.args(["--propagation", "private", "--ipc", "--uts", "--cgroup", "--net"]);
        unshare.args(["sh", "-ec", BOOT, "boot.sh", &text(&at), &text(below)]);
        unshare.arg("basic.target");
        let file = fs::File::create(&log)?;
        // systemd must not receive an interrupt from the keyboard.
        unshare.process_group(0).stdin(Stdio::null());
        unshare.stdout(file.try_clone()?).stderr(file);
        let mut machine = Self {
            unshare: unshare.spawn().context("setpriv")?,
            init: 0,
            _cgroup: cgroup,
            log,
        };
        machine
            .wait()
            .with_context(|| format!("no systemd in a namespace: {}", machine.log()))?;
        Ok(machine)
    }

    /// Waits until systemd is up.
    fn wait(&mut self) -> Result<()> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.unshare.try_wait()? {
                bail!("it ended with {status} (this requires root)");
            }
            if let Some(init) = child(self.unshare.id()) {
                self.init = init;
                let state = self.command("systemctl").arg("is-system-running").output()?;
                let state = String::from_utf8_lossy(&state.stdout);
                // Units of the root below may fail where a namespace is not enough.
                if matches!(state.trim(), "running" | "degraded") {
                    return Ok(());
                }
            }
            ensure!(begun.elapsed() < TIMEOUT, "it is not up after {TIMEOUT:?}");
            sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default().trim().to_owned()
    }

    /// A program in the machine, with a clean environment.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = self.enter("--all");
        command.args(["env", "-i", "HOME=/root", "LC_ALL=C.UTF-8"]);
        command.args(["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]);
        command.arg(program);
        command
    }

    /// A program of this system in the machine's network.
    pub(super) fn network(&self, program: &str) -> Command {
        let mut command = self.enter("--net");
        command.arg(program);
        command
    }

    fn enter(&self, namespaces: &str) -> Command {
        let mut nsenter = command("nsenter", &["--target", &self.init.to_string()]);
        nsenter.args([namespaces, "--"]);
        nsenter
    }

    /// Runs a line of shell in the machine, which must succeed; returns its output.
    pub(super) fn run(&self, line: &str) -> Result<String> {
        output(self.command("sh").args(["-euc", line])).with_context(|| line.to_owned())
    }

    /// The same with input.
    pub(super) fn feed(&self, line: &str, input: &str) -> Result<String> {
        let mut command = self.command("sh");
        command.args(["-euc", line]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("its input")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{line}: {}: {stderr}", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }

    /// A path of the machine, as seen from this system.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{inside}", self.init))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The end of this process ends every process in the machine.
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
    }
}

/// Runs a command, which must succeed; returns its output.
pub(super) fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| show(command))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}: {stderr}{printed}", output.status);
    Ok(printed.into_owned())
}

/// The only child of a process, once it exists.
fn child(of: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// A control group for the machine's processes: systemd makes one per unit below it, and leaves them.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new() -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let mounted = mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            let at = words.next()?;
            (words.next()? == "cgroup2").then_some(at)
        });
        let mounted = mounted.context("no cgroup2 is mounted, which systemd needs")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let name = format!("rocescope-service-{}", std::process::id());
        let path = Path::new(mounted).join(own.unwrap_or_default()).join(name);
        fs::create_dir(&path).with_context(|| format!("{}: this requires root", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The last processes may take a moment to end.
        let begun = Instant::now();
        while self.0.exists() && begun.elapsed() < Duration::from_secs(5) {
            remove(&self.0);
            sleep(Duration::from_millis(20));
        }
    }
}

/// Removes a group and its children, deepest first.
fn remove(group: &Path) {
    let below = fs::read_dir(group).into_iter().flatten().flatten();
    for entry in below.filter(|entry| entry.path().is_dir()) {
        remove(&entry.path());
    }
    let _ = fs::remove_dir(group);
}
