//! Transports that no capture of ours has: frames by hand, as a file that `capture -r` reads.

use crate::product::rocescope::{json, parse, run, text};
use rocescope_wire::extension::Reth;
use rocescope_wire::mrc::{Meth, NackReason, Neth, Seth, Tseth};
use rocescope_wire::uet::{Pds, Prologue};
use rocescope_wire::{Bth, Opcode, Psn, Qpn};
use std::path::{Path, PathBuf};

/// A file of frames, a microsecond apart.
fn pcap(folder: &Path, name: &str, frames: &[Vec<u8>]) -> PathBuf {
    let mut pcap = Vec::new();
    for word in [0xa1b2_3c4du32, 2 | 4 << 16, 0, 0, 65_535, 1] {
        pcap.extend(word.to_le_bytes());
    }
    for (at, frame) in (0u32..).zip(frames) {
        let length = frame.len() as u32;
        for word in [1_700_000_000, at * 1_000, length, length] {
            pcap.extend(word.to_le_bytes());
        }
        pcap.extend(frame);
    }
    let path = folder.join(name);
    std::fs::write(&path, pcap).unwrap();
    path
}

/// IPv6 from one host to the other. An entropy of 32 bits is 16 of the flow label, and the UDP source port.
fn ipv6(hosts: (u8, u8), entropy: u32, next: u8, payload: &[u8]) -> Vec<u8> {
    let [label1, label0, ..] = entropy.to_be_bytes();
    let [high, low] = (payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0x20, label1, label0, high, low, next, 64];
    for host in [hosts.0, hosts.1] {
        packet.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    packet.extend(payload);
    packet
}

fn udp(entropy: u32, port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (entropy as u16).to_be_bytes().to_vec();
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd][..], packet].concat()
}

/// In an outer IPv6 header of an SRv6 fabric, with a segment routing header or without.
fn routed(packet: &[u8], has_header: bool) -> Vec<u8> {
    if has_header {
        let header = [&[41, 2, 4, 0, 0, 0, 0, 0][..], &[0xfc; 16], packet].concat();
        ethernet(&ipv6((8, 9), 0, 43, &header))
    } else {
        ethernet(&ipv6((8, 9), 0, 41, packet))
    }
}

const PAYLOAD: usize = 1_000;

/// An RDMA WRITE of MRC from host 1 to queue pair 7 of host 2, whose entropy is different for each packet.
fn write(opcode: u8, psn: u32, is_retransmission: bool) -> Vec<u8> {
    let bth = Bth {
        reserved7: 0x10 | u8::from(is_retransmission) << 5,
        ..Bth::new(Opcode(opcode), Qpn::new(7), Psn::new(psn))
    };
    let mut bytes = bth.write().to_vec();
    bytes.extend(Meth { request_msn: 1, msn: 1 }.write());
    let tseth = Tseth {
        timestamp: psn as u16,
        respond: false,
        kind: 1,
    };
    bytes.extend(tseth.write());
    let reth = Reth {
        virtual_address: u64::from(psn) * PAYLOAD as u64,
        remote_key: 5,
        dma_length: 10 * PAYLOAD as u32,
    };
    bytes.extend(reth.write());
    bytes.extend([0; PAYLOAD + 4]);
    let entropy = 0x1000_c000 + psn * 0x0101_0007;
    ipv6((1, 2), entropy, 17, &udp(entropy, 4791, &bytes))
}

/// An answer of host 2 to queue pair 3 of host 1.
fn answer(opcode: u8, psn: u32, header: &[u8]) -> Vec<u8> {
    let mut bytes = Bth::new(Opcode(opcode), Qpn::new(3), Psn::new(psn)).write().to_vec();
    bytes.extend(header);
    bytes.extend([0; 4]);
    ipv6((2, 1), psn, 17, &udp(psn, 4791, &bytes))
}

fn sack(psn: u32) -> Vec<u8> {
    let seth = Seth {
        path_advice: 0,
        probe_response: false,
        psn_offset: 0,
        entropy: 7,
        cumulative_psn: Psn::new(psn),
        bitmap_offset: 1,
        bitmap: 0,
        congestion_state: 0,
    };
    answer(0xdc, psn, &seth.write())
}

/// Ten messages of ten packets over an SRv6 fabric. Of the third message a packet is trimmed, and retransmitted after its
/// NACK; of the fourth one is lost upstream of the tap, and retransmitted; of the fifth two are swapped.
#[test]
fn mrc_over_srv6_is_told() {
    let mut frames = Vec::new();
    for message in 0..10u32 {
        let mut packets: Vec<Vec<u8>> = (0..10u32)
            .map(|at| {
                let opcode = [0xc6, 0xc7, 0xc8][usize::from(at > 0) + usize::from(at == 9)];
                write(opcode, 10 * message + at, false)
            })
            .collect();
        let again = |at: u32| write(0xc7, 10 * message + at, true);
        match message {
            2 => {
                // The beginning of the packet; its switch corrects the length of the outer header.
                packets[4].truncate(40 + 8 + 12 + 24 + 64);
                let neth = Neth {
                    reason: NackReason::TRIMMED,
                    vendor: 0,
                    entropy: 7,
                    psn: Psn::new(24),
                    timestamp: 0,
                };
                packets.push(answer(0xdd, 24, &neth.write()));
                packets.push(again(4));
            }
            3 => {
                packets.remove(5);
                packets.push(again(5));
            }
            4 => packets.swap(3, 6),
            _ => {}
        }
        packets.push(sack(10 * message + 9));
        frames.extend(packets.iter().map(|packet| routed(packet, message % 2 == 0)));
    }
    // A probe, and a message about a port.
    frames.push(routed(&answer(0xde, 0, &[0; 16]), true));
    frames.push(routed(&answer(0xd8, 0, &[0; 16]), true));
    let folder = tempfile::tempdir().unwrap();
    let file = pcap(folder.path(), "mrc.pcap", &frames);

    let said = json(&file, &[]);
    assert_eq!(said["frames"], frames.len());
    assert_eq!(
        (&said["roce_packets"], &said["malformed"]),
        (&said["frames"], &0.into())
    );
    assert_eq!(
        (&said["encapsulated"]["ipv6"], &said["trimmed_packets"]),
        (&said["frames"], &1.into())
    );
    let packets = |opcode: &str| said["opcodes"][opcode]["packets"].as_u64();
    assert_eq!(packets("MRC_RDMA_WRITE_FIRST"), Some(10));
    assert_eq!(
        (packets("MRC_RDMA_WRITE_MIDDLE"), packets("MRC_RDMA_WRITE_LAST")),
        (Some(81), Some(10))
    );
    assert_eq!((packets("MRC_SACK"), packets("MRC_NACK")), (Some(10), Some(1)));
    assert_eq!(
        (packets("MRC_PROBE"), packets("MRC_ENDPOINT_REQUEST")),
        (Some(1), Some(1))
    );
    // 100 packets, one of them twice, one of them without its payload.
    assert_eq!(said["payload_bytes"], 100 * PAYLOAD);
    assert_eq!(said["messages"], 10);
    let summary = run(&["capture", "-r", file.to_str().unwrap()]);
    assert!(
        text(&summary.stdout).contains("Trimmed   1 packets by switches"),
        "{}",
        text(&summary.stdout)
    );

    let out = folder.path().join("dataset");
    let stored = [
        "capture",
        "-r",
        file.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "-o",
        "json",
    ];
    parse(&run(&stored));
    let said = parse(&run(&["connections", "-r", file.to_str().unwrap(), "-o", "json"]));
    let [connection] = &said["connections"].as_array().unwrap()[..] else {
        panic!("{said}")
    };
    assert_eq!(
        (&connection["service"], &connection["paired_by"]),
        (&"MRC".into(), &"ack".into())
    );
    let (a, b) = (&connection["a_to_b"], &connection["b_to_a"]);
    for (column, value) in [
        ("packets", 101),
        ("retransmitted_packets", 2),
        ("marked_retransmitted_packets", 2),
        ("trimmed_packets", 1),
        ("unique_payload_bytes", 100 * PAYLOAD as u64),
        ("unique_messages", 10),
        ("duplicate_packets", 0),
        ("out_of_order_packets", 3),
        ("fabric_lost_upstream_packets", 2),
        ("unfilled_gaps", 0),
        ("fabric_lost_downstream_packets", 0),
        ("timeouts", 0),
    ] {
        assert_eq!(a[column], value, "{column}: {a}");
    }
    assert_eq!(
        (&b["nack_trimmed"], &b["nack_other"], &b["ack_packets"]),
        (&1.into(), &0.into(), &10.into())
    );
}

/// Six UET packets beside one of RoCEv2: they are counted by type and flag, and disturb nothing.
#[test]
fn uet_is_counted_by_type() {
    let pds = |kind: u8, flags: u8, code: u8| {
        let prologue = Prologue { kind, next: 0, flags };
        let pds = Pds {
            prologue,
            second: u16::from(code) << 8,
            psn: 9,
            src_pdc: 1,
            dst_pdc: 2,
        };
        [&pds.write()[..], &[0; 20]].concat()
    };
    let on_udp = |pds: &[u8]| ethernet(&ipv6((1, 2), 7, 17, &udp(7, 4793, pds)));
    let frames = [
        on_udp(&pds(2, 0, 0)),
        on_udp(&pds(2, Prologue::RETRANSMISSION, 0)),
        ethernet(&ipv6(
            (1, 2),
            7,
            253,
            &[&[0xbe, 0xef, 0, 0][..], &pds(3, 0, 0)].concat(),
        )),
        on_udp(&pds(7, Prologue::ECN_ECHO, 0)),
        on_udp(&pds(10, 0, 1)),
        routed(&ipv6((1, 2), 7, 17, &udp(7, 4793, &pds(11, 0, 0))), true),
        ethernet(&sack(4)),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = pcap(folder.path(), "uet.pcap", &frames);
    let said = json(&file, &[]);
    assert_eq!((&said["frames"], &said["roce_packets"]), (&7.into(), &1.into()));
    assert_eq!(said["not_roce_reasons"]["uet"], 6);
    let expected = serde_json::json!({
        "rud_request": 2, "rod_request": 1, "ack": 1, "nack": 1, "control": 1,
        "retransmitted": 1, "ecn_echo": 1, "nack_trimmed": 1,
    });
    assert_eq!(said["uet"], expected);
    let pdcs = &said["pdcs"];
    assert_eq!((&pdcs["pdcs"], &pdcs["packets"]), (&1.into(), &6.into()), "{pdcs}");
    assert_eq!(pdcs["untracked_packets"], 0);
    let summary = run(&["capture", "-r", file.to_str().unwrap()]);
    let line = "PDCs      1 with 6 packets: fabric loss 0 upstream of the tap, 0 downstream; 0 trimmed, 0 unanswered";
    assert!(text(&summary.stdout).contains(line), "{}", text(&summary.stdout));
    let line = "UET       6 packets: 1 retransmitted, 1 ACKs and NACKs with ECN echo, 1 NACKs for trimmed packets";
    assert!(text(&summary.stdout).contains(line), "{}", text(&summary.stdout));
}
