//! A namespace with a veth pair, removed after the benchmark.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::Command;
use xtask::process::{command, run};

/// The end that sends frames, and the end that captures them.
pub(super) const SENDER: &str = "out0";
pub(super) const RECEIVER: &str = "in0";

pub(super) struct Bed {
    name: String,
}

impl Bed {
    pub(super) fn new() -> Result<Self> {
        let bed = Self {
            name: format!("rocescope-bench-{}", std::process::id()),
        };
        run(&mut command("ip", &["netns", "add", &bed.name])).context("this requires root")?;
        bed.ip(&["link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER])?;
        bed.ip(&["link", "set", "dev", "lo", "up"])?;
        for interface in [SENDER, RECEIVER] {
            // Otherwise the kernel itself would send on it.
            let quiet = format!("net.ipv6.conf.{interface}.disable_ipv6=1");
            run(bed.command("sysctl").args(["-qw", &quiet]))?;
            bed.ip(&["link", "set", "dev", interface, "mtu", "9000", "up"])?;
        }
        // Otherwise the driver accepts XDP frames only while the other end has a program.
        run(bed.command("ethtool").args(["-K", RECEIVER, "gro", "on"]))?;
        Ok(bed)
    }

    fn ip(&self, arguments: &[&str]) -> Result<()> {
        run(command("ip", &["-n", &self.name]).args(arguments))
    }

    /// A program in the namespace; `ip` becomes it.
    pub(super) fn command(&self, program: &str) -> Command {
        command("ip", &["netns", "exec", &self.name, program])
    }

    /// The same, on one core.
    pub(super) fn pinned(&self, core: u32, program: &str) -> Command {
        let mut pinned = self.command("taskset");
        pinned.args(["-c", &core.to_string(), program]);
        pinned
    }

    /// The receiver's state, as the kernel reports it.
    pub(super) fn receiver(&self) -> Result<Value> {
        let mut ip = command("ip", &["-n", &self.name, "-json", "-details", "-stats"]);
        let output = ip.args(["link", "show", RECEIVER]).output()?;
        let links: Value = serde_json::from_slice(&output.stdout).context("ip link")?;
        Ok(links[0].clone())
    }

    /// Frames that the receiving end of the pair dropped.
    pub(super) fn dropped(&self) -> Result<u64> {
        let dropped = self.receiver()?["stats64"]["rx"]["dropped"].as_u64();
        dropped.context("the receiver's drops")
    }

    /// Sends with the product's generator; returns its summary.
    pub(super) fn generate(&self, rocescope: &str, arguments: &[&str]) -> Result<Value> {
        let mut generate = self.pinned(0, rocescope);
        generate.args(["generate", super::contender::SCENARIO, "--iface", SENDER]);
        let output = generate.args(["-o", "json"]).args(arguments).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the generator: {stderr}");
        serde_json::from_slice(&output.stdout).context("the generator")
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // No measurement depends on the removal.
        let _ = command("ip", &["netns", "del", &self.name]).status();
    }
}
