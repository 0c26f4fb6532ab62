//! The owners of the victims of incidents.

use super::{Answer, End, Owner, Owners};
use crate::incidents::{Incident, Victim, Victims};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::human::plural;

/// Ranks that are listed.
const RANKS: usize = 8;

/// What [`name`] asks: addresses and queue pair numbers of the victims.
pub fn asked(incidents: &[Incident]) -> impl Iterator<Item = (IpAddr, u32)> {
    let victims = incidents.iter().flat_map(|incident| &incident.victims.worst);
    victims.flat_map(|victim| {
        let (src, dst) = ends(victim);
        [src, dst].into_iter().flatten().map(|end| (end.address, end.qpn))
    })
}

/// Names the owners of the victims of incidents.
pub fn name(incidents: &mut [Incident], owners: &Owners) {
    for incident in incidents {
        let mut ambiguous = 0;
        for victim in &mut incident.victims.worst {
            let (src, dst) = ends(victim);
            let mut owner = |end: Option<End>| match owners.of(&end?) {
                Answer::Unknown => None,
                Answer::Ambiguous => {
                    ambiguous += 1;
                    None
                }
                Answer::Owner(owner) => Some(Owner::clone(&owner)),
            };
            victim.src_owner = owner(src);
            victim.dst_owner = owner(dst);
        }
        if ambiguous > 0 {
            incident.unknown.push(format!(
                "whose {} of the worst flows are: several processes may have had them at that time",
                plural(ambiguous, "queue pair")
            ));
        }
    }
}

/// Both ends of a victim, as far as their numbers are known.
fn ends(victim: &Victim) -> (Option<End>, Option<End>) {
    let end = |address, qpn: Option<u32>, peer, peer_qpn| {
        Some(End {
            address,
            qpn: qpn?,
            peer,
            peer_qpn,
            first_ns: victim.first_ns?,
            last_ns: victim.last_ns?,
        })
    };
    let Victim { src, dst, .. } = *victim;
    (
        end(src, victim.src_qpn, dst, victim.dst_qpn),
        end(dst, victim.dst_qpn, src, victim.src_qpn),
    )
}

impl Victims {
    /// Whose the worst of them are: jobs with their ranks, pods, units or processes, each once, in the order of the worst.
    #[must_use]
    pub fn owners(&self) -> Vec<String> {
        let all = self
            .worst
            .iter()
            .flat_map(|victim| [&victim.src_owner, &victim.dst_owner]);
        let mut order = Vec::new();
        let mut ranks: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for owner in all.flatten() {
            let group = owner.group();
            let known = ranks.entry(group.clone()).or_insert_with(|| {
                order.push(group);
                BTreeSet::new()
            });
            // Of what has no job, a rank means nothing.
            known.extend(owner.rank.filter(|_| owner.job.is_some() || owner.pod.is_some()));
        }
        let named = |group: &String| match ranks.get(group).map(list) {
            Some(ranks) if !ranks.is_empty() => format!("{group}, {ranks}"),
            _ => group.clone(),
        };
        order.iter().map(named).collect()
    }

    /// The same in a line; `None` if nothing is known.
    #[must_use]
    pub fn whose(&self) -> Option<String> {
        let owners = self.owners();
        let of = match self.worst.len() as u64 {
            worst if worst < self.connections => format!(" (of the {worst} worst)"),
            _ => String::new(),
        };
        (!owners.is_empty()).then(|| owners.join("; ") + &of)
    }
}

/// `rank 3`; `ranks 3 and 7`; `ranks 1, 2, 3 and 4 more`.
fn list(ranks: &BTreeSet<u32>) -> String {
    let mut names: Vec<String> = ranks.iter().take(RANKS).map(ToString::to_string).collect();
    let more = ranks.len() - names.len();
    if more > 0 {
        return format!("ranks {} and {more} more", names.join(", "));
    }
    match (names.pop(), names.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => format!("rank {last}"),
        (Some(last), false) => format!("ranks {} and {last}", names.join(", ")),
    }
}
