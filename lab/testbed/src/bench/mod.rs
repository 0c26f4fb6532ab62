//! `cargo xtask bench`: one file per benchmark.

mod agent;
mod agents;
mod all;
mod analyses;
mod capture;
mod cost;
mod counters;
mod day;
mod figure;
mod file;
mod instructions;
mod memory;
mod probe;
mod queue_pairs;
mod reading;
mod sketches;
mod view;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["agent", options @ ..] => agent::run(options),
        ["agents", options @ ..] => agents::run(options),
        ["all", options @ ..] => all::run(options),
        ["capture", options @ ..] => capture::run(options),
        ["counters", options @ ..] => counters::run(options),
        ["day", options @ ..] => day::run(options),
        ["file", options @ ..] => file::run(options),
        ["instructions", options @ ..] => instructions::run(options),
        ["memory"] => memory::run(),
        ["sketches", options @ ..] => sketches::run(options),
        ["probe", options @ ..] => probe::run(options),
        ["view", options @ ..] => view::run(options),
        _ => {
            bail!(
                "usage: cargo xtask bench all, agent, agents, capture, counters, day, file, instructions, memory, probe, sketches or view"
            )
        }
    }
}
