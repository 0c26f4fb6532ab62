//! A port that was ACTIVE is not, or was not for so long that its connections were given up.

use super::give_ups;
use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::{LINK_FAILURES, View};
use crate::hosts::watched::ACTIVE;
use crate::hosts::watched::Watched;
use alloc::vec::Vec;

/// `phys_state` of a port that someone disabled.
const DISABLED: f64 = 3.0;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let off_wire = give_ups::off_wire(view);
    // A port that was never up is not in use.
    let ports = view
        .ports
        .numbers()
        .filter(|port| view.ports.get(*port).was_up && view.is_seen(*port));
    for port in ports {
        let Some(state) = view.ports.value(port, Watched::State) else {
            continue;
        };
        let physical = view.ports.value(port, Watched::PhysState);
        let is_disabled = physical == Some(DISABLED);
        if state != ACTIVE && !is_disabled {
            found.push(finding(view, port).means(
                "the port was ACTIVE and is not any more",
                "look at the cable and at the port of the switch; `ip link` of the host shows whether someone set it down",
            ));
            continue;
        }
        // What someone set down, or what failed once, is a fault to those who used it.
        let failed = match state == ACTIVE {
            true => view.came_back(port) || view.grown_lately(port, LINK_FAILURES, SPAN) > 0,
            false => view.went_down(port),
        };
        let own = &view.ports.get(port).addresses;
        let is_given_up = give_ups::on_wire(view, own).next().is_some() || !off_wire.is_empty();
        if !failed || !is_given_up {
            continue;
        }
        let mut finding = finding(view, port);
        finding = match is_disabled && state != ACTIVE {
            true => finding.means(
                "someone set the port down while connections used it",
                "set the port up again (`ip link set IFACE up`, or the port of the switch); stop the applications before \
                 the next maintenance",
            ),
            false => finding.means(
                "the link failed and came back; senders gave up their connections meanwhile",
                "look at the cable and at the port of the switch; start the applications again",
            ),
        };
        for watched in LINK_FAILURES {
            let count = view.grown_lately(port, &[*watched], SPAN);
            if count > 0 {
                finding.value(&view.ports.text(port), watched.name(), count as f64, watched.unit());
            }
        }
        give_ups::seen(view, give_ups::on_wire(view, own), &mut finding);
        for sender in off_wire.iter().take(4) {
            give_ups::counted(view, *sender, &mut finding);
        }
        if give_ups::on_wire(view, own).next().is_none() {
            finding.confidence = Confidence::Likely;
            finding = finding.because("its link failed when senders gave up that no tap sees");
        }
        found.push(finding);
    }
}

fn finding(view: &View<'_>, port: u32) -> Finding {
    let of = view.ports.text(port);
    let mut finding =
        Finding::new(Class::LinkDown, Place::Port(port), Confidence::Certain).because("the port reports it");
    for (watched, name) in [(Watched::State, "state"), (Watched::PhysState, "phys_state")] {
        if let Some(value) = view.ports.value(port, watched) {
            finding.value(&of, name, value, "state");
        }
    }
    finding
}
