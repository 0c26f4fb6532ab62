//! Faults of the analysis of hosts as its windows end: those that go on, and those that ended lately.

use super::{Incident, convert};
use crate::hosts::{Change, Class, Evidence, HostVerdict, NOT_COUNTED};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::catalogue::Metric;

/// The latest state of each fault.
#[derive(Debug, Default)]
pub struct Faults(Vec<HostVerdict>);

impl Faults {
    /// Takes what changed with a window.
    pub fn note(&mut self, changes: impl IntoIterator<Item = HostVerdict>) {
        changes.into_iter().for_each(|verdict| update(&mut self.0, verdict));
    }

    /// Forgets faults that ended before this time, in nanoseconds since 1970.
    pub fn forget(&mut self, before_ns: i64) {
        self.0
            .retain(|verdict| verdict.state != Change::Ended || verdict.until_ns >= before_ns);
    }

    /// As incidents, with the state of those that go on; where a mirror samples, without those that a sample does not show.
    #[must_use]
    pub fn incidents(&self, open: Vec<HostVerdict>, is_sampled: bool) -> Vec<Incident> {
        let all = self.with(open);
        let faults = all.iter().filter(|verdict| is_fault(verdict));
        let faults = faults.filter(|verdict| !is_sampled || is_known_of_a_sample(verdict));
        faults.map(convert::host).collect()
    }

    /// All of them, with the state of those that go on.
    pub(super) fn with(&self, open: Vec<HostVerdict>) -> Vec<HostVerdict> {
        let mut all = self.0.clone();
        open.into_iter().for_each(|verdict| update(&mut all, verdict));
        all
    }
}

/// The faults of verdicts where no host counts anything; that is a note, and not a line of each of them.
#[must_use]
pub fn without_counters<'a>(verdicts: impl Iterator<Item = &'a HostVerdict>) -> (Vec<Incident>, Option<String>) {
    let mut lacks_counters = false;
    let faults = verdicts.filter(|verdict| is_fault(verdict)).map(|verdict| {
        let mut incident = convert::host(verdict);
        let before = incident.unknown.len();
        incident.unknown.retain(|unknown| !unknown.ends_with(NOT_COUNTED));
        lacks_counters |= incident.unknown.len() < before;
        incident
    });
    let faults = faults.collect();
    let note =
        "no host counts anything here: `rocescope counters --out` at both ends would tell which side drops packets";
    (faults, lacks_counters.then(|| note.to_string()))
}

/// A rate that jumps may be what the application does: without another fault it is none.
#[must_use]
pub fn is_fault(verdict: &HostVerdict) -> bool {
    verdict.class != Class::Jitter
}

/// Whether a tap shows it that has one packet of many: repeats, gaps and what is missing are of the sample there.
#[must_use]
pub fn is_known_of_a_sample(verdict: &HostVerdict) -> bool {
    match verdict.class {
        Class::MirrorRepeats | Class::MirrorLacks => false,
        Class::NetworkLoss | Class::ReceiverDied | Class::NoCnps => {
            let is_counted = |row: &Evidence| Metric::named(&row.name).is_some();
            verdict.evidence.iter().any(is_counted)
        }
        _ => true,
    }
}

/// Replaces an earlier state of the same fault.
fn update(verdicts: &mut Vec<HostVerdict>, verdict: HostVerdict) {
    match verdicts.iter_mut().rev().find(|known| verdict.continues(known)) {
        Some(known) => *known = verdict,
        None => verdicts.push(verdict),
    }
}
