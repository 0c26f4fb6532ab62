//! `cargo xtask service --debian`: the commands under "Install" in the README on a clean Debian, as a new user types
//! them.
//!
//! Those up to the last `apt` run in the new root with the network of this system, because they fetch packages. The
//! others run on a machine booted from it.

use super::machine::{Machine, output};
use super::{metrics, plug, send, step, unit};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use xtask::process::{command, root, run as run_command};
use xtask::product::{target, text};

const RELEASE: &str = "bookworm";

pub(super) fn run(package: &Path) -> Result<()> {
    let readme = fs::read_to_string(root().join("README.md"))?;
    let lines = commands(&readme);
    let fetched = lines.iter().rposition(|line| line.contains("apt "));
    let (fetch, service) = lines.split_at(fetched.context("README: no command installs packages")? + 1);
    let fresh = Fresh::new()?;
    step("debootstrap", || fresh.bootstrap())?;
    fresh.bring(package)?;
    for line in fetch {
        step(line, || fresh.run(line))?;
    }
    let machine = Machine::boot(&fresh.0)?;
    plug(&machine)?;
    for line in service {
        step(line, || Ok(last(&machine.run(&format!("cd; {line}"))?)))?;
    }
    step("confinement", || unit::confined(&machine))?;
    step("traffic", || {
        let sent = send(&machine, &[])?;
        machine.run("systemctl stop rocescope")?;
        let identity = metrics::identity(&unit::CAPTURE.journal(&machine)?, sent)?;
        let windows = metrics::dataset(&machine, sent)?;
        Ok(format!("{identity}; {windows} windows sealed"))
    })
}

fn last(output: &str) -> String {
    output.trim().lines().last().unwrap_or_default().to_owned()
}

/// The lines of the indented blocks under "Install" for the capture box; cargo commands are for the build machine.
fn commands(readme: &str) -> Vec<&str> {
    let install = readme.lines().skip_while(|line| *line != "## Install").skip(1);
    let section = install.take_while(|line| !line.starts_with("## "));
    let lines = section.filter_map(|line| line.strip_prefix("    "));
    lines.filter(|line| !line.starts_with("cargo ")).collect()
}

/// A root directory, removed on drop.
struct Fresh(PathBuf);

impl Fresh {
    fn new() -> Result<Self> {
        let path = target()?.join("machine/debian");
        let fresh = Self(path);
        fresh.remove()?;
        fs::create_dir_all(&fresh.0)?;
        Ok(fresh)
    }

    fn bootstrap(&self) -> Result<String> {
        let mut debootstrap = command("debootstrap", &["--variant=minbase", "--include=sudo"]);
        output(debootstrap.args([RELEASE, &text(&self.0)]))?;
        let version = fs::read_to_string(self.0.join("etc/debian_version"))?;
        Ok(format!("Debian {}", version.trim()))
    }

    /// Copies the package to where the build would have put it.
    fn bring(&self, package: &Path) -> Result<()> {
        let built = self.0.join("root/target/debian");
        fs::create_dir_all(&built)?;
        let name = package.file_name().context("the package's name")?;
        fs::copy(package, built.join(name))?;
        fs::copy("/etc/resolv.conf", self.0.join("etc/resolv.conf"))?;
        Ok(())
    }

    /// Runs a line of shell in the root, as its only user.
    fn run(&self, line: &str) -> Result<String> {
        let mut chroot = command("unshare", &["--fork", "--kill-child", "--pid", "--mount"]);
        let here = text(&self.0);
        chroot.arg(format!("--mount-proc={here}/proc"));
        chroot.args(["chroot", &here, "env", "-i", "HOME=/root", "LC_ALL=C.UTF-8"]);
        chroot.arg("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
        chroot.args(["DEBIAN_FRONTEND=noninteractive", "sh", "-ec"]);
        // Answers every question with yes.
        let printed = output(chroot.arg(format!("cd; yes | {line}")))?;
        Ok(last(&printed))
    }

    fn remove(&self) -> Result<()> {
        run_command(command("rm", &["-rf", "--one-file-system"]).arg(&self.0))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // The test does not depend on the removal.
        let _ = self.remove();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_those_under_install() {
        let readme = "## Start\n    a\n## Install\n\ntext\n\n    cargo b\n    sudo c\n\n    d\n\n## Use\n    e\n";
        assert_eq!(super::commands(readme), ["sudo c", "d"]);
    }
}
