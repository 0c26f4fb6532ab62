//! What the mirror or the capture did not show: NAKs, copies of a pass, frames that were lost on the way to the tap.

use super::*;
use crate::connections::tests::order::reported;

/// A clean start, so that the peer and the shortest round trip of 50 µs are known.
fn start() -> Vec<Vec<RunRecord>> {
    (0..6)
        .flat_map(|psn| {
            let at_us = 100 * u64::from(psn);
            [sends((psn, psn), at_us), answer(ACK, psn, at_us + 50)]
        })
        .collect()
}

fn after_start(more: &[Vec<RunRecord>]) -> Vec<Vec<RunRecord>> {
    [&start()[..], more].concat()
}

#[test]
fn a_pass_whose_nak_did_not_pass_begins_with_the_packet_that_was_lost() {
    // 10 is lost; 10 to 15 are repeated 60 µs later, each a run of its own, and acknowledged.
    let lost = [
        sends((6, 9), 1_000),
        sends((11, 15), 1_005),
        sends((10, 15), 1_065),
        answer(ACK, 15, 1_120),
    ];
    let (rows, _) = rows(&after_start(&lost));
    let a = &rows[0];
    assert_eq!(
        (
            a.fabric_lost_upstream_packets,
            a.retransmitted_packets,
            a.duplicate_packets,
            a.out_of_order_packets
        ),
        (1, 6, 0, 0)
    );
    // A late packet is followed by new ones.
    let late = [
        sends((6, 9), 1_000),
        sends((11, 15), 1_005),
        sends((10, 10), 1_065),
        sends((16, 18), 1_066),
        answer(ACK, 18, 1_120),
    ];
    assert_eq!(reported(&after_start(&late)), (0, 0, 1));
}

#[test]
fn what_a_pass_skipped_and_an_acknowledgement_covers_passed_unseen() {
    let first = [
        sends((6, 9), 1_000),
        sends((11, 15), 1_005),
        answer(NAK, 10, 1_060),
        sends((10, 15), 1_070),
        answer(ACK, 15, 1_130),
    ];
    // In the second pass 23 is missing in the capture alone.
    let second = [
        sends((16, 19), 2_000),
        sends((21, 25), 2_005),
        answer(NAK, 20, 2_060),
        sends((20, 22), 2_070),
        sends((24, 25), 2_074),
        answer(ACK, 25, 2_130),
    ];
    assert_eq!(reported(&after_start(&[&first[..], &second].concat())), (2, 0, 0));
}

#[test]
fn a_nak_sooner_than_a_round_trip_after_the_last_copy_does_not_show_that_its_receiver_drops_the_rest() {
    // 8 is lost; the timer repeats 6 to 15. The NAK for 8 was under way by then, so that 10 is repeated in vain, and lost.
    let runs = [
        sends((6, 7), 1_000),
        sends((9, 15), 1_003),
        sends((6, 15), 9_000),
        answer(NAK, 8, 9_020),
        sends((8, 9), 9_030),
        sends((11, 15), 9_033),
        answer(ACK, 15, 9_060),
    ];
    assert_eq!(reported(&after_start(&runs)), (2, 0, 0));
}

#[test]
fn what_a_strict_receiver_asked_for_is_no_copy_of_a_second_tap() {
    // 8 is lost downstream; the pass from 8 on takes a path that is longer by one hop, as the timer's does.
    let runs = [
        sends((6, 15), 1_000),
        answer(NAK, 8, 1_060),
        by_hops(sends((8, 15), 1_070), 1),
        answer(ACK, 15, 1_130),
        sends((16, 20), 2_000),
        by_hops(sends((16, 20), 2_400), 1),
        answer(ACK, 20, 2_460),
    ];
    let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
    after_start(&runs).iter().flatten().for_each(|run| connections.run(run));
    connections.finish();
    let (mut rows, mut events) = (Vec::new(), Vec::new());
    connections.rows(true, &mut rows, &mut events);
    let a = &rows[0];
    assert_eq!(connections.summary.delivery.mirror_duplicate_packets, 0);
    assert_eq!(
        (a.packets, a.retransmitted_packets, a.fabric_lost_downstream_packets),
        (34, 13, 1)
    );
}

/// The runs as they pass after this many routers.
fn by_hops(mut runs: Vec<RunRecord>, hops: u8) -> Vec<RunRecord> {
    runs.iter_mut().for_each(|run| run.ttl = hops);
    runs
}

#[test]
fn a_nak_that_passes_after_its_repeat_names_what_was_lost_downstream() {
    // 8 is lost downstream, and repeated before its NAK passes another mirror.
    let late = [
        sends((6, 15), 1_000),
        sends((8, 15), 1_120),
        answer(NAK, 8, 1_150),
        answer(ACK, 15, 1_250),
    ];
    let (rows, _) = rows(&after_start(&late));
    let a = &rows[0];
    assert_eq!(
        (a.fabric_lost_downstream_packets, a.timeouts, a.nak_episodes),
        (1, 0, 1)
    );
}

/// Answers seem to pass 40 µs late. The first NAK shows it, so that those of a sender that goes back again at once precede
/// what they cause.
#[test]
fn after_one_nak_behind_its_repeat_all_answers_count_as_earlier() {
    let skewed = [
        sends((6, 7), 1_000),
        sends((9, 15), 1_003),
        sends((8, 15), 1_015),
        answer(NAK, 8, 1_053),
        answer(ACK, 15, 1_072),
        // 20 is lost, and of the pass 22; of the next one nothing.
        sends((16, 19), 2_000),
        sends((21, 25), 2_005),
        sends((20, 21), 2_017),
        sends((23, 25), 2_020),
        sends((22, 25), 2_032),
        answer(NAK, 20, 2_055),
        answer(NAK, 22, 2_070),
        answer(ACK, 25, 2_085),
    ];
    let (rows, _) = rows(&after_start(&skewed));
    let a = &rows[0];
    assert_eq!(
        (a.fabric_lost_upstream_packets, a.retransmitted_packets, a.nak_episodes),
        (3, 17, 3)
    );
}

/// The clock of the answers is 40 µs ahead until it is set: from then on, corrected answers would precede their packets.
#[test]
fn a_clock_that_was_set_is_not_corrected_any_more() {
    let mut runs = alloc::vec![
        sends((6, 7), 1_000),
        sends((9, 15), 1_003),
        sends((8, 15), 1_015),
        answer(NAK, 8, 1_053),
        answer(ACK, 15, 1_072),
    ];
    for message in 0..4 {
        let (first, at_us) = (16 + 10 * message, 2_000 + 1_000 * u64::from(message));
        runs.push(sends((first, first + 9), at_us));
        runs.push(answer(ACK, first + 9, at_us + 21));
    }
    for loss in 0..4 {
        // The first packet but one of ten is lost.
        let (first, at_us) = (56 + 10 * loss, 8_000 + 1_000 * u64::from(loss));
        runs.push(sends((first, first), at_us));
        runs.push(sends((first + 2, first + 9), at_us + 2));
        runs.push(answer(NAK, first + 1, at_us + 14));
        runs.push(sends((first + 1, first + 9), at_us + 26));
        runs.push(answer(ACK, first + 9, at_us + 47));
    }
    let (rows, _) = rows(&after_start(&runs));
    let a = &rows[0];
    assert_eq!((a.fabric_lost_upstream_packets, a.nak_episodes), (5, 5));
    assert!(
        a.rtt_min_ns.is_some_and(|ns| (10_000..=13_000).contains(&ns)),
        "{:?}",
        a.rtt_min_ns
    );
}

#[test]
fn without_naks_a_pass_that_begins_with_what_is_not_acknowledged_shows_what_was_skipped() {
    // 9 is lost; the timer repeats 8 to 15, of which 12 is lost, and then 11 to 15.
    let timer = [
        sends((6, 8), 1_000),
        sends((10, 15), 1_004),
        sends((9, 11), 9_000),
        sends((13, 15), 9_004),
        answer(ACK, 10, 9_060),
        sends((11, 15), 17_000),
        answer(ACK, 15, 17_060),
    ];
    assert_eq!(reported(&after_start(&timer)).0, 2);
}

/// `SEND_MIDDLE` packets of host 1 with this payload.
fn middles(psns: (u32, u32), payload: u16, at_us: u64) -> Vec<RunRecord> {
    let mut middle = run(0x01, 1, 7, psns.0..=psns.1, at_us);
    middle.segment_bytes = payload;
    alloc::vec![middle]
}

#[test]
fn a_middle_without_the_path_mtu_was_trimmed_upstream() {
    let trimmed = [
        middles((6, 9), 1_024, 1_000),
        middles((10, 10), 12, 1_004),
        middles((11, 15), 1_024, 1_005),
        answer(NAK, 10, 1_060),
        middles((10, 15), 1_024, 1_070),
        answer(ACK, 15, 1_130),
    ];
    assert_eq!(reported(&after_start(&trimmed)), (1, 0, 0));
}

#[test]
fn a_read_alone_that_its_timer_repeats_was_not_answered() {
    let mut runs = clean_reads();
    runs.extend([
        read((24, 31), 10_000),
        read((24, 31), 14_000),
        response((24, 31), WHOLE, 14_020),
        read((32, 39), 40_000),
        response((32, 39), WHOLE, 40_020),
    ]);
    let (rows, _) = rows(&runs);
    assert_eq!((rows[0].timeouts, rows[0].unanswered_packets), (1, 1));
}

#[test]
fn what_a_numbered_mirror_lost_is_no_fabric_loss() {
    // 8 is lost in the fabric, 11 to 13 in the mirror; the sender goes back to 8.
    let runs = after_start(&[
        sends((6, 7), 1_000),
        sends((9, 10), 1_003),
        sends((14, 15), 1_008),
        answer(NAK, 8, 1_060),
        sends((8, 15), 1_070),
        answer(ACK, 15, 1_130),
    ]);
    for (is_stated, lost) in [(true, 1), (false, 4)] {
        let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
        if is_stated {
            connections.mirror_lost(1_004_000, 1_008_000);
        }
        runs.iter().flatten().for_each(|run| connections.run(run));
        connections.finish();
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        connections.rows(true, &mut rows, &mut events);
        assert_eq!(rows[0].fabric_lost_upstream_packets, lost, "{is_stated}");
    }
}
