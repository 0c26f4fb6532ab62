//! The faults that probes between NICs show.

use super::dataset::{Gathered, Settings};
use crate::mesh::diagnosis;
use crate::{Error, dataset};
use rocescope_diagnose::hostmesh::{self, Analyzer};
use rocescope_diagnose::incidents::convert;
use rocescope_model::human::plural;
use rocescope_model::{ProbeRow, Row};
use rocescope_store::Query;

pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let found = Query::default()
        .within(dataset::reach::<Analyzer>(settings.time))
        .open(&settings.dataset)?;
    let probes = found.row_count(ProbeRow::TABLE.name);
    if probes == 0 {
        return Ok(());
    }
    let of_mesh = diagnosis::Settings {
        dataset: settings.dataset.clone(),
        time: settings.time,
        observer: "incidents".into(),
        of_mesh: hostmesh::Settings::default(),
        topology: settings.topology.clone(),
        write: false,
    };
    let document = diagnosis::diagnose(&found, &of_mesh)?;
    let last = document.windows.last().map_or(0, |sla| sla.window_start_ns);
    let found = document.findings.iter();
    gathered
        .incidents
        .extend(found.map(|finding| convert::mesh(finding, &document.addresses, last)));
    let windows = plural(document.windows.len() as u64, "window");
    gathered
        .judged
        .push(format!("{} of {windows}", plural(probes, "probe")));
    Ok(())
}
