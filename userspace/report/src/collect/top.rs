//! The items with the highest ranks.

use std::collections::BTreeMap;

/// Keeps the items with the highest ranks. Of equal ranks, the first one stays.
#[derive(Debug, Clone)]
pub(super) struct Top<R, T> {
    max: usize,
    /// By rank, then by arrival, the latest first: the lowest is the first entry.
    items: BTreeMap<(R, std::cmp::Reverse<u64>), T>,
    arrivals: u64,
}

impl<R: Ord, T> Top<R, T> {
    pub(super) const fn new(max: usize) -> Self {
        Self {
            max,
            items: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Adds an item if its rank is among the highest; creates it only then.
    pub(super) fn offer(&mut self, rank: R, item: impl FnOnce() -> T) {
        let full = self.items.len() >= self.max;
        let min = self.items.first_key_value();
        if full && min.is_none_or(|((min, _), _)| rank <= *min) {
            return;
        }
        self.arrivals += 1;
        self.items.insert((rank, std::cmp::Reverse(self.arrivals)), item());
        if self.items.len() > self.max {
            self.items.pop_first();
        }
    }

    /// Returns the items, highest rank first.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.items.into_values().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Top;

    #[test]
    fn the_greatest_stay_and_of_equals_the_first() {
        let mut top = Top::new(3);
        for (rank, name) in [(1, "a"), (5, "b"), (5, "c"), (2, "d"), (2, "e"), (9, "f")] {
            top.offer(rank, || name);
        }
        assert_eq!(top.into_sorted(), ["f", "b", "c"]);
    }

    #[test]
    fn none_are_asked_for() {
        let mut top = Top::new(0);
        top.offer(1, || "a");
        assert_eq!(top.into_sorted(), [""; 0]);
    }
}
