//! `rocescope collector run` as a process: rows in, diagnosis out, SIGTERM ends it cleanly, `kill -9` loses nothing.
//!
//! | module | contents |
//! |---|---|
//! | `rig` | a collector, and agents that send to it |
//! | `late` | windows that are analyzed again because rows came late |

mod late;
mod rig;

use rig::{Collector, acknowledged, agent, certificates};
use rocescope_collector::Spool;
use rocescope_model::{CounterRow, HostVerdictRow, ProbeRow, Row, SlaRow, Time, VerdictRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::{binary, until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Probes of a healthy mesh, sent now.
fn probes(first: u64, count: u64) -> Vec<ProbeRow> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_nanos()).unwrap();
    let row = |sequence: u64| ProbeRow {
        observer: "h0".into(),
        time: Time(now),
        time_ns: now,
        sequence,
        src_nic: "h0n0".into(),
        dst_nic: "h0n1".into(),
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.1.1".parse().unwrap(),
        udp_src_port: 50_000,
        udp_dst_port: 4791,
        outcome: "received".into(),
        network_latency_ns: Some(10_000),
        processing_delay_ns: Some(5_000),
        clock_source: "simulated".into(),
        ..ProbeRow::default()
    };
    (first..first + count).map(row).collect()
}

fn stored(dataset: &Path) -> (Vec<u64>, Vec<SlaRow>) {
    repair(dataset).unwrap();
    let found = scan(dataset).unwrap();
    let rows = found.rows::<ProbeRow>().unwrap();
    let mut sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    sequences.sort_unstable();
    (sequences, found.rows::<SlaRow>().unwrap())
}

#[test]
fn windows_are_analysed_as_they_end_and_a_killed_collector_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let directory: PathBuf = directory.path().to_owned();
    std::fs::create_dir_all(&directory).unwrap();
    certificates(&directory);
    let mut collector = Collector::start(&directory, 0, "500ms", &[]);
    let port = collector.port;
    let spool = Arc::new(Spool::open(&directory.join("spool"), 64 << 20).unwrap());
    let sender = agent(&directory, port, "h0", &spool);
    let mut next = 0;
    for step in 0..80 {
        spool.append(&probes(next, 20)).unwrap();
        next += 20;
        std::thread::sleep(Duration::from_millis(50));
        if step == 40 {
            collector.kill();
            collector = Collector::start(&directory, port, "500ms", &[]);
        }
    }
    acknowledged(&spool);
    // The second half of the rows takes two seconds, so that it has two windows at least.
    until("two more windows", || collector.windows() >= 2);
    sender.finish(Duration::from_secs(5));
    let said = collector.end().0;
    assert!(said.contains("rows in"), "{said}");
    let (sequences, sla) = stored(&directory.join("dataset"));
    assert_eq!(sequences, (0..next).collect::<Vec<u64>>());
    // Rows that came late on a busy machine make another revision.
    let mut windows = BTreeMap::new();
    let mut analyses: Vec<(i64, Option<u32>)> = Vec::new();
    for row in &sla {
        analyses.push((row.window_start_ns, row.revision));
        let latest: &mut (Option<u32>, u64) = windows.entry(row.window_start_ns).or_default();
        *latest = (*latest).max((row.revision, row.probes));
    }
    analyses.sort_unstable();
    assert!(windows.len() >= 3, "{windows:?}");
    assert!(analyses.is_sorted_by(|a, b| a < b), "each once: {analyses:?}");
    // On a busy machine no probe may be written for a while.
    let verdicts = scan(&directory.join("dataset")).unwrap().rows::<VerdictRow>().unwrap();
    assert!(verdicts.iter().all(|row| &*row.symptom == "silence"), "{verdicts:?}");
    let analysed: u64 = windows.values().map(|(_, probes)| probes).sum();
    assert!((1..=next).contains(&analysed), "{analysed} of {next}");
}

/// A counter of a host, read now.
fn unbuffered(increase: Option<u64>) -> Vec<CounterRow> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_nanos()).unwrap();
    vec![CounterRow {
        observer: "h0".into(),
        time: Time(now),
        time_ns: now,
        device: "mlx5_0".into(),
        port: Some(1),
        driver: "mlx5".into(),
        source: "hw_counters".into(),
        name: "out_of_buffer".into(),
        metric: Some("out_of_buffer".into()),
        kind: "counter".into(),
        unit: "packets".into(),
        raw_value: Some(100),
        value: Some(100.0),
        increase,
        ..CounterRow::default()
    }]
}

#[test]
fn faults_of_hosts_are_stored_when_they_begin_and_when_they_end() {
    let directory = tempfile::tempdir().unwrap();
    let directory: PathBuf = directory.path().to_owned();
    certificates(&directory);
    // A collector that does not run for a while still has the rows of a window before it analyzes it.
    let collector = Collector::start(&directory, 0, "3s", &["--segment-age", "500ms"]);
    let spool = Arc::new(Spool::open(&directory.join("spool"), 64 << 20).unwrap());
    let sender = agent(&directory, collector.port, "h0", &spool);
    // Windows of a second: some with packets without a buffer, then a while without.
    for step in 0..36 {
        let increase = if step == 0 {
            None
        } else {
            Some(if step < 12 { 30 } else { 0 })
        };
        spool.append(&unbuffered(increase)).unwrap();
        std::thread::sleep(Duration::from_millis(250));
    }
    acknowledged(&spool);
    let dataset = directory.join("dataset");
    let stored = || scan(&dataset).map_or(0, |found| found.row_count(HostVerdictRow::TABLE.name));
    until("the begin and the end", || stored() >= 2);
    sender.finish(Duration::from_secs(5));
    collector.end();
    repair(&dataset).unwrap();
    let verdicts = scan(&dataset).unwrap().rows::<HostVerdictRow>().unwrap();
    let states: Vec<(&str, &str)> = verdicts.iter().map(|row| (&*row.class, &*row.state)).collect();
    assert_eq!(states, [("slow_receiver", "began"), ("slow_receiver", "ended")]);
    assert!(verdicts.iter().all(|row| &*row.place == "h0 mlx5_0/1"));
    assert_eq!(verdicts[0].since_ns, verdicts[1].since_ns);
}

#[test]
fn a_failed_start_prints_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    certificates(directory.path());
    let run = |key: &str| {
        let at = |name: &str| directory.path().join(name);
        let ran = Command::new(binary())
            .args(["collector", "run", "--listen", "127.0.0.1:0"])
            .args([Path::new("--out"), &at("dataset")])
            .args([Path::new("--cert"), &at("collector.pem")])
            .args([Path::new("--key"), &at(key)])
            .args([Path::new("--client-ca"), &at("ca.pem")])
            .output()
            .unwrap();
        assert!(!ran.status.success());
        String::from_utf8(ran.stderr).unwrap()
    };
    for key in ["h0.key", "missing.key"] {
        let said = run(key);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("rocescope: ") && said.contains(key), "{said}");
    }
}
