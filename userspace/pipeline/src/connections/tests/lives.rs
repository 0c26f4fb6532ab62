//! Queue pair numbers that are used again, and responses that an acknowledgement overtook.

use super::{
    ACK, ConnectionSettings, Connections, Settings, WHOLE, answer, read, response, response_losses, rows, sends,
};
use alloc::vec::Vec;
use rocescope_record::{ControlPacket, MadRecord, RunRecord};

/// To another queue pair.
fn to(qpn: u32, mut runs: Vec<RunRecord>) -> Vec<RunRecord> {
    runs.iter_mut().for_each(|run| run.flow.dst_qpn = qpn);
    runs
}

/// Two queue pairs send PSNs 0 to 2 at the same times, so no one knows whose acknowledgements are whose.
fn life(at_us: u64, acknowledged: u32) -> [Vec<RunRecord>; 6] {
    [
        sends((0, 2), at_us),
        to(8, sends((0, 2), at_us)),
        answer(ACK, 0, at_us + 40),
        to(10, answer(ACK, 0, at_us + 40)),
        answer(ACK, acknowledged, at_us + 50),
        to(10, answer(ACK, acknowledged, at_us + 50)),
    ]
}

#[test]
fn queue_pairs_that_send_the_same_psns_are_used_again() {
    let (reported, _) = rows(&[life(100, 2), life(50_000, 2)].concat());
    let with = |packets| reported.iter().filter(|row| row.packets == packets).count();
    // Each life of each direction, and none of two lives.
    assert_eq!((with(3), with(2), with(6), with(4)), (4, 4, 0, 0));
    assert!(reported.iter().all(|row| row.retransmitted_packets == 0));

    // Not everything was acknowledged: a timer may repeat it all.
    let (reported, _) = rows(&[life(100, 1), life(50_000, 2)].concat());
    assert_eq!(reported.iter().filter(|row| row.packets == 6).count(), 2);
}

#[test]
fn a_response_that_an_acknowledgement_overtook_was_lost_upstream() {
    let asked = |acknowledged| {
        response_losses(&[
            read((24, 24), 1_000),
            sends((25, 25), 1_001),
            answer(ACK, acknowledged, 1_020),
            read((24, 24), 1_030),
            sends((25, 25), 1_031),
            response((24, 24), WHOLE, 1_050),
            answer(ACK, 25, 1_051),
        ])
    };
    assert_eq!(asked(25), (1, 0));
    // The acknowledgement is of what came before.
    assert_eq!(asked(23), (0, 0));
}

/// A DREQ of host 2 to queue pair 9.
fn disconnect(at_us: u64) -> MadRecord {
    let mut record: MadRecord = bytemuck::Zeroable::zeroed();
    record.flow = answer(ACK, 0, 0)[0].flow;
    record.time_ns = at_us * 1_000;
    record.mad_bytes = 256;
    // Base version 1, class CM of version 2, method Send, attribute DREQ.
    record.mad[..4].copy_from_slice(&[1, 7, 2, 3]);
    record.mad[16..18].copy_from_slice(&[0, 0x15]);
    record.mad[24 + 10] = 9;
    record
}

#[test]
fn packets_that_nothing_answers_are_unresolved_until_an_answer_comes() {
    // Four packets, each sent eight times; no one ever answers, or after a while.
    let unanswered = |answered_us: Option<u64>| {
        let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
        let mut runs = Vec::new();
        for at in 0..8 {
            runs.extend(sends((500, 503), 100 + at * 536_000));
        }
        runs.extend(answered_us.into_iter().flat_map(|at_us| answer(ACK, 503, at_us)));
        runs.iter().for_each(|run| connections.run(run));
        connections.finish();
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        connections.rows(true, &mut rows, &mut events);
        let unresolved = rows.iter().filter_map(|row| row.unresolved_packets).sum::<u64>();
        assert_eq!(connections.summary().delivery.unresolved_packets, unresolved);
        let named: Vec<_> = events.iter().filter(|event| &*event.kind == "unanswered").collect();
        assert_eq!(named.len(), 1);
        assert_eq!((named[0].psn, named[0].count), (Some(500), 3));
        unresolved
    };
    assert_eq!(unanswered(None), 32);
    assert_eq!(unanswered(Some(7 * 536_000 + 200)), 0);
}

#[test]
fn a_sender_that_retries_after_its_receiver_was_taken_down_gives_up() {
    let gave_up = |tries: &[u64]| {
        let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
        let mut runs = [sends((0, 2), 100), answer(ACK, 2, 150), sends((3, 5), 1_000)].concat();
        for at_us in tries {
            runs.extend(sends((3, 5), *at_us));
        }
        // Another queue pair, so that time goes on.
        runs.extend(to(8, sends((0, 0), 900_000)));
        runs.iter().for_each(|run| connections.run(run));
        connections.control_packet(ControlPacket::Mad(&disconnect(5_000)));
        connections.finish();
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        connections.rows(true, &mut rows, &mut events);
        assert_eq!(events.iter().filter(|event| &*event.kind == "disconnect").count(), 1);
        events.iter().filter(|event| &*event.kind == "retry_exhausted").count()
    };
    assert_eq!(gave_up(&[10_000, 20_000, 30_000]), 1);
    assert_eq!(gave_up(&[2_000, 3_000, 4_000]), 0);
    assert_eq!(gave_up(&[]), 0);
}
