//! `rocescope top` in a terminal, which tmux provides.
#![expect(clippy::unwrap_used, reason = "it is a test")]

#[path = "../simulated/mod.rs"]
mod simulated;
mod top;
