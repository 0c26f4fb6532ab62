//! Exact answers: sets and maps. Those of `hashbrown` use the flow hash directly; those of `std` hash it again with
//! their default hasher.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::hash::{BuildHasherDefault, Hasher};

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, Key, largest};

/// Uses a flow hash as the hash.
#[derive(Default)]
pub struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Never called: a map with this hasher has only hashes as keys.
    fn write(&mut self, _: &[u8]) {}
}

struct Set {
    hashes: HashSet<u64>,
    keys: HashSet<Key>,
}

struct FastSet {
    hashes: hashbrown::HashSet<u64, BuildHasherDefault<Identity>>,
    keys: hashbrown::HashSet<Key>,
}

macro_rules! contender {
    ($set:ident) => {
        impl Contender for $set {
            fn feed(&mut self, hashes: &[FlowHash]) {
                for &FlowHash(hash) in hashes {
                    self.hashes.insert(hash);
                }
            }

            fn feed_keys(&mut self, keys: &[Key]) -> bool {
                for key in keys {
                    self.keys.insert(*key);
                }
                true
            }

            fn flows(&self) -> f64 {
                self.hashes.len() as f64
            }
        }
    };
}

contender!(Set);
contender!(FastSet);

pub fn fast_set() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(FastSet {
        hashes: Default::default(),
        keys: Default::default(),
    }))
}

pub fn std_set() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(Set {
        hashes: HashSet::new(),
        keys: HashSet::new(),
    }))
}

struct FastMap {
    hashes: hashbrown::HashMap<u64, u64, BuildHasherDefault<Identity>>,
    keys: hashbrown::HashMap<Key, u64>,
}

impl Contender for FastMap {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            *self.hashes.entry(hash).or_default() += 1;
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            *self.keys.entry(*key).or_default() += 1;
        }
        true
    }

    fn size(&self, hash: u64) -> u64 {
        self.hashes.get(&hash).copied().unwrap_or_default()
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        largest(self.hashes.iter().map(|(&hash, &size)| (hash, size)).collect(), k)
    }
}

pub fn fast_map() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(FastMap {
        hashes: Default::default(),
        keys: Default::default(),
    }))
}

struct Map {
    hashes: HashMap<u64, u64>,
    keys: HashMap<Key, u64>,
}

impl Contender for Map {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            *self.hashes.entry(hash).or_default() += 1;
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            *self.keys.entry(*key).or_default() += 1;
        }
        true
    }

    fn size(&self, hash: u64) -> u64 {
        self.hashes.get(&hash).copied().unwrap_or_default()
    }
}

pub fn std_map() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(Map {
        hashes: HashMap::new(),
        keys: HashMap::new(),
    }))
}
