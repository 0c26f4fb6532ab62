//! Queue pair numbers that are used again, and responses that an acknowledgement overtook.

use super::{ACK, WHOLE, answer, read, response, response_losses, rows, sends};
use alloc::vec::Vec;
use rocescope_record::RunRecord;

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
