//! One round of samples of a port, a queue or a priority: the values that belong to one reading.
//!
//! A switch sends the values of a port one by one, and those of each subscription at a time of their own. A reading has
//! each of them once. It is whole when it has all that the reading before had, or when one comes again; before the switch
//! has sent everything once (`synchronized`), only the second counts.

use crate::switch::Reading;

/// A part of a switch.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    open: Option<Round>,
    /// The values of the last whole reading.
    expected: Vec<u32>,
}

/// A reading that is not whole.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) reading: Reading,
    /// Which values it has, by number.
    pub(super) has: Vec<u32>,
}

impl Rounds {
    /// The round that a value with this number belongs to, and the one that it ends.
    pub(super) fn at(&mut self, value: u32, first: impl FnOnce() -> Reading) -> (&mut Round, Option<Round>) {
        let is_again = self.open.as_ref().is_some_and(|round| round.has.contains(&value));
        let ended = if is_again { self.take() } else { None };
        let open = self.open.get_or_insert_with(|| Round {
            reading: first(),
            has: Vec::new(),
        });
        (open, ended)
    }

    /// Whether not this value, but another one of which this is true, is expected.
    pub(super) fn expects_instead(&self, value: u32, is_other: impl Fn(&u32) -> bool) -> bool {
        !self.expected.contains(&value) && self.expected.iter().any(is_other)
    }

    /// The round, if it is whole.
    pub(super) fn whole(&mut self) -> Option<Round> {
        let open = self.open.as_ref()?;
        let is_whole = !self.expected.is_empty() && self.expected.iter().all(|value| open.has.contains(value));
        if is_whole { self.take() } else { None }
    }

    /// Ends the round: the next one is to have the same values.
    pub(super) fn take(&mut self) -> Option<Round> {
        let round = self.open.take().filter(|round| !round.has.is_empty())?;
        self.expected.clone_from(&round.has);
        Some(round)
    }

    /// Gives up the round: returns how many values it had.
    pub(super) fn give_up(&mut self) -> usize {
        self.open.take().map_or(0, |round| round.has.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Rounds};

    /// The values of the readings that a sequence of values gives.
    fn readings(rounds: &mut Rounds, values: &[u32]) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        for value in values {
            let (round, ended) = rounds.at(*value, Reading::default);
            round.has.push(*value);
            found.extend(ended.map(|round| round.has));
            found.extend(rounds.whole().map(|round| round.has));
        }
        found
    }

    #[test]
    fn a_reading_has_each_value_once() {
        let mut rounds = Rounds::default();
        // Nothing is known of the first round: the second ends it.
        assert_eq!(readings(&mut rounds, &[1, 2, 3, 1]), [[1, 2, 3]]);
        assert_eq!(readings(&mut rounds, &[2, 3]), [[1, 2, 3]]);
        // Another order, and one value is missing for good.
        assert_eq!(readings(&mut rounds, &[3, 1, 3, 1]), [vec![3, 1], vec![3, 1]]);
        // One is new: it belongs to the reading that it came before.
        assert_eq!(readings(&mut rounds, &[1, 3, 4, 1, 3]), [vec![1, 3], vec![4, 1, 3]]);
        assert_eq!(readings(&mut rounds, &[4, 1]), Vec::<Vec<u32>>::new());
        assert_eq!(rounds.give_up(), 2);
        assert_eq!(readings(&mut rounds, &[4, 1, 3]), [[4, 1, 3]]);
    }
}
