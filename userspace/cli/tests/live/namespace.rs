//! A namespace with a veth pair, removed after the test.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The end that sends frames, and the end that captures them.
pub(crate) const SENDER: &str = "out0";
pub(crate) const RECEIVER: &str = "in0";

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Namespace {
    pub(crate) name: String,
}

impl Namespace {
    /// Creates a namespace; `None`, after one line, where this user may not.
    pub(crate) fn new() -> Option<Self> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rocescope-{}-{count}", std::process::id());
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        if !made.as_ref().is_ok_and(|made| made.status.success()) {
            assert!(std::env::var_os("CI").is_none(), "no namespace: {made:?}");
            eprintln!("skipped: network namespaces take root and iproute2");
            return None;
        }
        let namespace = Self { name };
        namespace.ip(&["link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER]);
        for interface in [SENDER, RECEIVER] {
            // Otherwise the kernel itself would send on it.
            let quiet = format!("net.ipv6.conf.{interface}.disable_ipv6=1");
            succeed(&namespace.command("sysctl").args(["-qw", &quiet]).output().unwrap());
            namespace.ip(&["link", "set", "dev", interface, "mtu", "9000", "up"]);
        }
        Some(namespace)
    }

    /// Runs `ip` in the namespace, which must succeed. Returns its output.
    pub(crate) fn ip(&self, arguments: &[&str]) -> String {
        let mut ip = Command::new("ip");
        let output = ip.args(["-n", &self.name]).args(arguments).output().unwrap();
        succeed(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// A program in the namespace.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]);
        command
    }

    /// The program on the receiver, and whether the interface is promiscuous.
    pub(crate) fn receiver(&self) -> serde_json::Value {
        let shown = self.ip(&["-json", "-details", "-stats", "link", "show", RECEIVER]);
        let mut links: serde_json::Value = serde_json::from_str(&shown).unwrap();
        links[0].take()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // No test depends on the removal.
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

fn succeed(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}
