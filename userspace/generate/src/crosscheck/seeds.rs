//! The same seed gives the same file, and CM matches the data.

use super::{ALL, class_of};
use crate::{Generator, Scenario, write};
use rocescope_wire::Class;

#[test]
fn the_same_seed_gives_the_same_file_and_another_seed_does_not() {
    let scenario = Scenario::parse(ALL).unwrap();
    let file = |seed| {
        let mut bytes = Vec::new();
        let truth = write(&scenario, seed, &mut bytes).unwrap();
        let mut json = Vec::new();
        truth.write_json(&mut json).unwrap();
        (bytes, json)
    };
    assert_eq!(file(1), file(1));
    assert_ne!(file(1).0, file(2).0);
}

/// Guards all generated files: a change here changes every one of them.
#[test]
fn the_file_of_a_seed_never_changes() {
    let mut bytes = Vec::new();
    write(&Scenario::parse(ALL).unwrap(), 1, &mut bytes).unwrap();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!((bytes.len(), hash), (335_128, 10_083_928_820_402_953_012));
}

#[test]
fn cm_matches_the_data() {
    use rocescope_wire::cm::{Mad, Message};
    let scenario = Scenario::parse(ALL).unwrap();
    let mut generator = Generator::new(&scenario, 9);
    let mut frame = Vec::new();
    let mut messages = Vec::new();
    while let Some(next) = generator.next_frame(&mut frame) {
        let Class::Roce(packet) = class_of(&frame, next.original_bytes) else {
            continue;
        };
        if packet.flow.dst_qpn == 1 {
            let payload = &frame[packet.payload_at()..][..packet.payload_bytes as usize];
            let mad = Mad::read(payload).unwrap();
            messages.push(mad.message.attribute().name().unwrap());
            let known = generator.truth().connections;
            match mad.message {
                Message::Request(request) => assert!(known.iter().any(|connection| {
                    connection.a.qpn == request.local_qpn.get()
                        && connection.a.start_psn == Some(request.starting_psn.get())
                        && request.path_mtu_bytes() == Some(256)
                })),
                Message::Reply(reply) => assert!(known.iter().any(|connection| {
                    connection.b.qpn == reply.local_qpn.get()
                        && connection.b.start_psn == Some(reply.starting_psn.get())
                })),
                _ => {}
            }
        }
    }
    for name in ["REQ", "REP", "RTU", "DREQ", "DREP"] {
        assert_eq!(messages.iter().filter(|message| **message == name).count(), 3, "{name}");
    }
}
