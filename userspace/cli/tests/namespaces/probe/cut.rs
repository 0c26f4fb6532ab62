//! A network failure between the agent and its collector, during which both are killed.

use crate::probe::agent::sender;
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, make_as_documented, until};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The duration of the cut, in seconds: 60 in the full test. It has no prefix of the program, which would warn of it.
const CUT: &str = "CUT_SECONDS";
const SCALED: u64 = 6;
/// The maximum distance of rows that are written together: a second, and the timeout of a probe.
const HAND_OVER_NS: i64 = 2_000_000_000;

/// The numbers of the probes of each NIC.
fn numbers<'a>(rows: impl IntoIterator<Item = &'a ProbeRow>) -> BTreeMap<String, Vec<u64>> {
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in rows {
        numbers.entry(row.src_nic.to_string()).or_default().push(row.sequence);
    }
    numbers.values_mut().for_each(|numbers| numbers.sort_unstable());
    numbers
}

/// Whether the numbers of each NIC have neither gap nor duplicate.
fn assert_whole(numbers: &BTreeMap<String, Vec<u64>>) {
    assert!(!numbers.is_empty());
    for (nic, numbers) in numbers {
        let whole = numbers[0]..numbers[0] + numbers.len() as u64;
        assert!(whole.eq(numbers.iter().copied()), "{nic}: {numbers:?}");
        assert!(numbers[0] <= 1, "{nic} begins with {}", numbers[0]);
    }
}

fn collector(rails: &Rails, directory: &Path, address: &str) -> Running {
    let at = |name: &str| directory.join(name);
    let mut command = rails.command("c", binary());
    command
        .args(["collector", "run", "--listen", &format!("{address}:4792")])
        .args([Path::new("--out"), &at("collected")])
        .args([Path::new("--cert"), &at("collector.pem")])
        .args([Path::new("--key"), &at("collector.key")])
        .args([Path::new("--client-ca"), &at("ca.pem")]);
    Running::begin(&mut command, "collecting at ")
}

fn agent(rails: &Rails, directory: &Path, address: &str) -> Running {
    let mut command = sender(rails, directory, address, "interval = \"10ms\"");
    Running::begin(&mut command, "probing between ")
}

/// Waits until an agent has reported this number of windows, and so has written their rows.
fn windows(agent: &Running, count: usize) {
    until("its windows", || {
        agent.messages().matches(" probes = ").count() >= count
    });
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
    windows(&killed, 4);
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
    windows(&killed, 6);
    killed.kill();
    let restarted_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    let ended = agent(&rails, directory, &address);
    sleep(part + part);
    for rule in &cut {
        rails.ip("r0", &format!("rule del {rule}"));
    }
    let healed = Instant::now();
    acknowledged(directory);
    let caught_up = healed.elapsed();
    let ended = ended.stop("-TERM").success();
    let said = &ended.stderr;
    assert!(said.contains("0 left in the spool"), "{said}");
    second.stop("-TERM").success();

    repair(&directory.join("collected")).unwrap();
    let stored = scan(&directory.join("collected")).unwrap().rows::<ProbeRow>().unwrap();
    let (before, after): (Vec<&ProbeRow>, Vec<&ProbeRow>) = stored.iter().partition(|row| row.time_ns < restarted_ns);
    assert_whole(&numbers(after.iter().copied()));
    assert_eq!(after.len() as u64, ended.json()["probes"]);
    // The killed agent may not have written its last rows.
    let last_ns = before.iter().map(|row| row.time_ns).max().unwrap();
    let written = before.iter().filter(|row| last_ns - row.time_ns > HAND_OVER_NS);
    assert_whole(&numbers(written.copied()));
    println!(
        "cut for {seconds} s: {} rows stored once; all acknowledged {:.1} s after the cut",
        stored.len(),
        caught_up.as_secs_f64()
    );
}
