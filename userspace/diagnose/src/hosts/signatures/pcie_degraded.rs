//! The `PCIe` link of a NIC is below its maximum, and that matters.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use crate::pcie::of_maximum;
use alloc::format;
use alloc::vec::Vec;

/// What a `PCIe` link carries of its transfers: 128b/130b coding from 8 GT/s on, 8b/10b below, and a tenth for headers.
fn capacity_bps(mega_transfers: f64, lanes: f64) -> f64 {
    let coding = if mega_transfers >= 8_000.0 { 128.0 / 130.0 } else { 0.8 };
    mega_transfers * 1e6 * lanes * coding * 0.9
}

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    for port in view.ports.numbers().filter(|port| view.is_seen(*port)) {
        let value = |watched| view.ports.value(port, watched);
        let (Some(speed), Some(lanes)) = (value(Watched::PcieSpeed), value(Watched::PcieWidth)) else {
            continue;
        };
        let (Some(max_speed), Some(max_lanes)) = (value(Watched::PcieMaxSpeed), value(Watched::PcieMaxWidth)) else {
            continue;
        };
        let capacity = capacity_bps(speed, lanes);
        let rate = value(Watched::Rate);
        let is_short = rate.is_some_and(|rate| capacity < rate);
        // A slot of an earlier generation is a decision, and harmless while it carries the port's rate. Lanes are
        // lost by contacts.
        let lost_lanes = lanes < max_lanes;
        if !(lost_lanes || speed < max_speed && is_short) {
            continue;
        }
        let of = view.ports.text(port);
        let lacks = match rate {
            Some(rate) if is_short => format!(
                ", which carries {:.0} of the port's {:.0} Gbit/s",
                capacity / 1e9,
                rate / 1e9
            ),
            Some(_) => ", which still carries the port's rate".into(),
            None => ", and the rate of the port is unknown".into(),
        };
        let mut finding = Finding::new(Class::PcieDegraded, Place::Port(port), Confidence::Certain)
            .because(match lost_lanes {
                true => "the device reports it; a slot with fewer lanes looks the same",
                false => "the device reports it; a slot of an earlier generation looks the same",
            })
            .means(
                format!(
                    "the PCIe link runs at {}{lacks}",
                    of_maximum([speed, lanes, max_speed, max_lanes])
                ),
                "compare with `lspci -vv` of the slot (LnkCap of the port above); if the slot can do more, reseat the NIC \
                 or its riser and look for PCIe errors in the kernel log",
            );
        for (watched, value) in [
            (Watched::PcieSpeed, speed),
            (Watched::PcieMaxSpeed, max_speed),
            (Watched::PcieWidth, lanes),
            (Watched::PcieMaxWidth, max_lanes),
        ] {
            finding.value(&of, watched.name(), value, watched.unit());
        }
        for watched in [
            Watched::PcieStalledRead,
            Watched::PcieStalledWrite,
            Watched::PcieOverflow,
            Watched::XmitPauseFrames,
        ] {
            let increase = view.now(port, watched).filter(|increase| *increase > 0);
            finding.counted(&of, watched, increase);
        }
        found.push(finding);
    }
}
