//! Merges the rows of one object in a window, by the rules of the columns over time.

use rocescope_model::{
    ConnectionRow, CounterRow, LinkLoadRow, LinkRow, Over, PdcRow, Resolution, Revisions, Row, SlaRow, SwitchDropRow,
    SwitchPortRow, Time, Value,
};
use rocescope_store::rollup::{Sink, Unit};
use rocescope_store::{Error, Scan};
use std::collections::{BTreeMap, HashMap};

/// Rows in a batch.
const ROWS: usize = 4_096;

/// The tables that are merged here.
#[cfg(test)]
pub(crate) const TABLES: [&rocescope_model::Table; 8] = [
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    SlaRow::TABLE,
    LinkRow::TABLE,
    LinkLoadRow::TABLE,
    CounterRow::TABLE,
    SwitchPortRow::TABLE,
    SwitchDropRow::TABLE,
];

/// Adds the rows of a unit in these tables.
pub(crate) fn make(unit: &Unit<'_>, sink: &mut Sink) -> Result<(), Error> {
    // Where rows are added to those of the rollup, these have the first analysis of each window: it stays.
    let revisions = match unit.extends {
        true => Revisions::default(),
        false => revisions(&unit.new)?,
    };
    let is_latest_sla = |is_new: bool, row: &SlaRow| !is_new || revisions.has(row);
    let is_latest_link = |is_new: bool, row: &LinkRow| !is_new || revisions.has(row);
    merge::<ConnectionRow>(unit, |_, _| true, sink)?;
    merge::<PdcRow>(unit, |_, _| true, sink)?;
    merge::<LinkRow>(unit, is_latest_link, sink)?;
    merge::<SlaRow>(unit, is_latest_sla, sink)?;
    merge::<LinkLoadRow>(unit, |_, _| true, sink)?;
    merge::<CounterRow>(unit, |_, _| true, sink)?;
    merge::<SwitchPortRow>(unit, |_, _| true, sink)?;
    merge::<SwitchDropRow>(unit, |_, _| true, sink)
}

/// Which windows were analyzed more than once: only the latest analysis counts.
fn revisions(scan: &Scan) -> Result<Revisions, Error> {
    let mut revisions = Revisions::default();
    scan.select::<SlaRow>().for_each(|row| revisions.note(&row))?;
    Ok(revisions)
}

/// The rows of one table in a unit.
struct Objects<R> {
    resolution: Resolution,
    columns: Vec<usize>,
    time: usize,
    /// By window and object.
    rows: HashMap<(Time, Vec<u8>), R>,
}

fn merge<R: Row + Clone>(unit: &Unit<'_>, wanted: impl Fn(bool, &R) -> bool, sink: &mut Sink) -> Result<(), Error> {
    let Some(time) = R::TABLE.partition_column().map(|column| column + 1) else {
        return Ok(());
    };
    let mut objects = Objects {
        resolution: unit.task.resolution,
        columns: R::TABLE.object().collect(),
        time,
        rows: HashMap::new(),
    };
    for (is_new, scan) in [(false, &unit.old), (true, &unit.new)] {
        scan.select::<R>().columns(|_| true).for_each(|row| {
            if wanted(is_new, &row) {
                objects.add(row);
            }
        })?;
    }
    let rows = objects.finish();
    rows.chunks(ROWS).try_for_each(|rows| sink.push(&rows))
}

impl<R: Row + Clone> Objects<R> {
    fn time(&self, row: &R) -> i64 {
        match row.value(self.time) {
            Value::I64(time) => time,
            _ => 0,
        }
    }

    /// Adds a row. The rules `first` and `last` need the order of time, which rows of several segments are not in.
    fn add(&mut self, mut row: R) {
        let time = self.time(&row);
        let mut object = Vec::new();
        for column in &self.columns {
            key(&row.value(*column), &mut object);
        }
        let place = (self.resolution.window(Time(time)), object);
        let Some(sum) = self.rows.get_mut(&place) else {
            self.rows.insert(place, row);
            return;
        };
        let sum_time = match sum.value(self.time) {
            Value::I64(time) => time,
            _ => 0,
        };
        if sum_time <= time {
            sum.merge(&row, Over::Time);
        } else {
            row.merge(sum, Over::Time);
            *sum = row;
        }
    }

    /// The rows in the order of time, and those of a time by object, so that equal input makes equal output.
    fn finish(self) -> Vec<R> {
        let time = self.time;
        let time_of = |row: &R| match row.value(time) {
            Value::I64(time) => time,
            _ => 0,
        };
        let sorted: BTreeMap<(i64, Vec<u8>), R> = self
            .rows
            .into_iter()
            .map(|((_, object), row)| ((time_of(&row), object), row))
            .collect();
        sorted.into_values().collect()
    }
}

/// Appends a cell, so that two objects have the same bytes if all their cells are equal.
fn key(value: &Value<'_>, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(0),
        Value::I64(number) => {
            bytes.push(1);
            bytes.extend(number.to_be_bytes());
        }
        Value::F64(number) => {
            bytes.push(2);
            bytes.extend(number.to_bits().to_be_bytes());
        }
        Value::Bool(is) => bytes.extend([3, u8::from(*is)]),
        Value::Text(text) => {
            bytes.push(4);
            bytes.extend((text.len() as u64).to_be_bytes());
            bytes.extend(text.as_bytes());
        }
        // No object is named by a time, a sketch or a list.
        _ => bytes.push(5),
    }
}
