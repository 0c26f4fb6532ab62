//! Probes between NICs of different hosts: a link above the racks that no probe within a host crosses.

use crate::probe::racks::{HOSTS, Racks, address};
use rocescope_model::{PathRow, ProbeRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

struct Agents {
    racks: Racks,
    directory: tempfile::TempDir,
    running: Vec<Option<Running>>,
}

impl Agents {
    fn start() -> Option<Self> {
        let racks = Racks::new()?;
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("peers"), Racks::peers()).unwrap();
        std::fs::write(directory.path().join("topology.toml"), Racks::topology()).unwrap();
        let mut agents = Self {
            racks,
            directory,
            running: Vec::new(),
        };
        for host in 0..HOSTS {
            let started = agents.begin(host);
            agents.running.push(Some(started));
        }
        Some(agents)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn begin(&self, host: usize) -> Running {
        let mut command = self.racks.command(&format!("h{host}"), binary());
        command.args([
            "probe",
            "--all",
            "-o",
            "json",
            "--seed",
            &host.to_string(),
            "--observer",
            &format!("h{host}"),
        ]);
        command.arg("--out").arg(self.path("dataset"));
        command.arg("--peers").arg(self.path("peers"));
        // Rows are on disk within a second, also those of an agent that is killed.
        command.args([
            "--window",
            "500ms",
            "--peer-interval",
            "50ms",
            "--paths-rate",
            "10",
            "--icmp-rate",
            "200",
        ]);
        Running::begin(command.args(["--max-cpu", "1"]), "probing between ")
    }

    /// Waits until each agent that runs has reported this number of windows more: it reports once a second.
    fn until_windows(&self, count: usize) {
        let running = || self.running.iter().flatten();
        let windows = |agent: &Running| agent.messages().matches(" probes = ").count();
        let before: Vec<usize> = running().map(windows).collect();
        until("windows", || {
            running()
                .zip(&before)
                .all(|(agent, before)| windows(agent) >= before + count)
        });
    }

    fn kill(&mut self, host: usize) {
        self.running[host].take().unwrap().kill();
    }

    /// Ends all agents; returns their summaries.
    fn end(&mut self) -> Vec<Value> {
        let running = self.running.drain(..).flatten();
        running.map(|agent| agent.stop("-TERM").success().json()).collect()
    }

    /// The diagnosis in windows of five seconds.
    fn diagnose(&self) -> Value {
        let mut command = Command::new(binary());
        command.args(["diagnose", "hostmesh"]).arg(self.path("dataset"));
        command.arg("--topology").arg(self.path("topology.toml"));
        let output = command
            .args(["--window", "5s", "--sticky", "15s", "-o", "json"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }
}

/// Class and place of the verdicts with this symptom. Delays between namespaces follow the load of the machine, and so does
/// loss that no place explains: what is said of them is no part of this test; the simulated fabric has these.
fn verdicts(diagnosis: &Value, symptom: &str) -> BTreeSet<String> {
    let all = diagnosis["verdicts"].as_array().unwrap().iter();
    let text = |problem: &Value, key: &str| problem[key].as_str().unwrap().to_owned();
    all.filter(|verdict| verdict["symptom"] == symptom && verdict["class"] != "unlocated_loss")
        .map(|problem| format!("{} {}", text(problem, "class"), text(problem, "place")))
        .collect()
}

fn rows<T: rocescope_model::Row>(dataset: &Path) -> Vec<T> {
    scan(dataset).unwrap().rows().unwrap()
}

#[test]
fn a_link_above_the_racks_that_is_dead_one_way_is_named_and_an_agent_that_is_killed_is_silent() {
    let Some(mut agents) = Agents::start() else {
        return;
    };
    agents.until_windows(10);
    agents.racks.cut(1, 0);
    agents.until_windows(11);
    agents.racks.heal(1, 0);
    agents.until_windows(7);
    agents.kill(2);
    agents.until_windows(12);
    let mut lost = 0;
    for summary in agents.end() {
        let peers = &summary["other_hosts"];
        let count = |outcome: &str| peers[outcome].as_u64().unwrap();
        // How many 5-tuples cross the link is the kernel's choice.
        lost += count("lost_there") + count("lost_back");
        assert!(count("unknown") > 0 && summary["answers"]["answered"].as_u64().unwrap() > 0);
        // Two NICs, two peers, four ports; the ways to the host whose agent was killed may be traced again at the end.
        assert_eq!(count("paths"), 16);
        assert!((8..=16).contains(&count("paths_known")), "{summary:#}");
    }
    // An agent on a busy machine probes less often.
    assert!(lost > 10, "{lost}");
    let dataset = agents.path("dataset");
    repair(&dataset).unwrap();
    let diagnosis = agents.diagnose();
    // A window in which the link is cut for a part of the time may have a loss there.
    let mut lossy = verdicts(&diagnosis, "loss");
    lossy.remove("loss r1>s0");
    assert_eq!(lossy, BTreeSet::from(["link_down r1>s0".into()]), "{diagnosis:#}");
    // The others end one after the other, so the first of them may be silent before the data end.
    assert!(verdicts(&diagnosis, "silence").contains("silent h2"), "{diagnosis:#}");
    let mut stated = diagnosis["sla"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["unjudged"].as_str().unwrap());
    let expected = "probes to h2, whose agents do not report, had no answer, and no one reported whether they arrived";
    assert!(stated.any(|stated| stated == expected), "{diagnosis:#}");

    let probes: Vec<ProbeRow> = rows(&dataset);
    let at = |host, nic| address(host, nic).parse::<IpAddr>().unwrap();
    let is_remote = |row: &&ProbeRow| row.src_nic.is_empty() || row.dst_nic.is_empty();
    let lost = probes.iter().filter(is_remote).filter(|row| &*row.outcome == "timeout");
    for row in lost {
        assert!((0..2).any(|nic| row.src == at(1, nic)), "{row:?}");
    }
    let trips = probes.iter().filter_map(|row| row.round_trip_ns);
    assert!(trips.min() > Some(0));

    // Each end traces its ways: the hops follow its own rack's choice of a spine. A port that was renewed in the last
    // seconds may not be traced yet, so one traced port for each pair of NICs is asked for. Before the other agent answers,
    // a trace ends early.
    let paths: Vec<PathRow> = rows(&dataset);
    let mut traced: BTreeSet<(IpAddr, IpAddr)> = BTreeSet::new();
    let is_whole = |hop: &&PathRow| !["unreached", "unreachable"].contains(&&*hop.reason);
    for hop in paths.iter().filter(|hop| hop.dst_nic.is_empty()).filter(is_whole) {
        assert_eq!(hop.hops, 4, "{hop:?}");
        traced.insert((hop.src, hop.dst));
    }
    for row in probes.iter().filter(is_remote) {
        assert!(traced.contains(&(row.src, row.dst)), "{row:?}");
    }
}

#[test]
fn a_list_that_cannot_be_used_is_refused_with_its_line() {
    let Some(racks) = Racks::new() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("peers");
    let refused = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let mut command = racks.command("h0", binary());
        command.args(["probe", "--all", "--duration", "1s"]);
        let output = command.arg("--peers").arg(&file).args(more).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let list = Racks::peers();
    let many = refused(&list, &["--peers-at-once", "5", "--peer-ports", "5"]);
    assert!(many.contains("at most 24") && many.contains("are 25"), "{many}");
    let word = refused(&format!("{list}h9 10.9.0.1 rail1\n"), &[]);
    assert!(word.contains("line 5: `rail1` is no IP address"), "{word}");
    let alone = refused("h0 10.0.0.1 10.0.1.1", &[]);
    assert!(alone.contains("names no other host"), "{alone}");
    let two = refused("10.0.0.1\n10.0.1.1\n", &[]);
    assert!(two.contains("addresses of lines 1 and 2"), "{two}");
}
