//! A collector as a process, and agents that send to it.

use crate::certificates::make;
use rocescope_collector::{Files, Sender, Spool, sender};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The certificates that a collector on this host and the agents `h0` and `h1` present to each other.
pub(crate) fn certificates(directory: &Path) {
    let owners = [("collector", "DNS:localhost"), ("h0", "DNS:h0"), ("h1", "DNS:h1")];
    make(directory, &owners);
}

pub(crate) struct Collector {
    child: Child,
    pub(crate) port: u16,
    /// What it prints on standard error.
    lines: JoinHandle<String>,
}

impl Collector {
    pub(crate) fn start(directory: &Path, port: u16, more: &[&str]) -> Self {
        let at = |name: &str| directory.join(name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_rocescope"))
            .arg("collect")
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .args([Path::new("--out"), &at("dataset")])
            .args([Path::new("--cert"), &at("collector.pem")])
            .args([Path::new("--key"), &at("collector.key")])
            .args([Path::new("--client-ca"), &at("ca.pem")])
            .args(["--diagnose", "--scale", "20", "--lateness", "500ms"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.strip_prefix("collecting at 127.0.0.1:");
        let port = address.and_then(|rest| rest.split(' ').next()?.parse().ok());
        // A process that writes into a pipe without a reader stops.
        let lines = std::thread::spawn(move || {
            let mut all = Vec::new();
            let _ = lines.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        });
        Self {
            child,
            lines,
            port: port.unwrap_or_else(|| unreachable!("{line}")),
        }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it; returns what it printed on standard output and on standard error.
    pub(crate) fn end(mut self) -> (String, String) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        let mut said = String::new();
        let mut out = self.child.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        (said, self.lines.join().unwrap())
    }
}

pub(crate) fn agent(directory: &Path, port: u16, name: &str, spool: &Arc<Spool>) -> Sender {
    let files = Files {
        certificate: directory.join(format!("{name}.pem")),
        key: directory.join(format!("{name}.key")),
        authority: directory.join("ca.pem"),
    };
    let mut settings = sender::Settings::new(format!("https://localhost:{port}"), files, name);
    settings.retry = (Duration::from_millis(20), Duration::from_millis(200));
    Sender::start(Arc::clone(spool), settings).unwrap()
}

pub(crate) fn acknowledged(spool: &Spool) {
    let end = Instant::now() + Duration::from_secs(30);
    while spool.counts().parcels > 0 {
        assert!(Instant::now() < end, "{:?}", spool.counts());
        std::thread::sleep(Duration::from_millis(10));
    }
}
