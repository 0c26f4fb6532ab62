//! Checks the truth against an independent count: every generated frame is decoded with `wire`, and
//! the transport keeps its guarantees.

mod classes;
mod documentation;
mod seeds;
mod transport;
mod uet;

use super::scenario::Group;
use super::scenario::impairment::Ports;
use super::truth::ConnectionTruth;
use super::{Generator, Scenario, Truth, Volume};
use rocescope_wire::icrc::{Icrc, verify};
use rocescope_wire::{
    Class, FlowKey, FrameLengths, LinkType, Opcode, Operation, Packet, ROCE_UDP_PORT, Stream, decode,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn scenario(name: &str) -> Scenario {
    let path = folder("scenarios").join(name).with_extension("toml");
    Scenario::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn class_of(frame: &[u8], original: u32) -> Class {
    let lengths = FrameLengths {
        captured: frame.len() as u32,
        original,
    };
    decode(frame, LinkType::Ethernet, lengths, [ROCE_UDP_PORT, 0, 0, 0])
}

/// Of a packet that was captured a hop later.
const HOP_TTL: u8 = 63;

/// The counts of a decoder.
#[derive(Default)]
struct Recount {
    frames: u64,
    not_roce: u64,
    opcodes: BTreeMap<String, Volume>,
    aeth: BTreeMap<&'static str, u64>,
    messages: u64,
    icrc: [u64; 3],
    flows: HashMap<FlowKey, (Volume, u64)>,
    ce_packets: u64,
    windows: Vec<(u64, u64)>,
    /// PSNs seen: source, destination queue pair, stream, PSN.
    psns: HashSet<([u8; 16], u32, u8, u32)>,
    repeated: u64,
    unique_payload: u64,
    last_ns: u64,
    /// The scenario sets the clock back, or has two.
    clock_errs: bool,
}

impl Recount {
    fn frame(&mut self, at_ns: u64, frame: &[u8], original: u32, window_ns: u64) {
        if matches!(class_of(frame, original), Class::Roce(packet) if packet.ttl == HOP_TTL) {
            // Captured again a hop later: the truth does not count it.
            return;
        }
        assert!(
            at_ns >= self.last_ns || self.clock_errs,
            "frames come in the order of time"
        );
        self.last_ns = at_ns;
        self.frames += 1;
        let start = at_ns - at_ns % window_ns;
        match self.windows.last_mut() {
            Some((last, frames)) if *last == start => *frames += 1,
            _ => self.windows.push((start, 1)),
        }
        match class_of(frame, original) {
            Class::Roce(packet) => self.packet(frame, &packet),
            Class::NotRoce(..) => self.not_roce += 1,
            other => panic!("frame {}: {other:?}", self.frames),
        }
    }

    fn packet(&mut self, frame: &[u8], packet: &Packet) {
        let opcode = packet.opcode();
        let volume = self.opcodes.entry(opcode.to_string()).or_default();
        volume.add(packet.frame_bytes, packet.payload_bytes);
        if opcode == Opcode::RC_ACKNOWLEDGE {
            *self.aeth.entry(packet.syndrome.name()).or_default() += 1;
        }
        self.messages += u64::from(opcode.ends_message());
        self.ce_packets += u64::from(packet.congestion_experienced);
        self.icrc[match verify(frame, packet) {
            Icrc::Verified => 0,
            Icrc::Bad => 1,
            Icrc::Unverifiable(_) => 2,
        }] += 1;
        if packet.flow.dst_qpn != 1 {
            let stream = packet.stream();
            let key = (packet.flow.src, packet.flow.dst_qpn, stream as u8, packet.psn().get());
            let is_new = self.psns.insert(key);
            self.repeated += u64::from(!is_new && stream == Stream::Request);
            self.unique_payload += if is_new { packet.payload_bytes.into() } else { 0 };
        }
        let (volume, messages) = self.flows.entry(packet.flow).or_default();
        volume.add(packet.frame_bytes, packet.payload_bytes);
        *messages += u64::from(opcode.ends_message());
    }

    fn check(&self, truth: &Truth, scenario: &Scenario) {
        assert_eq!(self.frames, truth.frames);
        assert_eq!(self.not_roce, truth.not_roce);
        assert_eq!(self.frames - self.not_roce, truth.roce_packets);
        assert_eq!(self.opcodes, truth.opcodes);
        assert_eq!(self.aeth, truth.aeth);
        assert_eq!(self.messages, truth.messages);
        let [_, bad, unverifiable] = self.icrc;
        assert_eq!((bad, unverifiable), (truth.icrc_bad, truth.icrc_unverifiable));
        assert_eq!(self.ce_packets, truth.losses.ce_packets);
        // PSNs of another life are no repeats.
        let lives = truth.connections.iter().any(|connection| connection.life > 1);
        assert!(lives || self.repeated == truth.repeated_request_psns);
        if !lives && truth.connections.len() as u64 == truth.connections_total {
            let both = |connection: &ConnectionTruth| {
                connection.a_to_b.unique_payload_bytes + connection.b_to_a.unique_payload_bytes
            };
            let unique: u64 = truth.connections.iter().map(both).sum();
            assert_eq!(self.unique_payload, unique);
        }
        // A direction whose packets have several ports is one flow.
        let ports = |group: &Group| group.spray.iter().any(|spray| spray.ports != Ports::One);
        if !scenario.groups().any(ports) {
            self.check_flows(truth);
        }
        let windows: Vec<_> = truth
            .windows
            .iter()
            .map(|window| (window.start_ns, window.frames))
            .collect();
        assert_eq!(self.windows, windows);
    }

    fn check_flows(&self, truth: &Truth) {
        assert_eq!(self.flows.len() as u64, truth.flows);
        let mut sizes: Vec<u64> = self.flows.values().map(|(volume, _)| volume.frame_bytes).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.truncate(16);
        let top: Vec<u64> = truth.top_flows.iter().map(|flow| flow.volume.frame_bytes).collect();
        assert_eq!(sizes, top);
        for flow in &truth.top_flows {
            let found = self.flows.iter().any(|(key, counted)| {
                key.dst_qpn == flow.id.dst_qpn
                    && key.udp_src_port == flow.id.udp_src_port
                    && *counted == (flow.volume, flow.messages)
            });
            assert!(found, "{flow:?}");
        }
    }
}

/// Generates, recounts and compares.
fn checked(scenario: &Scenario, seed: u64) -> Truth {
    let mut generator = Generator::new(scenario, seed);
    let mut recount = Recount {
        clock_errs: scenario.mirror.set_back.is_some() || scenario.mirror.skew.is_some(),
        ..Recount::default()
    };
    let mut frame = Vec::new();
    while let Some(next) = generator.next_frame(&mut frame) {
        recount.frame(next.at_ns, &frame, next.original_bytes, scenario.truth.window.0);
    }
    let truth = generator.truth();
    recount.check(&truth, scenario);
    truth
}

#[test]
fn the_truth_of_every_scenario_matches_a_decoder() {
    for entry in std::fs::read_dir(folder("scenarios")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        let mut scenario = scenario(&name);
        scenario.frames = Some(12_000);
        for seed in [1, 2] {
            let truth = checked(&scenario, seed);
            assert!(truth.frames > 5_000, "{name}: {}", truth.frames);
        }
    }
}

/// A mix of everything, for every encapsulation.
const ALL: &str = r#"
    [[flows]]
    src = "10.0.0.1-10.0.0.3"
    dst = "10.0.0.7"
    count = 3
    rate = "1Gbit/s"
    messages = 60
    mtu = 256
    bidirectional = true
    cm = true
    start_psn = 0xfffffa
    delay_jitter = "5us"
    operations = [
        { operation = "send", message = { uniform = [0, 1000] } },
        { operation = "send_with_immediate", message = { uniform = [0, 1000] } },
        { operation = "send_with_invalidate", message = { uniform = [0, 1000] } },
        { operation = "write", message = { uniform = [0, 1000] } },
        { operation = "write_with_immediate", message = { uniform = [0, 1000] } },
        { operation = "read", message = { uniform = [1, 1000] } },
        { operation = "fetch_add" },
        { operation = "compare_swap" },
    ]
    loss = [{ probability = 0.01 }, { probability = 0.01, where = "downstream" }, { probability = 0.01, of = "responses" }]
    duplicate = [{ probability = 0.01 }, { probability = 0.01, where = "downstream" }]
    reorder = [{ probability = 0.01, by = 4 }, { probability = 0.01, by = 2, where = "downstream" }]
    corrupt = [{ probability = 0.01 }, { probability = 0.01, of = "responses" }]
    ecn = { mark = 0.1, cut = 0.3 }
    rnr = { probability = 0.05, timer = 1 }
"#;

#[test]
fn every_encapsulation_carries_the_same_traffic() {
    let mut plain = None;
    for (envelope, encapsulation) in [
        ("", "none"),
        ("vlan = [100]", "none"),
        ("vlan = [100, 4000]\n vlan_priority = 5", "none"),
        (
            r#"encapsulation = { kind = "vxlan", src = "1.1.1.1", dst = "2.2.2.2", vni = 77 }"#,
            "vxlan",
        ),
        (
            r#"encapsulation = { kind = "erspan_i", src = "1.1.1.1", dst = "2.2.2.2" }"#,
            "erspan_i",
        ),
        (
            r#"encapsulation = { kind = "erspan_ii", src = "1.1.1.1", dst = "2.2.2.2", session = 9 }"#,
            "erspan_ii",
        ),
        (
            r#"encapsulation = { kind = "erspan_iii", src = "1.1.1.1", dst = "2.2.2.2", truncate = 128 }"#,
            "erspan_iii",
        ),
    ] {
        let scenario = Scenario::parse(&format!("{ALL}\n{envelope}\n")).unwrap();
        let truth = checked(&scenario, 5);
        assert_eq!(truth.encapsulations[encapsulation], truth.roce_packets);
        let mut opcodes = truth.opcodes.clone();
        for volume in opcodes.values_mut() {
            volume.frame_bytes = 0;
        }
        // Longer headers change the pacing slightly; fates depend on packet numbers alone.
        let packets: u64 = opcodes.values().map(|volume| volume.packets).sum();
        let before = *plain.get_or_insert(packets);
        assert!(packets.abs_diff(before) < before / 10, "{packets} and {before}");
    }
}

#[test]
fn ipv6_and_short_snaplens_are_counted_alike() {
    let six = ALL.replace("10.0.0.", "fd77::");
    checked(&Scenario::parse(&six).unwrap(), 5);
    let mut scenario = Scenario::parse(&six).unwrap();
    scenario.snaplen = 100;
    let truth = checked(&scenario, 5);
    assert!(truth.icrc_unverifiable > 0);
}

#[test]
fn mirror_losses_are_listed_and_counted_nowhere_else() {
    let scenario = Scenario::parse(&format!("[mirror]\nloss = 0.1\n{ALL}")).unwrap();
    let truth = checked(&scenario, 1);
    let lost = truth.losses.lost_by_mirror as f64;
    let share = lost / (lost + truth.roce_packets as f64);
    assert!((0.08..0.12).contains(&share), "{share}");
}

#[test]
fn background_is_not_roce() {
    let mut text = String::from("duration = \"10ms\"\n");
    for kind in ["arp", "tcp", "udp", "icmp"] {
        text += &format!("[[background]]\nkind = \"{kind}\"\nframes_per_second = 1000\n");
    }
    text += "[[background]]\nkind = \"icmp\"\nsrc = \"fd00::1\"\ndst = \"fd00::2\"\nframes_per_second = 500.5";
    let truth = checked(&Scenario::parse(&text).unwrap(), 1);
    assert_eq!((truth.frames, truth.not_roce), (46, 46));
}

#[test]
fn operations_have_the_opcodes_of_the_specification() {
    let truth = checked(&Scenario::parse(ALL).unwrap(), 4);
    for operation in [
        "READ_REQUEST",
        "COMPARE_SWAP",
        "FETCH_ADD",
        "INVALIDATE",
        "IMMEDIATE",
        "CNP",
        "UD_SEND_ONLY",
    ] {
        assert!(truth.opcodes.keys().any(|name| name.contains(operation)), "{operation}");
    }
    for name in truth.opcodes.keys() {
        let opcode = Opcode::from_name(name).unwrap();
        assert_ne!(opcode.operation(), Operation::Unknown, "{name}");
    }
}
