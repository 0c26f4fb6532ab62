//! The faults that probes between NICs show: as a collector has stored them, or else from the probes.

use super::findings::Findings;
use super::gathered::{Gathered, Settings};
use crate::mesh::diagnosis;
use crate::{Error, dataset};
use rocescope_diagnose::hostmesh::document::FewDrops;
use rocescope_diagnose::hostmesh::{self, Analyzer};
use rocescope_diagnose::incidents::convert::{self, Addresses};
use rocescope_model::human::plural;
use rocescope_model::{ProbeRow, Row, SlaRow, VerdictRow, footer};
use rocescope_store::{Query, Scan, TimeRange};
use std::collections::BTreeMap;

pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let stored = settings.open(settings.time)?;
    if let Some(analyzer) = analyzer_of(&stored) {
        return add_stored(settings, &stored, &analyzer, gathered);
    }
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
    let incidents = found.map(|finding| convert::mesh(finding, &document.addresses, last));
    gathered.incidents.extend(incidents);
    let windows = plural(document.windows.len() as u64, "window");
    let judged = format!("{} of {windows}", plural(probes, "probe"));
    gathered.judged.push(with_few(judged, FewDrops::of(&document.windows)));
    Ok(())
}

/// What was judged, with the probes that were lost without a verdict.
fn with_few(judged: String, few: FewDrops) -> String {
    match few.sentence() {
        Some(few) => format!("{judged} ({few})"),
        None => judged,
    }
}

/// The verdicts of a collector, or of an earlier `diagnose mesh --write`: probes need not be read again.
fn add_stored(settings: &Settings, found: &Scan, analyzer: &str, gathered: &mut Gathered) -> Result<(), Error> {
    let (findings, windows, few) = stored(found, settings.time, analyzer)?;
    // The addresses of NICs are in the verdicts on them.
    gathered.incidents.extend(findings.incidents(&Addresses::new()));
    let windows = plural(windows, "window");
    let judged = format!("verdicts of {analyzer} over {windows} of probes");
    gathered.judged.push(with_few(judged, few));
    Ok(())
}

/// The problems that an analyzer has stored of a time, the number of its windows, and what these lost without a verdict.
pub(crate) fn stored(found: &Scan, time: TimeRange, analyzer: &str) -> Result<(Findings, u64, FewDrops), Error> {
    let revisions = found.revisions(time)?;
    let (mut findings, mut windows, mut few) = (Findings::default(), 0, FewDrops::default());
    let analyses = found.select::<SlaRow>().within(time).written_by(Some(analyzer));
    analyses.for_each(|row| {
        if revisions.has(&row) {
            windows += 1;
            few.add(&row);
            findings.window(row.window_start_ns);
        }
    })?;
    let verdicts = found.select::<VerdictRow>().within(time).written_by(Some(analyzer));
    verdicts.for_each(|row| {
        if revisions.has(&row) {
            findings.add(&row);
        }
    })?;
    Ok((findings, windows, few))
}

/// The analyzer with the most rows in `sla`, the first by name of several; `None` without any.
#[must_use]
pub fn analyzer_of(found: &Scan) -> Option<String> {
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for segment in found.table(SlaRow::TABLE.name) {
        if let Some(observer) = segment.footer(footer::OBSERVER) {
            *rows.entry(observer).or_default() += segment.rows;
        }
    }
    let most = rows.values().copied().max()?;
    let mut names = rows.into_iter();
    let first = names.find(|(_, rows)| *rows == most)?;
    Some(first.0.to_owned())
}
