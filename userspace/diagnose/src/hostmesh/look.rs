//! What the probes over a suspicious place tell beside their number.

use super::analyzer::Analyzer;
use super::place::{Crossing, Place};
use super::record::Fate;
use super::shape::Shape;
use super::suspects::Symptom;
use super::verdict::Bench;
use alloc::vec;
use alloc::vec::Vec;

/// What the probes over a place tell beside their number.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) corrupt: u64,
    pub(super) unsent: u64,
    pub(super) first_ns: Option<i64>,
    pub(super) shape: Shape,
    late: u64,
    timed: u64,
}

impl Bench<'_> {
    pub(super) fn look(&self, symptom: Symptom, place: Place) -> Look {
        let (names, tuples) = (&self.analyzer.names, &self.analyzer.tuples);
        let mut look = Look::default();
        let mut meets = vec![false; self.cells.all.len()];
        let sends = matches!(place, Place::Nic(_) | Place::FromNic(_));
        for (cell, meets) in self.cells.all.iter().zip(&mut meets) {
            *meets = Crossing::of(cell, tuples).meets(place, names);
            if *meets {
                look.corrupt += u64::from(cell.corrupt);
                look.unsent += u64::from(cell.unsent);
                look.late += u64::from(cell.late);
                look.timed += u64::from(cell.timed);
            }
        }
        let mut probes: Vec<(i64, bool)> = Vec::new();
        for (cell, record) in self.cells.with_records(self.records) {
            let fate = record.fate();
            if !meets[cell] || (fate == Fate::Unsent && !sends) {
                continue;
            }
            let offset_ns = record.offset_ns();
            let lost = fate != Fate::Received;
            probes.push((offset_ns, lost));
            let suffers = lost && symptom == Symptom::Loss;
            let at_ns = self.start_ns + offset_ns;
            if suffers && look.first_ns.is_none_or(|first| at_ns < first) {
                look.first_ns = Some(at_ns);
            }
        }
        if symptom == Symptom::Loss {
            look.shape = Shape::of(&probes, self.analyzer.settings.window_ns);
        }
        look
    }

    /// Whether what gets over the place is late, or the place is suspected for that.
    pub(super) fn is_late_too(&self, place: Place, look: &Look) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let share = look.late as f64 / look.timed.max(1) as f64;
        share >= self.analyzer.settings.late_share
            || self.late.iter().any(|late| late.place == place)
    }

    /// Of one direction of a NIC: whether the other loses no more than a NIC may.
    pub(super) fn other_way_well(&self, place: Place) -> bool {
        let other = match place {
            Place::ToNic(nic) => Place::FromNic(nic),
            Place::FromNic(nic) => Place::ToNic(nic),
            _ => return false,
        };
        let Analyzer {
            names,
            tuples,
            settings,
            ..
        } = self.analyzer;
        let (mut sent, mut bad) = (0, 0);
        for cell in &self.cells.all {
            if Crossing::of(cell, tuples).meets(other, names) {
                sent += u64::from(cell.sent);
                bad += u64::from(cell.drops);
                if matches!(other, Place::FromNic(_)) {
                    sent += u64::from(cell.unsent);
                    bad += u64::from(cell.unsent);
                }
            }
        }
        sent > 0 && bad * 100 <= sent * settings.nic_percent
    }
}
