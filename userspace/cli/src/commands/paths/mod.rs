//! `rocescope paths`: the links that flows cross.
//!
//! | module | what it does |
//! |---|---|
//! | `input` | reads paths from JSON or a dataset |
//! | `fim` | the Flow Imbalance Metric |
//! | `compare` | two runs |
//! | `workload`, `flows` | the flows of a workload |
//! | `sflow` | flows from the samples of switches |
//! | `prometheus` | counters of switches from a Prometheus server |
//! | `switch_rows` | the rows of switches in a dataset |
//! | `discover` | paths hop by hop, over SSH |
//! | `advise` | source ports that would make the layers even |

mod advise;
mod compare;
mod discover;
mod fim;
mod flows;
pub(super) mod input;
mod prometheus;
mod sflow;
mod switch_rows;
mod workload;

use crate::arguments::PathsAction;
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(action: &PathsAction) -> Result<ExitCode> {
    match action {
        PathsAction::Flows(arguments) => flows::run(arguments),
        PathsAction::Sflow(arguments) => sflow::run(arguments),
        PathsAction::Prometheus(arguments) => prometheus::run(arguments),
        PathsAction::Discover(arguments) => discover::run(arguments),
        PathsAction::Fim(arguments) => fim::run(arguments),
        PathsAction::Advise(arguments) => advise::run(arguments),
        PathsAction::Compare(arguments) => compare::run(arguments),
    }
}
