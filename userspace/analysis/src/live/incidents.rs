//! Incidents of a collector: what the mesh, hosts and captured connections show, joined several times a minute.
//!
//! It judges what happened in the last half to one hour. Loopback tests and steps of collectives are not judged here: a
//! test is a moment, and a collective is judged as a whole (`rocescope diagnose`).

use super::hosts::Hosts;
use super::mesh::Mesh;
use super::owned::Owned;
use super::{Driver, Settings};
use crate::incidents::dataset::read_connections;
use crate::incidents::judging::LOOK_NS;
use crate::incidents::mesh::stored;
use crate::incidents::reporting::{Reporting, Reports};
use crate::input::earlier;
use crate::{Error, Input};
use rocescope_collector::server::Rows;
use rocescope_diagnose::incidents::changes::Changes;
use rocescope_diagnose::incidents::{Document, Incident, Wire, join};
use rocescope_diagnose::owners::naming;
use rocescope_model::{
    Cells as _, ConnectionRow, EventRow, IncidentRow, QueuePairRow, Row, SlaRow, Text, Time, VerdictRow,
};
use rocescope_store::{Batch, Query, TimeRange};
use std::collections::HashMap;
use std::sync::Arc;

/// What happened is forgotten after one to two of these: half an hour.
const FORGET_NS: i64 = 1_800_000_000_000;
/// How far back open incidents of an earlier collector are read.
const BACK_NS: i64 = 7 * 86_400_000_000_000;

/// The join of the analyses of a collector.
pub(super) struct Incidents {
    settings: Settings,
    wire: Wire,
    owned: Owned,
    reporting: Reporting,
    /// When it looks again, and when it forgets again.
    next_ns: i64,
    forgets_ns: i64,
}

impl Incidents {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            wire: Wire::default(),
            owned: Owned::new(&settings.diagnosed, settings.scale, settings.now_ns()),
            reporting: Self::reporting(settings, Changes::holding(hold_ns(settings))),
            settings: settings.clone(),
            next_ns: i64::MIN,
            forgets_ns: settings.now_ns().saturating_add(FORGET_NS),
        }
    }

    fn reporting(settings: &Settings, changes: Changes) -> Reporting {
        let reports = Reports {
            lines: Some(Arc::clone(&settings.notices)),
            is_quiet: settings.quiet,
            on_incident: settings.on_incident.clone(),
            metrics: Some(settings.diagnosed.incidents()),
            observer: settings.observer.to_string(),
            ..Reports::default()
        };
        Reporting::new(reports, changes)
    }

    /// Goes on where an earlier collector ended: with its open incidents, and with the rows of the last half hour.
    pub(super) fn resume(&mut self, mesh: &mut Driver<Mesh>) -> Result<(), Error> {
        let settings = &self.settings;
        let now_ns = settings.now_ns();
        let mut changes = Changes::holding(hold_ns(settings));
        let since = TimeRange::since(Time(now_ns.saturating_sub(BACK_NS)));
        let query = Query::default().tables(&[IncidentRow::TABLE]).within(since);
        let mut last: HashMap<Text, IncidentRow> = HashMap::new();
        let found = query.scan(&settings.dataset).map_err(Error::Resume)?;
        let rows = found
            .select::<IncidentRow>()
            .written_by(Some(settings.observer.as_str()));
        let read = rows.for_each(|row| {
            if last.get(&row.id).is_none_or(|known| known.time_ns <= row.time_ns) {
                last.insert(row.id.clone(), row);
            }
        });
        read.map_err(Error::Resume)?;
        let open = last.values().filter(|row| &*row.state == IncidentRow::OPEN);
        open.for_each(|row| changes.resume(Incident::resumed(row)));
        self.reporting = Self::reporting(settings, changes);

        let time = TimeRange::since(Time(now_ns.saturating_sub(FORGET_NS)));
        let tables = [
            EventRow::TABLE,
            ConnectionRow::TABLE,
            QueuePairRow::TABLE,
            SlaRow::TABLE,
            VerdictRow::TABLE,
        ];
        let found = Query::default()
            .tables(&tables)
            .within(earlier(time, FORGET_NS))
            .scan(&settings.dataset)
            .map_err(Error::Resume)?;
        self.owned.resume(&found, earlier(time, FORGET_NS))?;
        self.wire = Wire::within(time.from.map(|from| from.0), None);
        read_connections(&mut self.wire, &found, time, earlier(time, FORGET_NS))?;
        mesh.reporter.findings = stored(&found, time, &settings.observer)?.0;
        Ok(())
    }

    pub(super) fn stored(&mut self, rows: &Batch) {
        let table = rows.table();
        if table == EventRow::TABLE {
            Input::new::<EventRow>().feed(&mut self.wire, rows);
        } else if table == ConnectionRow::TABLE {
            Input::new::<ConnectionRow>().feed(&mut self.wire, rows);
        }
        self.owned.stored(rows);
    }

    /// Reports what changed, if it is time for a look; returns the rows of it.
    pub(super) fn due(&mut self, mesh: &mut Driver<Mesh>, hosts: &mut Driver<Hosts>) -> Option<Rows> {
        let now_ns = self.settings.watermark().0;
        self.owned.due(now_ns);
        if now_ns < self.next_ns {
            return None;
        }
        let is_time = now_ns >= self.forgets_ns;
        let scale = i64::from(self.settings.scale);
        self.next_ns = now_ns.saturating_add(LOOK_NS / scale);
        if is_time {
            self.forgets_ns = now_ns.saturating_add(FORGET_NS);
            self.wire.turn(now_ns);
            self.owned.forget(now_ns.saturating_sub(2 * FORGET_NS));
            mesh.reporter.findings.forget(now_ns.saturating_sub(FORGET_NS));
            hosts.reporter.faults.forget(now_ns.saturating_sub(FORGET_NS));
        }
        let on_the_wire = self.wire.find();
        let is_sampled = on_the_wire.sampled_one_of.is_some();
        let mut found = on_the_wire.incidents;
        found.extend(mesh.reporter.findings.incidents(&mesh.analysis.addresses()));
        found.extend(
            hosts
                .reporter
                .faults
                .incidents(hosts.analysis.open_faults(), is_sampled),
        );
        let mut incidents = join(found, &self.wire);
        naming::name(&mut incidents, &self.owned.owners);
        let document = Document {
            incidents,
            ..Document::default()
        };
        let changes = self.reporting.report(&document, Some(now_ns));
        let observer = &self.settings.observer;
        let mut rows: Vec<IncidentRow> = changes.iter().map(|change| change.row(observer, now_ns)).collect();
        if is_time {
            // A reader sees that they go on, and who suffers by now.
            rows.extend(self.reporting.open().map(|incident| incident.row(observer, now_ns)));
        }
        (!rows.is_empty()).then(|| Box::new(rows) as Rows)
    }

    pub(super) fn finish(&mut self) {
        self.reporting.finish();
    }
}

fn hold_ns(settings: &Settings) -> i64 {
    Changes::HOLD_NS / i64::from(settings.scale)
}
