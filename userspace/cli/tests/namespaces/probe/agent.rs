//! The binary, which probes in the host.

use crate::probe::rails::Rails;
use rocescope_model::{PathRow, ProbeRow, Row};
use rocescope_store::scan;
use rocescope_testkit::{Running, binary, until};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A running agent.
pub(crate) struct Agent {
    running: Running,
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

/// `rocescope agent` in the host, with these settings of `[probe]`: it sends its rows to the collector at an address.
pub(crate) fn sender(rails: &Rails, directory: &Path, address: &str, probe: &str) -> Command {
    let at = |name: &str| directory.join(name).display().to_string();
    let configuration = format!(
        "observer = \"h0\"\n[agent]\ncollector = \"https://{address}:4792\"\ncert = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n\
        spool = \"{}\"\n[probe]\nall = true\nwindow = \"500ms\"\nmax-cpu = 1\n{probe}\n",
        at("h0.pem"),
        at("h0.key"),
        at("ca.pem"),
        at("spool"),
    );
    std::fs::write(at("agent.toml"), configuration).unwrap();
    let mut command = rails.command("h", binary());
    command.args(["agent", "-o", "json", "--config", &at("agent.toml")]);
    command
}

impl Agent {
    /// Starts an agent, of all NICs unless `-i` names some; returns when its first line reports that it probes. Its windows are
    /// as short as they can be. On a busy machine it probes less often, whatever its share of a core.
    pub(crate) fn begin(rails: &Rails, arguments: &[&str]) -> Self {
        let mut command = rails.command("h", binary());
        let all = if arguments.contains(&"-i") { None } else { Some("--all") };
        command.arg("probe").args(all).args(arguments);
        let out = tempfile::tempdir().unwrap();
        command
            .args(["-o", "json", "--seed", "7", "--observer", "h0"])
            .args(["--window", "500ms", "--max-cpu", "1", "--out"])
            .arg(out.path());
        let running = Running::begin(&mut command, "probing between ");
        Self { running, out }
    }

    /// Waits until the windows that it has reported have this many probes.
    pub(crate) fn until_probes(&self, probes: u64) {
        until("the probes are reported", || {
            reported(&self.running.messages()) >= probes
        });
    }

    /// Waits until it has reported this many probes that it decided after this call.
    pub(crate) fn until_more_probes(&self, probes: u64) {
        let windows = || self.running.messages().matches(WINDOW).count();
        let before = windows();
        // The window that goes on has earlier ones.
        until("a window ends", || windows() > before);
        self.until_probes(reported(&self.running.messages()) + probes);
    }

    /// Waits until it has printed this.
    pub(crate) fn until_said(&self, text: &str) {
        self.running.until_said(text);
    }

    /// Waits until every probe of the last window that it has reported was received.
    pub(crate) fn until_all_received(&self) {
        until("all are received", || {
            let messages = self.running.messages();
            let last = messages.lines().rfind(|line| line.contains(WINDOW));
            last.is_some_and(|line| line.contains(" received + 0 timed out + 0 corrupt + 0 unsent"))
        });
    }

    /// Ends it with a signal; as [`end`](Self::end).
    pub(crate) fn stop(self, signal: &str) -> Done {
        self.running.signal(signal);
        self.end()
    }

    /// Waits for a successful end. Checks the invariant of the counters, and that every probe has a row.
    pub(crate) fn end(self) -> Done {
        let ended = self.running.end().success();
        let found = scan(self.out.path()).unwrap();
        assert!(found.unreadable.is_empty());
        let mut done = Done {
            summary: ended.json(),
            probes: found.rows::<ProbeRow>().unwrap(),
            paths: found.rows::<PathRow>().unwrap(),
            said: ended.stderr,
        };
        done.probes.sort_by_key(|row| row.time_ns);
        done.paths.sort_by_key(|row| (row.time_ns, row.hop));
        done.add_up();
        assert_eq!(found.row_count(ProbeRow::TABLE.name), done.probes.len() as u64);
        done
    }
}

/// In the line of a window.
const WINDOW: &str = " probes = ";

/// The probes of the windows that an agent has reported, one line each.
pub(crate) fn reported(messages: &str) -> u64 {
    let windows = messages.lines().filter_map(|line| line.split_once(WINDOW));
    windows.filter_map(|(probes, _)| probes.parse::<u64>().ok()).sum()
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
