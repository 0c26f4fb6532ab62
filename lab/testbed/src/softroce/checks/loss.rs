//! Loss by netem before the mirror, where the first guest sends, and behind it, where the second one receives. What netem
//! dropped, what the drivers sent, received and asked for again, and what the wire shows must agree to the packet.

use super::captures::{of_mirror, packets};
use super::recorder::Recorder;
use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use crate::softroce::guest::Guest;
use crate::softroce::rxe;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use xtask::product::text;

/// Percent, and messages of 16 packets.
const LOSSES: [(&str, u64); 3] = [("0.1", 400), ("1", 200), ("5", 60)];
/// The loss with which the flight recorder runs.
const RECORDED: &str = "1";
const MESSAGE: u64 = 16_384;
const MTU: u64 = 1024;
/// Only RoCEv2 passes netem, so that its drops are of nothing else.
const ROCE: &str = "protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff";

/// Where netem drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BeforeMirror,
    BehindMirror,
}

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    for place in [Place::BeforeMirror, Place::BehindMirror] {
        for (percent, messages) in LOSSES {
            lossy(fabric, place, percent, messages).with_context(|| format!("{percent} % {place:?}"))?;
        }
    }
    Ok(())
}

impl Place {
    /// The scripts that install and remove netem, and the interface that has it.
    fn scripts(self, percent: &str) -> (String, &'static str, &'static str) {
        let netem = format!("netem loss {percent}% limit 100000");
        match self {
            Self::BeforeMirror => (
                format!(
                    "set -e; tc qdisc add dev eth0 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
                     tc qdisc add dev eth0 parent 1:4 handle 40: {netem}\n\
                     tc filter add dev eth0 parent 1: {ROCE} flowid 1:4"
                ),
                "eth0",
                "tc qdisc del dev eth0 root",
            ),
            // netem is for what leaves: what arrives leaves by the first interface that the module makes, and comes back.
            Self::BehindMirror => (
                format!(
                    "set -e; modprobe ifb numifbs=1; ip link set ifb0 up; tc qdisc add dev ifb0 root {netem}\n\
                     tc qdisc add dev eth0 ingress\n\
                     tc filter add dev eth0 parent ffff: {ROCE} action mirred egress redirect dev ifb0"
                ),
                "ifb0",
                "tc qdisc del dev eth0 ingress; tc qdisc del dev ifb0 root; ip link set ifb0 down",
            ),
        }
    }

    fn guest(self, fabric: &mut Fabric) -> &mut Guest {
        match self {
            Self::BeforeMirror => &mut fabric.first,
            Self::BehindMirror => &mut fabric.second,
        }
    }
}

fn lossy(fabric: &mut Fabric, place: Place, percent: &str, messages: u64) -> Result<()> {
    let (install, interface, remove) = place.scripts(percent);
    let name = match place {
        Place::BeforeMirror => format!("before-{percent}"),
        Place::BehindMirror => format!("behind-{percent}"),
    };
    place.guest(fabric).run(&install, LIMIT)?;
    let is_recorded = place == Place::BehindMirror && percent == RECORDED;
    let recorder = is_recorded.then(|| Recorder::begin(fabric)).transpose()?;
    let before = [rxe::read(&mut fabric.first)?, rxe::read(&mut fabric.second)?];
    let server = format!("ib_write_bw -d rxe0 -i 1 -x 1 -F -c RC -m {MTU} -u 16 -s {MESSAGE} -n {messages}");
    let client = format!("{server} 10.77.0.2");
    let tested = fabric.mirrored(&format!("{name}.pcap"), |fabric| fabric.pair(&server, 18515, &client));
    let after = [rxe::read(&mut fabric.first)?, rxe::read(&mut fabric.second)?];
    let queues = format!("tc -s -j qdisc show dev {interface}");
    let queues = place.guest(fabric).run(&queues, LIMIT)?;
    place.guest(fabric).run(remove, LIMIT)?;
    let (mirror, (_, said)) = tested?;
    fabric.keep(&format!("{name}.client.txt"), &said)?;
    let drops = drops(&json(&queues)?)?;
    let wire = Wire::of(fabric, &mirror, &name)?;
    if let Some(recorder) = recorder {
        recorder.end(&mirror)?;
    }
    let sent = rxe::grew(&before[0], &after[0], "sent_pkts")?;
    let received = rxe::grew(&before[1], &after[1], "rcvd_pkts")?;
    let naks = rxe::grew(&before[1], &after[1], "out_of_seq_request")?;
    let seen = |name: &str| number(&wire.sender, name);
    let (upstream, downstream) = (
        seen("fabric_lost_upstream_packets")?,
        seen("fabric_lost_downstream_packets")?,
    );
    let (timeouts, retransmitted) = (seen("timeouts")?, seen("retransmitted_packets")?);
    println!(
        "{name} %: {sent} sent, {drops} dropped, {} mirrored, {received} received; connections: {upstream} lost upstream, \
         {downstream} downstream, {retransmitted} retransmitted, {} repeated, {timeouts} timeouts; NAKs: {naks} by the \
         driver, {} on the wire",
        wire.requests,
        seen("repeated_packets")?,
        wire.naks,
    );
    let mirrored = match place {
        Place::BeforeMirror => [sent.checked_sub(drops), Some(received)],
        Place::BehindMirror => [Some(sent), received.checked_add(drops)],
    };
    ensure!(
        mirrored == [Some(wire.requests); 2],
        "sent {sent}, received {received}, dropped {drops}, but the mirror has {} packets",
        wire.requests
    );
    ensure!(
        naks == wire.naks,
        "the driver sent {naks} NAKs, the wire has {}",
        wire.naks
    );
    ensure!(
        seen("unique_messages")? == messages,
        "{} of {messages} messages",
        seen("unique_messages")?
    );
    ensure!(drops > 0, "netem dropped nothing");
    match place {
        // What is lost at the end of a pass leaves no gap: the sender repeats it, as it would without the loss. That is 5 %
        // at most, and one packet, for a twentieth of few packets is less than one.
        Place::BeforeMirror => ensure!(
            downstream == 0 && upstream <= drops && (drops - upstream) * 20 <= drops + 20,
            "{upstream} packets are lost upstream of the tap, {downstream} downstream; netem dropped {drops}"
        ),
        // The responder asks for the first lost packet of a pass. It discards the rest of the pass, whether that arrives
        // or not, and the sender repeats it. `docs/softroce.md` states which NAKs do not count as a loss.
        Place::BehindMirror => ensure!(
            upstream == 0
                && downstream <= naks
                && downstream * 3 >= naks * 2
                && naks <= drops
                && drops <= naks + timeouts + retransmitted,
            "{downstream} packets are lost downstream of the tap, {upstream} upstream; netem dropped {drops}"
        ),
    }
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
    naks: u64,
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
        let (sender, receiver) = if is_forth {
            ("a_to_b", "b_to_a")
        } else {
            ("b_to_a", "a_to_b")
        };
        Ok(Self {
            requests: packets(&of_mirror(fabric, mirror, Some("src host 10.77.0.1"))?),
            naks: number(&connection[receiver], "nak_psn_sequence")?,
            sender: connection[sender].clone(),
        })
    }
}
