//! Fabric loss, capture loss and mirror loss: first in the summary, because each other number depends on them.

use super::Source;
use super::color::Color;
use crate::Outcome;
use rocescope_model::human::{grouped as count, plural};
use rocescope_pipeline::Delivery;
use std::fmt::Write;

/// The losses of a capture, with their places or reasons.
pub(super) struct Losses {
    /// Fabric loss, retransmissions and mirror loss; `None` unless connections were tracked.
    pub(super) delivery: Option<Delivery>,
    /// Packets whose run or record did not fit into a ring.
    ring_packets: u64,
    /// Frames that did not fit into a packet socket.
    socket_frames: u64,
    /// Frames that the interfaces dropped; `Some(None)` if they do not report it, `None` for a file.
    interface_frames: Option<Option<u64>>,
    /// Numbered frames that the mirror sent and that did not arrive; `None` if no frame carried a number.
    mirror_gap_frames: Option<u64>,
    /// Packets that were seen.
    seen_packets: u64,
    /// The number of packets for each of these, if the mirror samples: then no loss is known.
    pub(super) sampled_one_of: Option<u64>,
}

impl Losses {
    pub(super) fn of(source: &Source<'_>, outcome: &Outcome) -> Self {
        let (summary, counters) = (&outcome.summary, &outcome.counters);
        let live = source.live.as_ref();
        let numbered = counters.mirrored_frames + counters.mirror_lost;
        Self {
            delivery: summary.delivery,
            ring_packets: counters.lost_packets + counters.lost_uet,
            socket_frames: live.map_or(0, |live| live.socket_dropped),
            interface_frames: live.map(|live| live.nic_dropped),
            mirror_gap_frames: (numbered > 0).then_some(counters.mirror_lost),
            seen_packets: summary.totals.all().packets,
            sampled_one_of: source.incidents.and_then(|found| found.sampled_one_of),
        }
    }

    /// Capture loss as far as it is known, in frames.
    pub(super) fn capture_frames(&self) -> u64 {
        self.ring_packets + self.socket_frames + self.interface_frames.flatten().unwrap_or(0)
    }

    /// Writes one line for each kind of loss, and one for retransmissions.
    pub(super) fn write(&self, out: &mut String, color: Color) -> std::fmt::Result {
        let mut line = |name: &str, number: u64, text: &str| {
            let line = format!("{name:<15}{text}");
            writeln!(out, "{}", color.trouble(number > 0, &line))
        };
        match self.delivery {
            _ if self.sampled_one_of.is_some() => line("Fabric loss", 0, &self.sampled())?,
            Some(delivery) => {
                let lost = delivery.fabric_lost();
                line("Fabric loss", lost + delivery.unresolved_packets, &fabric(delivery))?;
                let number = delivery.retransmitted_packets;
                line("Retransmitted", number, &plural(number, "packet"))?;
                if delivery.untracked_packets > 0 {
                    line("Untracked", delivery.untracked_packets, &self.untracked(delivery))?;
                }
                if delivery.yielded_packets > 0 {
                    line("Yielded", delivery.yielded_packets, &self.yielded(delivery))?;
                }
            }
            None => line("Fabric loss", 0, "unknown: --no-connections leaves it out")?,
        }
        line("Capture loss", self.capture_frames(), &self.capture())?;
        let mirror = match self.sampled_one_of {
            Some(_) => 0,
            None => self.delivery.map_or(0, |delivery| delivery.mirror_lost_packets),
        };
        line(
            "Mirror loss",
            mirror + self.mirror_gap_frames.unwrap_or(0),
            &self.mirror(),
        )
    }

    /// A count of the sample, scaled to what passed the mirror, about; `None` unless it samples.
    pub(super) fn estimate(&self, counted: u64) -> Option<u64> {
        self.sampled_one_of.map(|one_of| counted.saturating_mul(one_of))
    }

    /// Why no loss is known.
    fn sampled(&self) -> String {
        let one_of = self.sampled_one_of.unwrap_or(1);
        format!("unknown: the mirror samples about 1 of {one_of} packets")
    }

    /// Packets whose losses are unknown.
    fn untracked(&self, delivery: Delivery) -> String {
        format!(
            "{} of connections that found no memory: their losses and retransmissions are unknown (--connection-memory)",
            self.share(delivery.untracked_packets)
        )
    }

    /// Packets that connections left out.
    fn yielded(&self, delivery: Delivery) -> String {
        format!(
            "{} left out of connections, because the capture fell behind: fabric loss and retransmissions are lower bounds",
            self.share(delivery.yielded_packets)
        )
    }

    /// A number of packets, and their share of all.
    fn share(&self, packets: u64) -> String {
        let percent = 100.0 * packets as f64 / self.seen_packets.max(1) as f64;
        format!("{} ({percent:.1} %)", plural(packets, "packet"))
    }

    /// Capture loss by reason.
    fn capture(&self) -> String {
        let total = plural(self.capture_frames(), "frame");
        let mut reasons = Vec::new();
        let mut reason = |number: u64, name: &str| {
            if number > 0 {
                reasons.push(format!("{} {name}", count(number)));
            }
        };
        reason(self.ring_packets, "by a full ring");
        reason(self.socket_frames, "by a full socket");
        reason(self.interface_frames.flatten().unwrap_or(0), "by the interface");
        if self.interface_frames == Some(None) {
            reasons.push("unknown at the interface".into());
        }
        match reasons.is_empty() {
            true => total,
            false => format!("{total}: {}", reasons.join(", ")),
        }
    }

    fn mirror(&self) -> String {
        let mut parts = Vec::new();
        if self.sampled_one_of.is_some() {
            parts.push("what the mirror leaves out by sampling is none".into());
        } else if let Some(delivery) = &self.delivery {
            let lost = delivery.mirror_lost_packets;
            parts.push(match (lost, delivery.mirror_loss_ratio(self.seen_packets)) {
                (0, _) | (_, None) => plural(lost, "packet"),
                (_, Some(ratio)) => format!(
                    "{} ({:.4} %): acknowledged, but not delivered by the mirror",
                    plural(lost, "packet"),
                    100.0 * ratio
                ),
            });
        }
        if let Some(frames) = self.mirror_gap_frames {
            parts.push(format!("{} numbered by the mirror", plural(frames, "frame")));
        }
        match parts.is_empty() {
            true => "unknown: --no-connections leaves it out".into(),
            false => parts.join("; "),
        }
    }
}

/// Fabric loss by place, and packets of which it is unknown.
fn fabric(delivery: Delivery) -> String {
    let mut text = plural(delivery.fabric_lost(), "packet");
    if delivery.fabric_lost() > 0 {
        text += &format!(
            ": {} upstream of the tap, {} downstream",
            count(delivery.fabric_lost_upstream_packets),
            count(delivery.fabric_lost_downstream_packets)
        );
    }
    if delivery.unresolved_packets > 0 {
        let unresolved = plural(delivery.unresolved_packets, "packet");
        text += &format!("; unknown of {unresolved} that nothing answered");
    }
    text
}
