//! Matches the losses that are reported with those that are real, one to one, by PSN and time.

use rocescope_generate::{LossPoint, LostPacket, PacketKind};
use rocescope_model::EventRow;

/// How much later than its repeat a loss may be reported, and its repeat later than the loss, in nanoseconds: more than
/// every timer and round trip of the classes, and less than the time between the lives of a queue pair.
const WITHIN_NS: u64 = 2_000_000_000;
/// A reported time may be this much before the loss: the loss is that of the sender, before a path's detour.
const SLACK_NS: u64 = 50_000;

/// A loss that was reported: a packet of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    pub(super) psn: u32,
    pub(super) at_ns: u64,
    /// It was reported as a request or its answer: either is right.
    or_answer: bool,
}

impl Reported {
    /// Each packet of an event.
    pub(super) fn of(event: &EventRow) -> Vec<Self> {
        let or_answer = event.detail.contains("or its answer");
        let first = event.psn.unwrap();
        let packet = |at: u64| Self {
            // A packet that was lost several times is reported with one PSN.
            psn: if or_answer {
                first
            } else {
                (first + at as u32) & 0xff_ffff
            },
            at_ns: event.time_ns as u64,
            or_answer,
        };
        (0..event.count).map(packet).collect()
    }
}

/// A loss of the truth, and whether it was reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real {
    pub(super) lost: LostPacket,
    pub(super) reported: bool,
}

impl Real {
    /// What the fabric lost, in the order of time. What the mirror lost, and what was only late, is no such loss.
    pub(super) fn all(lost: &[LostPacket]) -> Vec<Self> {
        let is_loss = |lost: &&LostPacket| !matches!(lost.place, LossPoint::Mirror | LossPoint::Late);
        let all = lost.iter().filter(is_loss);
        let mut all: Vec<Self> = all
            .map(|lost| Self {
                lost: *lost,
                reported: false,
            })
            .collect();
        all.sort_by_key(|real| real.lost.at_ns);
        all
    }
}

/// Finds the real loss that is reported, and marks it; `answers` are the losses of the other side. Returns whether there
/// is one.
pub(super) fn claim(reported: &Reported, start_ns: u64, own: &mut [Real], answers: &mut [Real]) -> bool {
    let at_ns = reported.at_ns - start_ns;
    let in_time = |real: &&mut Real| {
        !real.reported && real.lost.at_ns <= at_ns + SLACK_NS && at_ns <= real.lost.at_ns + WITHIN_NS
    };
    // Of several losses of one packet those that show come first.
    for visible in [true, false] {
        let mut same = own
            .iter_mut()
            .filter(in_time)
            .filter(|real| real.lost.visible == visible);
        let found = same.find(|real| real.lost.psn == reported.psn && real.lost.of != PacketKind::Acknowledge);
        if let Some(found) = found {
            found.reported = true;
            return true;
        }
    }
    if !reported.or_answer {
        return false;
    }
    // An acknowledgement names this packet or one that is outstanding with it.
    let ahead = |psn: u32| psn.wrapping_sub(reported.psn) & 0xff_ffff;
    let found = answers
        .iter_mut()
        .filter(in_time)
        .find(|real| real.lost.of != PacketKind::Request && ahead(real.lost.psn) < 1 << 12);
    if let Some(found) = found {
        found.reported = true;
        return true;
    }
    false
}
