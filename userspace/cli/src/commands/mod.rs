//! One file for each subcommand.

mod agent;
mod capture;
mod collective;
mod collector;
mod compare;
mod config;
mod connections;
mod counters;
mod dataset;
mod demo;
mod diagnose;
mod doctor;
mod extract;
mod generate;
mod hostping;
mod incidents;
mod input;
mod judging;
mod membership;
mod paths;
mod probe;
mod readable;
mod report;
mod restore_vlan_offload;
mod run;
mod serve;
mod span;
mod top;
mod topology;

use crate::arguments::{Arguments, Command};
use anyhow::Result;
use std::process::ExitCode;

/// Runs the subcommand.
///
/// # Errors
/// What failed, in one line.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Agent(arguments) => agent::run(arguments),
        Command::Capture(arguments) => capture::run(arguments),
        Command::Collective(action) => collective::run(action),
        Command::Collector(action) => collector::run(action),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Config(action) => config::run(action, arguments.config.as_deref()),
        Command::Connections(arguments) => connections::run(arguments),
        Command::Counters(arguments) => counters::run(arguments),
        Command::Dataset(action) => dataset::run(action),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Diagnose(arguments) => diagnose::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Extract(arguments) => extract::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Hostping(action) => hostping::run(action),
        Command::Incidents(action) => incidents::run(action),
        Command::Paths(action) => paths::run(action),
        Command::Probe(arguments) => probe::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::RestoreVlanOffload(arguments) => restore_vlan_offload::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Top(arguments) => top::run(arguments),
        Command::Topology(action) => topology::run(action),
    }
}
