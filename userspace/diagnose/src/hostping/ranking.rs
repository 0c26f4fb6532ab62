//! Which links the tests accuse, by the number of NICs that do.
//!
//! A busy NIC proves no link normal, so that good links are accused too. The link that most NICs accuse is most likely
//! the abnormal one.

use super::judge::{Status, Test};
use super::tomography::proven;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// A link that tests accuse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accused {
    /// The link.
    pub link: usize,
    /// Number of NICs with an abnormal test over it.
    pub nics: usize,
    /// Number of abnormal tests over it.
    pub abnormal_tests: usize,
    /// Number of tests over it.
    pub tests: usize,
}

impl Accused {
    /// Most NICs first; of equals, the link whose tests are abnormal without exception, then the one with more of them.
    fn order(&self, other: &Self) -> core::cmp::Ordering {
        let share = |one: &Self, of: &Self| one.abnormal_tests * of.tests;
        let by_nics = other.nics.cmp(&self.nics);
        let by_share = share(other, self).cmp(&share(self, other));
        by_nics
            .then(by_share)
            .then(other.abnormal_tests.cmp(&self.abnormal_tests))
    }

    /// Whether the tests cannot tell it from another.
    #[must_use]
    pub fn is_equal(&self, other: &Self) -> bool {
        self.order(other).is_eq()
    }
}

/// Ranks the links that no normal test clears.
#[must_use]
pub fn rank(tests: &[Test], links: usize) -> Vec<Accused> {
    let normal = proven(tests);
    let accused = |link: usize| {
        let over = || tests.iter().filter(move |test| test.path.links.contains(&link));
        let abnormal = || over().filter(|test| test.status == Status::Abnormal);
        let nics: BTreeSet<usize> = abnormal().map(|test| test.nic).collect();
        Accused {
            link,
            nics: nics.len(),
            abnormal_tests: abnormal().count(),
            tests: over().count(),
        }
    };
    let all = (0..links).filter(|link| !normal.contains(link)).map(accused);
    let mut all: Vec<Accused> = all.filter(|accused| accused.nics > 0).collect();
    all.sort_by(Accused::order);
    all
}
