//! `rocescope incidents`: notes about incidents.

use crate::arguments::{IncidentsAction, NoteArguments};
use anyhow::Result;
use rocescope_analysis::incidents::history;
use rocescope_model::human::visible;
use rocescope_runtime::clock::now;
use std::process::ExitCode;

pub(super) fn run(action: &IncidentsAction) -> Result<ExitCode> {
    let IncidentsAction::Note(NoteArguments {
        id,
        note,
        dataset,
        observer,
    }) = action;
    let incident = history::note(dataset, id, note, observer, now())?;
    crate::print(&format!("noted about {id}: {}\n", visible(&incident)))?;
    Ok(ExitCode::SUCCESS)
}
