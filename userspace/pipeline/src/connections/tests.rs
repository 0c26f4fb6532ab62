//! Hand-made sequences of runs whose results can be counted by hand.

use super::{ConnectionSettings, Connections, DIRECTION_BYTES};
use crate::Settings;
use alloc::string::ToString;
use alloc::vec::Vec;
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_record::RunRecord;
use rocescope_wire::{FlowKey, TrafficClass};

fn run(opcode: u8, src: u8, qpn: u32, psns: core::ops::RangeInclusive<u32>, at_us: u64) -> RunRecord {
    let (first, last) = (*psns.start(), *psns.end());
    let mut run: RunRecord = bytemuck::Zeroable::zeroed();
    run.flow = FlowKey {
        src: [src; 16],
        dst: [3 - src; 16],
        vni: u32::MAX,
        dst_qpn: qpn,
        udp_src_port: 50_000,
        vlan: 0xffff,
        inner_vlan: 0xffff,
        reserved: 0,
    };
    run.first_ns = at_us * 1_000;
    run.opcode = opcode;
    run.stream = rocescope_wire::Opcode(opcode).stream() as u8;
    (run.first_psn, run.last_psn) = (first, last);
    run.packets = (last.wrapping_sub(first) & 0xff_ffff) as u16 + 1;
    run.flags = RunRecord::EXACT_END;
    run.frame_bytes = 100 * u32::from(run.packets);
    run
}

/// `SEND_ONLY` packets from host 1 to queue pair 7, 10 bytes each.
fn sends(psns: (u32, u32), at_us: u64) -> Vec<RunRecord> {
    let count = psns.1.wrapping_sub(psns.0) & 0xff_ffff;
    let psn = |at: u32| (psns.0 + at) & 0xff_ffff;
    (0..=count)
        .map(|at| {
            let mut send = run(0x04, 1, 7, psn(at)..=psn(at), at_us + u64::from(at));
            send.only = 1;
            send.only_payload_bytes = 10;
            send
        })
        .collect()
}

/// An acknowledgement of host 2 to queue pair 9.
fn answer(syndrome: u8, psn: u32, at_us: u64) -> Vec<RunRecord> {
    let mut ack = run(0x11, 2, 9, psn..=psn, at_us);
    ack.only = 1;
    ack.syndrome = syndrome;
    alloc::vec![ack]
}

const ACK: u8 = 0x1f;
const NAK: u8 = 0x60;

/// The rows of `a_to_b` and `b_to_a`.
fn rows(runs: &[Vec<RunRecord>]) -> (Vec<ConnectionRow>, Vec<EventRow>) {
    let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
    // The order of arrival must not matter.
    runs.iter().flatten().rev().for_each(|run| connections.run(run));
    connections.finish();
    let (mut rows, mut events) = (Vec::new(), Vec::new());
    connections.rows(true, &mut rows, &mut events);
    (rows, events)
}

#[test]
fn a_clean_exchange_pairs_and_gives_its_round_trips() {
    let (rows, _) = rows(&[
        sends((0xff_fffe, 1), 100),
        answer(ACK, 1, 150),
        sends((2, 2), 200),
        answer(ACK, 2, 230),
    ]);
    let [a, b] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((&*a.role, &*b.role, &*a.paired_by), ("a_to_b", "b_to_a", "ack"));
    assert_eq!((a.src_qpn, a.dst_qpn, a.start_psn), (Some(9), Some(7), Some(0xff_fffe)));
    assert_eq!(
        (a.packets, a.messages, a.unique_payload_bytes, a.psn_wraps),
        (5, 5, 50, 1)
    );
    assert_eq!(
        (a.rtt_samples, a.rtt_min_ns, a.rtt_max_ns),
        (2, Some(30_000), Some(47_000))
    );
    assert_eq!((b.ack_packets, b.start_psn), (2, None));
}

#[test]
fn go_back_n_after_a_loss_upstream_of_the_tap() {
    // 3 is lost; the responder sends a NAK; 3 to 5 are retransmitted.
    let (rows, events) = rows(&[
        sends((0, 2), 100),
        sends((4, 5), 104),
        answer(ACK, 2, 140),
        answer(NAK, 3, 150),
        sends((3, 5), 200),
        answer(ACK, 5, 250),
    ]);
    let a = &rows[0];
    assert_eq!((a.retransmitted_packets, a.repeated_packets), (3, 2));
    assert_eq!(
        (
            a.fabric_lost_upstream_packets,
            a.fabric_lost_downstream_packets,
            a.unfilled_gaps
        ),
        (1, 0, 0)
    );
    assert_eq!((a.out_of_order_packets, a.duplicate_packets), (0, 0));
    assert_eq!((a.unique_payload_bytes, a.unique_messages, a.messages), (60, 6, 8));
    assert_eq!((a.nak_episodes, a.timeouts, a.reaction_p50_ns), (1, 0, Some(50_000)));
    let kinds: Vec<&str> = events.iter().map(|event| &*event.kind).collect();
    assert_eq!(kinds, ["loss", "retransmission"]);
}

#[test]
fn a_loss_downstream_of_the_tap_gets_a_nak_though_it_passed() {
    let (rows, _) = rows(&[
        sends((0, 5), 100),
        answer(ACK, 2, 150),
        answer(NAK, 3, 160),
        sends((3, 5), 200),
        answer(ACK, 5, 260),
    ]);
    let a = &rows[0];
    assert_eq!(
        (a.fabric_lost_downstream_packets, a.fabric_lost_upstream_packets),
        (1, 0)
    );
    assert_eq!((a.retransmitted_packets, a.repeated_packets), (3, 3));
}

#[test]
fn a_reordered_packet_is_not_a_loss() {
    let (rows, _) = rows(&[
        sends((0, 2), 100),
        sends((4, 4), 110),
        sends((3, 3), 115),
        answer(ACK, 4, 150),
    ]);
    let a = &rows[0];
    assert_eq!(
        (a.out_of_order_packets, a.retransmitted_packets, a.unfilled_gaps),
        (1, 0, 0)
    );
}

#[test]
fn a_duplicate_is_not_a_retransmission() {
    let (rows, _) = rows(&[
        sends((0, 2), 100),
        sends((2, 2), 105),
        sends((3, 3), 110),
        answer(ACK, 3, 150),
    ]);
    let a = &rows[0];
    assert_eq!(
        (a.duplicate_packets, a.retransmitted_packets, a.repeated_packets),
        (1, 0, 1)
    );
    assert_eq!(a.unique_payload_bytes, 40);
}

/// Karn's rule: an answer to a request of which a copy passed may follow either, no matter who made the copy.
#[test]
fn a_copied_request_gives_no_round_trip() {
    let mut copied = run(0x04, 1, 7, 1..=2, 201);
    (copied.only, copied.only_payload_bytes, copied.last_offset_ns) = (2, 20, 1_000);
    for (copies, packets) in [
        // The network makes a copy.
        (alloc::vec![sends((1, 1), 200), sends((1, 1), 210)], 3),
        // The mirror makes one at once, and the run continues after it.
        (alloc::vec![sends((1, 1), 200), alloc::vec![copied]], 4),
    ] {
        let clean = [sends((0, 0), 100), answer(ACK, 0, 150)];
        let (rows, _) = rows(&[&clean[..], &copies, &[answer(ACK, 1, 250)]].concat());
        let a = &rows[0];
        assert_eq!((a.rtt_samples, a.rtt_max_ns, a.packets), (1, Some(50_000), packets));
        assert_eq!((a.duplicate_packets, a.retransmitted_packets, a.timeouts), (1, 0, 0));
    }
}

#[test]
fn an_acknowledged_gap_is_mirror_loss() {
    let (rows, _) = rows(&[sends((0, 2), 100), sends((5, 6), 110), answer(ACK, 6, 150)]);
    let a = &rows[0];
    assert_eq!(
        (a.unfilled_gaps, a.unfilled_gap_packets, a.unfilled_gaps_acknowledged),
        (1, 2, 1)
    );
}

#[test]
fn a_gap_during_capture_loss_is_unknown() {
    let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
    connections.capture_lost(103_000, 109_000);
    for runs in [sends((0, 2), 100), sends((5, 6), 110), answer(ACK, 6, 150)] {
        runs.iter().for_each(|run| connections.run(run));
    }
    connections.finish();
    let (mut rows, mut events) = (Vec::new(), Vec::new());
    connections.rows(true, &mut rows, &mut events);
    assert_eq!((rows[0].unfilled_gaps, rows[0].unfilled_gaps_unknown), (1, 1));
}

#[test]
fn directions_are_bounded_and_packets_of_others_are_counted() {
    let settings = ConnectionSettings {
        max_bytes: 64 * DIRECTION_BYTES,
        ..ConnectionSettings::default()
    };
    let mut connections = Connections::new(settings, &Settings::default());
    for qp in 0..1_000u32 {
        connections.run(&run(0x04, 1, 100 + qp, 0..=0, u64::from(qp)));
    }
    connections.finish();
    assert!(connections.directions() <= 64);
    assert_eq!(
        connections.directions() as u64 + connections.summary().delivery.untracked_packets,
        1_000
    );
    assert_eq!(connections.summary().evicted, 0);
}

#[test]
fn a_direction_keeps_to_its_stated_size() {
    // 200,000 directions of 100,000 connections: 346 MB of state at most, histograms not counted.
    const { assert!(DIRECTION_BYTES <= 1_728) };
}

/// Data of DSCP 26 in ECT(0), some of it DSCP 0 without ECN capability; ACKs of DSCP 26, CNPs of 48. Both paths agree.
#[test]
fn every_direction_states_its_traffic_classes() {
    let in_class = |mut runs: Vec<RunRecord>, byte: u8| {
        let class = TrafficClass::of(byte).0;
        runs.iter_mut().for_each(|run| run.traffic_class = class);
        runs
    };
    let mut runs = Vec::new();
    for at in 0..40u32 {
        let byte = if at % 10 == 7 { 0 } else { 26 << 2 | 2 };
        let at_us = 1_000 + 100 * u64::from(at);
        runs.push(in_class(sends((at, at), at_us), byte));
        runs.push(in_class(answer(ACK, at, at_us + 20), 26 << 2));
    }
    runs.push(in_class(alloc::vec![run(0x81, 2, 9, 0..=0, 6_000)], 48 << 2));
    for fast_path in [true, false] {
        let settings = ConnectionSettings {
            fast_path,
            ..ConnectionSettings::default()
        };
        let mut connections = Connections::new(settings, &Settings::default());
        runs.iter().flatten().for_each(|run| connections.run(run));
        connections.finish();
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        connections.rows(true, &mut rows, &mut events);
        let [a, b] = &rows[..] else { panic!("{rows:?}") };
        let dscps = |row: &ConnectionRow| {
            [&row.data_dscp, &row.ack_dscp, &row.cnp_dscp].map(|text| text.as_ref().map(ToString::to_string))
        };
        let text = |text: &str| Some(text.to_string());
        assert_eq!(dscps(a), [text("0,26"), None, None]);
        assert_eq!(dscps(b), [None, text("26"), text("48")]);
        assert_eq!(
            (a.not_ecn_capable_packets, b.not_ecn_capable_packets),
            (Some(4), Some(0))
        );
    }
}
/// Packets whose paths take turns: each second one is late, so that `PSNS` gaps are open at once.
fn spray(psns: (u32, u32), at_us: u64) -> Vec<RunRecord> {
    let (even, odd): (Vec<RunRecord>, Vec<RunRecord>) =
        sends(psns, at_us).into_iter().partition(|send| send.first_psn % 2 == 0);
    let late = odd.into_iter().map(|mut send| {
        send.first_ns += 100_000;
        send
    });
    even.into_iter().chain(late).collect()
}

#[test]
fn a_sprayed_flow_loses_nothing_however_many_gaps_are_open() {
    let (rows, events) = rows(&[sends((0, 1), 0), spray((2, 99), 10), answer(ACK, 99, 300)]);
    let a = &rows[0];
    assert_eq!((a.out_of_order_packets, a.retransmitted_packets), (48, 0));
    assert_eq!(
        (a.fabric_lost_upstream_packets, a.unfilled_gaps, a.unique_messages),
        (0, 0, 100)
    );
    assert!(events.is_empty(), "{events:?}");
}

/// PSN 150 is lost; the sender repeats it alone. What is late at that time is not lost.
#[test]
fn a_sprayed_flow_loses_what_a_nak_requests_and_what_is_older_than_others_are_late() {
    let mut before: Vec<RunRecord> = [spray((2, 99), 10), spray((100, 199), 210)].concat();
    before.retain(|send| send.first_psn != 150);
    let (rows, events) = rows(&[
        sends((0, 1), 0),
        before,
        answer(ACK, 149, 480),
        answer(NAK, 150, 600),
        sends((150, 150), 620),
        spray((200, 299), 630),
        answer(ACK, 299, 900),
    ]);
    let a = &rows[0];
    assert_eq!(
        (
            a.fabric_lost_upstream_packets,
            a.fabric_lost_downstream_packets,
            a.retransmitted_packets
        ),
        (1, 0, 1)
    );
    let lost: Vec<Option<u32>> = events
        .iter()
        .filter(|event| &*event.kind == "loss")
        .map(|event| event.psn)
        .collect();
    assert_eq!(lost, [Some(150)]);
}

/// A queue pair number used again: its PSNs begin far below, after a message whose only acknowledgement is the last.
#[test]
fn a_jump_far_back_after_silence_is_another_connection() {
    let (rows, _) = rows(&[
        sends((5_000_000, 5_000_009), 100),
        answer(ACK, 5_000_009, 150),
        sends((200, 209), 500_000),
        answer(ACK, 209, 500_050),
    ]);
    let requests = |row: &&ConnectionRow| row.ack_packets == 0;
    let lives: Vec<(u64, u64)> = rows
        .iter()
        .filter(requests)
        .map(|row| (row.packets, row.retransmitted_packets))
        .collect();
    assert_eq!(lives, [(10, 0), (10, 0)]);
}

/// Its response passed and was lost after it: the same READ again is no queue pair number used again.
#[test]
fn a_read_that_a_timer_repeats_is_the_same_connection() {
    let read = |psn: u32, at_us| {
        let mut read = run(0x0c, 1, 7, psn..=psn, at_us);
        (read.only, read.msn_or_dma_length) = (1, 64);
        alloc::vec![read]
    };
    let response = |psn: u32, at_us| {
        let mut response = run(0x10, 2, 9, psn..=psn, at_us);
        (response.only, response.only_payload_bytes, response.syndrome) = (1, 64, ACK);
        alloc::vec![response]
    };
    let (rows, _) = rows(&[
        read(100, 100),
        response(100, 110),
        read(101, 120),
        response(101, 130),
        read(102, 140),
        response(102, 150),
        read(101, 20_000),
        response(101, 20_010),
        read(102, 20_020),
        response(102, 20_030),
    ]);
    let reads: Vec<u64> = rows
        .iter()
        .map(|row| row.read_packets)
        .filter(|reads| *reads > 0)
        .collect();
    assert_eq!(reads, [5]);
}

/// `RDMA WRITE ONLY` packets of MRC from host 1 to queue pair 7, 10 bytes each; `marked` as retransmissions.
fn mrc_writes(psns: (u32, u32), at_us: u64, marked: bool) -> Vec<RunRecord> {
    let mut writes = sends(psns, at_us);
    for write in &mut writes {
        write.opcode = 0xca;
        write.msn_or_dma_length = 10;
        if marked {
            write.flags |= RunRecord::MARKED_RETRANSMISSION;
        }
    }
    writes
}

/// A SACK of host 2, of everything up to this PSN.
fn sack(psn: u32, at_us: u64) -> Vec<RunRecord> {
    let mut sack = answer(ACK, psn, at_us);
    sack[0].opcode = 0xdc;
    sack
}

/// A NACK of host 2.
fn nack(psn: u32, reason: u32, at_us: u64) -> Vec<RunRecord> {
    let mut nack = answer(0xff, psn, at_us);
    (nack[0].opcode, nack[0].msn_or_dma_length) = (0xdd, reason);
    nack
}

/// Of MRC the mark decides: without it a late packet is late, however late; with it a packet is a retransmission, even
/// if nothing else states so.
#[test]
fn mrc_marks_its_retransmissions() {
    // 3 and 4 are late by a millisecond; 6 is trimmed downstream of the tap, 8 is lost upstream; 10 is a tail loss.
    let trimmed = {
        let mut trimmed = mrc_writes((5, 5), 130, false);
        trimmed[0].stream = rocescope_wire::Stream::Trimmed as u8;
        trimmed[0].only_payload_bytes = 0;
        trimmed
    };
    let (rows, events) = rows(&[
        mrc_writes((0, 2), 100, false),
        mrc_writes((6, 7), 110, false),
        trimmed,
        nack(5, 2, 140),
        nack(6, 1, 141),
        nack(6, 7, 142),
        mrc_writes((9, 9), 150, false),
        mrc_writes((3, 4), 1_200, false),
        mrc_writes((5, 6), 1_300, true),
        mrc_writes((8, 8), 1_400, true),
        sack(9, 1_500),
        mrc_writes((10, 10), 1_600, true),
        sack(10, 1_700),
    ]);
    let [a, b] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((&*a.service, &*a.paired_by, a.src_qpn), ("MRC", "ack", Some(9)));
    assert_eq!((a.retransmitted_packets, a.marked_retransmitted_packets), (4, Some(4)));
    assert_eq!(
        (a.out_of_order_packets, a.duplicate_packets, a.repeated_packets),
        (2, 0, 1)
    );
    assert_eq!(
        (
            a.fabric_lost_upstream_packets,
            a.fabric_lost_downstream_packets,
            a.unfilled_gaps
        ),
        (2, 0, 0)
    );
    assert_eq!(
        (a.trimmed_packets, a.nack_trimmed, a.nack_other),
        (Some(1), Some(0), Some(0))
    );
    assert_eq!((b.nack_trimmed, b.nack_other, b.ack_packets), (Some(2), Some(1), 2));
    assert_eq!((a.unique_payload_bytes, a.unique_messages, a.packets), (110, 11, 13));
    assert_eq!(
        (b.nak_psn_sequence, b.nak_fatal, a.timeouts, a.nak_episodes),
        (0, 0, 0, 0)
    );
    let losses: u64 = events
        .iter()
        .filter(|event| &*event.kind == "loss")
        .map(|event| event.count)
        .sum();
    assert_eq!(losses, a.fabric_lost_packets());
}

/// Zero is a count too, of the direction that only answers as well; services without a mark have none.
#[test]
fn only_mrc_has_counts_of_marks() {
    let (mrc, _) = rows(&[mrc_writes((0, 2), 100, false), sack(2, 150)]);
    for row in &mrc {
        let counts = (
            row.marked_retransmitted_packets,
            row.trimmed_packets,
            row.nack_trimmed,
            row.nack_other,
        );
        assert_eq!(counts, (Some(0), Some(0), Some(0), Some(0)), "{row:?}");
    }
    let (rows, _) = rows(&[sends((0, 2), 100), answer(ACK, 2, 150)]);
    assert_eq!(
        (rows[0].marked_retransmitted_packets, rows[0].trimmed_packets),
        (None, None)
    );
    assert_eq!((rows[1].nack_trimmed, rows[1].nack_other), (None, None));
}

/// A READ of host 1 to queue pair 7 of this many packets of 1,024 bytes.
fn read(psns: (u32, u32), at_us: u64) -> Vec<RunRecord> {
    let mut read = run(0x0c, 1, 7, psns.0..=psns.0, at_us);
    (read.only, read.msn_or_dma_length) = (1, (psns.1 + 1 - psns.0) * 1_024);
    alloc::vec![read]
}

/// A part of a response of host 2 to queue pair 9, from FIRST or MIDDLE to MIDDLE or LAST.
fn response(psns: (u32, u32), (is_first, is_last): (bool, bool), at_us: u64) -> Vec<RunRecord> {
    let is_single = psns.0 == psns.1;
    let opcode = match (is_first, is_last) {
        (true, true) if is_single => 0x10,
        (true, _) => 0x0d,
        (false, true) if is_single => 0x0f,
        (false, _) => 0x0e,
    };
    let mut response = run(opcode, 2, 9, psns.0..=psns.1, at_us);
    (response.segment_bytes, response.last_offset_ns) = (1_024, (psns.1 - psns.0) * 100);
    match (is_first, is_last) {
        (true, true) if is_single => (response.only, response.only_payload_bytes) = (1, 1_024),
        (is_first, is_last) => {
            (response.first, response.last) = (u16::from(is_first), u16::from(is_last));
            response.last_payload_bytes = 1_024 * u32::from(is_last);
        }
    }
    alloc::vec![response]
}

const WHOLE: (bool, bool) = (true, true);

/// Three READs of eight packets each, answered.
fn clean_reads() -> Vec<Vec<RunRecord>> {
    let one = |number: u32| {
        let (psns, at_us) = ((8 * number, 8 * number + 7), 100 * u64::from(number) + 100);
        [read(psns, at_us), response(psns, WHOLE, at_us + 20)]
    };
    [one(0), one(1), one(2)].concat()
}

fn response_losses(more: &[Vec<RunRecord>]) -> (u64, u64) {
    let (rows, _) = rows(&[&clean_reads()[..], more].concat());
    let back = rows.iter().find(|row| row.dst_qpn == Some(9)).unwrap();
    (back.fabric_lost_upstream_packets, back.fabric_lost_downstream_packets)
}

#[test]
fn a_whole_read_asked_again_for_a_gap_lost_only_the_gap() {
    let lost = response_losses(&[
        read((24, 31), 1_000),
        response((24, 26), (true, false), 1_020),
        response((28, 31), (false, true), 1_021),
        read((24, 31), 1_030),
        response((24, 31), WHOLE, 1_050),
    ]);
    assert_eq!(lost, (1, 0));
}

#[test]
fn a_response_asked_for_twice_before_its_answer_was_lost_once() {
    let lost = response_losses(&[
        read((24, 31), 1_000),
        response((24, 31), WHOLE, 1_020),
        read((27, 31), 1_030),
        read((27, 31), 1_036),
        response((27, 31), WHOLE, 1_050),
        response((27, 31), WHOLE, 1_056),
    ]);
    assert_eq!(lost, (0, 1));
}

#[test]
fn a_response_that_the_tap_saw_late_explains_that_it_is_asked_for_again() {
    let lost = response_losses(&[
        read((24, 31), 1_000),
        response((24, 26), (true, false), 1_020),
        response((28, 28), (false, false), 1_021),
        response((27, 27), (false, false), 1_022),
        response((29, 31), (false, true), 1_023),
        read((27, 31), 1_035),
        response((27, 31), WHOLE, 1_055),
    ]);
    assert_eq!(lost, (0, 0));
}

#[test]
fn copies_that_a_later_one_of_their_round_passes_by_were_lost() {
    let lost = response_losses(&[
        read((24, 31), 1_000),
        response((24, 26), (true, false), 1_020),
        response((28, 31), (false, true), 1_021),
        read((27, 31), 1_030),
        // 27 was lost once, and 29 of the repeat.
        response((27, 28), (true, false), 1_050),
        response((30, 31), (false, true), 1_051),
        read((29, 31), 1_060),
        response((29, 31), WHOLE, 1_080),
    ]);
    assert_eq!(lost, (2, 0));
}

#[test]
fn responses_alone_show_what_their_repeat_proves() {
    let (rows, _) = rows(&[
        response((0, 7), WHOLE, 100),
        response((8, 10), (true, false), 200),
        response((12, 15), (false, true), 201),
        response((11, 15), WHOLE, 300),
    ]);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(row.other_direction_seen, Some(false));
    assert_eq!(
        (row.fabric_lost_upstream_packets, row.fabric_lost_downstream_packets),
        (1, 0)
    );
    assert_eq!(
        (
            row.retransmitted_packets,
            row.out_of_order_packets,
            row.unfilled_response_gaps
        ),
        (5, 0, 0)
    );
}

/// The timer expires before a slow answer, and both copies of the request are answered.
#[test]
fn a_slow_answer_of_which_both_copies_were_answered_is_no_loss() {
    let start = [sends((0, 0), 100), answer(ACK, 0, 150)];
    let slow = [sends((1, 1), 1_000), sends((1, 1), 3_000), answer(ACK, 1, 3_500)];
    for (second, unanswered) in [(alloc::vec![answer(ACK, 1, 5_500)], 0), (Vec::new(), 1)] {
        let (rows, _) = rows(
            &[
                &start[..],
                &slow,
                &second,
                &[sends((2, 2), 9_000), answer(ACK, 2, 9_050)],
            ]
            .concat(),
        );
        assert_eq!((rows[0].timeouts, rows[0].unanswered_packets), (1, unanswered));
    }
}

/// One answer that took as long as the sender's timer, among many: it hid every loss after it.
#[test]
fn one_slow_answer_hides_no_later_loss() {
    let mut runs = Vec::new();
    for psn in 0..200 {
        let at = 10_000 * u64::from(psn);
        runs.extend([
            sends((psn, psn), at),
            answer(ACK, psn, at + if psn == 20 { 3_000 } else { 50 }),
        ]);
    }
    let lost = 2_000_000;
    runs.extend([
        sends((200, 200), lost),
        sends((200, 200), lost + 4_000),
        answer(ACK, 200, lost + 4_050),
    ]);
    runs.extend([sends((201, 201), lost + 20_000), answer(ACK, 201, lost + 20_050)]);
    let (rows, _) = rows(&runs);
    assert_eq!((rows[0].timeouts, rows[0].unanswered_packets), (1, 1));
}

mod lives;
mod order;
mod unseen;

/// What a capture that fell behind left out of connections is no fabric loss.
#[test]
fn packets_left_out_are_counted_and_prove_no_loss() {
    let before = [sends((0, 9), 100), answer(ACK, 9, 150)];
    let behind = [sends((10, 19), 200), answer(ACK, 19, 250), sends((20, 24), 300)];
    let after = [sends((25, 30), 400), answer(ACK, 30, 450)];
    let play = |yields: bool| {
        let mut connections = Connections::new(ConnectionSettings::default(), &Settings::default());
        let mut pass = |runs: &[Vec<RunRecord>], yields| {
            connections.set_yielding(yields);
            runs.iter().flatten().for_each(|run| connections.run(run));
        };
        pass(&before, false);
        pass(&behind, yields);
        pass(&after, false);
        connections.finish();
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        connections.rows(true, &mut rows, &mut events);
        (rows, events, connections.summary().delivery)
    };
    let (all, _, whole) = play(false);
    let (rows, events, delivery) = play(true);
    assert_eq!((whole.yielded_packets, delivery.yielded_packets), (0, 16));
    assert_eq!((all[0].packets, rows[0].packets), (31, 16));
    assert_eq!((delivery.fabric_lost(), delivery.retransmitted_packets), (0, 0));
    assert_eq!(delivery.mirror_lost_packets, 0);
    assert!(!events.iter().any(|event| &*event.kind == "loss"), "{events:?}");
}
