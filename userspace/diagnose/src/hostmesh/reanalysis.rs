//! A window that is analyzed again because rows came late: what the later analysis keeps of the former one, and what it
//! changes.

use super::diagnosis::WindowDiagnosis;
use super::suspects::Symptom;
use alloc::vec::Vec;
use rocescope_model::{LinkRow, SlaRow, VerdictRow};

/// The latest analysis of a window so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviousAnalysis {
    /// Its row of `sla`; none if the window was never analyzed.
    pub sla: Option<SlaRow>,
    /// Its verdicts.
    pub verdicts: Vec<VerdictRow>,
}

/// What a later analysis of a window changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Verdicts that the former analysis lacks.
    pub found: Vec<VerdictRow>,
    /// Verdicts of the former analysis that no longer hold.
    pub gone: Vec<VerdictRow>,
}

impl PreviousAnalysis {
    /// Makes a diagnosis the next revision of this one, with `links`, its rows of `links`; returns what it changes. `None`
    /// if the former analysis counted the same probes: then there is nothing to store.
    ///
    /// - A problem keeps its begin, which may be before the windows that the later analysis has read.
    /// - No host is silent of which the former analysis did not find that: more rows make no host silent, and an agent may
    ///   be about to come back.
    pub fn revise(&self, diagnosis: &mut WindowDiagnosis, links: &mut [LinkRow]) -> Option<Changes> {
        let WindowDiagnosis {
            sla, verdicts, places, ..
        } = diagnosis;
        if self.sla.as_ref().is_some_and(|former| counted(former) == counted(sla)) {
            return None;
        }
        let is_silence = |row: &VerdictRow| row.symptom.as_str() == Symptom::Silence.name();
        let silent = || self.verdicts.iter().filter(|row| is_silence(row));
        // The silence of most hosts hid which ones.
        let was_of_most = silent().any(|row| row.place_kind.as_str() == "collector");
        let was_silent = |row: &VerdictRow| was_of_most || silent().any(|former| is_same(former, row));
        let holds: Vec<bool> = verdicts.iter().map(|row| !is_silence(row) || was_silent(row)).collect();
        keep(verdicts, &holds);
        keep(places, &holds);
        for row in verdicts.iter_mut().filter(|row| !is_silence(row)) {
            let same = self.verdicts.iter().find(|former| is_same(former, row));
            row.since_ns = same.map_or(row.since_ns, |former| former.since_ns.min(row.since_ns));
        }
        let former = self.sla.as_ref();
        let revision = former.map_or(0, |former| former.revision.unwrap_or(0).saturating_add(1));
        // Rows of other windows that came late meanwhile.
        sla.late = former.map_or(sla.late, |former| former.late);
        sla.verdicts = u64::try_from(verdicts.len()).unwrap_or(u64::MAX);
        sla.revision = Some(revision);
        verdicts.iter_mut().for_each(|row| row.revision = Some(revision));
        links.iter_mut().for_each(|row| row.revision = Some(revision));
        let without = |rows: &[VerdictRow], others: &[VerdictRow]| {
            let is_missing = |row: &&VerdictRow| !others.iter().any(|other| is_same(other, row));
            rows.iter().filter(is_missing).cloned().collect()
        };
        Some(Changes {
            found: without(verdicts, &self.verdicts),
            gone: without(&self.verdicts, verdicts),
        })
    }
}

/// The probes of a window. Rows only come, so that equal numbers are of equal rows.
const fn counted(sla: &SlaRow) -> u64 {
    sla.probes + sla.unsent
}

fn is_same(one: &VerdictRow, other: &VerdictRow) -> bool {
    (&one.symptom, &one.place) == (&other.symptom, &other.place)
}

fn keep<T>(rows: &mut Vec<T>, holds: &[bool]) {
    let mut holds = holds.iter();
    rows.retain(|_| holds.next().copied().unwrap_or(true));
}
