//! The paper's scenario 1: the receiving process is killed under load. What the sender's driver counts, what the wire
//! shows, and what `diagnose hosts` reports.
//!
//! The kernel of the receiver destroys the queue pair and answers nothing more, so the sender's timer expires again and
//! again.

use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use crate::softroce::live::OnHost;
use crate::softroce::rxe::{self, Counters};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::thread::sleep;
use std::time::Duration;
use xtask::product::text;

/// Messages of 16 packets for longer than the check takes; the sender waits 268 ms for an acknowledgement.
const WRITE: &str = "ib_write_bw -d rxe0 -i 1 -x 1 -F -c RC -m 1024 -u 16 -s 16384 -D 100";
/// How the receiver's process ends.
#[derive(Debug)]
struct Run {
    name: &'static str,
    options: &'static str,
    /// Whether the sender gives up.
    gives_up: bool,
    /// How long the receiver is gone: several expiries of the sender's timer.
    gone: Duration,
}

const RUNS: [Run; 2] = [
    // perftest sets a retry count of 7, which this driver takes as unlimited.
    Run {
        name: "unlimited",
        options: "",
        gives_up: false,
        gone: Duration::from_secs(10),
    },
    // The connection manager sets another one, and a timer of its own.
    Run {
        name: "limited",
        options: "-R --retry_count=3",
        gives_up: true,
        gone: Duration::from_secs(20),
    },
];
/// Windows of the analysis, so that the check is short.
const WINDOW: &str = "5s";
/// How long there is load before the receiver is killed.
const LOAD: Duration = Duration::from_secs(6);
/// Datasets of the guests.
const HOSTS: [&str; 2] = ["host1", "host2"];

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let results = fabric.results.clone();
    for run in &RUNS {
        fabric.results = results.join(run.name);
        fs::create_dir_all(&fabric.results)?;
        kill(fabric, run).context(run.name)?;
    }
    Ok(())
}

fn kill(fabric: &mut Fabric, run: &Run) -> Result<()> {
    for (guest, host) in [&mut fabric.first, &mut fabric.second].into_iter().zip(HOSTS) {
        let read = format!(
            "rm -rf {host}; rocescope counters -q --queue-pairs --out {host} > counters.txt 2>&1 & echo $! > counters.pid"
        );
        guest.run(&read, LIMIT)?;
    }
    let wire = text(&fabric.results.join("wire"));
    let capture = fabric.capture_on_host("capture", &format!("-i mirror0 --out {wire}"))?;
    let measured = under_load(fabric, run, capture);
    let results = fabric.results.clone();
    for (guest, host) in [&mut fabric.first, &mut fabric.second].into_iter().zip(HOSTS) {
        let end = "kill -INT $(cat counters.pid); while kill -0 $(cat counters.pid) 2>/dev/null; do sleep 0.1; done";
        guest.run(end, LIMIT)?;
        guest.fetch(host, &results)?;
    }
    let [before, killed, after] = measured?;
    let retries = rxe::grew(&killed, &after, "completer_retry_err")?;
    let exceeded = rxe::grew(&killed, &after, "retry_exceeded_err")?;
    let all = text(&results.join("all"));
    let [host1, host2] = HOSTS.map(|host| text(&results.join(host)));
    fabric.product(&["dataset", "merge", &wire, &host1, &host2, "--out", &all])?;
    let found = json(&fabric.product(&["diagnose", "hosts", &all, "--window", WINDOW, "-o", "json"])?)?;
    fabric.keep("diagnosis.json", &found.to_string())?;
    let table = fabric.product(&["diagnose", "hosts", &all, "--window", WINDOW])?;
    fabric.keep("diagnosis.txt", &table)?;
    let seen = sender(fabric)?;
    let (timeouts, repeated) = (number(&seen, "timeouts")?, number(&seen, "retransmitted_packets")?);
    println!(
        "{}: under load {} packets sent, {} retries; after the kill completer_retry_err +{retries}, retry_exceeded_err \
         +{exceeded}; the wire: {timeouts} timeouts, {repeated} packets retransmitted",
        run.name,
        rxe::grew(&before, &killed, "sent_pkts")?,
        rxe::grew(&before, &killed, "completer_retry_err")?,
    );
    print!("{}", table.split("\n\n").next().unwrap_or_default());
    println!();
    ensure!(
        exceeded == u64::from(run.gives_up),
        "the sender gave up {exceeded} times"
    );
    // The wire has those before the kill, too, and the first one of an outage may still be under way at the end.
    let counted = rxe::grew(&before, &after, "completer_retry_err")?;
    ensure!(
        retries >= 2 && timeouts.abs_diff(counted) <= 1,
        "the sender counts {counted} retries, the wire shows {timeouts} timeouts"
    );
    judge(&found)
}

/// The dead receiver is the one verdict.
fn judge(found: &Value) -> Result<()> {
    let faults = found["verdicts"].as_array().context("no verdicts in the diagnosis")?;
    let [fault] = &faults[..] else {
        anyhow::bail!("{} faults instead of one: {found}", faults.len());
    };
    let is = |key: &str, expected: &str| fault[key].as_str() == Some(expected);
    ensure!(
        is("class", "receiver_died") && is("host", "guest2"),
        "another fault: {fault}"
    );
    Ok(())
}

/// The sender's row of `connections`.
fn sender(fabric: &Fabric) -> Result<Value> {
    let mirror = text(&fabric.results.join("wire.pcap"));
    let printed = fabric.product(&["connections", "-r", &mirror, "-o", "json"])?;
    fabric.keep("connections.json", &printed)?;
    let found = json(&printed)?;
    let mut sides = found["connections"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|connection| connection["service"] == "RC")
        .map(|connection| match connection["a"]["ip"] == "10.77.0.1" {
            true => connection["a_to_b"].clone(),
            false => connection["b_to_a"].clone(),
        });
    // Over CM perftest exchanges its parameters on the same queue pair.
    let sides: Vec<Value> = sides.by_ref().collect();
    let most = sides.into_iter().max_by_key(|side| side["packets"].as_u64());
    most.context("no connection")
}

/// The sender's counters before the load, before the kill, and at the end.
fn under_load(fabric: &mut Fabric, run: &Run, capture: OnHost) -> Result<[Counters; 3]> {
    let before = rxe::read(&mut fabric.first)?;
    // Over CM the server listens on no TCP port.
    let listens = match run.gives_up {
        true => "rdma res show cm_id | grep -q 'state LISTEN'",
        false => "grep -q ':4853 0*:0000 0A' /proc/net/tcp /proc/net/tcp6",
    };
    let options = run.options;
    let server = format!(
        "{WRITE} {options} > server.txt 2>&1 & echo $! > server.pid\n\
         for try in $(seq 300); do {listens} && exit 0; sleep 0.1; done; cat server.txt; exit 1"
    );
    fabric.second.run(&server, LIMIT)?;
    let (_, counters) = fabric.mirrored("wire.pcap", |fabric| {
        let client = format!("{WRITE} {options} 10.77.0.2 > client.txt 2>&1 & echo $! > client.pid");
        fabric.first.run(&client, LIMIT)?;
        sleep(LOAD);
        let killed = rxe::read(&mut fabric.first)?;
        fabric.second.run("kill -KILL $(cat server.pid)", LIMIT)?;
        sleep(run.gone);
        let end = "kill -KILL $(cat client.pid) 2>/dev/null; \
                   while kill -0 $(cat client.pid) 2>/dev/null; do sleep 0.1; done; cat client.txt";
        let said = fabric.first.run(end, LIMIT)?;
        fabric.keep("client.txt", &said)?;
        // IBV_WC_RETRY_EXC_ERR.
        let gave_up = said.contains("Failed status 12");
        ensure!(gave_up == run.gives_up, "perftest's client gave up: {gave_up}; {said}");
        Ok([before, killed, rxe::read(&mut fabric.first)?])
    })?;
    capture.end()?;
    Ok(counters)
}
