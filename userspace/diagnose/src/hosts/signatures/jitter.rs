//! The rate of a big flow jumps again and again (the paper's scenario 3).

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Changes in the last windows. A phase of a program changes the rate once, or twice with its end.
const CHANGES: u64 = 3;

/// What would explain it, at either end, and how often in a second.
const CAUSES: &[(Watched, f64, &str)] = &[
    (Watched::CnpHandled, 1.0, "CNPs slow the sender down"),
    (Watched::RcvPauseFrames, 30.0, "the network pauses a port"),
    (Watched::RcvGlobalPause, 30.0, "the network pauses a port"),
    (Watched::RnrReceived, 1.0, "the receiver is not ready"),
    (Watched::SequenceNak, 0.3, "packets are lost or reordered"),
    (Watched::AckTimeout, 0.3, "packets or answers are lost"),
];

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    for (way, wire) in &view.wire {
        let is_now = view.current().wire.get(way).is_some_and(|wire| wire.changes > 0);
        if wire.changes < CHANGES || !is_now {
            continue;
        }
        let mut causes: Vec<(u32, Watched, u64, &str)> = Vec::new();
        let mut is_known = false;
        let ends: [IpAddr; 2] = [way.src, way.dst];
        for port in ends.into_iter().filter_map(|end| view.ports.at(end)) {
            for (watched, each_second, meaning) in CAUSES {
                let count = view.span(port, *watched);
                is_known |= count.is_some();
                let least = view.at_rate(*each_second * SPAN as f64);
                if let Some(count) = count.filter(|count| *count >= least.max(1)) {
                    causes.push((port, *watched, count, meaning));
                }
            }
        }
        let why = match causes.first() {
            Some((.., meaning)) => String::from(*meaning),
            None if is_known => "neither end was slowed down or paused: the application changes its rate".into(),
            None => "why is unknown: neither end has counters".into(),
        };
        let mut finding = Finding::new(Class::Jitter, Place::Connection(*way), Confidence::Certain)
            .because("the tap measured each change")
            .means(
                format!("the rate of this big flow jumps: {why}"),
                match causes.is_empty() {
                    true => "look at the application that sends: its phases, its threads, its storage",
                    false => "look at the cause first; `rocescope top` shows the flow window by window",
                },
            );
        finding.begins_after = Some(1);
        finding.since_ns = wire.changed_ns;
        let changes = view.current().wire.get(way).map_or(0, |wire| wire.changes);
        finding.sum(&way.text(), "jitter", changes as f64, "events");
        finding.value(&way.text(), "largest change", wire.largest_change_bps, "bit/s");
        for (port, watched, count, _) in causes.iter().take(6) {
            finding.value(&view.ports.text(*port), watched.name(), *count as f64, watched.unit());
        }
        if !is_known {
            finding.unknown("what slows the flow down: no row of counters has its addresses");
        }
        found.push(finding);
    }
}
