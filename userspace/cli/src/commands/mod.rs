//! One file for each subcommand.

mod agent;
mod capture;
mod collect;
mod collective;
mod compact;
mod compare;
mod completions;
mod config;
mod connections;
mod control;
mod counters;
mod demo;
mod diagnose;
mod doctor;
mod extract;
mod generate;
mod hostping;
mod incidents;
mod input;
mod judging;
mod man;
mod membership;
mod merge;
mod paths;
mod probe;
mod program;
mod readable;
mod repair;
mod report;
mod restore_vlan_offload;
mod schema;
mod span;
mod top;
mod topology;
mod verify;

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
        Command::Collect(arguments) => collect::run(arguments),
        Command::Collective(action) => collective::run(action),
        Command::Compact(arguments) => compact::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Completions(arguments) => completions::run(*arguments),
        Command::Config(action) => config::run(*action, arguments.config.as_deref()),
        Command::Connections(arguments) => connections::run(arguments),
        Command::Control(arguments) => control::run(arguments),
        Command::Counters(arguments) => counters::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Diagnose(arguments) => diagnose::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Extract(arguments) => extract::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Hostping(action) => hostping::run(action),
        Command::Incidents(action) => incidents::run(action),
        Command::Man(arguments) => man::run(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Paths(action) => paths::run(action),
        Command::Probe(arguments) => probe::run(arguments),
        Command::Repair(arguments) => repair::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::RestoreVlanOffload(arguments) => restore_vlan_offload::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Ship(arguments) => program::start("rocescope-ship", arguments),
        Command::Sql(arguments) => program::start("rocescope-sql", arguments),
        Command::Top(arguments) => top::run(arguments),
        Command::Topology(action) => topology::run(action),
        Command::Verify(arguments) => verify::run(arguments),
    }
}
