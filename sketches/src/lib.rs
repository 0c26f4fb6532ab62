//! Linear Counting, Count-Min, heavy hitters and jitter: mergeable, with error bounds.
//!
//! What a window of traffic becomes when it is too large to keep. Nothing here reads a clock, a
//! file or a source of randomness: seeds and window numbers are passed in, so the same packets
//! always give the same bytes. A flow key is hashed once, by [`hash::hash_words`]; every sketch
//! takes that [`FlowHash`] and none hashes again.
//!
//! | module | question | answer | merge |
//! |---|---|---|---|
//! | [`hash`] | which 64 bits stand for this flow? | [`FlowHash`] | – |
//! | [`linear_counting`] | how many flows were there? | estimate, standard error | equal to the byte |
//! | [`hyper_log_log`] | how many, where a bitmap is full? | estimate, standard error | equal to the byte |
//! | [`count_min`] | how much did this flow send? | upper bound, ε and δ | equal to the byte if plain |
//! | [`heavy_hitters`] | which flows sent most? | lower and upper bound each | bounds kept |
//! | [`quantiles`] | how long did it take? | quantiles within 0.8 % at first | bounds kept |
//! | [`jitter`] | whose rate changed? | one event a change | – |
//!
//! Invariants that every sketch keeps, and that its tests state:
//!
//! - Bounds are never crossed: an upper bound is at or above the truth, a lower one at or below.
//! - Nothing is allocated after construction (exports that return a `Vec` and the 64 buckets of
//!   [`quantiles`] excepted).
//! - Counters never wrap. What can overflow stops at its ceiling and says so.
//! - A merge of sketches with different parameters is refused with [`Mismatch`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod count_min;
pub mod hash;
pub mod heavy_hitters;
pub mod hyper_log_log;
pub mod jitter;
pub mod linear_counting;
mod mismatch;
pub mod quantiles;

pub use count_min::CountMin;
pub use hash::FlowHash;
pub use heavy_hitters::HeavyHitters;
pub use hyper_log_log::HyperLogLog;
pub use jitter::Jitter;
pub use linear_counting::LinearCounting;
pub use mismatch::Mismatch;
pub use quantiles::Quantiles;
