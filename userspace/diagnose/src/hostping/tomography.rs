//! Binary tomography: which links explain the abnormal tests.
//!
//! 1. All links are uncertain.
//! 2. Every link on the path of a normal test is normal.
//! 3. A link that carried clearly more than a slow test elsewhere is not why that test is slow.
//! 4. The abnormal links are the fewest that explain every abnormal test. Links that explain the same tests cannot be
//!    distinguished: they form a set, of which at least one link is abnormal.
//!
//! Steps 1 and 2 are Hostping's, which then marks every uncertain link on an abnormal path. A NIC whose own PCIe link is
//! slow has no normal test: that rule would also accuse the links behind it.

use super::judge::{Judgement, Status, Test};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// What the tests say of the links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inference {
    /// Abnormal links.
    pub abnormal: Vec<usize>,
    /// Sets of links of which at least one is abnormal, and which the tests cannot tell apart.
    pub ambiguous: Vec<Vec<usize>>,
    /// Links of which the tests say nothing.
    pub unproven: Vec<usize>,
    /// Abnormal tests, by number, that no abnormal link explains: all of their links passed other tests.
    pub unexplained: Vec<usize>,
}

/// A link carried clearly more if it is above the slow test by this share.
const CLEARLY_MORE: f64 = 0.25;
/// Or by this many standard deviations of the values.
const DEVIATIONS: f64 = 8.0;
/// More links at once are one set: their number alone would be a guess.
const MAX_LINKS: usize = 6;
/// Equally small explanations that are compared.
const MAX_EXPLANATIONS: usize = 256;

/// Infers the abnormal ones of this number of links.
#[must_use]
pub fn infer(judgement: &Judgement, links: usize) -> Inference {
    let tests = &judgement.tests;
    let normal = proven(tests);
    let carried = carried(tests, links);
    let above = 1.0 + CLEARLY_MORE.max(DEVIATIONS * judgement.noise_ratio.unwrap_or_default());
    let mut inference = Inference::default();
    // For each abnormal test, the links that can explain it.
    let mut suspects: Vec<BTreeSet<usize>> = Vec::new();
    for (at, test) in tests
        .iter()
        .enumerate()
        .filter(|(_, test)| test.status == Status::Abnormal)
    {
        let is_uncertain = |link: &usize| !normal.contains(link);
        let explains = |link: &usize| match test.bandwidth_gbps.filter(|_| test.is_slow) {
            Some(bandwidth) => carried[*link] <= bandwidth * above,
            None => true,
        };
        let uncertain: BTreeSet<usize> = test.path.links.iter().copied().filter(is_uncertain).collect();
        let explaining: BTreeSet<usize> = uncertain.iter().copied().filter(explains).collect();
        if explaining.is_empty() {
            inference.unexplained.push(at);
        } else if !suspects.contains(&explaining) {
            suspects.push(explaining);
        }
    }
    explain(&suspects, &mut inference);
    let Inference {
        abnormal, unexplained, ..
    } = &mut inference;
    unexplained.retain(|at| {
        let links = tests.get(*at).map(|test| &test.path.links);
        !links.is_some_and(|links| links.iter().any(|link| abnormal.contains(link)))
    });
    let crossed: BTreeSet<usize> = inference
        .abnormal
        .iter()
        .chain(inference.ambiguous.iter().flatten())
        .copied()
        .collect();
    inference.unproven = (0..links)
        .filter(|link| !normal.contains(link) && !crossed.contains(link))
        .collect();
    inference
}

/// The links on normal paths.
pub(super) fn proven(tests: &[Test]) -> BTreeSet<usize> {
    let normal = tests.iter().filter(|test| test.status == Status::Normal);
    normal.flat_map(|test| test.path.links.iter().copied()).collect()
}

/// The most that each link carried, in Gbit/s.
fn carried(tests: &[Test], links: usize) -> Vec<f64> {
    let mut carried = vec![0.0_f64; links];
    for test in tests {
        for link in &test.path.links {
            carried[*link] = carried[*link].max(test.bandwidth_gbps.unwrap_or_default());
        }
    }
    carried
}

/// Finds the fewest links that hit every set of suspects.
fn explain(suspects: &[BTreeSet<usize>], inference: &mut Inference) {
    let (classes, sets) = classes(suspects);
    // A test with one suspect decides on it.
    let certain: BTreeSet<usize> = sets.iter().filter(|set| set.len() == 1).flatten().copied().collect();
    let open: Vec<&BTreeSet<usize>> = sets.iter().filter(|set| set.is_disjoint(&certain)).collect();
    let mut explanations: Vec<BTreeSet<usize>> = Vec::new();
    for size in 0..=MAX_LINKS {
        search(&open, &mut BTreeSet::new(), size, &mut explanations);
        if !explanations.is_empty() {
            break;
        }
    }
    // Without a small explanation, every suspect remains.
    let everything = || open.iter().flat_map(|set| set.iter().copied()).collect();
    let in_some: BTreeSet<usize> = match explanations.is_empty() {
        true => everything(),
        false => explanations.iter().flatten().copied().collect(),
    };
    let in_all = |class: &usize| !explanations.is_empty() && explanations.iter().all(|one| one.contains(class));
    let agreed: BTreeSet<usize> = in_some.iter().copied().filter(in_all).chain(certain).collect();
    for class in &agreed {
        match classes[*class].as_slice() {
            [link] => inference.abnormal.push(*link),
            several => inference.ambiguous.push(several.to_vec()),
        }
    }
    let left: Vec<BTreeSet<usize>> = open
        .iter()
        .filter(|set| set.is_disjoint(&agreed))
        .map(|set| set.intersection(&in_some).copied().collect())
        .collect();
    for set in joined(left) {
        let mut links: Vec<usize> = set.iter().flat_map(|class| classes[*class].iter().copied()).collect();
        links.sort_unstable();
        inference.ambiguous.push(links);
    }
    inference.abnormal.sort_unstable();
    inference.ambiguous.sort();
}

/// Groups links that are suspects of the same tests, and rewrites the sets in terms of the groups.
fn classes(suspects: &[BTreeSet<usize>]) -> (Vec<Vec<usize>>, Vec<BTreeSet<usize>>) {
    let mut tests_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (test, set) in suspects.iter().enumerate() {
        for link in set {
            tests_of.entry(*link).or_default().push(test);
        }
    }
    let mut classes: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (link, tests) in tests_of {
        classes.entry(tests).or_default().push(link);
    }
    let mut sets = vec![BTreeSet::new(); suspects.len()];
    for (class, tests) in classes.keys().enumerate() {
        for test in tests {
            sets[*test].insert(class);
        }
    }
    (classes.into_values().collect(), sets)
}

/// Adds every choice of at most `size` more classes that hits all sets.
fn search(open: &[&BTreeSet<usize>], chosen: &mut BTreeSet<usize>, size: usize, found: &mut Vec<BTreeSet<usize>>) {
    let unhit = open.iter().filter(|set| set.is_disjoint(chosen));
    let Some(smallest) = unhit.min_by_key(|set| set.len()) else {
        if !found.contains(chosen) {
            found.push(chosen.clone());
        }
        return;
    };
    if size == 0 || found.len() >= MAX_EXPLANATIONS {
        return;
    }
    for class in smallest.iter() {
        chosen.insert(*class);
        search(open, chosen, size - 1, found);
        chosen.remove(class);
    }
}

/// Joins sets that overlap.
fn joined(sets: Vec<BTreeSet<usize>>) -> Vec<BTreeSet<usize>> {
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for mut set in sets {
        groups.retain(|group| {
            let is_apart = group.is_disjoint(&set);
            if !is_apart {
                set.extend(group.iter().copied());
            }
            is_apart
        });
        groups.push(set);
    }
    groups
}
