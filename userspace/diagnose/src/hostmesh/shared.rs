//! Places that share anomalous probes with another.

use super::cells::Cell;
use super::names::Names;
use super::place::{Crossing, FaultLocation, fine};
use super::suspects::Symptom;
use super::tuples::Tuples;
use alloc::collections::BTreeSet;

/// What the anomalous probes over a place crossed.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    to: BTreeSet<u32>,
    from: BTreeSet<u32>,
    links: BTreeSet<u32>,
    ports: BTreeSet<u32>,
    switches: BTreeSet<u32>,
    onward: BTreeSet<u32>,
    fine: BTreeSet<FaultLocation>,
}

impl Shared {
    /// Collects the places that anomalous probes over `place` crossed.
    pub(crate) fn with(
        place: FaultLocation,
        cells: &[&Cell],
        (tuples, names): (&Tuples, &Names),
        symptom: Symptom,
    ) -> Self {
        let mut shared = Self::default();
        for cell in cells {
            let evidence = symptom.evidence(cell);
            let crossing = Crossing::of(cell, tuples);
            if !evidence.is_anomalous() || !crossing.meets(place, names) {
                continue;
            }
            shared.to.extend((!crossing.is_short).then_some(crossing.key.dst));
            shared.from.insert(crossing.key.src);
            shared.links.extend(crossing.inner(names));
            shared.ports.extend(names.port_sets.crossed(crossing.links));
            shared.switches.extend(crossing.switches(names));
            shared.onward.extend(crossing.cut_at);
            shared.fine.extend(fine(crossing, names));
        }
        shared
    }

    /// Whether such a probe crossed a place.
    pub(crate) fn holds(&self, place: FaultLocation) -> bool {
        match place {
            FaultLocation::Nic(nic) => self.to.contains(&nic) || self.from.contains(&nic),
            FaultLocation::ToNic(nic) => self.to.contains(&nic),
            FaultLocation::FromNic(nic) => self.from.contains(&nic),
            FaultLocation::Link(link) => self.links.contains(&link),
            FaultLocation::Cable(one, other) => self.links.contains(&one) || self.links.contains(&other),
            FaultLocation::Ports(set) => self.ports.contains(&set),
            FaultLocation::Switch(switch) => self.switches.contains(&switch),
            FaultLocation::Onward(switch) => self.onward.contains(&switch),
            place => self.fine.contains(&place),
        }
    }
}
