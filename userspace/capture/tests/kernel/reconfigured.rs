//! A reconfiguration while frames pass: each frame is judged by either configuration as a whole.

use crate::corpus::captures;
use crate::pair::{Pair, load};
use crate::{exact, live};
use rocescope_capture::xdp::Options;
use rocescope_record::Config;
use rocescope_record::filter::{ALTERNATIVES, Alternative, PacketFilter, Prefix};
use rocescope_wire::{Class, FlowKey, FrameLengths, LinkType, ROCE_UDP_PORT, decode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Without exact packets, which ignore the mask and keep their port.
fn inexact() -> Config {
    Config {
        exact_burst: 0,
        ..live()
    }
}

#[test]
fn ports_and_marks_change_for_kernel_and_user_space_alike() {
    let Some(mut pair) = Pair::new(inexact(), 4_096) else {
        return;
    };
    let (_, frames) = captures().find(|(name, _)| name.starts_with("send_lat_rc")).unwrap();
    let mut seen = Vec::new();
    for (udp_ports, mark_mask) in [
        ([ROCE_UDP_PORT, 0, 0, 0], 15),
        ([1, 2, 3, 4], 15),
        ([1, 2, 3, ROCE_UDP_PORT], 0),
    ] {
        pair.reconfigure(&Config {
            udp_ports,
            mark_mask,
            ..inexact()
        });
        seen.push(pair.compare("send_lat_rc", &frames).runs);
    }
    assert!(seen[0] > 0 && seen[1] == 0, "{seen:?}");
    assert!(seen[2] > seen[0], "every PSN ends a run: {seen:?}");
}

/// A sender that changes its UDP source port at every packet: where the key has no port, the kernel joins what user space
/// joins.
#[test]
fn the_port_leaves_the_key_for_kernel_and_user_space_alike() {
    let Some(mut pair) = Pair::new(inexact(), 4_096) else {
        return;
    };
    let (_, mut frames) = captures().find(|(name, _)| name.starts_with("write_bw_rc")).unwrap();
    let mut sprayed = 0;
    for (number, (_, frame)) in (0u16..).step_by(7).zip(&mut frames) {
        // Untagged IPv4.
        if flow(frame).is_some() {
            frame[34..36].copy_from_slice(&(49_152 + number % 4_096).to_be_bytes());
            sprayed += 1;
        }
    }
    assert!(sprayed > 100, "{sprayed}");
    let mut runs = |is_port_in_key| {
        pair.reconfigure(&Config {
            key_mask: Config::port_mask(is_port_in_key),
            ..inexact()
        });
        pair.compare("write_bw_rc", &frames).runs
    };
    let (with, without) = (runs(true), runs(false));
    assert!(
        with > 4 * without,
        "{with} runs with the port in the key, {without} without"
    );
}

/// The flow of a frame, if it is a RoCEv2 packet.
fn flow(frame: &[u8]) -> Option<FlowKey> {
    let lengths = FrameLengths::whole(frame.len() as u32);
    match decode(frame, LinkType::Ethernet, lengths, exact().udp_ports) {
        Class::Roce(packet) => Some(packet.flow),
        _ => None,
    }
}

/// Guards the two alternating entries: with one entry, a reader sees half of a new filter and half of the
/// old, and rejects a packet that both accept.
#[test]
fn a_packet_that_both_configurations_accept_is_never_missed() {
    let options = Options {
        slots: 256,
        ..Options::default()
    };
    let (_, frames) = captures().find(|(name, _)| name.starts_with("send_lat_rc")).unwrap();
    let (packet, flow) = frames
        .iter()
        .find_map(|(_, frame)| Some((frame, flow(frame)?)))
        .unwrap();
    let never = Alternative {
        udp_src_port: flow.udp_src_port ^ 1,
        udp_src_port_mask: u16::MAX,
        ..Alternative::ANY
    };
    // The first alternative matches, or the last.
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
    // Loading pins a thread to one CPU; these two need one each.
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
