//! Counters of made devices, one for each driver.
//!
//! | module | what it holds |
//! |---|---|
//! | `catalogue` | every metric that the catalogue has for a driver, from its file to its row |
//! | `changes` | increase, wrap, reset; devices and files that come and go |
//! | `live` | this host: a pair of virtual interfaces, processors, memory |
//! | `tree` | the made devices |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod catalogue;
mod changes;
mod live;
mod tree;
