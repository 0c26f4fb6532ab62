//! etherparse and `wire` agree on every frame, up to UDP.

#[path = "../../../../../ebpf/wire/tests/oracle/mod.rs"]
mod etherparse_oracle;

use crate::product::captures;
use etherparse::SlicedPacket;
use etherparse_oracle::{ours, theirs};
use rocescope_wire::{Class, LinkType, ROCE_UDP_PORT, decode};
use std::path::Path;

#[test]
fn etherparse_agrees_on_every_frame_of_our_captures() {
    check(&captures::ours());
}

#[test]
fn etherparse_agrees_on_every_frame_of_the_whole_collection() {
    if let Some(collection) = captures::shared() {
        check(&collection);
    }
}

fn check(collection: &Path) {
    for capture in captures::all(collection) {
        let mut at = 0;
        capture.frames(|frame| {
            assert_eq!(frame.link, Some(LinkType::Ethernet));
            let ports = [ROCE_UDP_PORT, 0, 0, 0];
            let class = decode(frame.bytes, LinkType::Ethernet, frame.lengths, ports);
            let ours = match &class {
                Class::Roce(packet) => Some(ours(packet)),
                _ => None,
            };
            let sliced = SlicedPacket::from_ethernet(frame.bytes).unwrap();
            let theirs = theirs(frame.bytes, &sliced);
            assert_eq!(ours, theirs, "{} frame {at}: {class:?}", capture.name);
            at += 1;
        });
    }
}
