//! Each kind of evidence alone.

use super::table::Pdcs;
use super::{PdcTotals, PdcWindow};
use alloc::vec::Vec;
use bytemuck::Zeroable;
use rocescope_model::PdcRow;
use rocescope_record::UetRecord;
use rocescope_wire::uet::{Prologue, Sack, UetPacket};

const RETRANSMITTED: u8 = Prologue::RETRANSMISSION;
const RTT_US: u64 = 20;

/// A tap on the way from 10.0.0.1, PDC 7, to 10.0.0.2, PDC 9.
struct Tap {
    pdcs: Pdcs,
    window: PdcWindow,
    now_us: u64,
}

fn packet(kind: u8, flags: u8, psn: u32) -> UetPacket {
    UetPacket {
        kind,
        flags,
        psn,
        src_pdc: 7,
        dst_pdc: 9,
        next: 3,
        opcode: 1,
        job: 5,
        marks: UetPacket::SES | UetPacket::ENDS_MESSAGE,
        frame_bytes: 1_000,
        ..UetPacket::zeroed()
    }
}

impl Tap {
    /// After the first packet of a PDC that begins at PSN 100, and its round trip.
    fn new() -> Self {
        let mut tap = Self {
            pdcs: Pdcs::default(),
            window: PdcWindow::default(),
            now_us: 1_000_000,
        };
        tap.send(UetPacket {
            dst_pdc: 0,
            ..packet(2, Prologue::SYN, 100)
        });
        tap.wait(RTT_US);
        tap.ack(100, 100);
        tap
    }

    fn wait(&mut self, us: u64) -> &mut Self {
        self.now_us += us;
        self
    }

    fn pass(&mut self, packet: UetPacket, [src, dst]: [u8; 2]) {
        let mut record = UetRecord::zeroed();
        record.flow.src[15] = src;
        record.flow.dst[15] = dst;
        record.time_ns = self.now_us * 1_000;
        record.packet = packet;
        let start_ns = record.time_ns - record.time_ns % 1_000_000_000;
        self.pdcs.observe(&record, start_ns, &mut self.window);
        self.now_us += 1;
    }

    fn send(&mut self, packet: UetPacket) -> &mut Self {
        self.pass(packet, [1, 2]);
        self
    }

    fn requests(&mut self, psns: impl IntoIterator<Item = u32>) -> &mut Self {
        for psn in psns {
            self.send(packet(2, 0, psn));
        }
        self
    }

    fn resend(&mut self, psn: u32) -> &mut Self {
        self.send(packet(2, RETRANSMITTED, psn))
    }

    fn answer(&mut self, packet: UetPacket) -> &mut Self {
        let answer = UetPacket {
            src_pdc: 9,
            dst_pdc: 7,
            frame_bytes: 60,
            ..packet
        };
        self.pass(answer, [2, 1]);
        self
    }

    fn ack(&mut self, cumulative: u32, psn: u32) -> &mut Self {
        let second = psn.wrapping_sub(cumulative) as u16;
        self.answer(UetPacket {
            second,
            ..packet(7, 0, cumulative)
        })
    }

    /// The ACK of `psn`, with these PSNs of a bitmap that begins at the cumulative one.
    fn sack(&mut self, cumulative: u32, psn: u32, flags: u8, arrived: &[u32]) -> &mut Self {
        let bitmap = arrived.iter().fold(1u64, |bits, psn| bits | 1 << (psn - cumulative));
        let second = psn.wrapping_sub(cumulative) as u16;
        self.answer(
            UetPacket {
                second,
                ..packet(8, flags, cumulative)
            }
            .with_sack(Sack { offset: 0, bitmap }),
        )
    }

    fn nack(&mut self, code: u8, psn: u32) -> &mut Self {
        self.answer(UetPacket {
            second: u16::from(code) << 8,
            ..packet(10, 0, psn)
        })
    }

    fn row(&mut self) -> PdcRow {
        let mut rows = self.rows();
        assert_eq!(rows.len(), 1, "{rows:#?}");
        rows.remove(0)
    }

    fn rows(&mut self) -> Vec<PdcRow> {
        self.pdcs.finish(&mut self.window);
        self.window.rows(&"tap".into(), 0, 1_000_000_000)
    }
}

/// Losses upstream, downstream, unanswered, needless, unseen, unknown.
fn losses(row: &PdcRow) -> [u64; 6] {
    [
        row.fabric_lost_upstream_packets,
        row.fabric_lost_downstream_packets,
        row.unanswered_packets,
        row.needless_packets,
        row.unseen_packets,
        row.unknown_packets,
    ]
}

#[test]
fn a_row_has_both_numbers_the_job_and_what_passed() {
    let mut tap = Tap::new();
    tap.requests(101..111).wait(RTT_US).ack(110, 110);
    let row = tap.row();
    assert_eq!((row.src_pdc, row.dst_pdc, row.job), (Some(7), Some(9), Some(5)));
    assert_eq!((&*row.mode, row.packets, row.ack_packets), ("RUD", 11, 2));
    assert_eq!((row.messages, row.write_messages), (11, 11));
    assert_eq!(row.operations.as_deref(), Some("write 11"));
    assert_eq!((row.frame_bytes, row.answer_frame_bytes), (11_000, 120));
    assert_eq!(
        (row.rtt_samples, row.rtt_min_ns, row.rtt_max_ns),
        (2, Some(21_000), Some(21_000))
    );
    assert_eq!(losses(&row), [0; 6]);
}

/// UET sprays: what is overtaken, however far, is not lost.
#[test]
fn order_is_evidence_of_nothing() {
    let mut tap = Tap::new();
    let shuffled = (0..1_000).map(|at| 101 + (at * 337) % 1_000);
    tap.requests(shuffled).wait(RTT_US);
    for psn in (101..1_101).rev().step_by(7) {
        tap.sack(100, psn, 0, &[]);
    }
    tap.wait(RTT_US).ack(1_100, 1_100);
    let row = tap.row();
    assert_eq!(losses(&row), [0; 6]);
    assert_eq!(row.repeated_packets, 0);
}

#[test]
fn a_retransmission_of_what_never_passed_is_a_loss_upstream() {
    let mut tap = Tap::new();
    tap.requests([101, 103, 104])
        .wait(RTT_US)
        .sack(101, 104, 0, &[103, 104]);
    tap.wait(RTT_US).resend(102).wait(RTT_US).ack(104, 102);
    let row = tap.row();
    assert_eq!(losses(&row), [1, 0, 0, 0, 0, 0]);
    assert_eq!(
        (row.retransmitted_packets, row.repeated_packets, row.messages),
        (1, 0, 5)
    );
}

/// The sender was impatient, and the fabric slow: the first copy passes after the second.
#[test]
fn a_copy_that_its_retransmission_overtook_is_not_lost() {
    let mut tap = Tap::new();
    tap.requests([101, 103])
        .resend(102)
        .requests([102])
        .wait(RTT_US)
        .ack(103, 103);
    let row = tap.row();
    assert_eq!(losses(&row)[0], 0);
    assert_eq!(row.repeated_packets, 1);
}

#[test]
fn what_acknowledgements_call_missing_for_long_is_a_loss_downstream() {
    let mut tap = Tap::new();
    tap.requests(101..=104).wait(RTT_US).sack(101, 104, 0, &[103, 104]);
    tap.wait(3 * RTT_US)
        .requests([105])
        .wait(RTT_US)
        .sack(101, 105, 0, &[103, 104, 105]);
    tap.resend(102).wait(RTT_US).ack(105, 102);
    let row = tap.row();
    assert_eq!(losses(&row), [0, 1, 0, 0, 0, 0]);
    assert_eq!(row.repeated_packets, 1);
}

/// As soon as a hole shows, its packet is retransmitted: the ACK of that is the first of the packet.
#[test]
fn the_first_acknowledgement_is_that_of_the_retransmission() {
    let mut tap = Tap::new();
    tap.requests(101..=104).wait(2 * RTT_US).sack(101, 104, 0, &[103, 104]);
    tap.resend(102).wait(RTT_US).sack(104, 102, RETRANSMITTED, &[]);
    assert_eq!(losses(&tap.row()), [0, 1, 0, 0, 0, 0]);
}

/// The receiver acknowledges a few packets at once: the last that arrives, too late for its neighbors' ACK, has none.
#[test]
fn what_was_called_missing_too_early_may_have_arrived() {
    let mut tap = Tap::new();
    tap.requests(101..=104).wait(RTT_US - 5).sack(101, 104, 0, &[103, 104]);
    tap.wait(50 * RTT_US)
        .resend(102)
        .wait(RTT_US)
        .sack(104, 102, RETRANSMITTED, &[]);
    assert_eq!(losses(&tap.row()), [0, 0, 1, 0, 0, 0]);
}

#[test]
fn a_retransmission_without_evidence_is_unanswered() {
    let mut tap = Tap::new();
    tap.requests(101..=102).wait(10 * RTT_US).resend(101).resend(102);
    tap.wait(RTT_US).ack(102, 102);
    assert_eq!(losses(&tap.row()), [0, 0, 2, 0, 0, 0]);
}

#[test]
fn a_retransmission_of_what_arrived_is_needless() {
    let mut tap = Tap::new();
    tap.requests(101..=104).wait(RTT_US).sack(101, 104, 0, &[103, 104]);
    tap.ack(104, 102)
        .resend(102)
        .wait(RTT_US)
        .sack(104, 102, RETRANSMITTED, &[]);
    assert_eq!(losses(&tap.row()), [0, 0, 0, 1, 0, 0]);
}

/// A receiver that marks the ACKs of retransmissions states of which copy an ACK is.
#[test]
fn an_acknowledgement_may_name_the_first_copy() {
    let mut tap = Tap::new();
    tap.requests(101..=104).wait(10 * RTT_US).resend(101).resend(103);
    tap.wait(RTT_US).sack(101, 101, RETRANSMITTED, &[]).ack(104, 103);
    assert_eq!(losses(&tap.row()), [0, 0, 1, 1, 0, 0]);
}

#[test]
fn a_trimmed_packet_is_trimmed_and_not_lost_twice() {
    let mut tap = Tap::new();
    let mut cut = packet(2, 0, 101);
    cut.marks |= UetPacket::TRIMMED;
    tap.send(cut).requests([102]).wait(RTT_US).nack(1, 101);
    tap.resend(101).wait(RTT_US).ack(102, 102);
    let row = tap.row();
    assert_eq!(losses(&row), [0; 6]);
    assert_eq!((row.trimmed_packets, row.nack_trimmed, row.nack_packets), (1, 1, 1));
    assert_eq!(row.nack_reasons.as_deref(), Some("trimmed 1"));
    assert_eq!(row.messages, 3, "the end of a message passes with the whole packet");
}

#[test]
fn a_packet_that_is_trimmed_behind_the_tap_is_a_loss_downstream() {
    let mut tap = Tap::new();
    tap.requests(101..=103).wait(RTT_US).nack(2, 102);
    tap.resend(102).wait(RTT_US).ack(103, 103);
    let row = tap.row();
    assert_eq!(losses(&row), [0, 1, 0, 0, 0, 0]);
    assert_eq!(row.trimmed_packets, 0);
}

/// The first copy is cut downstream of the tap, the second upstream.
#[test]
fn a_packet_may_be_trimmed_twice() {
    let mut tap = Tap::new();
    let mut cut = packet(2, RETRANSMITTED, 101);
    cut.marks |= UetPacket::TRIMMED;
    tap.requests([101])
        .wait(RTT_US)
        .nack(1, 101)
        .send(cut)
        .wait(RTT_US)
        .nack(1, 101);
    tap.resend(101).wait(RTT_US).ack(101, 101);
    let row = tap.row();
    assert_eq!(losses(&row), [0, 1, 0, 0, 0, 0]);
    assert_eq!((row.trimmed_packets, row.nack_trimmed), (1, 2));
}

/// Refused for lack of resources: it arrived.
#[test]
fn other_nacks_are_no_losses() {
    let mut tap = Tap::new();
    tap.requests(101..=103).wait(RTT_US).nack(6, 102).nack(7, 103);
    let row = tap.row();
    assert_eq!(losses(&row), [0; 6]);
    assert_eq!(row.nack_reasons.as_deref(), Some("no_bitmap 1, no_packet_buffer 1"));
}

#[test]
fn what_arrives_without_having_passed_is_unseen() {
    let mut tap = Tap::new();
    tap.requests([101, 103]).wait(RTT_US).ack(103, 103);
    tap.requests([105]).wait(RTT_US);
    // 104 is open.
    assert_eq!(losses(&tap.row()), [0, 0, 0, 0, 1, 1]);
}

/// The tap sees half of the paths: what did not pass may have been lost on another one.
#[test]
fn a_tap_of_some_paths_proves_no_loss_upstream() {
    let mut tap = Tap::new();
    tap.requests((101..301).step_by(2)).wait(RTT_US).ack(300, 299);
    tap.wait(10_000)
        .requests([301, 303])
        .wait(RTT_US)
        .sack(301, 303, 0, &[303]);
    tap.resend(302).wait(RTT_US).ack(303, 302);
    let row = tap.row();
    assert_eq!((row.fabric_lost_upstream_packets, row.unanswered_packets), (0, 1));
    assert_eq!(row.unseen_packets, 100);
}

/// Of packets that were on the way when the capture began nothing is known.
#[test]
fn the_beginning_of_a_capture_proves_nothing() {
    let mut tap = Tap::new();
    tap.pdcs = Pdcs::default();
    tap.window = PdcWindow::default();
    tap.requests([501, 503]).resend(500).resend(502).wait(2_000);
    tap.requests([504, 506])
        .wait(RTT_US)
        .resend(505)
        .wait(RTT_US)
        .ack(506, 506);
    assert_eq!(losses(&tap.row()), [1, 0, 0, 0, 0, 0]);
}

#[test]
fn a_blind_capture_proves_nothing() {
    let mut tap = Tap::new();
    tap.requests([101, 103]);
    tap.pdcs.lose();
    tap.wait(RTT_US).resend(102).requests([104]).wait(RTT_US).ack(104, 104);
    assert_eq!(losses(&tap.row()), [0; 6]);
}

#[test]
fn the_same_numbers_are_used_again() {
    let mut tap = Tap::new();
    tap.requests(101..=103).wait(RTT_US).ack(103, 103);
    tap.wait(1_000).send(UetPacket {
        dst_pdc: 0x1002,
        ..packet(2, Prologue::SYN, 70_002)
    });
    let rows = tap.rows();
    let packets: Vec<u64> = rows.iter().map(|row| row.packets).collect();
    assert_eq!(packets, [4, 1]);
    // PSNs 70,000 and 70,001 may still come.
    assert_eq!(losses(&rows[1]), [0, 0, 0, 0, 0, 2]);
}

/// A READ is answered by requests of the other side.
#[test]
fn both_directions_of_a_pdc_have_rows() {
    let mut tap = Tap::new();
    let back = UetPacket {
        src_pdc: 9,
        dst_pdc: 7,
        ..packet(2, 0, 9_000)
    };
    tap.pass(back, [2, 1]);
    tap.wait(RTT_US).pass(packet(7, Prologue::ECN_ECHO, 9_000), [1, 2]);
    let rows = tap.rows();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let is_back = row.src_pdc == Some(9);
        assert_eq!((row.packets, row.ack_packets), (1, 1), "{row:?}");
        assert_eq!(
            (row.ecn_echo_packets, row.dst_pdc),
            (u64::from(is_back), Some(if is_back { 7 } else { 9 }))
        );
    }
}

#[test]
fn rudi_and_uud_have_no_pdc() {
    let mut tap = Tap::new();
    tap.window = PdcWindow::default();
    tap.send(packet(4, 0, 77)).wait(RTT_US).pass(packet(5, 0, 77), [2, 1]);
    tap.send(packet(6, 0, 0));
    let rows = tap.rows();
    let modes: Vec<(&str, u64, u64)> = rows
        .iter()
        .map(|row| (&*row.mode, row.packets, row.rtt_samples))
        .collect();
    assert_eq!(modes, [("RUDI", 1, 1), ("UUD", 1, 0)]);
    assert!(rows.iter().all(|row| row.src_pdc.is_none() && row.dst_pdc.is_none()));
}

#[test]
fn pdcs_beyond_the_limit_are_counted() {
    let mut tap = Tap::new();
    for number in 0..100 {
        tap.send(UetPacket {
            src_pdc: 1_000 + number,
            ..packet(2, Prologue::SYN, 1)
        });
    }
    assert_eq!(tap.pdcs.untracked, 37);
    // Silent ones make room.
    tap.wait(30_000_000).requests([5]);
    tap.send(UetPacket {
        src_pdc: 2_000,
        ..packet(2, Prologue::SYN, 1)
    });
    assert_eq!(tap.pdcs.untracked, 37);
    let mut totals = PdcTotals::default();
    tap.window.sum(&mut totals);
    assert_eq!(totals.packets + tap.pdcs.untracked, 2 + 100 + 2);
}
