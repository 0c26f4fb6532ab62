//! A number for each value that a switch may send of a port: a leaf of a mapping, and a lane of it.

use std::collections::HashMap;

/// Numbers that are kept, at most.
const MAX_VALUES: usize = 65_536;

/// The numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: HashMap<(usize, usize, String), u32>,
    leaves: Vec<(usize, usize)>,
}

impl Numbers {
    /// The number of a mapping, a leaf of it and a lane.
    pub(super) fn of(&mut self, mapping: usize, leaf: usize, lane: String) -> Result<u32, &'static str> {
        let next = u32::try_from(self.leaves.len()).unwrap_or(u32::MAX);
        let key = (mapping, leaf, lane);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        if self.known.len() >= MAX_VALUES {
            return Err("too many lanes");
        }
        self.leaves.push((mapping, leaf));
        self.known.insert(key, next);
        Ok(next)
    }

    /// The mapping and the leaf of a number.
    pub(super) fn leaf(&self, number: u32) -> Option<(usize, usize)> {
        self.leaves.get(number as usize).copied()
    }
}
