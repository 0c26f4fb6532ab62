//! A port that was ACTIVE is not.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::ports::ACTIVE;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::vec::Vec;

/// `phys_state` of a port that someone disabled.
const DISABLED: f64 = 3.0;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    for port in view.ports.numbers() {
        let Some(state) = view.ports.value(port, Watched::State) else {
            continue;
        };
        let physical = view.ports.value(port, Watched::PhysState);
        // A port that was never up is not in use.
        if state == ACTIVE || !view.ports.get(port).was_up || physical == Some(DISABLED) || !view.is_seen(port) {
            continue;
        }
        let of = view.ports.text(port);
        let mut finding = Finding::new(Class::LinkDown, Place::Port(port), Confidence::Certain)
            .because("the port reports it")
            .means(
                "the port was ACTIVE and is not any more",
                "look at the cable and at the port of the switch; `ip link` of the host shows whether someone set it down",
            );
        finding.value(&of, Watched::State.name(), state, "state");
        if let Some(physical) = physical {
            finding.value(&of, Watched::PhysState.name(), physical, "state");
        }
        found.push(finding);
    }
}
