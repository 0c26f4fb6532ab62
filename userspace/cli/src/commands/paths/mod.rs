//! `rocescope paths`: the links that flows cross.
//!
//! | module | what it does |
//! |---|---|
//! | `input` | reads paths from JSON or a dataset |
//! | `fim` | the Flow Imbalance Metric |
//! | `windows` | the same for each window of a dataset |
//! | `compare` | two runs |

mod compare;
mod fim;
mod input;
mod windows;

use crate::arguments::PathsAction;
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(action: &PathsAction) -> Result<ExitCode> {
    match action {
        PathsAction::Fim(arguments) => fim::run(arguments),
        PathsAction::Compare(arguments) => compare::run(arguments),
    }
}
