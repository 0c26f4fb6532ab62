//! How often the probes of a window crossed each link.

use super::analyzer::Analyzer;
use super::cells::Cells;
use super::diagnosis::{Coverage, WindowDiagnosis};
use super::names::Link;
use super::paper::{Vote, Votes};
use super::place::Crossing;
use alloc::vec::Vec;
use rocescope_model::{LinkRow, Time};

impl Analyzer {
    pub(super) fn cover(&self, cells: &Cells, votes: &Votes) -> Vec<Coverage> {
        let of_vote = |vote: &Vote| Coverage {
            votes: vote.count,
            weighted_votes: vote.weight,
            ..Coverage::default()
        };
        let mut coverage: Vec<Coverage> = votes.links.iter().map(of_vote).collect();
        for cell in &cells.all {
            for link in Crossing::of(cell, &self.tuples).links {
                let covered = &mut coverage[*link as usize];
                covered.tuples += 1;
                covered.probes += u64::from(cell.sent);
                covered.drops += u64::from(cell.drops);
            }
        }
        coverage
    }

    /// Returns the rows of `links` of a window.
    #[must_use]
    pub fn link_rows(&self, diagnosis: &WindowDiagnosis) -> Vec<LinkRow> {
        let row = |(link, covered): (&Link, &Coverage)| LinkRow {
            observer: self.observer(),
            window_start: Time(diagnosis.start_ns),
            window_start_ns: diagnosis.start_ns,
            window_ns: self.settings.window_ns,
            revision: Some(0),
            from: self.names.end_name(link.from).into(),
            to: self.names.end_name(link.to).into(),
            address: link.address,
            tuples: covered.tuples,
            probes: covered.probes,
            drops: covered.drops,
            votes: covered.votes,
            weighted_votes: covered.weighted_votes,
        };
        self.names.links.iter().zip(&diagnosis.coverage).map(row).collect()
    }
}
