//! A filter in the kernel: kernel and user space reject the same packets, datagrams and handshakes.

use crate::corpus::{Frames, captures, mutated};
use crate::live;
use crate::pair::Pair;
use rocescope_record::Config;
use rocescope_record::filter::{ALTERNATIVES, Alternative, PacketFilter, Prefix};
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::{Class, FlowKey, FrameLengths, LinkType, decode};
use std::collections::BTreeSet;

fn flows(frames: &Frames) -> Vec<FlowKey> {
    let ports = live().udp_ports;
    let flow = |frame: &Vec<u8>| {
        let lengths = FrameLengths::whole(frame.len() as u32);
        match decode(frame.as_slice(), LinkType::Ethernet, lengths, ports) {
            Class::Roce(packet) => Some(packet.flow),
            _ => None,
        }
    };
    let flows: BTreeSet<FlowKey> = frames.iter().filter_map(|(_, frame)| flow(frame)).collect();
    flows.into_iter().collect()
}

/// Filters with every kind of part, with one alternative and with the maximum.
fn filters(flows: &[FlowKey]) -> Vec<PacketFilter> {
    let host = |address: [u8; 16]| Prefix::new(u128::from_be_bytes(address), 128);
    let net = |address: [u8; 16]| Prefix::new(u128::from_be_bytes(address), 127);
    let any = Alternative::ANY;
    let flow = flows[flows.len() / 2];
    let port = |udp_src_port| Alternative {
        udp_src_port,
        udp_src_port_mask: u16::MAX,
        ..any
    };
    let src = Alternative {
        src: host(flow.src),
        ..any
    };
    let both = Alternative {
        src: net(flow.src),
        dst: host(flow.dst),
        ..port(flow.udp_src_port)
    };
    let either = Alternative {
        either: net(flow.dst),
        ..any
    };
    let tagged = Alternative {
        vlan: if flow.vlan == NO_VLAN { 5 } else { flow.vlan },
        vlan_mask: u16::MAX,
        vni: flow.vni,
        vni_mask: u32::MAX,
        ..any
    };
    let ports: Vec<Alternative> = (0..ALTERNATIVES as u16).map(port).collect();
    let last: Vec<Alternative> = ports[1..].iter().copied().chain([both]).collect();
    [&[src][..], &[both], &[either], &[tagged, src], &ports, &last]
        .into_iter()
        .map(|alternatives| PacketFilter::new(alternatives).unwrap())
        .collect()
}

#[test]
fn kernel_and_user_space_reject_the_same() {
    let Some(mut pair) = Pair::new(live(), 4_096) else {
        return;
    };
    let (mut before, mut all, mut none, mut some) = (0, 0, 0, 0);
    let (mut mads, mut handshakes) = (0, 0);
    for (name, frames) in captures() {
        let flows = flows(&frames);
        if flows.is_empty() {
            continue;
        }
        for filter in filters(&flows) {
            pair.reconfigure(&Config { filter, ..live() });
            for frames in [&frames, &mutated(&frames, 7)] {
                let compared = pair.compare(&name, frames);
                let filtered = compared.counters.filtered - before;
                before = compared.counters.filtered;
                match (filtered, compared.runs) {
                    (0, _) => all += 1,
                    (_, 0) => none += 1,
                    _ => some += 1,
                }
                mads += compared.mads;
                handshakes += compared.handshakes;
            }
        }
    }
    eprintln!("{all} kept all, {none} none, {some} a part; {mads} datagrams, {handshakes} handshakes");
    assert!(all > 0 && none > 0 && some > 0 && mads > 0 && handshakes > 0);
}
