//! A host counts retransmissions, and the tap, which sees traffic of it, sees none.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::format;
use alloc::vec::Vec;

/// Reasons to retransmit in the last windows. Fewer may be at the edge of two windows.
const REASONS: u64 = 20;

/// Each reason repeats at least one packet: a tap that sees fewer packets than a quarter of the reasons lacks some.
const SEEN: u64 = 4;

const COUNTED: &[Watched] = &[
    Watched::AckTimeout,
    Watched::SequenceNak,
    Watched::ImpliedNak,
    Watched::Retransmitted,
];

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    if !view.is_full() || !view.is_tracked() {
        return;
    }
    for port in view.ports.numbers() {
        let own = &view.ports.get(port).addresses;
        let (mut bytes, mut repeated) = (0, 0);
        for (way, wire) in &view.wire {
            let (from, to) = (own.contains(&way.src), own.contains(&way.dst));
            if from {
                bytes += wire.bytes;
            }
            if from || to {
                repeated += wire.retransmitted.unwrap_or(0) + wire.lost + wire.gave_up + wire.naks;
            }
        }
        let counted = view.any_span(port, COUNTED).unwrap_or(0);
        // A tap that sees nothing of a port is at another place.
        let is_seen = repeated >= counted / SEEN;
        if counted < REASONS || view.any_now(port, COUNTED).unwrap_or(0) == 0 || bytes == 0 || is_seen {
            continue;
        }
        let of = view.ports.text(port);
        let sent = view.span(port, Watched::XmitData).filter(|sent| *sent > 0);
        let share = sent.map(|sent| bytes as f64 / sent as f64);
        let mut finding = Finding::new(Class::MirrorLacks, Place::Port(port), Confidence::Likely)
            .because(match share {
                Some(share) if share < 0.9 => format!(
                    "the tap sees {:.0} % of what the port sends, and hardly a retransmission among it",
                    share * 100.0
                ),
                _ => "the tap sees traffic of the port and hardly a retransmission".into(),
            })
            .means(
                "the host retransmits, and the capture does not see it: the mirror lacks part of the traffic of this port",
                "mirror every path of this port, and compare the mirror's drops; until then losses of this port are \
                 missing in the capture",
            );
        for watched in COUNTED {
            finding.counted(&of, *watched, view.now(port, *watched).filter(|count| *count > 0));
        }
        finding.value(
            &of,
            "retransmissions, losses and NAKs on the wire",
            repeated as f64,
            "packets",
        );
        finding.value(&of, "frame_bytes on the wire", bytes as f64, "bytes");
        if let Some(sent) = sent {
            finding.value(&of, Watched::XmitData.name(), sent as f64, "bytes");
        }
        found.push(finding);
    }
}
