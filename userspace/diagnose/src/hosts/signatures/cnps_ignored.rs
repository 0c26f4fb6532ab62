//! CNPs reach a sender, and it does not slow down.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::settings::SPAN;
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use crate::hosts::wire::{Direction, Wire};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// CNPs a second.
const CNPS: f64 = 5.0;
/// A flow that CNPs slow down varies by more than this share from window to window.
const STEADY: f64 = 0.02;
/// A flow slower than this share of its port may be below the rate that CNPs limit it to.
const LOADED: f64 = 0.5;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let least = view.at_rate(CNPS).max(1);
    let mut on_wire: BTreeMap<IpAddr, u64> = BTreeMap::new();
    for (way, wire) in &view.current().wire {
        *on_wire.entry(way.dst).or_default() += wire.cnps();
    }
    for port in view.ports.numbers() {
        let wire: u64 = addresses(view, port).filter_map(|address| on_wire.get(&address)).sum();
        let (handled, ignored) = (view.now(port, Watched::CnpHandled), view.now(port, Watched::CnpIgnored));
        let of = view.ports.text(port);
        let place = Place::Port(port);
        let ignored_most = ignored.is_some_and(|ignored| ignored >= least && ignored >= handled.unwrap_or(0));
        if ignored_most {
            let mut finding = finding(place, Confidence::Certain)
                .because("the NIC counts CNPs that it ignored, and hardly any that it handled");
            finding.counted(&of, Watched::CnpIgnored, ignored);
            finding.counted(&of, Watched::CnpHandled, handled);
            found.push(finding);
        } else if wire >= least && handled == Some(0) {
            let mut finding =
                finding(place, Confidence::Likely).because("the tap sees CNPs to this port, and the NIC counts none");
            finding.sum(&of, "CNPs on the wire", wire as f64, "packets");
            finding.counted(&of, Watched::CnpHandled, handled);
            finding.unknown("whether the CNPs are lost downstream of the tap or dropped by the NIC");
            found.push(finding);
        } else if wire.max(handled.unwrap_or(0)) >= least
            && let Some((way, share)) = steady(view, port)
        {
            let mut finding = finding(place, Confidence::Possible).because(format!(
                "its flow {} kept its rate within {:.0} % over {SPAN} windows with CNPs",
                way.text(),
                STEADY * 100.0
            ));
            finding.sum(&of, "CNPs on the wire", wire as f64, "packets");
            finding.counted(&of, Watched::CnpHandled, handled);
            finding.value(&way.text(), "share of the port's rate", share, "ratio");
            finding.unknown("whether the NIC reduced its rate in between: its driver does not count ignored CNPs");
            found.push(finding);
        }
    }
}

fn finding(place: Place, confidence: Confidence) -> Finding {
    Finding::new(Class::CnpsIgnored, place, confidence).means(
        "CNPs reach this sender and it does not slow down",
        "enable the reaction point of DCQCN on this NIC for the priority of the traffic (mlx5: \
         /sys/class/net/IFACE/ecn/roce_rp/enable/PRIORITY), and check that CNPs have the priority that it expects",
    )
}

fn addresses<'a>(view: &'a View<'_>, port: u32) -> impl Iterator<Item = IpAddr> + 'a {
    view.ports.get(port).addresses.iter().copied()
}

/// A flow of the port that fills much of it and does not change while CNPs arrive in every window.
fn steady(view: &View<'_>, port: u32) -> Option<(Direction, f64)> {
    let rate = view.ports.value(port, Watched::Rate)?;
    let is_own = |way: &Direction| view.ports.get(port).addresses.contains(&way.src);
    let reached = |window: usize| {
        let back = view
            .wire
            .keys()
            .filter(|way| view.ports.get(port).addresses.contains(&way.dst));
        back.filter_map(|way| view.each_window(*way).nth(window).flatten())
            .any(|wire| wire.cnps() > 0)
    };
    if !view.is_full() || !(0..SPAN).all(reached) {
        return None;
    }
    view.wire.keys().filter(|way| is_own(way)).find_map(|way| {
        let bytes: Vec<u64> = view
            .each_window(*way)
            .map(|wire: Option<&Wire>| wire.map_or(0, |wire| wire.bytes))
            .collect();
        let (least, most) = (*bytes.iter().min()? as f64, *bytes.iter().max()? as f64);
        let share = least * 8.0 / view.seconds() / rate;
        (most > 0.0 && least >= most * (1.0 - STEADY) && share >= LOADED).then_some((*way, share))
    })
}
