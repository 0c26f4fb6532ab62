//! Another configuration while frames pass: every one is judged by the one or by the other.

use crate::corpus::captures;
use crate::pair::{Pair, load};
use crate::{exact, live};
use rocescope_capture::xdp::Options;
use rocescope_record::Config;
use rocescope_wire::{Class, FrameLengths, LinkType, ROCE_UDP_PORT, decode};
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

fn is_roce(frame: &[u8], ports: [u16; 4]) -> bool {
    let lengths = FrameLengths::whole(frame.len() as u32);
    matches!(
        decode(frame, LinkType::Ethernet, lengths, ports),
        Class::Roce(_)
    )
}

/// Guards the two entries that take turns: with one, a reader may see the first half of a new list of
/// ports and the second half of the old, and miss a port that stands in both.
#[test]
fn a_packet_that_every_configuration_wants_is_never_missed_between_two() {
    let options = Options {
        slots: 256,
        ..Options::default()
    };
    let ports = [[ROCE_UDP_PORT, 7, 8, 9], [7, 8, 9, ROCE_UDP_PORT]];
    let with = |udp_ports| Config {
        udp_ports,
        ..exact()
    };
    let Some(kernel) = load(options, with(ports[0])) else {
        return;
    };
    let (_, frames) = captures()
        .find(|(name, _)| name.starts_with("send_lat_rc"))
        .unwrap();
    let (_, packet) = frames
        .iter()
        .find(|(_, frame)| is_roce(frame, ports[0]))
        .unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..400 {
                kernel.reconfigure(&with(ports[turn % 2])).unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
        while !over.load(Ordering::Relaxed) {
            kernel.repeat(packet, 1_000).unwrap();
        }
    });
    let counters = kernel.counters().unwrap();
    assert!(counters.frames > 0);
    assert_eq!(counters.frames, counters.roce_packets);
}
