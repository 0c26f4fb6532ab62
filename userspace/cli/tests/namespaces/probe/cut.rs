//! A network failure between the agent and its collector, during which both are killed.

use crate::probe::agent::{Agent, Done};
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, make_as_documented};
use std::collections::BTreeSet;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The duration of the cut, in seconds: 60 in the full test. It has no prefix of the program, which would warn of it.
const CUT: &str = "CUT_SECONDS";
const SCALED: u64 = 6;
/// The maximum distance of rows that are written together: a second, and the timeout of a probe.
const HAND_OVER_NS: i64 = 2_000_000_000;

/// Identifies a probe.
type Key = (String, i64, u64);

fn keys<'a>(rows: impl IntoIterator<Item = &'a ProbeRow>) -> Vec<Key> {
    let key = |row: &ProbeRow| (row.src_nic.to_string(), row.time_ns, row.sequence);
    rows.into_iter().map(key).collect()
}

fn collector(rails: &Rails, directory: &Path, address: &str) -> Running {
    let at = |name: &str| directory.join(name);
    let mut command = rails.command("c", binary());
    command
        .args(["collect", "--listen", &format!("{address}:4792")])
        .args([Path::new("--out"), &at("collected")])
        .args([Path::new("--cert"), &at("collector.pem")])
        .args([Path::new("--key"), &at("collector.key")])
        .args([Path::new("--client-ca"), &at("ca.pem")]);
    Running::begin(&mut command, "collecting at ")
}

fn agent(rails: &Rails, directory: &Path, address: &str) -> Agent {
    let at = |name: &str| directory.join(name);
    let mut command = rails.command("h", binary());
    command
        .args(["probe", "--all", "--interval", "10ms", "--window", "1s"])
        .args(["--max-cpu", "1"])
        .args(["--collector", &format!("https://{address}:4792")])
        .args([Path::new("--cert"), &at("h0.pem")])
        .args([Path::new("--key"), &at("h0.key")])
        .args([Path::new("--ca"), &at("ca.pem")])
        .args([Path::new("--spool"), &at("spool")]);
    Agent::spawn(&mut command)
}

/// Waits until the spool is acknowledged and empty.
fn acknowledged(directory: &Path) {
    let end = Instant::now() + Duration::from_secs(90);
    let waits = || {
        let files = std::fs::read_dir(directory.join("spool")).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".arrows"))
    };
    while waits() {
        assert!(Instant::now() < end, "rows were not acknowledged");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_network_cut_and_kills_on_both_sides_lose_and_duplicate_nothing() {
    let Some(mut rails) = Rails::new(0, false) else {
        return;
    };
    let seconds = std::env::var(CUT).map_or(SCALED, |seconds| seconds.parse().unwrap());
    let part = Duration::from_secs(seconds) / 4;
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let address = rails.attach("c");
    let owners = [("collector", format!("IP:{address}")), ("h0", "DNS:h0".to_owned())];
    let owners = owners.each_ref().map(|(file, names)| (*file, &**names));
    make_as_documented(directory, &owners);

    let first = collector(&rails, directory, &address);
    let killed = agent(&rails, directory, &address);
    sleep(Duration::from_secs(4));
    acknowledged(directory);
    // Packets are lost in both directions, without an ICMP error.
    let cut = [format!("from {address} blackhole"), format!("to {address} blackhole")];
    for rule in &cut {
        rails.ip("r0", &format!("rule add {rule}"));
    }
    sleep(part);
    first.kill();
    let second = collector(&rails, directory, &address);
    sleep(part);
    let before = killed.kill();
    let ended = agent(&rails, directory, &address);
    sleep(part + part);
    for rule in &cut {
        rails.ip("r0", &format!("rule del {rule}"));
    }
    let healed = Instant::now();
    acknowledged(directory);
    let caught_up = healed.elapsed();
    sleep(Duration::from_secs(2));
    ended.signal("-TERM");
    let Done { probes, said, .. } = ended.end();
    assert!(said.contains("0 left in the spool"), "{said}");
    second.stop("-TERM").success();

    repair(&directory.join("collected")).unwrap();
    let found = scan(&directory.join("collected")).unwrap();
    let stored = keys(&found.rows::<ProbeRow>().unwrap());
    let once: BTreeSet<Key> = stored.iter().cloned().collect();
    assert_eq!(stored.len(), once.len(), "duplicate rows");
    let (before, after) = (keys(&before), keys(&probes));
    let made: BTreeSet<Key> = before.iter().chain(&after).cloned().collect();
    assert_eq!(once.difference(&made).next(), None, "unknown rows");
    // The killed agent may not have written its last rows.
    let last = before.iter().map(|(_, at, _)| *at).max().unwrap_or(0);
    let unspooled = made.difference(&once);
    let lost: Vec<&Key> = unspooled
        .filter(|key| after.contains(key) || last - key.1 > HAND_OVER_NS)
        .collect();
    assert_eq!(lost, Vec::<&Key>::new(), "rows were lost");
    println!(
        "cut for {seconds} s: {} rows produced, {} stored once, {} not written by the killed agent; \
        all acknowledged {:.1} s after the cut",
        made.len(),
        once.len(),
        made.len() - once.len(),
        caught_up.as_secs_f64()
    );
}
