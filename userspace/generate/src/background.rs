//! Frames that are not RoCEv2, built with etherparse one by one.

use super::frame::End;
use super::rules::picoseconds;
use super::scenario::Background;
use super::scenario::background::BackgroundKind;
use etherparse::{ArpHardwareId, ArpOperation, ArpPacket, EtherType, PacketBuilder};
use std::net::IpAddr;

/// The shortest Ethernet frame, without its FCS.
const FRAME_MIN: usize = 60;

/// One kind of background traffic.
#[derive(Clone, Debug)]
pub(super) struct Source {
    background: Background,
    stop: u64,
    /// Picoseconds between frames, and when the next is due.
    interval: u64,
    due: u64,
    number: u32,
}

impl Source {
    pub(super) fn new(background: &Background, duration: Option<u64>) -> Self {
        // One bit a frame: bits a second are frames a second.
        let interval = picoseconds(1, background.frames_per_second * 8.0 * 1000.0) * 1000;
        Self {
            background: background.clone(),
            stop: background.stop.map(|stop| stop.0).or(duration).unwrap_or(u64::MAX),
            interval,
            due: background.start.0.saturating_mul(1000),
            number: 0,
        }
    }

    pub(super) fn due(&self) -> Option<u64> {
        let at = self.due / 1000;
        (at < self.stop).then_some(at)
    }

    /// Writes the next frame.
    pub(super) fn write(&mut self, frame: &mut Vec<u8>) {
        self.due = self.due.saturating_add(self.interval);
        let number = self.number;
        self.number = number.wrapping_add(1);
        let index = number as usize;
        let src = End::new(self.background.src.get(index));
        let dst = End::new(self.background.dst.get(index));
        frame.clear();
        if self.build(frame, src, dst, number).is_none() {
            frame.clear();
        }
        frame.resize(frame.len().max(FRAME_MIN), 0);
    }

    fn build(&self, frame: &mut Vec<u8>, src: End, dst: End, number: u32) -> Option<()> {
        let payload = vec![0x2e; usize::from(self.background.payload)];
        let ethernet = PacketBuilder::ethernet2(src.mac, dst.mac);
        let ip = match (src.address, dst.address) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                if self.background.kind == BackgroundKind::Arp {
                    let (hardware, protocol) = (ArpHardwareId::ETHERNET, EtherType::IPV4);
                    let (from, to) = (from.octets(), to.octets());
                    let ask = ArpOperation::REQUEST;
                    let arp = ArpPacket::new(hardware, protocol, ask, &src.mac, &from, &[0; 6], &to);
                    return ethernet.arp(arp.ok()?).write(frame).ok();
                }
                ethernet.ipv4(from.octets(), to.octets(), 64)
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => ethernet.ipv6(from.octets(), to.octets(), 64),
            _ => return None,
        };
        let is_v4 = src.address.is_ipv4();
        // Each pair of addresses occurs once a round.
        let pairs = self.background.src.len().max(self.background.dst.len());
        let round = number / pairs.max(1) as u32;
        let sequence = round.wrapping_mul(self.background.payload.into());
        match self.background.kind {
            BackgroundKind::Tcp => ip.tcp(40_000, 18_515, sequence, 64_240).ack(1).write(frame, &payload),
            BackgroundKind::Udp => ip.udp(40_000, 9).write(frame, &payload),
            BackgroundKind::Icmp if is_v4 => ip.icmpv4_echo_request(7, number as u16).write(frame, &payload),
            BackgroundKind::Icmp => ip.icmpv6_echo_request(7, number as u16).write(frame, &payload),
            BackgroundKind::Arp => return None,
        }
        .ok()
    }
}
