//! The values of a window, grouped by key.

use alloc::vec;
use alloc::vec::Vec;

/// Values in the order of their keys; keys are numbers from 0.
#[derive(Debug, Default)]
pub(crate) struct ByKey<T> {
    /// Where the values of each key begin, and the end of the last.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Copy + Default> ByKey<T> {
    /// Groups values by key, in order of arrival; every key is below `keys`.
    pub(crate) fn group(keys: usize, values: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0_usize; keys + 1];
        for (key, _) in values.clone() {
            starts[key as usize + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut sorted = vec![T::default(); starts[keys]];
        let mut next = starts.clone();
        for (key, value) in values {
            let at = &mut next[key as usize];
            sorted[*at] = value;
            *at += 1;
        }
        Self { starts, values: sorted }
    }

    /// The values of a key.
    pub(crate) fn of(&self, key: u32) -> &[T] {
        let bound = |key: usize| self.starts.get(key).copied();
        let key = key as usize;
        let bounds = bound(key).zip(bound(key + 1));
        bounds.map_or(&[], |(from, to)| &self.values[from..to])
    }

    /// Iterates over the values of each key.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.starts.windows(2).map(|bounds| &self.values[bounds[0]..bounds[1]])
    }

    /// The same, to change them.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let mut rest = self.values.as_mut_slice();
        self.starts.windows(2).map(move |bounds| {
            let (of_key, behind) = core::mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
            rest = behind;
            of_key
        })
    }

    /// All values, to change their order: then they are no longer grouped.
    pub(crate) fn into_values(self) -> Vec<T> {
        self.values
    }

    /// All values.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::ByKey;

    #[test]
    fn values_are_grouped_by_key_and_keep_their_order() {
        let values = [(2, 'c'), (0, 'a'), (2, 'd'), (0, 'b')];
        let mut grouped = ByKey::group(4, values.into_iter());
        assert_eq!(grouped.of(0), ['a', 'b']);
        assert_eq!((grouped.of(1), grouped.of(4)), (&[][..], &[][..]));
        assert_eq!(grouped.of(2), ['c', 'd']);
        assert_eq!(grouped.values().len(), 4);
        let lengths = grouped.each_mut().map(|of_key| of_key.len());
        assert!(lengths.eq([2, 0, 2, 0]));
    }
}
