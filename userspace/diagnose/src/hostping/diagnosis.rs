//! The whole diagnosis: tests judged, links inferred, causes named.

use super::causes::{Finding, causes};
use super::judge::{Judge, Judgement, common_links};
use super::measured::Matrix;
use super::ranking::{Accused, rank};
use super::tomography::{Inference, infer};
use super::topology::Topology;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// What is wrong inside a host.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The tests, judged.
    pub judgement: Judgement,
    /// The links.
    pub inference: Inference,
    /// Links that tests accuse, the most likely first.
    pub ranking: Vec<Accused>,
    /// Root causes, the likely ones first.
    pub causes: Vec<Finding>,
    /// Whether NICs carried traffic.
    pub is_busy: bool,
    /// Links on all paths of busy NICs whose counters are unknown: the tests of such a NIC cannot show them.
    pub unseen: Vec<usize>,
}

impl Judge<'_> {
    /// Diagnoses what was measured.
    #[must_use]
    pub fn diagnose(&self, measured: &Matrix) -> Diagnosis {
        let judgement = self.judge(measured);
        let links = self.topology.links.len();
        let ranking = rank(&judgement.tests, links);
        let is_busy = judgement.tests.iter().any(|test| test.is_busy);
        let inference = if is_busy {
            first_ranked(&judgement, &ranking, self.topology)
        } else {
            infer(&judgement, links)
        };
        let causes = causes(self.topology, &judgement, &inference, is_busy, self.loads);
        let unseen = self.unseen(&judgement, &inference);
        Diagnosis {
            unseen,
            judgement,
            inference,
            ranking,
            causes,
            is_busy,
        }
    }

    fn unseen(&self, judgement: &Judgement, inference: &Inference) -> Vec<usize> {
        let has_no_load = |nic: &&usize| self.loads.iter().all(|load| load.nic != **nic);
        let mut unseen = BTreeSet::new();
        for nic in self.busy.iter().filter(has_no_load) {
            unseen.extend(common_links(&judgement.tests, *nic));
        }
        // A link that other tests prove something of is seen.
        unseen.retain(|link| inference.unproven.contains(link));
        unseen.into_iter().collect()
    }
}

/// On a busy host, the link that most NICs accuse; links that are equal are one set.
fn first_ranked(judgement: &Judgement, ranking: &[Accused], topology: &Topology) -> Inference {
    let equal = ranking.iter().take_while(|accused| accused.is_equal(&ranking[0]));
    let first: Vec<usize> = equal.map(|accused| accused.link).collect();
    let normal = super::tomography::proven(&judgement.tests);
    let known: BTreeSet<usize> = first.iter().copied().chain(normal).collect();
    let mut inference = Inference {
        unproven: (0..topology.links.len()).filter(|link| !known.contains(link)).collect(),
        ..Inference::default()
    };
    match first.len() {
        0 => {}
        1 => inference.abnormal = first,
        _ => inference.ambiguous.push(first),
    }
    inference
}
