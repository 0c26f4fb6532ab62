//! `cargo xtask bench`: one file per benchmark.

mod agent;
mod agents;
mod capture;
mod collective;
mod cost;
mod counters;
mod day;
mod file;
mod memory;
mod mesh;
mod paper;
mod probe;
mod sketches;
mod truth;
mod view;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["agent", options @ ..] => agent::run(options),
        ["agents", options @ ..] => agents::run(options),
        ["capture", options @ ..] => capture::run(options),
        ["collective", options @ ..] => collective::run(options),
        ["counters", options @ ..] => counters::run(options),
        ["day", options @ ..] => day::run(options),
        ["file", options @ ..] => file::run(options),
        ["memory"] => memory::run(),
        ["mesh", options @ ..] => mesh::run(options),
        ["sketches", options @ ..] => sketches::run(options),
        ["paper", options @ ..] => paper::run(options),
        ["probe", options @ ..] => probe::run(options),
        ["truth", options @ ..] => truth::run(options),
        ["view", options @ ..] => view::run(options),
        _ => {
            bail!(
                "usage: cargo xtask bench agent, agents, capture, collective, counters, day, file, memory, mesh, paper, probe, sketches, truth or view"
            )
        }
    }
}
