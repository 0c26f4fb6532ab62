//! Probes over UD queue pairs between the two NICs of a guest, and traces of their paths, beside the mirror.
//!
//! On 2026-11-23 the kernel refused every probe: the agent gave up its capabilities after it had opened the devices.

use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use xtask::product::text;

/// Ten seconds of probes, ten a second from each NIC that the program finds. The processor of a guest is slow: the agent may
/// use all of it.
const PROBE: &str = "rocescope probe --backend verbs --all --duration 10s --max-cpu 1 --timeout 1s --seed 1 -q -o json";
/// What tshark prints of each frame of the mirror.
const FIELDS: [&str; 5] = ["eth.dst", "ip.src", "ip.dst", "udp.srcport", "ip.ttl"];
/// The TTL of probes; packets of traces have others.
const TTL: &str = "64";

/// Probes, and compares.
pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let (mirror, printed) = fabric.mirrored("probe.pcap", |fabric| fabric.first.run(PROBE, LIMIT))?;
    fabric.keep("probe.txt", &printed)?;
    let summary = json(&printed)?;
    let count = |key: &str| number(&summary, key);
    let (probes, received) = (count("probes")?, count("received")?);
    ensure!(probes >= 100, "only {probes} probes in 10 s");
    ensure!(
        received == probes,
        "of {probes} probes {received} were received: {printed}"
    );
    // Every probe is one frame of the mirror, from one NIC to the MAC address of the other.
    let mut tshark = Command::new("tshark");
    tshark.args(["-r", &text(&mirror), "-Y", "udp.dstport == 4791", "-T", "fields"]);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().context("tshark")?;
    let frames = String::from_utf8_lossy(&output.stdout);
    let mut ports: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut traced: BTreeSet<(&str, &str)> = BTreeSet::new();
    for frame in frames.lines() {
        let fields: Vec<&str> = frame.split('\t').collect();
        let [mac, src, dst, port, ttl] = fields[..] else {
            continue;
        };
        let expected = match (src, dst) {
            ("10.77.0.1", "10.77.1.1") => "52:54:00:77:01:01",
            ("10.77.1.1", "10.77.0.1") => "52:54:00:77:00:01",
            other => anyhow::bail!("a frame between {other:?}"),
        };
        ensure!(mac == expected, "a frame from {src} to {dst} leaves for {mac}");
        if ttl != TTL {
            traced.insert((src, port));
            continue;
        }
        *ports.entry(src).or_default().entry(port).or_default() += 1;
    }
    let seen: u64 = ports.values().flat_map(BTreeMap::values).sum();
    ensure!(seen == probes, "the mirror has {seen} frames of {probes} probes");
    // Packets of traces that arrive are delivered to the queue pair of the other NIC: the path is known.
    let (known, incomplete) = (count("paths_known")?, count("traces_incomplete")?);
    ensure!(
        known > 0 && incomplete == 0,
        "{known} paths are known, {incomplete} traces did not reach their end: {printed}"
    );
    // Those have the ports of the rows. This driver gives the probes of a queue pair one port of its own.
    let traced = traced.len() as u64;
    ensure!(traced >= known, "the mirror has traces of {traced} of {known} paths");
    let ports: Vec<usize> = ports.values().map(BTreeMap::len).collect();
    println!(
        "{probes} probes = {received} received = {seen} frames of the mirror; UDP source ports of a NIC: {ports:?}; {known} paths traced"
    );
    Ok(())
}
