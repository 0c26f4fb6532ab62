//! A namespace with a veth pair, removed after the test.

use rocescope_testkit::{Namespaces, until};
use std::process::Command;

/// The end that sends frames, and the end that captures them.
pub(crate) const SENDER: &str = "out0";
pub(crate) const RECEIVER: &str = "in0";

pub(crate) struct Namespace(Namespaces);

impl Namespace {
    /// Creates a namespace; `None`, after one line, where this user may not.
    pub(crate) fn new() -> Option<Self> {
        let namespaces = Namespaces::new(["n"])?;
        namespaces.ip("n", &format!("link add {SENDER} type veth peer name {RECEIVER}"));
        for interface in [SENDER, RECEIVER] {
            // Otherwise the kernel itself would send on it.
            namespaces.sysctl("n", &[&format!("net.ipv6.conf.{interface}.disable_ipv6=1")]);
            namespaces.ip("n", &format!("link set dev {interface} mtu 9000 up"));
        }
        Some(Self(namespaces))
    }

    pub(crate) fn name(&self) -> String {
        self.0.name("n")
    }

    /// Runs `ip` in the namespace, which must succeed. Returns its output.
    pub(crate) fn ip(&self, arguments: &[&str]) -> String {
        self.0.ip("n", &arguments.join(" "))
    }

    /// A program in the namespace.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.0.command("n", program)
    }

    /// Frames that the receiver has counted, and those that it dropped.
    pub(crate) fn received(&self) -> (u64, u64) {
        let count = |name: &str| self.receiver()["stats64"]["rx"][name].as_u64().unwrap();
        (count("packets"), count("dropped"))
    }

    /// Waits until the receiver has counted this number of frames: with XDP it takes them when the kernel polls its queue.
    pub(crate) fn until_received(&self, frames: u64) {
        until("every frame is received", || self.received().0 >= frames);
    }

    /// The program on the receiver, and whether the interface is promiscuous.
    pub(crate) fn receiver(&self) -> serde_json::Value {
        let shown = self.ip(&["-json", "-details", "-stats", "link", "show", RECEIVER]);
        let mut links: serde_json::Value = serde_json::from_str(&shown).unwrap();
        links[0].take()
    }
}
