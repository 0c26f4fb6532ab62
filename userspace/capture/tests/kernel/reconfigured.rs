//! Another configuration while frames pass: every one is judged by the one or by the other.

use crate::corpus::captures;
use crate::pair::{Pair, load};
use crate::{exact, live};
use rocescope_capture::xdp::Options;
use rocescope_record::Config;
use rocescope_record::filter::{ALTERNATIVES, Alternative, PacketFilter, Prefix};
use rocescope_wire::{Class, FlowKey, FrameLengths, LinkType, ROCE_UDP_PORT, decode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn ports_and_marks_change_for_kernel_and_user_space_alike() {
    let Some(mut pair) = Pair::new(live(), 4_096) else {
        return;
    };
    let (_, frames) = captures()
        .find(|(name, _)| name.starts_with("send_lat_rc"))
        .unwrap();
    let mut seen = Vec::new();
    for (udp_ports, mark_mask) in [
        ([ROCE_UDP_PORT, 0, 0, 0], 15),
        ([1, 2, 3, 4], 15),
        ([1, 2, 3, ROCE_UDP_PORT], 0),
    ] {
        pair.reconfigure(&Config {
            udp_ports,
            mark_mask,
            ..live()
        });
        seen.push(pair.compare("send_lat_rc", &frames).runs);
    }
    assert!(seen[0] > 0 && seen[1] == 0, "{seen:?}");
    assert!(seen[2] > seen[0], "every PSN ends a run: {seen:?}");
}

/// The flow of a packet, where the frame is one.
fn flow(frame: &[u8]) -> Option<FlowKey> {
    let lengths = FrameLengths::whole(frame.len() as u32);
    match decode(frame, LinkType::Ethernet, lengths, exact().udp_ports) {
        Class::Roce(packet) => Some(packet.flow),
        _ => None,
    }
}

/// Guards the two entries that take turns: with one, a reader sees the first half of a new filter and
/// the second half of the old, and turns away a packet that both want.
#[test]
fn a_packet_that_every_configuration_wants_is_never_missed_between_two() {
    let options = Options {
        slots: 256,
        ..Options::default()
    };
    let (_, frames) = captures()
        .find(|(name, _)| name.starts_with("send_lat_rc"))
        .unwrap();
    let (packet, flow) = frames
        .iter()
        .find_map(|(_, frame)| Some((frame, flow(frame)?)))
        .unwrap();
    let never = Alternative {
        udp_src_port: flow.udp_src_port ^ 1,
        udp_src_port_mask: u16::MAX,
        ..Alternative::ANY
    };
    // The first alternative holds, or the last.
    let wanted = |at: usize| {
        let mut alternatives = [never; ALTERNATIVES];
        alternatives[at] = Alternative {
            src: Prefix::new(u128::from_be_bytes(flow.src), 128),
            ..Alternative::ANY
        };
        Config {
            filter: PacketFilter::new(&alternatives).unwrap(),
            ..exact()
        }
    };
    let both = [wanted(0), wanted(ALTERNATIVES - 1)];
    // Loading keeps a thread on one CPU; these two must have one each.
    let first = both[0];
    let loaded = thread::spawn(move || load(options, first)).join();
    let Some(kernel) = loaded.unwrap() else {
        return;
    };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0..2).cycle() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                kernel.reconfigure(&both[turn]).unwrap();
            }
        });
        for _ in 0..200 {
            kernel.repeat(packet, 1_000).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    let counters = kernel.counters().unwrap();
    assert!(counters.frames >= 200_000);
    assert_eq!(counters.frames, counters.roce_packets);
}
