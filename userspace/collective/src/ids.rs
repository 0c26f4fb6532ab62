//! Small numbers for values that repeat.

use alloc::vec::Vec;
use core::hash::Hash;
use hashbrown::HashMap;

/// Numbers values in the order of their first use.
#[derive(Debug, Clone)]
pub(crate) struct Ids<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

/// The numbers follow from the order of the values.
impl<T: PartialEq> PartialEq for Ids<T> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<T: Clone + Eq + Hash> Ids<T> {
    /// The number of this value.
    pub(crate) fn of(&mut self, value: &T) -> u32 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value.clone());
        self.numbers.insert(value.clone(), number);
        number
    }

    /// The number of this value if it has one.
    pub(crate) fn find(&self, value: &T) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}
