//! A run of acknowledgements is two events: what its first one acknowledged, and what its last one did.
//!
//! Everything between the two may have happened between them. If the last one acted at the time of the first, a gap would
//! be acknowledged before its late packet passes.

use rocescope_record::RunRecord;
use rocescope_wire::Stream;

/// The first packet of a run of several acknowledgements, and the others; `None` for any other run.
pub(crate) fn split(run: &RunRecord) -> Option<[RunRecord; 2]> {
    if run.stream() != Stream::Acknowledge || run.packets < 2 {
        return None;
    }
    // All have one size: headers, and an AETH.
    let frame_bytes = run.frame_bytes / u32::from(run.packets);
    let congestion_experienced = run.congestion_experienced.min(1);
    let first = RunRecord {
        packets: 1,
        only: 1,
        last_psn: run.first_psn,
        frame_bytes,
        only_frame_bytes: frame_bytes,
        last_offset_ns: 0,
        message_offset_ns: 0,
        congestion_experienced,
        ..*run
    };
    let others = RunRecord {
        packets: run.packets - 1,
        only: run.only.saturating_sub(1),
        first_ns: run.last_ns(),
        first_psn: run.last_psn,
        frame_bytes: run.frame_bytes - frame_bytes,
        only_frame_bytes: run.only_frame_bytes.saturating_sub(frame_bytes),
        last_offset_ns: 0,
        message_offset_ns: 0,
        congestion_experienced: run.congestion_experienced - congestion_experienced,
        ..*run
    };
    Some([first, others])
}

#[cfg(test)]
mod tests {
    use super::split;
    use bytemuck::Zeroable;
    use rocescope_record::RunRecord;
    use rocescope_wire::Stream;

    #[test]
    fn both_ends_have_their_times_and_all_sums_stay() {
        let run = RunRecord {
            stream: Stream::Acknowledge as u8,
            opcode: 0x11,
            first_ns: 1_000,
            last_offset_ns: 500,
            first_psn: 7,
            last_psn: 90,
            ..RunRecord::zeroed()
        };
        assert!(split(&RunRecord { packets: 1, ..run }).is_none());
        let run = RunRecord {
            packets: 5,
            only: 5,
            frame_bytes: 310,
            only_frame_bytes: 310,
            congestion_experienced: 2,
            ..run
        };
        let [first, others] = split(&run).unwrap();
        assert_eq!(
            (first.first_ns, first.last_psn, others.first_ns, others.last_psn),
            (1_000, 7, 1_500, 90)
        );
        let sum = |of: fn(&RunRecord) -> u32| of(&first) + of(&others) == of(&run);
        assert!(sum(|run| run.frame_bytes) && sum(|run| run.only_frame_bytes) && sum(|run| u32::from(run.packets)));
        assert!(sum(|run| u32::from(run.only)) && sum(|run| u32::from(run.congestion_experienced)));
    }
}
