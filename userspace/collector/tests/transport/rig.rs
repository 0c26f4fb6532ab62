//! Certificates, a collector, agents, and how to look at what arrived.

use rocescope_collector::server::{Settings, Status};
use rocescope_collector::{Files, Sender, Server, Spool, sender};
use rocescope_model::{ProbeRow, Time};
use rocescope_store::{repair, scan};
use rocescope_testkit::{Authority, Signed};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long no peer is silent, also on a busy machine.
const NEVER: Duration = Duration::from_secs(300);
/// When a peer that is silent is left, in tests of that.
pub(crate) const SOON: Duration = Duration::from_secs(1);

/// A certificate for these names, and what its owner needs.
pub(crate) fn sign(authority: &Authority, file: &str, names: &[&str]) -> Files {
    files(authority.sign(file, names))
}

fn files(signed: Signed) -> Files {
    Files {
        certificate: signed.certificate,
        key: signed.key,
        authority: signed.authority,
    }
}

/// A directory with an authority, a collector's certificate and a dataset.
pub(crate) struct Rig {
    pub(crate) directory: tempfile::TempDir,
    authority: Authority,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let authority = Authority::new(&directory.path().join("pki"));
        authority.sign("collector", &["localhost", "127.0.0.1"]);
        Self { directory, authority }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn server(&self) -> Server {
        Server::start(self.settings(0), None).unwrap()
    }

    /// Settings of the collector: it waits for peers as long as only a hang takes.
    pub(crate) fn settings(&self, port: u16) -> Settings {
        settings(self.directory.path(), port)
    }

    pub(crate) fn spool(&self, agent: &str) -> Arc<Spool> {
        Arc::new(Spool::open(&self.path(&format!("spool-{agent}")), 64 << 20).unwrap())
    }

    pub(crate) fn sign(&self, file: &str, names: &[&str]) -> Files {
        sign(&self.authority, file, names)
    }

    /// A sender with a certificate of its own.
    pub(crate) fn sender(&self, agent: &str, port: u16, spool: &Arc<Spool>) -> Sender {
        let files = self.sign(agent, &[agent]);
        start(agent, port, files, spool)
    }

    /// One that soon takes a silent collector for gone.
    pub(crate) fn impatient(&self, agent: &str, port: u16, spool: &Arc<Spool>) -> Sender {
        let files = self.sign(agent, &[agent]);
        let mut settings = sending(agent, port, files);
        settings.patience = SOON;
        Sender::start(Arc::clone(spool), settings).unwrap()
    }

    /// The sequences of the stored probes of an agent, in order.
    pub(crate) fn stored(&self, agent: &str) -> Vec<u64> {
        stored(&self.path("dataset"), agent)
    }
}

pub(crate) fn settings(directory: &Path, port: u16) -> Settings {
    let files = files(Signed::of(&directory.join("pki"), "collector"));
    let listen = SocketAddr::from(([127, 0, 0, 1], port));
    let mut settings = Settings::new(listen, files, directory.join("dataset"));
    settings.patience = NEVER;
    settings.keep_alive = NEVER;
    settings.gather = Duration::from_millis(10);
    settings.retry = Duration::from_millis(100);
    // Rows of tests have a fixed date, whatever the clock of the machine.
    settings.max_ahead = Duration::from_secs(100 * 365 * 86_400);
    settings
}

pub(crate) fn start(agent: &str, port: u16, files: Files, spool: &Arc<Spool>) -> Sender {
    let settings = sending(agent, port, files);
    Sender::start(Arc::clone(spool), settings).unwrap()
}

/// Settings of a sender: it tries again a tenth or less of what it waits otherwise.
fn sending(agent: &str, port: u16, files: Files) -> sender::Settings {
    let url = format!("https://localhost:{port}");
    let mut settings = sender::Settings::new(url, files, agent);
    settings.retry = (Duration::from_millis(20), Duration::from_millis(200));
    settings.patience = NEVER;
    settings
}

pub(crate) fn stored(dataset: &Path, agent: &str) -> Vec<u64> {
    let repaired = repair(dataset).unwrap();
    assert_eq!((repaired.busy, repaired.unreadable), (vec![], vec![]));
    let rows = scan(dataset).unwrap().rows::<ProbeRow>().unwrap();
    let of_agent = rows.iter().filter(|row| row.observer.as_str() == agent);
    let mut sequences: Vec<u64> = of_agent.map(|row| row.sequence).collect();
    sequences.sort_unstable();
    sequences
}

/// Probes with these sequences.
pub(crate) fn probes(agent: &str, sequences: std::ops::Range<u64>) -> Vec<ProbeRow> {
    let row = |sequence: u64| ProbeRow {
        observer: agent.to_owned().into(),
        time: Time(1_795_228_209_000_000_000 + sequence as i64),
        time_ns: 1_795_228_209_000_000_000 + sequence as i64,
        src_nic: "h0n0".into(),
        dst_nic: "h0n1".into(),
        outcome: "received".into(),
        clock_source: "kernel software".into(),
        sequence,
        ..ProbeRow::default()
    };
    sequences.map(row).collect()
}

/// How often a reason was met.
pub(crate) fn refused(status: &Status, reason: &str) -> u64 {
    let refusals = status.refusals.iter();
    let met = refusals.filter(|(refusal, _)| refusal.name() == reason);
    met.map(|(_, count)| count).sum()
}
