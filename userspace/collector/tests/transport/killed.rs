//! `kill -9` of either end at any moment.

use crate::rig::{Rig, probes, settings, start, stored};
use rocescope_collector::{Files, Server, Spool};
use rocescope_testkit::until;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const DIRECTORY: &str = "ROCESCOPE_COLLECTOR_TEST_DIRECTORY";
const PORT: &str = "ROCESCOPE_COLLECTOR_TEST_PORT";
const FIRST: &str = "ROCESCOPE_COLLECTOR_TEST_FIRST";

/// A process of this test that runs one of the victims.
struct Victim {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Victim {
    fn start(name: &str, directory: &Path, port: u16, first: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture"])
            .arg(format!("killed::{name}"))
            .env(DIRECTORY, directory)
            .env(PORT, port.to_string())
            .env(FIRST, first.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next number that it prints after this word.
    fn hear(&mut self, word: &str) -> Option<u64> {
        let mut line = String::new();
        while self.out.read_line(&mut line).unwrap() > 0 {
            if let Some((_, number)) = line.split_once(word) {
                return number.trim().parse().ok();
            }
            line.clear();
        }
        None
    }

    /// Kills it and returns the last number that it said.
    fn kill(mut self, word: &str) -> Option<u64> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut last = None;
        while let Some(number) = self.hear(word) {
            last = Some(number);
        }
        last
    }
}

fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str) -> u64 {
    given(name).unwrap().parse().unwrap()
}

fn print_line(line: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").unwrap();
    out.flush().unwrap();
}

/// Not a test: a collector that serves until it is killed, sealing all the time.
#[test]
#[ignore = "a victim of the tests below"]
fn collector() {
    let Some(directory) = given(DIRECTORY) else {
        return;
    };
    let port = u16::try_from(number(PORT)).unwrap();
    let mut settings = settings(Path::new(&directory), port);
    settings.options.max_age = Duration::from_millis(50);
    let server = Server::start(settings, None).unwrap();
    print_line(format_args!("port {}", server.address().port()));
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Not a test: an agent that makes rows until it is killed.
#[test]
#[ignore = "a victim of the tests below"]
fn agent() {
    let Some(directory) = given(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    let pki = directory.join("pki");
    let files = Files {
        certificate: pki.join("h0.pem"),
        key: pki.join("h0.key"),
        authority: pki.join("ca.pem"),
    };
    let spool = Arc::new(Spool::open(&directory.join("spool-h0"), 64 << 20).unwrap());
    let port = u16::try_from(number(PORT)).unwrap();
    let _sender = start("h0", port, files, &spool);
    let mut next = number(FIRST);
    loop {
        spool.append(&probes("h0", next..next + 10)).unwrap();
        next += 10;
        print_line(format_args!("made {next}"));
        thread::sleep(Duration::from_millis(3));
    }
}

#[test]
fn a_collector_killed_at_any_moment_loses_and_doubles_nothing() {
    let rig = Rig::new();
    let directory = rig.directory.path();
    let mut collector = Victim::start("collector", directory, 0, 0);
    let port = u16::try_from(collector.hear("port ").unwrap()).unwrap();
    let spool = rig.spool("h0");
    let sender = rig.sender("h0", port, &spool);
    let mut next = 0;
    for round in 0..12 {
        // Rows go on while it is being killed, dead and coming up.
        for _ in 0..30 + 7 * round {
            spool.append(&probes("h0", next..next + 10)).unwrap();
            next += 10;
            thread::sleep(Duration::from_millis(2));
        }
        until("it is connected again", || sender.status().connections > round);
        collector.kill("port ");
        spool.append(&probes("h0", next..next + 10)).unwrap();
        next += 10;
        collector = Victim::start("collector", directory, port, 0);
        assert!(collector.hear("port ").is_some(), "round {round}");
    }
    until("all is acknowledged", || spool.counts().parcels == 0);
    assert!(sender.status().connections > 12, "{:?}", sender.status());
    collector.kill("port ");
    drop(sender);
    assert_eq!(stored(&rig.path("dataset"), "h0"), (0..next).collect::<Vec<u64>>());
}

#[test]
fn an_agent_killed_at_any_moment_goes_on_where_it_was() {
    let rig = Rig::new();
    rig.sign("h0", &["h0"]);
    let server = rig.server();
    let port = server.address().port();
    let mut next = 0;
    let mut made = 0;
    for round in 0..12 {
        let mut agent = Victim::start("agent", rig.directory.path(), port, next);
        let first = agent.hear("made ").unwrap();
        thread::sleep(Duration::from_millis(40 + 17 * round));
        let said = agent.kill("made ").unwrap_or(first);
        // What it had made and not yet said may be there too: begin behind it.
        made += said - next;
        next = said + 10;
    }
    // What the last one left behind.
    let spool = rig.spool("h0");
    let sender = rig.sender("h0", port, &spool);
    sender.finish(Duration::from_secs(30));
    assert_eq!(spool.counts().parcels, 0);
    server.stop().unwrap();
    let stored = rig.stored("h0");
    assert!(stored.is_sorted_by(|a, b| a < b), "none doubled");
    assert!(stored.len() as u64 >= made, "{} of {made}", stored.len());
    assert!(stored.len() as u64 <= made + 12 * 10);
}
