//! Whom a NIC probes next and from which source port: by chance, and each as often as any other.
//!
//! Hostmesh draws both anew for every probe (section 3.3). Then of 24 5-tuples that are probed 200 times in a window
//! one in twelve gets four probes or fewer, too few to tell that it alone is lost. So all pairs are dealt like cards:
//! in an order by chance, each once before any comes again.

use fastrand::Rng;

/// All pairs of another NIC and a place in the pool of ports, four bytes each.
#[derive(Clone, Debug)]
pub struct Deck {
    cards: Vec<Card>,
    /// Those before this are still to be dealt.
    left: usize,
}

/// What one probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Card {
    /// Which of the other NICs, from 0.
    pub other: u16,
    /// Which place of the pool, from 0.
    pub port: u16,
}

impl Deck {
    /// For so many other NICs and ports; at least one of each.
    #[must_use]
    pub fn new(others: u16, ports: u16) -> Self {
        let pairs = |other| (0..ports.max(1)).map(move |port| Card { other, port });
        Self {
            cards: (0..others.max(1)).flat_map(pairs).collect(),
            left: 0,
        }
    }

    /// The next one.
    pub fn deal(&mut self, rng: &mut Rng) -> Card {
        if self.left == 0 {
            self.left = self.cards.len();
        }
        let at = rng.usize(..self.left);
        self.left -= 1;
        self.cards.swap(at, self.left);
        self.cards[self.left]
    }
}

#[cfg(test)]
mod tests {
    use super::Deck;
    use fastrand::Rng;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn no_pair_comes_again_before_all_have_come(
            others in 1u16..8, ports in 1u16..10, seed: u64, turns in 0usize..300
        ) {
            let mut rng = Rng::with_seed(seed);
            let mut deck = Deck::new(others, ports);
            let mut dealt = HashMap::new();
            for _ in 0..turns {
                *dealt.entry(deck.deal(&mut rng)).or_insert(0) += 1;
            }
            let all = usize::from(others * ports);
            let least = if dealt.len() < all { 0 } else { turns / all };
            for (card, count) in dealt {
                prop_assert!(card.other < others && card.port < ports);
                prop_assert!((least..=turns.div_ceil(all)).contains(&count));
            }
        }
    }

    #[test]
    fn the_order_differs_from_deal_to_deal() {
        let mut rng = Rng::with_seed(1);
        let mut deck = Deck::new(3, 8);
        let mut deal = || (0..24).map(|_| deck.deal(&mut rng)).collect::<Vec<_>>();
        assert_ne!(deal(), deal());
    }
}
