//! Which step each rank of a collective sends, to whom, and whose data the next one needs.

use alloc::vec::Vec;

/// The algorithm of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// All-gather along a ring: n-1 steps.
    RingAllGather,
    /// All-reduce along a ring: 2(n-1) steps.
    RingAllReduce,
    /// All-reduce by halving and doubling over 2^k ranks: 2k steps.
    HalvingDoubling,
}

/// A step of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The rank that receives.
    pub to: usize,
    /// The rank whose data of the same step the next step needs.
    pub from: usize,
    /// Bytes.
    pub bytes: u64,
}

impl Algorithm {
    /// The steps of each rank. `bytes` is what a rank sends in a step of a ring, and in the first and last step of
    /// halving-doubling.
    #[must_use]
    pub fn plan(self, ranks: usize, bytes: u64) -> Vec<Vec<Planned>> {
        let ring = |steps: usize| {
            let step = |rank: usize| Planned {
                to: (rank + 1) % ranks,
                from: (rank + ranks - 1) % ranks,
                bytes,
            };
            (0..ranks)
                .map(|rank| (0..steps).map(|_| step(rank)).collect())
                .collect()
        };
        match self {
            Self::RingAllGather => ring(ranks - 1),
            Self::RingAllReduce => ring(2 * (ranks - 1)),
            Self::HalvingDoubling => {
                let levels = ranks.ilog2();
                let exchange = |rank: usize, level: u32| {
                    let partner = rank ^ (1 << (levels - 1 - level));
                    Planned {
                        to: partner,
                        from: partner,
                        bytes: bytes >> level,
                    }
                };
                let of_rank = |rank| {
                    (0..levels)
                        .chain((0..levels).rev())
                        .map(|level| exchange(rank, level))
                        .collect()
                };
                (0..1_usize << levels).map(of_rank).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn halving_doubling_meets_each_partner_twice_with_halves() {
        let plan = Algorithm::HalvingDoubling.plan(8, 800);
        let of_three: std::vec::Vec<(usize, u64)> = plan[3].iter().map(|step| (step.to, step.bytes)).collect();
        assert_eq!(of_three, [(7, 800), (1, 400), (2, 200), (2, 200), (1, 400), (7, 800)]);
    }

    #[test]
    fn a_ring_always_sends_to_the_next_rank() {
        let plan = Algorithm::RingAllReduce.plan(4, 10);
        assert_eq!(plan.iter().map(std::vec::Vec::len).sum::<usize>(), 24);
        assert!(plan[3].iter().all(|step| step.to == 0 && step.from == 2));
    }
}
