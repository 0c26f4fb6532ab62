//! Every test of headers in one executable: each links for seconds.
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod by_hand;
mod cm;
mod etherparse;
mod frames;
#[cfg(feature = "icrc")]
mod icrc;
mod mrc;
mod oracle;
mod reach;
mod uet;
