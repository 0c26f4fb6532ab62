//! A namespace with a veth pair, gone with the test.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The end that frames are put onto, and the end that is captured on.
pub(crate) const SENDER: &str = "out0";
pub(crate) const RECEIVER: &str = "in0";

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Namespace {
    pub(crate) name: String,
}

impl Namespace {
    /// A namespace of our own; `None`, said in one line, where this user may not make one.
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
        namespace.ip(&[
            "link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER,
        ]);
        for interface in [SENDER, RECEIVER] {
            // The kernel itself would send over it else.
            let quiet = format!("net.ipv6.conf.{interface}.disable_ipv6=1");
            succeed(
                &namespace
                    .command("sysctl")
                    .args(["-qw", &quiet])
                    .output()
                    .unwrap(),
            );
            namespace.ip(&["link", "set", "dev", interface, "mtu", "9000", "up"]);
        }
        Some(namespace)
    }

    /// `ip` in the namespace; it must succeed. What it prints.
    pub(crate) fn ip(&self, arguments: &[&str]) -> String {
        let mut ip = Command::new("ip");
        let output = ip
            .args(["-n", &self.name])
            .args(arguments)
            .output()
            .unwrap();
        succeed(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// A program in the namespace.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]);
        command
    }

    /// What is attached to the receiver, and whether it takes frames for anybody.
    pub(crate) fn receiver(&self) -> serde_json::Value {
        let shown = self.ip(&["-json", "-details", "-stats", "link", "show", RECEIVER]);
        let mut links: serde_json::Value = serde_json::from_str(&shown).unwrap();
        links[0].take()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Whether that works is no part of any test.
        let _ = Command::new("ip")
            .args(["netns", "del", &self.name])
            .status();
    }
}

fn succeed(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}
