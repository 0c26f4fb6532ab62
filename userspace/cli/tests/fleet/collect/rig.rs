//! A collector as a process, and agents that send to it.

use rocescope_collector::{Sender, Spool, sender};
use rocescope_testkit::{Running, Signed, command, make_as_documented, until};
use std::io::{Read, Write};
use std::net::TcpStream;
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
    /// Where it serves its metrics.
    metrics: String,
}

impl Collector {
    /// Starts one that analyzes a window when rows may no longer come: after `lateness`.
    pub(crate) fn start(directory: &Path, port: u16, lateness: &str, more: &[&str]) -> Self {
        let at = |name: &str| directory.join(name);
        let mut command = command(["collector", "run", "--listen", &format!("127.0.0.1:{port}")]);
        command
            .args([Path::new("--out"), &at("dataset")])
            .args([Path::new("--cert"), &at("collector.pem")])
            .args([Path::new("--key"), &at("collector.key")])
            .args([Path::new("--client-ca"), &at("ca.pem")])
            .args(["--diagnose", "--lateness", lateness, "--metrics", "127.0.0.1:0"])
            .env("COLLECT_TIME_SCALE", "20");
        let mut running = Running::spawn(command.args(more));
        let line = running.line();
        let metrics = line
            .strip_prefix("metrics at http://")
            .unwrap_or_else(|| panic!("{line}"));
        let metrics = metrics.trim_end().trim_end_matches("/metrics").to_owned();
        let line = running.line();
        let address = line.strip_prefix("collecting at 127.0.0.1:");
        let port = address.and_then(|rest| rest.split(' ').next()?.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{line}"));
        Self { running, port, metrics }
    }

    /// The number of windows that it has analyzed first.
    pub(crate) fn windows(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        let mut lines = page.lines();
        let line = lines.find(|line| line.starts_with("rocescope_sla_windows_total{"));
        line.unwrap().rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64
    }

    /// Waits until a message has this text.
    pub(crate) fn until_said(&self, text: &str) {
        self.running.until_said(text);
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
