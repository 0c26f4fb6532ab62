//! Linear Counting, Count-Min, heavy hitters and jitter: mergeable, with error bounds.
#![no_std]
