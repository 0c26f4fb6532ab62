//! The binary, which probes in the host.

use crate::background;
use crate::rails::Rails;
use rocescope_model::{PathRow, ProbeRow, Row};
use rocescope_store::{repair, scan};
use serde_json::Value;
use std::io::{BufReader, Read};
use std::process::{Child, ChildStderr, Command};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rocescope");

/// A running agent.
pub(crate) struct Agent {
    child: Child,
    stderr: BufReader<ChildStderr>,
    out: TempDir,
}

/// The output of an agent.
pub(crate) struct Done {
    pub(crate) summary: Value,
    pub(crate) probes: Vec<ProbeRow>,
    pub(crate) paths: Vec<PathRow>,
    /// What it printed after its first line.
    pub(crate) said: String,
}

impl Agent {
    /// Starts an agent; returns when its first line reports that it probes.
    pub(crate) fn begin(rails: &Rails, arguments: &[&str]) -> Self {
        let mut command = rails.command("h", BINARY);
        Self::spawn(command.args(["probe", "--all"]).args(arguments))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self::spawn_until("probing between ", command)
    }

    /// Starts it; returns when it prints its first line, which begins with `first`.
    pub(crate) fn spawn_until(first: &str, command: &mut Command) -> Self {
        let out = tempfile::tempdir().unwrap();
        command
            .args(["-o", "json", "--seed", "7", "--observer", "h0", "--out"])
            .arg(out.path());
        let (child, stderr) = background::begin(command, first);
        Self { child, stderr, out }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Kills it; returns the probes that it had written.
    pub(crate) fn kill(mut self) -> Vec<ProbeRow> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        repair(self.out.path()).unwrap();
        scan(self.out.path()).unwrap().rows().unwrap()
    }

    /// Waits for a successful end. Checks the invariant of the counters, and that every probe has a row.
    pub(crate) fn end(mut self) -> Done {
        let mut summary = String::new();
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut summary).unwrap();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {said}");
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let found = scan(self.out.path()).unwrap();
        assert!(found.unreadable.is_empty());
        let mut done = Done {
            summary,
            probes: found.rows::<ProbeRow>().unwrap(),
            paths: found.rows::<PathRow>().unwrap(),
            said,
        };
        done.probes.sort_by_key(|row| row.time_ns);
        done.paths.sort_by_key(|row| (row.time_ns, row.hop));
        done.add_up();
        assert_eq!(found.row_count(ProbeRow::TABLE.name), done.probes.len() as u64);
        done
    }
}

impl Done {
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.summary[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {}", self.summary))
    }

    /// Rows with this outcome.
    pub(crate) fn outcome<'a>(&'a self, outcome: &'a str) -> impl Iterator<Item = &'a ProbeRow> {
        self.probes.iter().filter(move |row| &*row.outcome == outcome)
    }

    fn add_up(&self) {
        let outcomes = ["received", "timeout", "corrupt", "unsent"];
        let rows = outcomes.map(|outcome| self.outcome(outcome).count() as u64);
        let counts = ["received", "timeouts", "corrupt", "unsent"].map(|name| self.count(name));
        assert_eq!(rows, counts);
        assert_eq!(self.count("probes"), counts.iter().sum::<u64>());
        assert_eq!(self.count("in_flight"), 0);
        assert!(self.count("probes") > 0);
        for row in &self.probes {
            assert_ne!(row.src_nic, row.dst_nic);
            assert_eq!(&*row.observer, "h0");
        }
    }
}
