//! `cargo xtask bench capture`: what live capture costs, and what it loses.
//!
//! | module | what it measures |
//! |---|---|
//! | `test_run` | part a: nanoseconds a packet in the kernel |

mod test_run;

use anyhow::{Result, bail};

pub(super) fn run(options: &[&str]) -> Result<()> {
    match options {
        ["--part", "a", options @ ..] => test_run::run(options),
        _ => bail!("which part? cargo xtask bench capture --part a"),
    }
}
