//! Loss by netem where the first guest sends, before the mirror. What netem dropped, what the drivers sent and received,
//! and what the wire shows must agree to the packet.

use super::captures::{of_mirror, packets};
use crate::product::text;
use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use crate::softroce::rxe;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;

/// Percent, and messages of 16 packets.
const LOSSES: [(&str, u64); 3] = [("0.1", 400), ("1", 200), ("5", 60)];
const MESSAGE: u64 = 16_384;
const MTU: u64 = 1024;
/// Only RoCEv2 passes netem, so that its drops are of nothing else.
const ROCE: &str = "protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff";

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    for (percent, messages) in LOSSES {
        lossy(fabric, percent, messages).with_context(|| format!("{percent} %"))?;
    }
    Ok(())
}

fn lossy(fabric: &mut Fabric, percent: &str, messages: u64) -> Result<()> {
    let install = format!(
        "set -e; tc qdisc add dev eth0 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
         tc qdisc add dev eth0 parent 1:4 handle 40: netem loss {percent}% limit 100000\n\
         tc filter add dev eth0 parent 1: {ROCE} flowid 1:4"
    );
    fabric.first.run(&install, LIMIT)?;
    let before = [rxe::read(&mut fabric.first)?, rxe::read(&mut fabric.second)?];
    let server = format!("ib_write_bw -d rxe0 -i 1 -x 1 -F -c RC -m {MTU} -u 16 -s {MESSAGE} -n {messages}");
    let client = format!("{server} 10.77.0.2");
    let tested = fabric.mirrored(&format!("{percent}.pcap"), |fabric| {
        fabric.pair(&server, 18515, &client)
    });
    let after = [rxe::read(&mut fabric.first)?, rxe::read(&mut fabric.second)?];
    let queues = fabric.first.run("tc -s -j qdisc show dev eth0", LIMIT)?;
    fabric.first.run("tc qdisc del dev eth0 root", LIMIT)?;
    let (mirror, (_, said)) = tested?;
    fabric.keep(&format!("{percent}.client.txt"), &said)?;
    let drops = drops(&json(&queues)?)?;
    let wire = Wire::of(fabric, &mirror, percent)?;
    let sent = rxe::grew(&before[0], &after[0], "sent_pkts")?;
    let received = rxe::grew(&before[1], &after[1], "rcvd_pkts")?;
    let naks = rxe::grew(&before[1], &after[1], "out_of_seq_request")?;
    let seen = |name: &str| number(&wire.sender, name);
    let lost = seen("lost_before_tap_packets")?;
    println!(
        "{percent} %: {sent} sent - {drops} dropped = {} mirrored = {received} received; connections: {lost} lost before \
         the tap, {} retransmitted, {} repeated; {naks} NAKs",
        wire.requests,
        seen("retransmitted_packets")?,
        seen("repeated_packets")?,
    );
    ensure!(
        sent.checked_sub(drops) == Some(wire.requests) && wire.requests == received,
        "sent {sent}, received {received}, dropped {drops}, but the mirror has {} packets",
        wire.requests
    );
    ensure!(
        seen("unique_messages")? == messages,
        "{} of {messages} messages",
        seen("unique_messages")?
    );
    // Of 327 drops two were not found; probably the last packets of a pass, which no later packet passes. Not verified.
    ensure!(
        drops > 0 && lost <= drops && lost * 20 >= drops * 19,
        "{lost} packets are lost on the wire, netem dropped {drops}"
    );
    Ok(())
}

/// What netem dropped.
fn drops(printed: &Value) -> Result<u64> {
    let queues = printed.as_array().context("tc printed no array")?;
    let netem = queues.iter().find(|queue| queue["kind"] == "netem");
    number(netem.context("netem is not there")?, "drops")
}

/// What the mirror shows of the test.
#[derive(Debug)]
struct Wire {
    requests: u64,
    /// The direction of the requests in `connections`.
    sender: Value,
}

impl Wire {
    fn of(fabric: &Fabric, mirror: &Path, name: &str) -> Result<Self> {
        let printed = fabric.product(&["connections", "-r", &text(mirror), "-o", "json"])?;
        fabric.keep(&format!("{name}.json"), &printed)?;
        let found = json(&printed)?;
        let connection = found["connections"].as_array().into_iter().flatten();
        let mut connection = connection.filter(|connection| connection["service"] == "RC");
        let connection = connection.next().context("no connection")?;
        let is_forth = connection["a"]["ip"] == "10.77.0.1";
        Ok(Self {
            requests: packets(&of_mirror(fabric, mirror, Some("src host 10.77.0.1"))?),
            sender: connection[if is_forth { "a_to_b" } else { "b_to_a" }].clone(),
        })
    }
}
