//! The incidents of a time of a dataset.

use super::gathered::{Gathered, Settings};
use super::history::annotate;
use super::{collectives, hosts, loopback, mesh, switches};
use crate::input::earlier;
use crate::{Error, Input, Reads, owners};
use rocescope_diagnose::incidents::{Document, Incident, Wire, join};
use rocescope_diagnose::owners::naming;
use rocescope_model::human::plural;
use rocescope_model::{Column, ConnectionRow, EventRow, INCIDENT_TABLES, Time, Type, WindowRow, footer};
use rocescope_store::{Options, Scan, TimeRange, Writer};
use std::path::Path;
use std::time::Instant;

/// A connection writes its next row within a minute; its last row may be an hour later.
const CONNECTIONS_NS: i64 = 3_600_000_000_000;

/// Runs every analysis that the dataset has rows for, and joins what they tell.
///
/// # Errors
/// The dataset or the topology file cannot be read.
pub fn diagnose(settings: &Settings) -> Result<Document, Error> {
    let mut gathered = Gathered::default();
    let wire = wire(settings, &mut gathered)?;
    hosts::add(settings, &mut gathered)?;
    mesh::add(settings, &mut gathered)?;
    loopback::add(settings, &mut gathered)?;
    collectives::add(settings, &mut gathered)?;
    switches::add(settings, &mut gathered)?;
    let mut incidents = join(gathered.incidents, &wire);
    name_owners(settings, &mut incidents)?;
    gathered.notes.extend(wire.marks(&incidents));
    let mut document = Document {
        incidents,
        judged: gathered.judged,
        notes: gathered.notes,
        sampled_one_of: gathered.sampled_one_of,
    };
    annotate(&settings.dataset, &mut document)?;
    Ok(document)
}

/// Writes the incidents into the dataset they are of, as those of `observer` up to now.
///
/// # Errors
/// The dataset cannot be written.
pub fn write(root: &Path, document: &Document, observer: &str, time_ns: i64) -> Result<(), Error> {
    let options = Options {
        tables: INCIDENT_TABLES,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options)?;
    writer.append_cells(&document.rows(observer, time_ns), Instant::now())?;
    writer.finish()?;
    Ok(())
}

/// Names the owners of the victims.
fn name_owners(settings: &Settings, incidents: &mut [Incident]) -> Result<(), Error> {
    let asked: Vec<_> = naming::asked(incidents).collect();
    if !asked.is_empty() {
        naming::name(incidents, &owners::find(&settings.dataset, settings.time, asked)?);
    }
    Ok(())
}

fn wire(settings: &Settings, gathered: &mut Gathered) -> Result<Wire, Error> {
    let nanos = |time: Option<Time>| time.map(|time| time.0);
    // Totals of connections go on from their last row before the time.
    let wide = earlier(settings.time.extended(CONNECTIONS_NS), CONNECTIONS_NS);
    let found = settings.open(wide)?;
    let mut wire = Wire::within(nanos(settings.time.from), nanos(settings.time.to)).sampling(stated_sampling(&found));
    Input::new::<WindowRow>().read(&mut wire, &found, settings.time)?;
    read_connections(&mut wire, &found, settings.time, wide)?;
    let on_the_wire = wire.find();
    gathered.incidents.extend(on_the_wire.incidents);
    gathered.notes.extend(on_the_wire.notes);
    gathered.sampled_one_of = on_the_wire.sampled_one_of;
    gathered.judged.extend(wire.judged());
    if !found.open.is_empty() {
        let open = plural(found.open.len() as u64, "journal");
        gathered.notes.push(format!(
            "{open} not sealed yet: a capture is running, and its last minute is not judged; or it was killed: `rocescope dataset repair`"
        ));
    }
    gathered.notes.extend(
        crate::unreadable(&found)
            .into_iter()
            .map(|file| format!("skipped {file}")),
    );
    Ok(wire)
}

/// The number of packets for each that mirrors deliver, as `--mirror-sampling` stated when they were captured.
#[must_use]
pub fn stated_sampling(found: &Scan) -> Option<u64> {
    let stated = found
        .segments
        .iter()
        .filter_map(|segment| segment.footer(footer::MIRROR_SAMPLING));
    stated.filter_map(|one_of| one_of.parse().ok()).max()
}

/// Reads the events of a time, and the rows of connections of a wider one.
pub(crate) fn read_connections(wire: &mut Wire, found: &Scan, time: TimeRange, wide: TimeRange) -> Result<(), Error> {
    Input::new::<EventRow>().read(wire, found, time)?;
    Input::new::<ConnectionRow>().read(wire, found, wide)?;
    Ok(())
}

impl Reads<WindowRow> for Wire {
    fn is_read(column: &Column) -> bool {
        const READ: [&str; 10] = [
            "observer",
            "frames",
            "malformed_frames",
            "window_start_ns",
            "window_ns",
            "roce_packets",
            "nak_packets",
            "capture_lost_packets",
            "capture_dropped_frames",
            "icrc_bad_packets",
        ];
        READ.contains(&column.name) || column.name == "mirror_lost_packets"
    }

    fn time_ns(row: &WindowRow) -> i64 {
        row.window_start_ns
    }

    fn row(&mut self, row: &WindowRow) {
        self.window(row);
    }
}

impl Reads<EventRow> for Wire {
    fn is_read(column: &Column) -> bool {
        const READ: [&str; 8] = [
            "observer", "time_ns", "kind", "src", "dst", "syndrome", "count", "value",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &EventRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &EventRow) {
        self.event(row);
    }
}

impl Reads<ConnectionRow> for Wire {
    fn is_read(column: &Column) -> bool {
        !matches!(column.kind, Type::Bytes | Type::ListI64)
    }

    fn time_ns(row: &ConnectionRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &ConnectionRow) {
        self.connection(row);
    }
}
