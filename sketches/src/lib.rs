//! Linear Counting, Count-Min, heavy hitters and jitter: mergeable, with error bounds.
//!
//! They summarize a window of traffic that is too large to keep. No code here reads a clock, a file or a source of
//! randomness: seeds and window numbers are arguments, so the same packets always give the same bytes.
//! [`hash::hash_words`] hashes a flow key once; every sketch accepts that [`FlowHash`] and none hashes again.
//!
//! | module | question | answer | merge |
//! |---|---|---|---|
//! | [`hash`] | which 64 bits identify this flow? | [`FlowHash`] | – |
//! | [`linear_counting`] | how many flows were there? | estimate, standard error | identical bytes |
//! | [`hyper_log_log`] | how many, after a bitmap is full? | estimate, standard error | identical bytes |
//! | [`count_min`] | how much did this flow send? | upper bound, ε and δ | identical bytes if plain |
//! | [`heavy_hitters`] | which flows sent most? | lower and upper bound each | bounds kept |
//! | [`quantiles`] | how long did it take? | quantiles within 0.8 % at first | bounds kept |
//! | [`jitter`] | whose rate changed? | one event per change | – |
//!
//! [`random`] is no sketch: random numbers of a seed, for who generates and simulates.
//!
//! Invariants of every sketch, which its tests check:
//!
//! - Bounds always hold: an upper bound is at or above the truth, a lower one at or below.
//! - Nothing is allocated after construction (except exports that return a `Vec`, and the 64 buckets of [`quantiles`]).
//! - Counters never wrap. A counter that could overflow stops at its ceiling and reports that.
//! - A merge of sketches with different parameters is rejected with [`Mismatch`].
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
pub mod random;

pub use count_min::CountMin;
pub use hash::FlowHash;
pub use heavy_hitters::HeavyHitters;
pub use hyper_log_log::HyperLogLog;
pub use jitter::Jitter;
pub use linear_counting::LinearCounting;
pub use mismatch::Mismatch;
pub use quantiles::Quantiles;
