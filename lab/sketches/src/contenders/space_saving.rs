//! Space-Saving as published: counters in a list of buckets of equal count (the stream summary), found through a hash
//! index. Only weight 1: a larger weight would have to walk the list.
//!
//! Memory per counter: key 8, error 4, three links of 2, a bucket of 10, and at least 2 × 2 bytes of index: 5,200
//! counters in 200 kB.

use std::error::Error;

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, largest};

const NONE: u16 = u16::MAX;
const COUNTERS: usize = 5_200;
const INDEX: usize = 16_384;

#[derive(Clone, Copy)]
struct Bucket {
    count: u32,
    first: u16,
    /// The bucket of the next larger count; also links free buckets.
    larger: u16,
    smaller: u16,
}

struct SpaceSaving {
    keys: Vec<u64>,
    errors: Vec<u32>,
    bucket_of: Vec<u16>,
    next: Vec<u16>,
    previous: Vec<u16>,
    buckets: Vec<Bucket>,
    free: u16,
    smallest: u16,
    /// Open addressing by the low bits of the key, linear probing.
    index: Vec<u16>,
}

pub fn contender() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(SpaceSaving {
        keys: Vec::with_capacity(COUNTERS),
        errors: Vec::with_capacity(COUNTERS),
        bucket_of: Vec::with_capacity(COUNTERS),
        next: Vec::with_capacity(COUNTERS),
        previous: Vec::with_capacity(COUNTERS),
        buckets: Vec::with_capacity(COUNTERS + 1),
        free: NONE,
        smallest: NONE,
        index: vec![NONE; INDEX],
    }))
}

impl SpaceSaving {
    /// The index position with `key`, or the empty one for it.
    fn find(&self, key: u64) -> usize {
        let mut at = key as usize % INDEX;
        while self.index[at] != NONE && self.keys[usize::from(self.index[at])] != key {
            at = (at + 1) % INDEX;
        }
        at
    }

    /// Empties an index position and closes the gap after it.
    fn unindex(&mut self, mut hole: usize) {
        let mut at = hole;
        self.index[hole] = NONE;
        loop {
            at = (at + 1) % INDEX;
            let counter = self.index[at];
            if counter == NONE {
                return;
            }
            let home = self.keys[usize::from(counter)] as usize % INDEX;
            if (at + INDEX - home) % INDEX >= (at + INDEX - hole) % INDEX {
                self.index[hole] = counter;
                self.index[at] = NONE;
                hole = at;
            }
        }
    }

    fn add(&mut self, key: u64) {
        let at = self.find(key);
        let counter = self.index[at];
        if counter != NONE {
            return self.increment(counter);
        }
        if self.keys.len() < COUNTERS {
            let counter = self.keys.len() as u16;
            self.index[at] = counter;
            self.keys.push(key);
            self.errors.push(0);
            for links in [&mut self.bucket_of, &mut self.next, &mut self.previous] {
                links.push(NONE);
            }
            return self.attach(counter, 1, NONE, self.smallest);
        }
        let bucket = self.buckets[usize::from(self.smallest)];
        let counter = bucket.first;
        self.unindex(self.find(self.keys[usize::from(counter)]));
        self.keys[usize::from(counter)] = key;
        self.errors[usize::from(counter)] = bucket.count;
        let at = self.find(key);
        self.index[at] = counter;
        self.increment(counter);
    }

    fn increment(&mut self, counter: u16) {
        let from = self.bucket_of[usize::from(counter)];
        let Bucket { count, larger, .. } = self.buckets[usize::from(from)];
        self.detach(counter, from);
        self.attach(counter, count + 1, from, larger);
        if self.buckets[usize::from(from)].first == NONE {
            self.release(from);
        }
    }

    fn detach(&mut self, counter: u16, bucket: u16) {
        let (before, after) = (self.previous[usize::from(counter)], self.next[usize::from(counter)]);
        match before {
            NONE => self.buckets[usize::from(bucket)].first = after,
            before => self.next[usize::from(before)] = after,
        }
        if after != NONE {
            self.previous[usize::from(after)] = before;
        }
    }

    /// Puts a counter into the bucket of `count`, which is `larger` or between both.
    fn attach(&mut self, counter: u16, count: u32, smaller: u16, larger: u16) {
        let fits = larger != NONE && self.buckets[usize::from(larger)].count == count;
        let bucket = if fits {
            larger
        } else {
            self.insert(count, smaller, larger)
        };
        let first = self.buckets[usize::from(bucket)].first;
        if first != NONE {
            self.previous[usize::from(first)] = counter;
        }
        self.next[usize::from(counter)] = first;
        self.previous[usize::from(counter)] = NONE;
        self.bucket_of[usize::from(counter)] = bucket;
        self.buckets[usize::from(bucket)].first = counter;
    }

    fn insert(&mut self, count: u32, smaller: u16, larger: u16) -> u16 {
        let new = Bucket {
            count,
            first: NONE,
            larger,
            smaller,
        };
        let at = match self.free {
            NONE => {
                self.buckets.push(new);
                (self.buckets.len() - 1) as u16
            }
            free => {
                self.free = self.buckets[usize::from(free)].larger;
                self.buckets[usize::from(free)] = new;
                free
            }
        };
        self.link(smaller, at);
        if larger != NONE {
            self.buckets[usize::from(larger)].smaller = at;
        }
        at
    }

    fn release(&mut self, bucket: u16) {
        let Bucket { smaller, larger, .. } = self.buckets[usize::from(bucket)];
        self.link(smaller, larger);
        if larger != NONE {
            self.buckets[usize::from(larger)].smaller = smaller;
        }
        self.buckets[usize::from(bucket)].larger = self.free;
        self.free = bucket;
    }

    fn link(&mut self, smaller: u16, larger: u16) {
        match smaller {
            NONE => self.smallest = larger,
            smaller => self.buckets[usize::from(smaller)].larger = larger,
        }
    }
}

impl Contender for SpaceSaving {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.add(hash);
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let count = |&bucket: &u16| u64::from(self.buckets[usize::from(bucket)].count);
        let counts = self.bucket_of.iter().map(count);
        largest(self.keys.iter().copied().zip(counts).collect(), k)
    }
}
