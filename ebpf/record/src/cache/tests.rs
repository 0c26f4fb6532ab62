//! Which packets join a run, and what ends it.

use super::*;
use crate::exact_budget::ExactBudget;
use crate::observer::FrameTime;
use crate::run::Cut;
use crate::run::OpcodeTotals;
use bytemuck::Zeroable;
use proptest::prelude::*;
use rocescope_wire::extension::Syndrome;
use rocescope_wire::tunnel::{Encapsulation, NO_VNI};
use rocescope_wire::{Bth, Opcode, Qpn, RawBth, Stream, TrafficClass};
use std::collections::BTreeMap;
use std::vec::Vec;

impl Sink for Vec<RunRecord> {
    fn publish(&mut self, run: &RunRecord, _: &mut Counters) {
        self.push(*run);
    }
}

const MTU: u32 = 1024;

fn at(clock: &FrameTime) -> Moment {
    Moment::now(clock, 0, &mut ExactBudget::default(), &Config::exact(1))
}

fn packet(opcode: u8, qpn: u32, psn: u32, payload_bytes: u32) -> Packet {
    let opcode = Opcode(opcode);
    Packet {
        flow: FlowKey {
            src: [1; 16],
            dst: [2; 16],
            vni: NO_VNI,
            dst_qpn: qpn,
            udp_src_port: 50_000,
            vlan: 0xffff,
            inner_vlan: 0xffff,
            reserved: 0,
        },
        bth: Bth::new(opcode, Qpn::new(qpn), Psn::new(psn)).into(),
        meaning: opcode.meaning(),
        src_qpn: Qpn::new(0),
        syndrome: Syndrome(0),
        msn_or_dma_length: 0,
        frame_bytes: 58 + opcode.extension_bytes() + payload_bytes,
        payload_bytes,
        ttl: 64,
        traffic_class: TrafficClass(0),
        congestion_experienced: false,
        snapped: false,
        truncated: false,
        encapsulation: Encapsulation::None,
        network_at: 14,
        bth_at: 42,
    }
}

/// The header with this value of its acknowledge request.
fn asking(bth: RawBth, ack_request: bool) -> RawBth {
    let bth = bth.unpack();
    Bth { ack_request, ..bth }.into()
}

/// Runs of `packets`, one a microsecond, in one set.
fn runs(config: Config, packets: &[Packet]) -> (Vec<RunRecord>, Counters) {
    let mut set = [Slot::zeroed(); 2];
    let (mut counters, mut published) = (Counters::default(), Vec::new());
    for (index, packet) in packets.iter().enumerate() {
        let clock = FrameTime(1_000 * index as u64);
        observe(
            &mut set,
            packet,
            &at(&clock),
            &clock,
            &config,
            &mut counters,
            &mut published,
        );
    }
    flush(&mut set, None, &mut counters, &mut published, |cut| cut);
    (published, counters)
}

/// Windows of a second, nothing marked.
fn unmarked() -> Config {
    Config {
        mark_mask: u32::MAX,
        ..Config::exact(1_000_000_000)
    }
}

#[test]
fn a_message_is_one_run() {
    let write = [
        packet(0x06, 7, 0x00ff_ffff, MTU),
        packet(0x07, 7, 0, MTU),
        packet(0x08, 7, 1, 10),
        packet(0x0a, 7, 2, 5),
    ];
    let (runs, _) = runs(unmarked(), &write);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!((run.first_psn, run.last_psn, run.packets), (0x00ff_ffff, 2, 4));
    assert_eq!((run.messages(), run.payload_bytes()), (2, 2 * 1024 + 15));
    assert_eq!((run.last_offset_ns, run.message_offset_ns), (3_000, 3_000));
}

#[test]
fn what_breaks_a_run() {
    let ack = |psn, syndrome| Packet {
        syndrome: Syndrome(syndrome),
        ..packet(0x11, 7, psn, 0)
    };
    let cuts = |packets: &[Packet]| -> Vec<u8> { runs(unmarked(), packets).0.iter().map(|run| run.cut).collect() };
    let flush = Cut::Flush as u8;
    // A PSN that does not continue; one that repeats.
    assert_eq!(cuts(&[packet(4, 7, 1, 8), packet(4, 7, 3, 8)]), [Cut::Psn as u8, flush]);
    assert_eq!(cuts(&[packet(4, 7, 1, 8), packet(4, 7, 1, 8)]), [Cut::Psn as u8, flush]);
    // Another operation, another suffix, another segment size.
    assert_eq!(
        cuts(&[packet(4, 7, 1, 8), packet(10, 7, 2, 8)]),
        [Cut::Operation as u8, flush]
    );
    assert_eq!(
        cuts(&[packet(4, 7, 1, 8), packet(5, 7, 2, 8)]),
        [Cut::Suffix as u8, flush]
    );
    assert_eq!(
        cuts(&[packet(0, 7, 1, 256), packet(1, 7, 2, 512)]),
        [Cut::Segment as u8, flush]
    );
    // A read request, a NAK and a CNP stand alone; acknowledgements join over holes.
    assert_eq!(cuts(&[packet(12, 7, 1, 0), packet(12, 7, 2, 0)]), [Cut::Solo as u8; 2]);
    assert_eq!(
        cuts(&[ack(1, 0), ack(5, 0x1f), ack(6, 0x60), ack(6, 0)]),
        [Cut::Solo as u8, Cut::Solo as u8, flush]
    );
    assert_eq!(
        cuts(&[packet(0x81, 7, 0, 0), packet(0x81, 7, 0, 0)]),
        [Cut::Solo as u8; 2]
    );
    // Another stream of the same flow takes the other slot, a third the older one.
    assert_eq!(
        cuts(&[packet(4, 7, 1, 8), ack(1, 0), packet(0x10, 7, 9, 8), packet(4, 7, 2, 8)]),
        [Cut::Key as u8, Cut::Key as u8, flush, flush]
    );
}

/// An MRC write with the flags of byte 8 of its BTH.
fn mrc(opcode: u8, psn: u32, flags: u8) -> Packet {
    let bth = Bth {
        reserved7: flags,
        ..Bth::new(Opcode(opcode), Qpn::new(7), Psn::new(psn))
    };
    Packet {
        bth: bth.into(),
        ..packet(opcode, 7, psn, MTU)
    }
}

#[test]
fn a_run_has_one_value_of_the_retransmission_bit() {
    const RETRANSMISSION: u8 = 0x20;
    let write = |flags: [u8; 6]| {
        let opcodes = [0xc6, 0xc7, 0xc7, 0xc7, 0xc7, 0xc8];
        let packets: Vec<Packet> = (1..)
            .zip(opcodes.into_iter().zip(flags))
            .map(|(psn, (opcode, flags))| mrc(opcode, psn, flags))
            .collect();
        let (runs, counters) = runs(unmarked(), &packets);
        assert_eq!(counters.published_packets, 6);
        runs.iter()
            .map(|run| (run.packets, run.is_marked_retransmission()))
            .collect::<Vec<_>>()
    };
    assert_eq!(write([0; 6]), [(6, false)]);
    assert_eq!(write([RETRANSMISSION; 6]), [(6, true)]);
    let some = [0, 0, RETRANSMISSION, RETRANSMISSION, 0, 0];
    assert_eq!(write(some), [(2, false), (2, true), (2, false)]);
    // The bit means that of MRC writes only.
    let rc = Packet {
        bth: mrc(0x07, 2, RETRANSMISSION).bth,
        ..packet(0x07, 7, 2, MTU)
    };
    let (runs, _) = runs(unmarked(), &[packet(0x06, 7, 1, MTU), rc]);
    assert_eq!((runs.len(), runs[0].is_marked_retransmission()), (1, false));
}

#[test]
fn what_mrc_packets_join() {
    let nack = |psn, reason| Packet {
        syndrome: Syndrome(0xff),
        msn_or_dma_length: reason,
        ..packet(0xdd, 7, psn, 0)
    };
    let trimmed = |psn| {
        let mut packet = mrc(0xc7, psn, 0);
        (packet.meaning.stream, packet.payload_bytes) = (Stream::Trimmed, 0);
        packet
    };
    let of = |packets: &[Packet]| -> Vec<(u8, u16)> {
        runs(unmarked(), packets)
            .0
            .iter()
            .map(|run| (run.cut, run.packets))
            .collect()
    };
    let (solo, flush) = (Cut::Solo as u8, Cut::Flush as u8);
    let sack = |psn| packet(0xdc, 7, psn, 0);
    // Selective acknowledgements join as others do; probes stand alone, and so does each NACK, for its reason.
    assert_eq!(of(&[sack(1), sack(5), sack(9)]), [(flush, 3)]);
    assert_eq!(
        of(&[sack(1), packet(0xd1, 7, 2, 0)]),
        [(Cut::Operation as u8, 1), (flush, 1)]
    );
    assert_eq!(of(&[packet(0xde, 7, 1, 0), packet(0xde, 7, 2, 0)]), [(solo, 1); 2]);
    assert_eq!(of(&[nack(4, 1), nack(5, 1)]), [(solo, 1); 2]);
    assert_eq!(runs(unmarked(), &[nack(4, 2)]).0[0].msn_or_dma_length, 2);
    // Trimmed packets have runs of their own, beside those of the packets that arrive.
    let mixed = [mrc(0xc6, 1, 0), trimmed(2), trimmed(3), mrc(0xc7, 4, 0)];
    let (runs, _) = runs(unmarked(), &mixed);
    let of = |run: &RunRecord| (run.stream(), run.packets, run.payload_bytes(), run.messages());
    assert!(
        runs.iter().map(of).any(|run| run == (Stream::Trimmed, 2, 0, 0)),
        "{runs:?}"
    );
}

#[test]
fn a_marked_end_of_message_keeps_its_time() {
    let mut packets = [packet(6, 7, 1, MTU), packet(8, 7, 2, 1), packet(6, 7, 3, MTU)];
    packets[1].bth = asking(packets[1].bth, true);
    let (runs, counters) = runs(Config::exact(1_000_000_000), &packets);
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].cut, runs[0].last_ns()), (Cut::Mark as u8, 1_000));
    assert_eq!(runs[0].flags & RunRecord::EXACT_END, RunRecord::EXACT_END);
    assert_eq!(counters.published[Cut::Mark as usize], 1);
}

#[test]
fn a_run_ends_with_its_slice_and_with_time_that_runs_backwards() {
    let config = Config {
        mark_mask: u32::MAX,
        ..Config::exact(10_000)
    };
    let packets: Vec<_> = (0..20).map(|psn| packet(4, 7, psn, 8)).collect();
    // 20 microseconds in slices of one.
    assert_eq!(runs(config, &packets).0.len(), 20);
    let mut set = [Slot::zeroed(); 2];
    let (mut counters, mut published) = (Counters::default(), Vec::new());
    for (psn, time) in [(0, 5_000_000), (1, 4_999_999)] {
        let packet = packet(4, 7, psn, 8);
        let clock = FrameTime(time);
        observe(
            &mut set,
            &packet,
            &at(&clock),
            &clock,
            &unmarked(),
            &mut counters,
            &mut published,
        );
    }
    assert_eq!(published.len(), 1);
}

#[test]
fn a_full_count_starts_a_new_run() {
    let config = Config {
        slice_ns: u64::MAX,
        ..unmarked()
    };
    // PSN 0 is marked under every mask.
    let packets: Vec<_> = (1..70_001).map(|psn| packet(4, 7, psn, 8)).collect();
    let (runs, _) = runs(config, &packets);
    assert_eq!(runs.iter().map(|run| u64::from(run.packets)).sum::<u64>(), 70_000);
    assert_eq!((runs.len(), runs[0].cut), (2, Cut::Count as u8));
}

/// Found by fuzzing: the limit of the sum was checked without the packet about to join.
#[test]
fn frames_that_claim_any_length_do_not_overflow_a_sum() {
    let lengths = [100, u32::MAX, u32::MAX, 100, 200];
    // PSN 0 is marked under every mask.
    let packets: Vec<Packet> = (1..)
        .zip(lengths)
        .map(|(psn, frame_bytes)| Packet {
            frame_bytes,
            ..packet(0x0a, 7, psn, MTU)
        })
        .collect();
    let (runs, counters) = runs(unmarked(), &packets);
    let frame_bytes: Vec<u32> = runs.iter().map(|run| run.frame_bytes).collect();
    assert_eq!(frame_bytes, [100, u32::MAX, u32::MAX, 300]);
    assert_eq!(counters.published[usize::from(Cut::Count as u8)], 3);
}

/// [`observe`] without its first attempt.
fn observe_without_advance(
    set: &mut Set,
    packet: &Packet,
    clock: &FrameTime,
    config: &Config,
    counters: &mut Counters,
    published: &mut Vec<RunRecord>,
) {
    let moment = at(clock);
    let mut step = Step::zeroed();
    if !join(set, packet, &moment, config, |way| way, &mut step) {
        renew(set, &step, packet, &moment, clock, config, counters, published);
    }
}

#[test]
fn exact_packets_keep_their_port() {
    let config = Config {
        key_mask: Config::port_mask(false),
        exact_burst: 3,
        exact_a_tick: 3,
        ..unmarked()
    };
    let mut set = [Slot::zeroed(); 2];
    let (mut counters, mut runs) = (Counters::default(), Vec::new());
    let mut budget = ExactBudget::default();
    for psn in 1..9u32 {
        let mut packet = packet(0x07, 7, psn, MTU);
        packet.flow.udp_src_port = psn as u16;
        let clock = FrameTime(u64::from(psn));
        // All in one tick.
        let moment = Moment::now(&FrameTime(1), 0, &mut budget, &config);
        observe(&mut set, &packet, &moment, &clock, &config, &mut counters, &mut runs);
    }
    flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
    let mut found: Vec<_> = runs
        .iter()
        .map(|run| (run.first_psn, run.flow.udp_src_port, run.packets))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(1, 1, 1), (2, 2, 1), (3, 3, 6)]);
}

proptest! {
    /// The short path for MIDDLEs joins what the rules join, and nothing else.
    #[test]
    fn advance_is_a_shortcut(
        packets in proptest::collection::vec(
            (prop_oneof![4 => Just(0x07u8), 1 => Just(0x06), 1 => Just(0x08), 1 => Just(0x0e), 1 => Just(0x27),
                1 => Just(0xa7), 1 => any::<u8>()],
             prop_oneof![9 => Just(7u32), 1 => Just(8)], prop_oneof![9 => Just(1u32), 1 => 0..4u32],
             prop_oneof![9 => Just(1024u32), 1 => Just(512)], any::<u8>(), prop_oneof![20 => Just(1u64), 1 => 0u64..900_000]),
            0..120,
        ),
        is_port_in_key in any::<bool>(),
    ) {
        let key_mask = Config::port_mask(is_port_in_key);
        let config = Config { mark_mask: 3, key_mask, ..Config::exact(10_000_000) };
        let (mut quick, mut slow) = ([Slot::zeroed(); 2], [Slot::zeroed(); 2]);
        let (mut quick_runs, mut slow_runs) = (Vec::new(), Vec::new());
        let (mut quick_counters, mut slow_counters) = (Counters::default(), Counters::default());
        let (mut psn, mut time) = (0, 1_000_000);
        for (opcode, qpn, step, bytes, flags, wait) in packets {
            psn += step;
            time += wait;
            let mut packet = packet(opcode, qpn, psn, bytes);
            packet.bth = asking(packet.bth, flags & 1 != 0);
            packet.congestion_experienced = flags & 2 != 0;
            packet.snapped = flags & 0xfc == 0;
            packet.frame_bytes += u32::from(flags & 0xf0 == 0x50) * 4;
            packet.flow.udp_src_port += u16::from(flags & 0xc0 == 0xc0) * u16::from(flags);
            packet.ttl -= u8::from(flags & 0xf0 == 0xa0);
            packet.traffic_class.0 += u8::from(flags & 0xf0 == 0xb0) * 4;
            let clock = FrameTime(time);
            observe(&mut quick, &packet, &at(&clock), &clock, &config, &mut quick_counters, &mut quick_runs);
            observe_without_advance(&mut slow, &packet, &clock, &config, &mut slow_counters, &mut slow_runs);
        }
        flush(&mut quick, None, &mut quick_counters, &mut quick_runs, |cut| cut);
        flush(&mut slow, None, &mut slow_counters, &mut slow_runs, |cut| cut);
        prop_assert_eq!(quick_runs, slow_runs);
        prop_assert_eq!(quick_counters, slow_counters);
    }

    /// Without the port in the key, a sender that changes it at every packet gives the runs of one that does not;
    /// with it, each packet is a run.
    #[test]
    fn sprayed_packets_are_one_run_where_the_key_has_no_port(ports in proptest::collection::vec(any::<u16>(), 2..200)) {
        let runs = |is_port_in_key: bool| {
            let config = Config { key_mask: Config::port_mask(is_port_in_key), mark_mask: u32::MAX, ..Config::exact(10_000_000) };
            let mut set = [Slot::zeroed(); 2];
            let (mut counters, mut runs) = (Counters::default(), Vec::new());
            for (psn, port) in (1u32..).zip(&ports) {
                let mut packet = packet(0x07, 7, psn, 1_024);
                packet.flow.udp_src_port = *port;
                let clock = FrameTime(1_000_000 + u64::from(psn));
                observe(&mut set, &packet, &at(&clock), &clock, &config, &mut counters, &mut runs);
            }
            flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
            runs
        };
        let is_sprayed = ports.windows(2).any(|pair| pair[0] != pair[1]);
        let [run] = &runs(false)[..] else { panic!("more than one run") };
        prop_assert_eq!(usize::from(run.packets), ports.len());
        prop_assert_eq!(run.flow.udp_src_port, ports[0]);
        prop_assert_eq!(run.flags & RunRecord::PORTS_DIFFER != 0, is_sprayed);
        let changes = ports.windows(2).filter(|pair| pair[0] != pair[1]).count();
        prop_assert!(runs(true).len() > changes);
        prop_assert!(runs(true).iter().all(|run| run.flags & RunRecord::PORTS_DIFFER == 0));
    }

    /// A sender that goes back repeats PSNs, and what it repeats is not in the run before: two passes are in one run only
    /// where the tap missed the end of the first from exactly there on, so that no PSN is in the run twice.
    #[test]
    fn a_run_holds_one_pass_of_the_sender(
        passes in proptest::collection::vec((0u32..40, 1u32..60, any::<u64>()), 1..12),
        is_lossy in any::<bool>(),
        start in prop_oneof![Just(0u32), Just(0xff_fff0u32), 0..1u32 << 24],
        message in 1u32..20,
        is_port_in_key in any::<bool>(),
        mark_mask in prop_oneof![Just(0u32), Just(15), Just(u32::MAX)],
    ) {
        let key_mask = Config::port_mask(is_port_in_key);
        let config = Config { key_mask, mark_mask, ..Config::exact(10_000_000_000) };
        let mut set = [Slot::zeroed(); 2];
        let (mut counters, mut runs) = (Counters::default(), Vec::new());
        // The pass and the number of each packet that the tap saw.
        let mut seen: Vec<(usize, u32)> = Vec::new();
        let (mut next, mut time) = (0u32, 1_000_000u64);
        for (number, (back, length, losses)) in passes.into_iter().enumerate() {
            let first = next.saturating_sub(back + 1);
            for at in first..first + length {
                time += 1_000;
                if is_lossy && losses >> (at % 64) & 3 == 0 {
                    continue;
                }
                let opcode = match (at % message, message) {
                    (_, 1) => 0x0a,
                    (0, _) => 0x06,
                    (place, _) if place + 1 == message => 0x08,
                    _ => 0x07,
                };
                let mut packet = packet(opcode, 7, (start + at) & 0xff_ffff, 1_024);
                packet.flow.udp_src_port = if is_port_in_key { 49_152 } else { 49_152 + (at % 5) as u16 };
                let clock = FrameTime(time);
                observe(&mut set, &packet, &Moment::now(&clock, 0, &mut ExactBudget::default(), &config), &clock, &config,
                    &mut counters, &mut runs);
                seen.push((number, at));
            }
            next = first + length;
        }
        flush(&mut set, None, &mut counters, &mut runs, |cut| cut);
        let mut rest = &seen[..];
        for run in &runs {
            let (packets, others) = rest.split_at(usize::from(run.packets));
            rest = others;
            prop_assert_eq!(run.first_psn, (start + packets[0].1) & 0xff_ffff);
            for pair in packets.windows(2) {
                let [(one, before), (other, after)] = pair else { unreachable!() };
                prop_assert_eq!(before + 1, *after);
                prop_assert!(one == other || is_lossy);
            }
        }
        prop_assert!(rest.is_empty());
    }

    /// The invariant of the crate: opcode totals follow exactly from the published runs.
    #[test]
    fn runs_sum_up_to_the_packets(
        packets in proptest::collection::vec(
            (any::<u8>(), 0..3u32, 0..4u32, prop_oneof![Just(256u32), Just(1024), 0..64u32],
             any::<bool>(), any::<bool>()),
            0..200,
        ),
        mark_mask in prop_oneof![Just(0u32), Just(15), Just(u32::MAX)],
    ) {
        let packets: Vec<_> = packets
            .into_iter()
            .scan(0u32, |psn, (opcode, qpn, step, bytes, ack_request, padded)| {
                *psn += step;
                let mut packet = packet(opcode, qpn, *psn, bytes);
                packet.bth = asking(packet.bth, ack_request);
                packet.frame_bytes += u32::from(padded) * 4;
                Some(packet)
            })
            .collect();
        let mut expected = BTreeMap::<Opcode, OpcodeTotals>::new();
        let mut counters_of_packets = Counters::default();
        for packet in &packets {
            counters_of_packets.count(&rocescope_wire::Class::Roce(packet), 0);
            expected.entry(packet.bth.opcode()).or_default().add(OpcodeTotals {
                packets: 1,
                frame_bytes: u64::from(packet.frame_bytes),
                payload_bytes: u64::from(packet.payload_bytes),
            });
        }
        let config = Config { mark_mask, ..unmarked() };
        let (runs, counters) = runs(config, &packets);
        let mut sums = BTreeMap::<Opcode, OpcodeTotals>::new();
        for (opcode, totals) in runs.iter().flat_map(RunRecord::opcodes) {
            sums.entry(opcode).or_default().add(totals);
        }
        prop_assert_eq!(&sums, &expected);
        prop_assert_eq!(counters.published_packets, packets.len() as u64);
        for (opcode, totals) in &expected {
            prop_assert_eq!(&counters_of_packets.opcodes[usize::from(opcode.0)], totals);
        }
        for run in &runs {
            let payload: u64 = run.opcodes().map(|(_, totals)| totals.payload_bytes).sum();
            prop_assert_eq!(run.payload_bytes(), payload);
        }
    }
}
