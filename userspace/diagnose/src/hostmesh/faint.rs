//! Links that lose too few packets for a verdict in one window, over several windows.
//!
//! A link of 1,500 probes a window that loses 0.3 % drops five of them: no evidence alone, but enough after some
//! windows. So the drops that the scan of each window leaves unexplained are kept for two minutes. Over these windows
//! together, links are scored as in [`super::suspects`]: the best one first, then without its drops.

use super::cells::Cell;
use super::count::Count;
use super::names::Names;
use super::place::{Crossing, FaultLocation};
use super::settings::Settings;
use super::suspects::Suspect;
use super::tuples::Tuples;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Windows that count together: two minutes.
const WINDOWS: usize = 6;

/// Drops that no place explains, of the last windows.
#[derive(Debug, Default)]
pub(crate) struct Faint {
    windows: VecDeque<Unexplained>,
}

/// What the scan of one window leaves.
#[derive(Debug, Default)]
pub(crate) struct Unexplained {
    start_ns: i64,
    /// The probes over each link.
    probes: Vec<u64>,
    drops: Vec<Drops>,
}

/// Drops of one cell, and the links between switches that they crossed.
#[derive(Debug)]
struct Drops {
    links: Vec<u32>,
    drops: u64,
    corrupt: u64,
}

/// What earlier windows add to a suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Earlier {
    /// The windows with drops, the latest included.
    pub(crate) windows: usize,
    /// The start of the first of them.
    pub(crate) from_ns: i64,
    /// Of the drops, those that arrived with changed bytes.
    pub(crate) corrupt: u64,
}

impl Unexplained {
    /// Collects the probes and drops of cells.
    pub(crate) fn of(start_ns: i64, cells: &[&Cell], tuples: &Tuples, names: &Names) -> Self {
        let mut found = Self {
            start_ns,
            probes: vec![0; names.links.len()],
            drops: Vec::new(),
        };
        for cell in cells {
            let crossing = Crossing::of(cell, tuples);
            for link in crossing.inner(names) {
                found.probes[link as usize] += u64::from(cell.sent);
            }
            if cell.drops > 0 {
                found.drops.push(Drops {
                    links: crossing.inner(names).collect(),
                    drops: cell.drops.into(),
                    corrupt: cell.corrupt.into(),
                });
            }
        }
        found
    }
}

impl Faint {
    /// Adds a window; returns the links that explain the drops of the last windows and lost probes in this one, too.
    pub(crate) fn add(&mut self, window: Unexplained, settings: &Settings) -> Vec<Suspect> {
        let span = settings
            .window_ns
            .saturating_mul(i64::try_from(WINDOWS).unwrap_or(i64::MAX));
        let oldest = window.start_ns.saturating_sub(span);
        self.windows.push_back(window);
        while self.windows.front().is_some_and(|first| first.start_ns <= oldest) {
            self.windows.pop_front();
        }
        let links = self.windows.iter().map(|window| window.probes.len()).max().unwrap_or(0);
        let mut counts = vec![Count::default(); links];
        for window in &self.windows {
            for (count, probes) in counts.iter_mut().zip(&window.probes) {
                count.add(*probes, 0);
            }
        }
        let mut left: Vec<(usize, &Drops)> = Vec::new();
        for (number, window) in self.windows.iter().enumerate() {
            left.extend(window.drops.iter().map(|drops| (number, drops)));
        }
        for (_, drops) in &left {
            for link in &drops.links {
                counts[*link as usize].add(0, drops.drops);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "links are far below 2^53")]
        let needed = libm::log((links * WINDOWS) as f64 / settings.chance);
        let mut found = Vec::new();
        while let Some((link, score)) = best(&counts, settings).filter(|(_, score)| *score > needed) {
            let count = counts[link as usize];
            let (of_link, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, drops)| drops.links.contains(&link));
            left = others;
            for (_, drops) in &of_link {
                for link in &drops.links {
                    counts[*link as usize].take(0, drops.drops);
                }
            }
            if let Some(earlier) = self.earlier(&of_link) {
                let also = same(&counts, count, link, &of_link);
                found.push(Suspect {
                    also,
                    earlier: Some(earlier),
                    ..Suspect::new(FaultLocation::Link(link), count, score)
                });
            }
        }
        found
    }

    /// What the windows add, if the drops are in several of them, and in the last one: drops of a single window were
    /// judged there.
    fn earlier(&self, drops: &[(usize, &Drops)]) -> Option<Earlier> {
        let mut windows: Vec<usize> = drops.iter().map(|(number, _)| *number).collect();
        windows.sort_unstable();
        windows.dedup();
        let first = self.windows.get(*windows.first()?)?;
        (windows.len() > 1 && windows.last() == Some(&(self.windows.len() - 1))).then(|| Earlier {
            windows: windows.len(),
            from_ns: first.start_ns,
            corrupt: drops.iter().map(|(_, drops)| drops.corrupt).sum(),
        })
    }
}

/// The link with the highest score, if it has enough drops.
fn best(counts: &[Count], settings: &Settings) -> Option<(u32, f64)> {
    let mut best: Option<(u32, f64)> = None;
    for (link, count) in (0_u32..).zip(counts) {
        if count.anomalous <= settings.max_ignored {
            continue;
        }
        let score = count.score(settings.background);
        if best.is_none_or(|(_, best)| score > best) {
            best = Some((link, score));
        }
    }
    best
}

/// Links with the same probes and the same drops: the evidence cannot separate them.
fn same(rest: &[Count], of: Count, link: u32, drops: &[(usize, &Drops)]) -> Vec<FaultLocation> {
    let Some((_, first)) = drops.first() else {
        return Vec::new();
    };
    let others = first.links.iter().copied().filter(|other| *other != link);
    let has_all = |other: &u32| {
        let all = drops.iter().all(|(_, drops)| drops.links.contains(other));
        all && rest[*other as usize].probes == of.probes
    };
    others.filter(has_all).map(FaultLocation::Link).collect()
}
