//! What made the slowest collective slow.

use super::gathered::{Gathered, Settings};
use crate::Error;
use crate::collectives::diagnosis::diagnose;
use rocescope_collective::incidents;
use rocescope_collective::names::Names;
use rocescope_model::human::plural;
use rocescope_model::{Row, StepRow};

pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let found = settings.open(settings.time)?;
    if found.row_count(StepRow::TABLE.name) == 0 {
        return Ok(());
    }
    // Places are addresses, as in other analyses: with names they would not be joined.
    let analysis = diagnose(&found, None, Names::default())?;
    if analysis.steps.steps.is_empty() && analysis.hangs.is_empty() {
        return Ok(());
    }
    gathered.incidents.extend(incidents::of(&analysis));
    gathered.judged.push(match analysis.hangs.is_empty() {
        true => {
            let steps = plural(analysis.steps.steps.len() as u64, "step");
            format!("{steps} of the slowest collective")
        }
        false => "which collectives hang".to_string(),
    });
    Ok(())
}
