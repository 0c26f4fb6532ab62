//! `rocescope collector`: the collector itself, and what operators ask it.
//!
//! | module | what it does |
//! |---|---|
//! | `run` | agents' rows over the network into one dataset, and the controller of agents and capture boxes |
//! | `certificates` | the certificates of a fleet |
//! | `operate` | which member of the fleet runs which version, and changes of the configuration |
//! | `status` | that status as text |
//! | `lines` | the lines that differ between two texts |

mod certificates;
mod lines;
mod operate;
mod run;
mod status;

use crate::arguments::CollectorAction;
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(action: &CollectorAction) -> Result<ExitCode> {
    match action {
        CollectorAction::Run(arguments) => run::run(arguments),
        CollectorAction::Certificates(arguments) => certificates::run(arguments),
        CollectorAction::Status(arguments) => operate::status(arguments),
        CollectorAction::Apply(arguments) => operate::apply(arguments),
        CollectorAction::Diff(arguments) => operate::diff(arguments),
        CollectorAction::Rollback(arguments) => operate::roll_back(arguments),
    }
}
