//! Network namespaces and the links between them, removed with the test.

use crate::shared::fails_in_ci;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Nodes, each a namespace.
#[derive(Debug)]
pub struct Namespaces {
    prefix: String,
    names: Vec<String>,
}

impl Namespaces {
    /// Makes these nodes, at least one; `None`, after one line, where this user may not.
    pub fn new<S: AsRef<str>>(nodes: impl IntoIterator<Item = S>) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Tests that were killed leave their namespaces, and numbers of processes come again.
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mut made = Self {
            prefix: format!("rocescope-{}-{:x}-{count}", std::process::id(), since_1970.as_millis()),
            names: Vec::new(),
        };
        for node in nodes {
            if made.names.is_empty() && !made.makes(node.as_ref()) {
                fails_in_ci("network namespaces need root and iproute2");
                return None;
            }
            made.add(node.as_ref());
        }
        Some(made)
    }

    /// Another node, unless it is there.
    pub fn add(&mut self, node: &str) {
        assert!(self.names.contains(&self.name(node)) || self.makes(node), "{node}");
    }

    fn makes(&mut self, node: &str) -> bool {
        let name = self.name(node);
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        let is_made = made.is_ok_and(|made| made.status.success());
        self.names.extend(is_made.then_some(name));
        is_made
    }

    /// The namespace of a node.
    pub fn name(&self, node: &str) -> String {
        format!("{}-{node}", self.prefix)
    }

    /// The prefix of the names of all its namespaces, without the hyphen.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Cables of a small topology, one a line: `h0:rail0 10.0.0.1/24 r0:p0 10.0.0.254/24`. Ports get their address, with
    /// `-` none, and are up.
    pub fn wire(&self, topology: &str) {
        for line in topology.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [near, near_address, far, far_address] = words[..] else {
                panic!("{line}");
            };
            let ends = [(near, near_address), (far, far_address)].map(|(end, address)| {
                let (node, port) = end.split_once(':').unwrap();
                (node, port, address)
            });
            let [(node, port, _), (peer, peer_port, _)] = ends;
            let peer = self.name(peer);
            self.ip(
                node,
                &format!("link add {port} type veth peer name {peer_port} netns {peer}"),
            );
            for (node, port, address) in ends {
                let nodad = if address.contains(':') { " nodad" } else { "" };
                if address != "-" {
                    self.ip(node, &format!("address add {address} dev {port}{nodad}"));
                }
                self.ip(node, &format!("link set {port} up"));
            }
        }
    }

    /// Runs `ip` on a node, which must succeed. Returns its output.
    #[track_caller]
    pub fn ip(&self, node: &str, arguments: &str) -> String {
        let mut ip = Command::new("ip");
        succeed(ip.args(["-n", &self.name(node)]).args(arguments.split(' ')))
    }

    /// Sets parameters of the kernel on a node.
    #[track_caller]
    pub fn sysctl(&self, node: &str, settings: &[&str]) {
        succeed(self.command(node, "sysctl").arg("-qw").args(settings));
    }

    /// A program on a node.
    pub fn command(&self, node: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(node), program]);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // No test depends on the removal.
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output: Output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
