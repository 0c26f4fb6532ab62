//! Errors of the link grow, or the link goes up and down.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::{LINK_ERRORS, SICK, View};
use crate::hosts::watched::Watched;
use alloc::format;
use alloc::vec::Vec;

/// Link failures within ten minutes. One is a maintenance; a cable does it again.
const FAILURES: u64 = 2;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    for port in view.ports.numbers() {
        let of = view.ports.text(port);
        let failures: u64 = view.ports.get(port).failures.iter().map(|(_, count)| count).sum();
        let failed_now = view.ports.get(port).failures.iter().any(|(at, _)| *at == view.start_ns);
        if failed_now && failures >= FAILURES {
            let first = view.ports.get(port).failures.first().map(|(at, _)| *at);
            let mut finding = Finding::new(Class::SickCable, Place::Port(port), Confidence::Certain)
                .because("the NIC counted each failure of the link")
                .means(
                    format!("the link failed {failures} times within 10 minutes"),
                    "replace the cable or transceiver, then try the next port of the switch; look at the switch's \
                     counters of this port too",
                );
            finding.begins_after = Some(1);
            finding.since_ns = first;
            finding.value(&of, Watched::LinkDowned.name(), failures as f64, "events");
            errors(view, port, &mut finding);
            found.push(finding);
            continue;
        }
        // A link that comes back after its one failure trains, with errors; a cable has more of them later.
        let lately_ns = view.start_ns.saturating_sub(SPAN as i64 * view.settings.window_ns);
        if view.ports.get(port).failures.iter().any(|(at, _)| *at > lately_ns) {
            continue;
        }
        // Errors before a reset, or after a first read, are errors.
        if view.grown(port, LINK_ERRORS) == 0 || view.grown_lately(port, LINK_ERRORS, SPAN) < SICK {
            continue;
        }
        found.push(of_errors(view, port));
    }
}

fn of_errors(view: &View<'_>, port: u32) -> Finding {
    let own: Vec<Watched> = LINK_ERRORS
        .iter()
        .copied()
        .filter(|watched| *watched != Watched::Icrc)
        .collect();
    let has_own = view.grown_lately(port, &own, SPAN) > 0;
    let are_known = view.any_span(port, &own).is_some();
    let of = |confidence| Finding::new(Class::SickCable, Place::Port(port), confidence);
    // An ICRC is that of the sender: what damaged the packet may be anywhere on its way.
    let mut finding = if !has_own {
        of(Confidence::Possible)
        .because(match are_known {
            true => "packets arrive with a wrong ICRC, but this link has no errors of its own",
            false => "packets arrive with a wrong ICRC; whether this link has errors of its own is unknown",
        })
        .means(
            "packets arrive damaged; an earlier link, a switch's memory or the sender's NIC damaged them, or this one",
            "compare with the other receivers of the same senders: if they see it too, look at the senders and their \
             switch; if not, replace this cable",
        )
    } else {
        of(Confidence::Likely).because("the NIC counts errors of its own link").means(
            "the link damages packets",
            "clean or replace the cable and transceiver of this port; the switch's counters of the port tell whether the \
             other direction suffers too",
        )
    };
    errors(view, port, &mut finding);
    finding
}

fn errors(view: &View<'_>, port: u32, finding: &mut Finding) {
    let of = view.ports.text(port);
    for watched in LINK_ERRORS {
        finding.grown(&of, *watched, view.grown(port, &[*watched]));
    }
}
