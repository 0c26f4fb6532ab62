//! The faults that loopback tests inside hosts show, in the last run of each.

use super::gathered::{Gathered, Settings};
use crate::hostping::{HostRun, Tests};
use crate::{Analysis, Error, Input};
use rocescope_diagnose::hostping::{Document, Rule};
use rocescope_diagnose::incidents::convert;
use rocescope_model::human::plural;
use rocescope_model::{LoopbackRow, Row};

pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let found = settings.open(settings.time)?;
    if found.row_count(LoopbackRow::TABLE.name) == 0 {
        return Ok(());
    }
    let mut tests = Tests::new(None, Rule::SEED);
    Input::new::<LoopbackRow>().read(&mut tests, &found, settings.time)?;
    let mut hosts = 0;
    while let Some(HostRun {
        observer,
        start_ns,
        run,
        diagnosis,
    }) = tests.finish()
    {
        hosts += 1;
        let document = Document::of(&run.topology, &run.measured, &diagnosis);
        let causes = document.causes.iter();
        // The addresses of its NICs are in no row of these tests.
        let found = causes.map(|cause| convert::loopback(&observer, start_ns, cause, Default::default()));
        gathered.incidents.extend(found);
    }
    gathered
        .judged
        .push(format!("loopback tests of {}", plural(hosts, "host")));
    Ok(())
}
