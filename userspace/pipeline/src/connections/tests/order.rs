//! Requests out of order: late, or transmitted again.

use super::*;

/// Losses upstream and downstream, and packets that were late.
fn reported(runs: &[Vec<RunRecord>]) -> (u64, u64, u64) {
    let (rows, _) = rows(runs);
    let a = &rows[0];
    (
        a.lost_before_tap_packets,
        a.lost_after_tap_packets,
        a.out_of_order_packets,
    )
}

#[test]
fn a_packet_that_passes_late_after_its_nak_and_again_in_the_pass_was_not_lost() {
    let begin = [sends((0, 2), 100), sends((4, 8), 104), answer(ACK, 2, 140)];
    let nak = [answer(NAK, 3, 150)];
    let late = [sends((3, 3), 151)];
    let end = [sends((9, 9), 152), sends((3, 9), 170), answer(ACK, 9, 220)];
    assert_eq!(reported(&[&begin[..], &nak, &late, &end].concat()), (0, 0, 1));
    // Without the late one it was lost.
    assert_eq!(reported(&[&begin[..], &nak, &end].concat()), (1, 0, 0));
    // The sender repeats it alone, and it does not come again.
    let alone = [sends((3, 3), 170), sends((9, 12), 171), answer(ACK, 12, 220)];
    assert_eq!(reported(&[&begin[..], &nak, &alone].concat()), (1, 0, 0));
}

#[test]
fn what_the_receiver_has_before_the_next_copy_can_arrive_was_only_late_downstream() {
    let begin = [
        sends((0, 8), 100),
        answer(ACK, 3, 143),
        answer(NAK, 4, 150),
        sends((4, 8), 160),
    ];
    // 43 µs are a round trip; only half of it is certain after one sample.
    assert_eq!(reported(&[&begin[..], &[answer(ACK, 8, 170)]].concat()), (0, 0, 0));
    assert_eq!(reported(&[&begin[..], &[answer(ACK, 8, 207)]].concat()), (0, 1, 0));
}

/// A window that a timer repeats passes over four paths of unequal length.
#[test]
fn a_repeated_window_that_is_sprayed_skips_nothing() {
    let mut runs = alloc::vec![sends((0, 63), 100)];
    for group in 0..16 {
        for (path, delay_us) in [(3, 0), (1, 5), (2, 9), (0, 12)] {
            let psn = 4 * group + path;
            runs.push(sends((psn, psn), 2_000 + u64::from(4 * group) + delay_us));
        }
    }
    assert_eq!(reported(&runs).0, 0);
}

/// As [`spray`](super::spray), each second packet late by `late_us`.
fn spray_late_by(psns: (u32, u32), at_us: u64, late_us: u64) -> Vec<RunRecord> {
    let mut runs = sends(psns, at_us);
    for run in runs.iter_mut().filter(|run| run.first_psn % 2 == 1) {
        run.first_ns += late_us * 1_000;
    }
    runs
}

/// Every packet passes once; the window of the sender is full, so it waits for the packets on the path.
#[test]
fn a_path_that_becomes_longer_loses_nothing() {
    let before = (0..20u64).flat_map(|turn| {
        let first = 20 * turn as u32;
        let at_us = 40 * turn;
        [
            spray_late_by((first, first + 19), at_us, 4),
            answer(ACK, first + 19, at_us + 26),
        ]
    });
    let runs: Vec<Vec<RunRecord>> = before
        .chain([spray_late_by((400, 419), 800, 70), answer(ACK, 419, 895)])
        .collect();
    let (rows, events) = rows(&runs);
    let a = &rows[0];
    assert_eq!((a.lost_before_tap_packets, a.timeouts), (0, 0));
    assert_eq!((a.retransmitted_packets, a.unique_messages), (0, 420));
    assert!(events.is_empty(), "{events:?}");
}
