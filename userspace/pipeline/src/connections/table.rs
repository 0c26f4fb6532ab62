//! The directions that are followed: found by key, forgotten by age.

use super::direction::Direction;
use super::key::Key;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashbrown::HashTable;

/// Directions by key and by number. A number is reused once its direction is removed.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    index: HashTable<(u32, u32)>,
    slots: Vec<Option<Box<Direction>>>,
    free: Vec<u32>,
    /// Hashes of all slots: the index is rebuilt without touching directions.
    hashes: Vec<u64>,
}

impl Directions {
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn get(&self, at: u32) -> Option<&Direction> {
        self.slots.get(at as usize)?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Direction> {
        self.slots.get_mut(at as usize)?.as_deref_mut()
    }

    /// Two directions at once.
    pub(crate) fn pair_mut(&mut self, a: u32, b: u32) -> Option<(&mut Direction, &mut Direction)> {
        let [a, b] = self.slots.get_disjoint_mut([a as usize, b as usize]).ok()?;
        Some((a.as_deref_mut()?, b.as_deref_mut()?))
    }

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let hash = key.hash();
        let tag = (hash >> 32) as u32;
        let found = self.index.find(hash, |(at, other)| {
            *other == tag && self.get(*at).is_some_and(|direction| direction.key == *key)
        });
        found.map(|(at, _)| *at)
    }

    /// The number of a direction that is not there yet.
    pub(crate) fn insert(&mut self, direction: Direction) -> u32 {
        let hash = direction.key.hash();
        let direction = Some(Box::new(direction));
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(slot) = self.slots.get_mut(at as usize) {
                    *slot = direction;
                }
                if let Some(slot) = self.hashes.get_mut(at as usize) {
                    *slot = hash;
                }
                at
            }
            None => {
                self.slots.push(direction);
                self.hashes.push(hash);
                self.slots.len() as u32 - 1
            }
        };
        let hashes = &self.hashes;
        self.index
            .insert_unique(hash, (at, (hash >> 32) as u32), |(at, _)| {
                hashes.get(*at as usize).copied().unwrap_or(0)
            });
        at
    }

    pub(crate) fn remove(&mut self, at: u32) -> Option<Box<Direction>> {
        let direction = self.slots.get_mut(at as usize)?.take()?;
        let hash = direction.key.hash();
        if let Ok(entry) = self.index.find_entry(hash, |(other, _)| *other == at) {
            entry.remove();
        }
        self.free.push(at);
        Some(direction)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.slots.len() as u32
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Direction)> {
        (0..)
            .zip(&self.slots)
            .filter_map(|(at, slot)| Some((at, slot.as_deref()?)))
    }
}
