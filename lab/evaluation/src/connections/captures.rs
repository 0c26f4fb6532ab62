//! Captures of a few packets each, made by hand: what was lost is known to the packet.
//!
//! They are not part of the project. Where they lie beside it, in `../shared/captures-truth`, the test runs over them.

use super::follow::{Analysis, Connection};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_record::Config;
use rocescope_wire::FrameLengths;

/// What was lost, by PSN: upstream of the tap, and downstream of it or unanswered.
struct Lost {
    capture: &'static str,
    upstream: &'static [u32],
    downstream: &'static [u32],
}

const fn lost(capture: &'static str, upstream: &'static [u32], downstream: &'static [u32]) -> Lost {
    Lost {
        capture,
        upstream,
        downstream,
    }
}

/// Of `selective_new_first` three more were lost, which its end cuts off.
const CAPTURES: &[Lost] = &[
    lost("erspan_says_so", &[3], &[]),
    lost("late_after_its_repeat", &[], &[]),
    lost("nak_after_its_repeat", &[2, 14, 26], &[]),
    lost("nak_not_seen", &[5], &[]),
    lost("one_way_skip", &[28, 33], &[]),
    lost("one_way_two_then_more", &[6], &[]),
    lost("read_alone_repeated", &[], &[16, 16]),
    lost("reads_again_before_a_response", &[169, 177], &[0]),
    lost(
        "selective_new_first",
        &[10_780_534, 10_780_535, 10_780_536, 10_780_588],
        &[],
    ),
    lost("skipped_acked", &[2, 10], &[]),
    lost("slow_answers_in_a_row", &[], &[]),
    lost("snaplen_64", &[2, 14], &[]),
    lost("timer_skip", &[6, 9], &[]),
    lost("trimmed_middle", &[5], &[]),
    lost("two_hops_1500ns", &[], &[]),
];

/// Bytes of the headers of a capture file, and of each frame in it.
const FILE_HEADER: usize = 24;
const FRAME_HEADER: usize = 16;

/// Analyzes a capture file with times in nanoseconds, as a little-endian machine writes it.
fn analyzed(file: &[u8]) -> (Vec<Connection>, Vec<EventRow>) {
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(number(0), 0xa1b2_3c4d);
    let mut analysis = Analysis::new(Config::exact, rocescope_pipeline::Settings::default().window_ns);
    let mut at = FILE_HEADER;
    while at + FRAME_HEADER <= file.len() {
        let at_ns = u64::from(number(at)) * 1_000_000_000 + u64::from(number(at + 4));
        let lengths = FrameLengths {
            captured: number(at + 8),
            original: number(at + 12),
        };
        at += FRAME_HEADER;
        let until = at + lengths.captured as usize;
        analysis.frame(at_ns, &file[at..until], lengths);
        at = until;
    }
    analysis.finish()
}

#[test]
fn each_packet_that_was_lost_is_reported_once_and_no_other() {
    let Some(folder) = rocescope_testkit::shared("captures-truth") else {
        return;
    };
    for Lost {
        capture,
        upstream,
        downstream,
    } in CAPTURES
    {
        let file = std::fs::read(folder.join(capture).with_extension("pcap")).unwrap();
        let mut found = [Vec::new(), Vec::new()];
        let (connections, losses) = analyzed(&file);
        for event in &losses {
            let is_upstream = event.detail.starts_with("lost upstream");
            let first = event.psn.unwrap();
            let psn = |packet: u64| if is_upstream { first + packet as u32 } else { first };
            found[usize::from(!is_upstream)].extend((0..event.count).map(psn));
        }
        found.iter_mut().for_each(|psns| psns.sort_unstable());
        assert_eq!(found, [upstream.to_vec(), downstream.to_vec()], "{capture}");
        let rows = || connections.iter().flat_map(|one| [&one.a_to_b, &one.b_to_a]).flatten();
        assert_eq!(
            rows().map(|row: &ConnectionRow| row.duplicate_packets).sum::<u64>(),
            0,
            "{capture}"
        );
        let late = rows().map(|row| row.out_of_order_packets).sum::<u64>();
        assert_eq!(
            late,
            if *capture == "late_after_its_repeat" { 6 } else { 0 },
            "{capture}"
        );
    }
}
