//! Makes the segments of a partition of a rollup.

use super::due::{DueUnit, Task, order};
use super::inputs::{self, Input};
use super::publish::{self, Written};
use super::{Made, directory};
use crate::name::{OPEN, SegmentName, SegmentPaths};
use crate::query::Query;
use crate::scan::read_segment;
use crate::schema::Indexes;
use crate::seal::write_segment;
use crate::{Error, Scan, Segment, TimeRange, durable, encode, schema};
use arrow_array::RecordBatch;
use rocescope_model::{Cells, FORMAT_VERSION, Table, Time, footer, tables};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A unit whose rows are made.
#[derive(Debug)]
pub struct Unit<'a> {
    /// The partition that gets them.
    pub task: &'a Task,
    /// Start of the unit.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// Whether rows are added to those of the rollup, because what these were made of is gone.
    pub extends: bool,
    /// Rows of the rollup that stay, with which those of `new` are merged; none if all are made from `new`.
    pub old: Scan,
    /// Rows of the finer resolution.
    pub new: Scan,
}

/// Takes the rows of a rollup, those of each table in the order of time.
#[derive(Debug, Default)]
pub struct Sink {
    batches: BTreeMap<&'static str, Vec<RecordBatch>>,
}

impl Sink {
    /// Adds rows.
    ///
    /// # Errors
    /// A value does not fit its column.
    pub fn push(&mut self, cells: &dyn Cells) -> Result<(), Error> {
        if cells.rows() == 0 {
            return Ok(());
        }
        let table = cells.table();
        let all: Vec<usize> = (0..cells.rows()).collect();
        let batch = encode::batch(cells, &all, &Arc::new(schema::arrow(table, &[])))
            .map_err(|error| Error::content("encode rows for", Path::new(table.name), &error))?;
        self.batches.entry(table.name).or_default().push(batch);
        Ok(())
    }
}

/// What a table gets from the units of a task.
#[derive(Debug, Default)]
struct New {
    /// By unit: the rows, and what they are made of.
    units: BTreeMap<usize, (Vec<RecordBatch>, Vec<Input>)>,
    /// Metadata of the latest segment.
    footer: Vec<(String, String)>,
}

pub(super) fn write(
    root: &Path,
    task: &Task,
    make: &mut dyn FnMut(&Unit<'_>, &mut Sink) -> Result<(), Error>,
) -> Result<Made, Error> {
    let mut made = Made::default();
    let mut all: BTreeMap<&'static str, New> = BTreeMap::new();
    for (number, due) in task.units.iter().enumerate() {
        let Some(new) = scan(due, &mut made) else {
            made.changed = true;
            return Ok(made);
        };
        let unit = Unit {
            task,
            from: due.from,
            to: due.to,
            extends: due.extends,
            old: old(task, due),
            new,
        };
        let mut sink = Sink::default();
        make(&unit, &mut sink)?;
        for segment in unit.new.segments.iter().chain(&unit.old.segments) {
            let Some(fault) = segment.health.fault() else { continue };
            if !segment.path.exists() {
                made.changed = true;
                return Ok(made);
            }
            made.damaged.push(crate::Unreadable {
                path: segment.path.clone(),
                reason: fault.to_owned(),
            });
        }
        if unit.old.segments.iter().any(|segment| segment.health.fault().is_some()) {
            // Rows that are added to it would replace those that cannot be read.
            made.units = 0;
            return Ok(made);
        }
        // What the rollup has of a segment that is damaged now stays, until it is replaced or deleted.
        let damaged: Vec<&Path> = made.damaged.iter().map(|damaged| &*damaged.path).collect();
        if !due.extends && damaged.iter().any(|path| has(task, due, path)) {
            continue;
        }
        made.units += 1;
        for (table, due_table) in &due.tables {
            if due.extends && due_table.read.is_empty() {
                // What is new there is in it since an earlier run.
                continue;
            }
            let new = all.entry(table).or_default();
            let mut inputs = due_table.listed.clone();
            // A damaged segment is none of them: once it is replaced, the unit is due.
            let whole = unit.new.table(table).filter(|segment| segment.health.fault().is_none());
            inputs.extend(whole.map(Input::of));
            let rows = sink.batches.remove(table).unwrap_or_default();
            if let Some(last) = unit.new.table(table).last() {
                new.footer.clone_from(&last.footer);
            }
            new.units.insert(number, (rows, inputs));
        }
    }
    let mut names: Vec<&'static str> = all.keys().copied().collect();
    names.sort_by_key(|table| order(table));
    let target = directory(root, task.resolution);
    let mut written = Written::new();
    for name in names {
        if let (Some(table), Some(new)) = (tables::find(name), all.remove(name)) {
            write_table(&target, task, table, new, &mut made, &mut written).inspect_err(|_| {
                // Report the first error.
                for (unfinished, _) in &written {
                    let _ = durable::remove(unfinished);
                }
            })?;
        }
    }
    if !written.is_empty() {
        publish::publish(&target, &written, root)?;
    }
    Ok(made)
}

/// Whether the rollup has rows of this segment of the unit.
fn has(task: &Task, due: &DueUnit, segment: &Path) -> bool {
    let name = segment.file_name().map(|name| name.to_string_lossy());
    let is_it = |input: &Input| input.partition == due.partition && name.as_deref() == Some(&*input.name);
    task.old.values().any(|old| {
        let inputs = inputs::parse(old.footer(footer::ROLLUP_INPUTS).unwrap_or_default());
        inputs.iter().any(is_it)
    })
}

/// The segments of a unit that are read; `None` if one is gone.
fn scan(due: &DueUnit, made: &mut Made) -> Option<Scan> {
    let mut scan = Scan::default();
    for found in due.tables.values().flat_map(|table| &table.read) {
        match read_segment(found.clone()) {
            Ok(segment) => scan.segments.push(segment),
            Err(Some(unreadable)) => {
                made.damaged.push(unreadable.clone());
                scan.unreadable.push(unreadable);
            }
            Err(None) => return None,
        }
    }
    Some(scan)
}

/// The rows of a unit that the rollup keeps.
fn old(task: &Task, due: &DueUnit) -> Scan {
    if !due.extends {
        return Scan::default();
    }
    Scan {
        segments: task.old.values().cloned().collect(),
        query: Query::default().within(TimeRange {
            from: Some(due.from),
            to: Some(due.to),
        }),
        ..Scan::default()
    }
}

fn write_table(
    target: &Path,
    task: &Task,
    table: &'static Table,
    new: New,
    made: &mut Made,
    written: &mut Written,
) -> Result<(), Error> {
    let paths = SegmentPaths {
        root: PathBuf::new(),
        table: table.name.into(),
        name: SegmentName::new(&task.writer, task.start, 0),
    };
    let old = task.old.get(table.name);
    let footer = footer_of(task, &new, old);
    let open = target.join(OPEN);
    fs::create_dir_all(&open).map_err(|source| Error::io("create", &open, source))?;
    // Only the holder of the lock writes it.
    let unfinished = publish::unfinished(target, table.name);
    let schema = Arc::new(schema::arrow(table, &footer));
    let segment = write_segment(
        &unfinished,
        (schema, Indexes::Addresses),
        batches(task, table, new, old),
        || {},
    );
    let (rows, bytes) = segment.inspect_err(|_| {
        // Report the first error.
        let _ = durable::remove(&unfinished);
    })?;
    written.push((unfinished, paths.sealed()));
    made.segments += 1;
    made.rows += rows;
    made.bytes += bytes;
    Ok(())
}

/// The metadata: those of the latest segment, and what the rows are made of.
fn footer_of(task: &Task, new: &New, old: Option<&Segment>) -> Vec<(String, String)> {
    let mut pairs = match new.footer.as_slice() {
        [] => old.map(|old| old.footer.clone()).unwrap_or_default(),
        pairs => pairs.to_vec(),
    };
    let is_due = |input: &Input| {
        let mut units = new.units.keys().filter_map(|unit| task.units.get(*unit));
        units.any(|unit| unit.partition == input.partition)
    };
    let before = old
        .and_then(|old| old.footer(footer::ROLLUP_INPUTS))
        .unwrap_or_default();
    let mut inputs = inputs::parse(before);
    inputs.retain(|input| !is_due(input));
    inputs.extend(new.units.values().flat_map(|(_, inputs)| inputs.clone()));
    inputs.sort();
    let own = [
        (footer::FORMAT, FORMAT_VERSION.to_string()),
        (footer::WINDOW_NS, task.resolution.window_ns().to_string()),
        (footer::ROLLUP, task.resolution.name().to_owned()),
        (footer::ROLLUP_INPUTS, inputs::text(&inputs)),
    ];
    pairs.retain(|(key, _)| key != footer::CHECKSUMS && own.iter().all(|(own, _)| key != own));
    pairs.extend(own.map(|(key, value)| (key.into(), value)));
    pairs
}

/// The rows of all units in the order of time: those that are new, and between them those that stay.
fn batches<'a>(
    task: &'a Task,
    table: &'static Table,
    new: New,
    old: Option<&'a Segment>,
) -> impl Iterator<Item = Result<RecordBatch, Error>> + 'a {
    let mut parts: Vec<Box<dyn Iterator<Item = Result<RecordBatch, Error>> + 'a>> = Vec::new();
    let mut from = Time(i64::MIN);
    for (number, (rows, _)) in new.units {
        let Some(unit) = task.units.get(number) else { continue };
        parts.push(Box::new(copied(table, old, from, Some(unit.from))));
        parts.push(Box::new(rows.into_iter().map(Ok)));
        from = unit.to;
    }
    parts.push(Box::new(copied(table, old, from, None)));
    parts.into_iter().flatten()
}

/// The rows of a span that stay.
fn copied<'a>(
    table: &'static Table,
    old: Option<&'a Segment>,
    from: Time,
    to: Option<Time>,
) -> impl Iterator<Item = Result<RecordBatch, Error>> + 'a {
    let time = TimeRange { from: Some(from), to };
    let old = old.filter(|_| to.is_none_or(|to| from < to));
    let old = old.filter(|old| {
        old.bounds
            .time_ns
            .is_none_or(|(first, last)| time.overlaps(first, last))
    });
    let condition = Query::default().within(time).condition;
    let schema = Arc::new(schema::arrow(table, &[]));
    // A damaged segment fails here: what replaces it would lack its rows.
    let (batches, error) = match old.map(|old| old.batches(|_| true)).transpose() {
        Ok(batches) => (batches, None),
        Err(error) => (None, Some(Err(error))),
    };
    let encoded = batches.into_iter().flatten().map(move |batch| {
        let batch = batch?;
        let rows: Vec<usize> = condition.rows(&batch).collect();
        let failed = |error| Error::content("encode rows for", Path::new(table.name), &error);
        encode::batch(&batch, &rows, &schema).map_err(failed)
    });
    encoded.chain(error)
}
