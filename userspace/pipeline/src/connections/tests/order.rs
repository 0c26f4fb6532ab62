//! Requests out of order: late, or transmitted again.

use super::*;

/// Losses upstream and downstream, and packets that were late.
pub(super) fn reported(runs: &[Vec<RunRecord>]) -> (u64, u64, u64) {
    let (rows, _) = rows(runs);
    let a = &rows[0];
    (
        a.fabric_lost_upstream_packets,
        a.fabric_lost_downstream_packets,
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
    assert_eq!((a.fabric_lost_upstream_packets, a.timeouts), (0, 0));
    assert_eq!((a.retransmitted_packets, a.unique_messages), (0, 420));
    assert!(events.is_empty(), "{events:?}");
}

/// The first copy of 3 passes 57 µs after 4, when its retransmission and those after it have passed.
#[test]
fn a_packet_that_its_own_retransmission_overtakes_was_late() {
    let begin = [
        sends((0, 2), 100),
        sends((4, 8), 104),
        answer(ACK, 2, 140),
        answer(NAK, 3, 145),
        sends((3, 8), 155),
    ];
    let end = [answer(ACK, 8, 210)];
    let late = [sends((3, 3), 161)];
    assert_eq!(reported(&[&begin[..], &late, &end].concat()), (0, 0, 1));
    assert_eq!(reported(&[&begin[..], &end].concat()), (1, 0, 0));
}

/// 3 and 11 are lost, then 10 when it is repeated; the kernel joins 11 to 14, which are repeated, and 15 to 18, which are
/// new, to one run.
#[test]
fn a_run_of_a_pass_that_goes_on_with_new_packets_belongs_to_the_pass() {
    let joined = |psns: core::ops::RangeInclusive<u32>, at_us| {
        let mut joined = run(0x04, 1, 7, psns, at_us);
        joined.only = joined.packets;
        joined.only_payload_bytes = 10 * u32::from(joined.packets);
        alloc::vec![joined]
    };
    let (rows, _) = rows(&[
        sends((0, 2), 100),
        sends((4, 10), 104),
        sends((12, 14), 112),
        answer(ACK, 2, 140),
        answer(NAK, 3, 145),
        sends((3, 9), 155),
        joined(11..=18, 165),
        answer(ACK, 9, 190),
        answer(NAK, 10, 192),
        joined(10..=18, 210),
        answer(ACK, 18, 250),
    ]);
    assert_eq!(
        (
            rows[0].fabric_lost_upstream_packets,
            rows[0].fabric_lost_downstream_packets
        ),
        (3, 0)
    );
}

/// The receiver drops what comes early, and the fabric delays each third packet by 5 µs: a NAK for nearly each packet, and
/// each cuts the pass of the one before short.
#[test]
fn passes_that_naks_cut_short_do_not_show_a_selective_sender() {
    let mut runs = alloc::vec![sends((0, 0), 90)];
    for round in 0..40_u32 {
        let (base, at_us) = (round * 4, 1_000 + u64::from(round) * 200);
        for psn in base + 1..base + 33 {
            let late_us = if psn % 3 == 0 { 5 } else { 0 };
            runs.push(sends((psn, psn), at_us + u64::from(psn - base) + late_us));
        }
        for (at, psn) in [base + 3, base + 4].into_iter().enumerate() {
            runs.push(answer(NAK, psn, at_us + 30 + 6 * at as u64));
        }
    }
    let (rows, _) = rows(&runs);
    assert_ne!(rows[0].retransmission_scheme.as_deref(), Some("selective_repeat"));
    assert_eq!(rows[0].fabric_lost_downstream_packets, 0);
}

/// The first NAK of a sprayed direction may ask for what is only late. Once the receiver has kept early packets without
/// a NAK, it asked for what was lost.
#[test]
fn a_loss_downstream_is_told_once_the_receiver_is_known_to_keep_early_packets() {
    let begin = [
        sends((0, 1), 0),
        spray((2, 99), 10),
        answer(NAK, 50, 400),
        sends((50, 50), 420),
        answer(ACK, 99, 700),
    ];
    assert_eq!(reported(&begin), (0, 0, 48));
    let later = [spray((100, 199), 800), answer(ACK, 199, 1_200)];
    assert_eq!(reported(&[&begin[..], &later].concat()), (0, 1, 97));
}
