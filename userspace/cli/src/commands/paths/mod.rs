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
//! | `gnmi` | counters of switches, as their gNMI servers send them |
//! | `switch_rows` | the rows of switches in a dataset |
//! | `discover` | paths hop by hop, over SSH |
//! | `advise` | source ports that would make the layers even |

mod advise;
mod compare;
mod discover;
mod fim;
mod flows;
mod gnmi;
pub(super) mod input;
mod mappings;
mod prometheus;
mod sflow;
mod switch_rows;
mod workload;

use crate::arguments::PathsAction;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(action: &PathsAction) -> Result<ExitCode> {
    match action {
        PathsAction::Flows(arguments) => flows::run(arguments),
        PathsAction::Sflow(arguments) => sflow::run(arguments),
        PathsAction::Prometheus(arguments) => prometheus::run(arguments),
        PathsAction::Gnmi(arguments) => gnmi::run(arguments),
        PathsAction::Discover(arguments) => discover::run(arguments),
        PathsAction::Fim(arguments) => fim::run(arguments),
        PathsAction::Advise(arguments) => advise::run(arguments),
        PathsAction::Compare(arguments) => compare::run(arguments),
    }
}

/// A password or token: the content of a file without the end of its line.
fn secret(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
