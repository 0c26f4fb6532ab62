//! The mirror ports of the host: two TAP interfaces on the hub of the guests, in a network namespace of their own, so
//! that nothing of the host's network changes. Live captures run on them.

use anyhow::{Context, Result};
use std::process::Command;
use xtask::process::{command, run as run_command};

/// The namespace. Guests have sockets at fixed paths, so that only one fabric runs at a time.
const NAMESPACE: &str = "rocescope-softroce";
/// The interfaces.
pub(super) const PORTS: [&str; 2] = ["mirror0", "mirror1"];

/// The namespace with its interfaces.
#[derive(Debug)]
pub(super) struct Taps;

impl Taps {
    pub(super) fn make() -> Result<Self> {
        // One may be left of a run that was killed.
        let _ = command("ip", &["netns", "delete", NAMESPACE]).output();
        run_command(&mut command("ip", &["netns", "add", NAMESPACE])).context("mirror ports need root")?;
        let taps = Self;
        for port in PORTS {
            for arguments in [
                &["tuntap", "add", "dev", port, "mode", "tap"][..],
                // It listens, and prints nothing.
                &[
                    "link",
                    "set",
                    "dev",
                    port,
                    "arp",
                    "off",
                    "multicast",
                    "off",
                    "addrgenmode",
                    "none",
                ],
                &["link", "set", "dev", port, "up"],
            ] {
                run_command(command("ip", &["-n", NAMESPACE]).args(arguments))?;
            }
        }
        Ok(taps)
    }

    /// Makes a program run among the mirror ports.
    pub(super) fn enter(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&format!("--net=/run/netns/{NAMESPACE}"), program]);
        command
    }
}

impl Drop for Taps {
    fn drop(&mut self) {
        let _ = command("ip", &["netns", "delete", NAMESPACE]).output();
    }
}
