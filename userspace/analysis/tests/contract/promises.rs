//! The promises of an analysis.

use rocescope_analysis::{Analysis, dataset};
use rocescope_model::{Cells, Column, Table, Time, Type, Value, tables};
use rocescope_store::{Batch, Error, Options, Parcel, TimeRange, Writer, parcel, scan};
use std::borrow::Cow;
use std::time::Instant;

/// The rows of a window.
pub(crate) struct Slice {
    /// The end of the window.
    pub(crate) end_ns: i64,
    /// Its rows, table by table.
    pub(crate) rows: Vec<Box<dyn Cells>>,
}

/// Checks the promises; returns the number of windows, or which promise is broken.
pub(crate) fn check<A: Analysis>(make: impl Fn() -> A, slices: &[Slice]) -> Result<usize, &'static str> {
    let expected = at_once(&mut make(), slices);
    let is_same = |reports: &[A::Report], broken| if reports == expected { Ok(()) } else { Err(broken) };
    let is_in_order = expected.is_sorted_by(|a, b| A::start(a) < A::start(b));
    let has_twice = (1..expected.len()).any(|at| expected[..at].contains(&expected[at]));
    if has_twice || (A::HAS_WINDOWS && !is_in_order) {
        return Err("a window is reported twice");
    }
    is_same(&in_steps(&mut make(), slices), "steps")?;
    is_same(&without_other_columns(&mut make(), slices), "columns")?;
    is_same(&of_dataset(&mut make(), slices), "dataset")?;
    if A::HAS_WINDOWS {
        late(make(), slices)?;
    }
    Ok(expected.len())
}

/// Feeds all rows, then finishes.
pub(crate) fn at_once<A: Analysis>(analysis: &mut A, slices: &[Slice]) -> Vec<A::Report> {
    for slice in slices {
        feed(analysis, slice, |_, _| true);
    }
    std::iter::from_fn(|| analysis.finish()).collect()
}

/// Advances after each window.
fn in_steps<A: Analysis>(analysis: &mut A, slices: &[Slice]) -> Vec<A::Report> {
    let mut reports = Vec::new();
    for slice in slices {
        feed(analysis, slice, |_, _| true);
        reports.extend(std::iter::from_fn(|| analysis.advance(Time(slice.end_ns))));
    }
    reports.extend(std::iter::from_fn(|| analysis.finish()));
    reports
}

/// Feeds rows whose other columns are null, zero or empty.
fn without_other_columns<A: Analysis>(analysis: &mut A, slices: &[Slice]) -> Vec<A::Report> {
    for slice in slices {
        feed(analysis, slice, |table, column| {
            let input = A::INPUTS.iter().find(|input| input.table == table);
            input.is_some_and(|input| (input.is_read)(column))
        });
    }
    std::iter::from_fn(|| analysis.finish()).collect()
}

/// Writes the rows into a dataset, and reads it hour by hour.
fn of_dataset<A: Analysis>(analysis: &mut A, slices: &[Slice]) -> Vec<A::Report> {
    let root = tempfile::tempdir().unwrap();
    let options = Options {
        tables: tables::TABLES,
        ..Options::new("test")
    };
    let mut writer = Writer::create(root.path(), options).unwrap();
    for rows in slices.iter().flat_map(|slice| &slice.rows) {
        writer.append_cells(&**rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    let mut reports = Vec::new();
    let all = TimeRange::default();
    let take = |_: &A, report| {
        reports.push(report);
        Ok::<(), Error>(())
    };
    dataset::hours(analysis, &scan(root.path()).unwrap(), all, take).unwrap();
    reports
}

/// Rows of the first window come after its report.
fn late<A: Analysis>(mut analysis: A, slices: &[Slice]) -> Result<(), &'static str> {
    let first = slices.first().ok_or("rows")?;
    feed(&mut analysis, first, |_, _| true);
    let report = analysis.advance(Time(first.end_ns)).ok_or("no report")?;
    if !analysis.late_windows().is_empty() {
        return Err("rows that came in time are late");
    }
    feed(&mut analysis, first, |_, _| true);
    if !analysis.late_windows().contains(&A::start(&report)) {
        return Err("late rows are not reported");
    }
    match analysis.advance(Time(first.end_ns)).or_else(|| analysis.finish()) {
        Some(again) if A::start(&again) == A::start(&report) => Err("late rows report a window again"),
        _ => Ok(()),
    }
}

fn feed<A: Analysis>(analysis: &mut A, slice: &Slice, is_kept: impl Fn(&Table, &Column) -> bool) {
    for rows in &slice.rows {
        for batch in batches(&Kept(&**rows, &is_kept)) {
            analysis.feed(&batch);
        }
    }
}

/// As the collector gets them.
fn batches(rows: &dyn Cells) -> Vec<Batch> {
    let encoded = parcel::encode(rows, usize::MAX).unwrap();
    let open = |(_, stream): &(usize, Vec<u8>)| Parcel::split(stream).unwrap().open().unwrap();
    encoded.iter().map(open).collect()
}

/// Rows with some of their columns, and the time that determines their place.
struct Kept<'a, F>(&'a dyn Cells, &'a F);

impl<F: Fn(&Table, &Column) -> bool> Cells for Kept<'_, F> {
    fn table(&self) -> &'static Table {
        self.0.table()
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn value(&self, row: usize, at: usize) -> Value<'_> {
        let table = self.0.table();
        let value = self.0.value(row, at);
        let Some(column) = table.columns.get(at) else {
            return value;
        };
        let is_place = table
            .partition_column()
            .is_some_and(|time| at == time || at == time + 1);
        if is_place || (self.1)(table, column) {
            return value;
        }
        match column.kind {
            _ if column.nullable => Value::Null,
            Type::I64 => Value::I64(0),
            Type::F64 => Value::F64(0.0),
            Type::Bool => Value::Bool(false),
            Type::Text => Value::Text(Cow::Borrowed("")),
            Type::Time => Value::Time(Time(0)),
            Type::Bytes => Value::Bytes(&[]),
            Type::ListI64 => Value::ListI64(&[]),
        }
    }
}
