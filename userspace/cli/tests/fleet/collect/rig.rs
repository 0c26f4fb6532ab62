//! A collector as a process, and agents that send to it.

use rocescope_collector::{Sender, Spool, sender};
use rocescope_testkit::{Running, Signed, command, make_as_documented, until};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The certificates that a collector on this host and the agents `h0` and `h1` present to each other.
pub(crate) fn certificates(directory: &Path) {
    let owners = [("collector", "DNS:localhost"), ("h0", "DNS:h0"), ("h1", "DNS:h1")];
    make_as_documented(directory, &owners);
}

pub(crate) struct Collector {
    running: Running,
    pub(crate) port: u16,
}

impl Collector {
    pub(crate) fn start(directory: &Path, port: u16, more: &[&str]) -> Self {
        let at = |name: &str| directory.join(name);
        let mut command = command(["collector", "run", "--listen", &format!("127.0.0.1:{port}")]);
        command
            .args([Path::new("--out"), &at("dataset")])
            .args([Path::new("--cert"), &at("collector.pem")])
            .args([Path::new("--key"), &at("collector.key")])
            .args([Path::new("--client-ca"), &at("ca.pem")])
            .args(["--diagnose", "--lateness", "500ms"])
            .env("COLLECT_TIME_SCALE", "20");
        let mut running = Running::spawn(command.args(more));
        let line = running.line();
        let address = line.strip_prefix("collecting at 127.0.0.1:");
        let port = address.and_then(|rest| rest.split(' ').next()?.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{line}"));
        Self { running, port }
    }

    pub(crate) fn kill(self) {
        self.running.kill();
    }

    /// Ends it; returns what it printed on standard output and on standard error.
    pub(crate) fn end(self) -> (String, String) {
        let ended = self.running.stop("-TERM").success();
        (ended.stdout, ended.stderr)
    }
}

pub(crate) fn agent(directory: &Path, port: u16, name: &str, spool: &Arc<Spool>) -> Sender {
    let files = crate::control::rig::files(Signed::of(directory, name));
    let mut settings = sender::Settings::new(format!("https://localhost:{port}"), files, name);
    settings.retry = (Duration::from_millis(20), Duration::from_millis(200));
    Sender::start(Arc::clone(spool), settings).unwrap()
}

pub(crate) fn acknowledged(spool: &Spool) {
    until("all is acknowledged", || spool.counts().parcels == 0);
}
