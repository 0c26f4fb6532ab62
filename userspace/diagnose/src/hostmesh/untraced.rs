//! Faults of NICs and pairs that no trace has reached.
//!
//! A 5-tuple without a path votes for no link, and a link that other 5-tuples name explains most of its drops. But a
//! NIC that was down before its agent started has no path at all, and operators want to know about it before a job
//! starts (Hostmesh, section 5, cause 2). So this module reports a NIC, in the direction that fits best, if nearly all
//! of its probes are lost and most of those have no path; and a pair if it has no path at all and all its probes are
//! lost. Probes that could not be sent count as in the module `unsent`.
//!
//! NICs of two hosts have few 5-tuples with each other, which may all cross one link that is down: such a pair is not
//! named without a path.

use super::cells::{Cell, Cells};
use super::count::Count;
use super::names::Names;
use super::place::{Crossing, FaultLocation};
use super::settings::Settings;
use super::suspects::Suspect;
use super::tuples::{Key, Tuples};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The share of probes that a NIC must lose to be reported without a path.
const NEARLY_ALL: f64 = 0.8;

/// All probes of a place, and those without a path.
#[derive(Debug, Clone, Copy, Default)]
struct Traced {
    all: Count,
    untraced: Count,
}

/// Returns the NICs, then the pairs, beside the places that were found already.
pub(crate) fn unreached(
    cells: &Cells,
    tuples: &Tuples,
    names: &Names,
    settings: &Settings,
    found: &[Suspect],
) -> Vec<Suspect> {
    let mut counts: BTreeMap<FaultLocation, Traced> = BTreeMap::new();
    let dark: Vec<&Cell> = cells
        .all
        .iter()
        .filter(|cell| {
            let crossing = Crossing::of(cell, tuples);
            let lost = cell.drops > 0 || cell.stuck > 0 || cell.silent > 0;
            let known = found.iter().any(|suspect| crossing.meets(suspect.place, names));
            cell.path.is_none() && lost && !known
        })
        .collect();
    for cell in dark {
        for place in places(tuples.all[cell.tuple as usize].key) {
            counts.entry(place).or_default();
        }
    }
    if counts.is_empty() {
        return Vec::new();
    }
    for cell in &cells.all {
        let key = tuples.all[cell.tuple as usize].key;
        for place in places(key) {
            let Some(count) = counts.get_mut(&place) else {
                continue;
            };
            let unsent = cell.unsent_at(place, key);
            let (probes, lost) = (u64::from(cell.sent + unsent), u64::from(cell.drops + unsent));
            count.all.add(probes, lost);
            if cell.path.is_none() {
                count.untraced.add(probes, lost);
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "places are far below 2^53")]
    let needed = libm::log(counts.len() as f64 / settings.chance);
    let mut suspects: Vec<Suspect> = Vec::new();
    for (place, Traced { all, untraced }) in counts {
        let dead = match place {
            FaultLocation::Pair { src, dst } => {
                let host = |nic: u32| names.nics[nic as usize].host;
                host(src) == host(dst) && all == untraced && all.anomalous == all.probes
            }
            _ => all.share() >= NEARLY_ALL && untraced.anomalous * 2 > all.anomalous,
        };
        let score = all.score(settings.background);
        if dead && all.anomalous > settings.max_ignored && score > needed {
            suspects.push(Suspect::new(place, all, score));
        }
    }
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    // Each NIC once, in its best direction, and no pair of a reported NIC.
    let mut named: Vec<Suspect> = Vec::new();
    for suspect in suspects {
        let again = named.iter().any(|other| match (other.place, suspect.place) {
            (FaultLocation::Pair { .. }, FaultLocation::Pair { .. }) => false,
            (one, other) => nics(one).iter().any(|nic| nics(other).contains(nic)),
        });
        if !again {
            named.push(suspect);
        }
    }
    named
}

fn nics(place: FaultLocation) -> [Option<u32>; 2] {
    match place {
        FaultLocation::Nic(nic) | FaultLocation::ToNic(nic) | FaultLocation::FromNic(nic) => [Some(nic); 2],
        FaultLocation::Pair { src, dst } => [Some(src), Some(dst)],
        _ => [None; 2],
    }
}

fn places(key: Key) -> [FaultLocation; 5] {
    let Key { src, dst, .. } = key;
    [
        FaultLocation::Nic(src),
        FaultLocation::Nic(dst),
        FaultLocation::FromNic(src),
        FaultLocation::ToNic(dst),
        FaultLocation::Pair { src, dst },
    ]
}
