//! `cargo xtask bench`: one file per benchmark.

mod agent;
mod agents;
mod capture;
mod cost;
mod counters;
mod day;
mod file;
mod memory;
mod probe;
mod sketches;
mod view;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["agent", options @ ..] => agent::run(options),
        ["agents", options @ ..] => agents::run(options),
        ["capture", options @ ..] => capture::run(options),
        ["counters", options @ ..] => counters::run(options),
        ["day", options @ ..] => day::run(options),
        ["file", options @ ..] => file::run(options),
        ["memory"] => memory::run(),
        ["sketches", options @ ..] => sketches::run(options),
        ["probe", options @ ..] => probe::run(options),
        ["view", options @ ..] => view::run(options),
        _ => {
            bail!(
                "usage: cargo xtask bench agent, agents, capture, counters, day, file, memory, probe, sketches or view"
            )
        }
    }
}
