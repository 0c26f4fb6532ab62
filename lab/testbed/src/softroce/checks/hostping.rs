//! Loopback tests of Hostping over verbs: two NICs and two NUMA nodes; then one of the NICs is throttled.
//!
//! rxe returns packets to its own MAC address before they reach the queueing discipline of the interface, where `tc`
//! throttles. So for the second part the first guest knows its own addresses by the MAC addresses of the second guest,
//! which returns those frames, as a cable from a port to itself would.

use crate::softroce::fabric::{Fabric, LIMIT, json};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The guest emulates its processor, so that values vary with what else this machine does: a third of the baseline is
/// slow.
const RUN: &str = "rocescope hostping run --max-time 20s --min-ratio 0.33 -o json";
/// Runs until one measures all pairs.
const TRIES: u32 = 4;
const NICS: [&str; 2] = ["rxe0", "rxe1"];
/// Within the driver the memory of both NUMA nodes; over the wire, which is slower, of one.
const ENDPOINTS: [&str; 2] = ["mem0", "mem1"];
const NEAR: [&str; 1] = ["mem0"];
/// What the throttled NIC keeps of the bandwidth of its slowest pair. With a third of that a run took 108 s,
/// probably because the kernel waits for the packets in the queue before it destroys a queue pair.
const SHARE: f64 = 0.15;
/// What the first guest sends to itself goes to the second one,
const LEAVE: &str = "for rail in 0 1; do \
                     ip neigh replace 10.77.$rail.1 lladdr 52:54:00:77:0$rail:02 nud permanent dev eth$rail; done";
/// which returns it.
const RETURN: &str = "set -e; for rail in 0 1; do tc qdisc add dev eth$rail ingress; \
                      tc filter add dev eth$rail parent ffff: protocol ip u32 \
                      match ip src 10.77.$rail.1/32 match ip dst 10.77.$rail.1/32 \
                      action skbmod swap mac pipe action mirred egress redirect dev eth$rail; done";
/// As it was.
const STAY: &str = "tc qdisc del dev eth1 root 2>/dev/null; for rail in 0 1; do \
                    ip neigh replace 10.77.$rail.1 lladdr 52:54:00:77:0$rail:01 nud permanent dev eth$rail; done";
const RETURN_NO_MORE: &str = "for rail in 0 1; do tc qdisc del dev eth$rail ingress; done";

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let topology = fabric.first.run("rocescope hostping topology", LIMIT)?;
    fabric.keep("topology.txt", &topology)?;
    let plan = fabric.first.run("rocescope hostping run --plan", LIMIT)?;
    print!("{plan}");
    println!("within the driver");
    healthy(fabric, "driver", &ENDPOINTS)?;
    let (mirror, ()) = fabric.mirrored("wire.pcap", |fabric| {
        fabric.first.run(LEAVE, LIMIT)?;
        fabric.second.run(RETURN, LIMIT)?;
        println!("over the wire, and back from the other guest");
        let throttled = healthy(fabric, "wire", &NEAR).and_then(|baseline| throttle(fabric, &baseline));
        fabric.first.run(STAY, LIMIT)?;
        fabric.second.run(RETURN_NO_MORE, LIMIT)?;
        throttled
    })?;
    let bytes = std::fs::metadata(mirror)?.len();
    // Each frame twice; the bandwidth tests of the first run alone have four messages of 1 MiB for each NIC.
    ensure!(bytes > 16 << 20, "the mirror has only {bytes} bytes");
    Ok(())
}

/// Bandwidths by NIC and endpoint, in Gbit/s.
type Bandwidths = BTreeMap<(&'static str, &'static str), f64>;

/// Measures a healthy guest, and once more with the first values as the baseline; returns these.
fn healthy(fabric: &mut Fabric, name: &str, endpoints: &[&'static str]) -> Result<Bandwidths> {
    let baseline = measure(fabric, &format!("{name}-healthy"), "", endpoints)?;
    let baseline = bandwidths(&baseline, endpoints)?;
    print!("healthy    {}", text(&baseline));
    let again = against(fabric, &format!("{name}-again"), &baseline, endpoints)?;
    print!("again      {}", text(&bandwidths(&again, endpoints)?));
    ensure!(accused(&again).is_empty(), "the healthy guest: {:?}", accused(&again));
    Ok(baseline)
}

/// Throttles the second NIC, which alone is accused.
fn throttle(fabric: &mut Fabric, baseline: &Bandwidths) -> Result<()> {
    let [healthy, throttled] = NICS;
    let slowest = baseline.iter().filter(|((nic, _), _)| *nic == throttled);
    let slowest = slowest.map(|(_, gbps)| *gbps).fold(f64::INFINITY, f64::min);
    let kbit = (slowest * SHARE * 1e6) as u64;
    // rxe keeps at most 64 packets of a queue pair in the queue: none is dropped.
    let tbf = format!("tc qdisc add dev eth1 root tbf rate {kbit}kbit burst 4kb limit 1mb");
    fabric.first.run(&tbf, LIMIT)?;
    let found = against(fabric, "throttled", baseline, &NEAR)?;
    print!("throttled  {}", text(&bandwidths(&found, &NEAR)?));
    let accused = accused(&found);
    println!("accused with {tbf}: {}", accused.join(", "));
    ensure!(
        !accused.is_empty()
            && accused
                .iter()
                .all(|link| link.contains(throttled) && !link.contains(healthy)),
        "{accused:?} are accused, not the links of {throttled} alone"
    );
    Ok(())
}

/// Measures, and compares with a baseline.
fn against(fabric: &mut Fabric, name: &str, baseline: &Bandwidths, endpoints: &[&'static str]) -> Result<Value> {
    fabric.first.put("baseline.txt", &matrix(baseline, endpoints))?;
    measure(fabric, name, " --baseline baseline.txt", endpoints)
}

/// Measures both NICs with these endpoints. A guest may stand still for longer than a test when this machine is busy, which leaves a
/// pair without a value: then it measures again.
fn measure(fabric: &mut Fabric, name: &str, more: &str, endpoints: &[&'static str]) -> Result<Value> {
    let chosen = endpoints.join(" ");
    let mut printed = String::new();
    for _ in 0..TRIES {
        printed = fabric.first.run(&format!("{RUN}{more} --endpoint {chosen}"), LIMIT)?;
        fabric.keep(&format!("{name}.txt"), &printed)?;
        let found = json(&printed)?;
        if bandwidths(&found, endpoints).is_ok() {
            return Ok(found);
        }
        ensure!(!printed.contains("became busy"), "no one else uses the NICs: {printed}");
        println!("a guest stood still: {}", printed.lines().next().unwrap_or_default());
    }
    bail!("{TRIES} runs did not measure 2 NICs and {chosen}: {printed}")
}

fn bandwidths(found: &Value, endpoints: &[&'static str]) -> Result<Bandwidths> {
    let mut all = Bandwidths::new();
    for nic in NICS {
        for endpoint in endpoints.iter().copied() {
            let tests = found["tests"].as_array().into_iter().flatten();
            let mut of_pair = tests.filter(|test| test["nic"] == nic && test["endpoint"] == endpoint);
            let value = of_pair.next().and_then(|test| test["measured_gbps"].as_f64());
            let value = value.with_context(|| format!("{nic} to {endpoint} has no bandwidth"))?;
            all.insert((nic, endpoint), value);
        }
    }
    Ok(all)
}

/// As a matrix, which `--baseline` reads.
fn matrix(bandwidths: &Bandwidths, endpoints: &[&'static str]) -> String {
    let mut text = format!("Bandwidth (Gbit/s)\n      {}\n", endpoints.join(" "));
    for nic in NICS {
        let _ = write!(text, "{nic}");
        for endpoint in endpoints.iter().copied() {
            let _ = write!(text, " {:.4}", bandwidths[&(nic, endpoint)]);
        }
        text.push('\n');
    }
    text
}

/// As a line.
fn text(bandwidths: &Bandwidths) -> String {
    let mbps = |((nic, endpoint), gbps): (&(&str, &str), &f64)| format!("{nic} {endpoint} {:.1}", gbps * 1e3);
    let all: Vec<String> = bandwidths.iter().map(mbps).collect();
    format!("{} Mbit/s\n", all.join(", "))
}

/// Abnormal links and those of ambiguous sets.
fn accused(found: &Value) -> Vec<String> {
    let sets = found["ambiguous"].as_array().into_iter().flatten();
    let links = sets.filter_map(Value::as_array).flatten();
    let links = found["abnormal_links"].as_array().into_iter().flatten().chain(links);
    links
        .map(|link| {
            format!(
                "{} <-> {}",
                link["a"].as_str().unwrap_or("?"),
                link["b"].as_str().unwrap_or("?")
            )
        })
        .collect()
}
