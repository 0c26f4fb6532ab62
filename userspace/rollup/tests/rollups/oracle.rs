//! What rollups must be, computed from the captured rows cell by cell and without the code that makes them.

use rocescope_model::{Cells, Column, Over, Resolution, Rollup, Rule, TABLES, Table, Type, Unit, Value};
use rocescope_store::rollup::directory;
use rocescope_store::{Scan, scan};
use std::collections::BTreeMap;
use std::path::Path;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(Vec<i64>),
    /// Sketches have tests of their own.
    Sketch,
}

type Line = Vec<Cell>;

/// The rows of each object in each window, in the order of time.
type Groups = BTreeMap<(i64, Vec<String>), Vec<Line>>;

const SPAN: [&str; 3] = ["window_start", "window_start_ns", "window_ns"];

/// Columns that are made from several rows at once.
const MADE: [&str; 3] = ["rank", "deviation_ratio", "revision"];

fn cell(value: &Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::I64(number) => Cell::Integer(*number),
        Value::F64(number) => Cell::Float(*number),
        Value::Bool(is) => Cell::Bool(*is),
        Value::Text(text) => Cell::Text(text.to_string()),
        Value::Time(time) => Cell::Integer(time.0),
        Value::Bytes(_) | Value::Sparse(_) => Cell::Sketch,
        Value::ListI64(list) => Cell::List(list.to_vec()),
    }
}

fn lines(found: &Scan, table: &'static Table) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for cells in found.cells(table) {
        let cells = cells.unwrap();
        for row in 0..cells.rows() {
            lines.push((0..table.columns.len()).map(|at| cell(&cells.value(row, at))).collect());
        }
    }
    let time = table.partition_column().unwrap() + 1;
    lines.sort_by_key(|line| integer(&line[time]));
    lines
}

fn integer(cell: &Cell) -> i64 {
    match cell {
        Cell::Integer(number) => *number,
        other => panic!("{other:?} is no integer"),
    }
}

fn empty(column: &Column) -> Cell {
    match column.kind {
        _ if column.nullable => Cell::Null,
        Type::I64 | Type::Time => Cell::Integer(0),
        Type::F64 => Cell::Float(0.0),
        Type::Bool => Cell::Bool(false),
        Type::Text => Cell::Text(String::new()),
        Type::Bytes => Cell::Sketch,
        Type::ListI64 => Cell::List(Vec::new()),
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Float(number) => Some(*number),
        _ => None,
    }
}

/// Adds up whole numbers as such: they have more digits than a float.
fn sum(cells: &[&Cell]) -> Cell {
    if cells.iter().all(|cell| matches!(cell, Cell::Integer(_))) {
        return Cell::Integer(cells.iter().map(|cell| integer(cell)).fold(0, i64::saturating_add));
    }
    Cell::Float(cells.iter().filter_map(|cell| number(cell)).sum())
}

/// One cell of a column from those of several rows, where the rule needs no other column.
fn merged(column: &Column, cells: &[&Cell]) -> Cell {
    let there: Vec<&Cell> = cells.iter().copied().filter(|cell| **cell != Cell::Null).collect();
    let by = |least: bool| {
        let order = |a: &&&Cell, b: &&&Cell| number(a).unwrap().total_cmp(&number(b).unwrap());
        let found = match least {
            true => there.iter().min_by(order),
            false => there.iter().max_by(order),
        };
        found.map_or(Cell::Null, |cell| (**cell).clone())
    };
    match column.aggregate.over(Over::Time) {
        Rule::Sum if there.is_empty() => Cell::Null,
        Rule::Whole if there.len() < cells.len() => Cell::Null,
        Rule::Sum | Rule::Whole => sum(&there),
        Rule::Min => by(true),
        Rule::Max => by(false),
        Rule::Same if cells.iter().all(|cell| *cell == cells[0]) => cells[0].clone(),
        Rule::None if cells.len() == 1 => cells[0].clone(),
        Rule::Same | Rule::None => empty(column),
        Rule::First => {
            let full = there.iter().find(|cell| ***cell != Cell::Text(String::new()));
            full.map_or_else(|| empty(column), |cell| (**cell).clone())
        }
        Rule::Last => there.last().map_or(Cell::Null, |cell| (**cell).clone()),
        Rule::Any => Cell::Bool(there.contains(&&Cell::Bool(true))),
        Rule::Sketch => Cell::Sketch,
        Rule::Span | Rule::Ratio { .. } | Rule::Rate(_) => Cell::Null,
    }
}

/// The row of an object in a window. `span` is that of the window, if the table has windows.
fn line(table: &Table, rows: &[Line], span: Option<(i64, i64)>) -> Line {
    let columns = table.columns.iter().enumerate();
    let mut line: Line = columns
        .map(|(at, column)| merged(column, &rows.iter().map(|row| &row[at]).collect::<Vec<_>>()))
        .collect();
    let at = |name: &str| table.position(name);
    if let (Some((start, end)), [Some(time), Some(exact), Some(length)]) = (span, SPAN.map(at)) {
        (line[time], line[exact], line[length]) =
            (Cell::Integer(start), Cell::Integer(start), Cell::Integer(end - start));
    }
    for (place, column) in table.columns.iter().enumerate() {
        let of = |names: &[&str]| {
            let numbers = names.iter().map(|name| number(&line[at(name).unwrap()]));
            numbers.sum::<Option<f64>>()
        };
        let made = match column.aggregate.over(Over::Time) {
            Rule::Ratio { of: above, among } => match (of(above), of(among)) {
                (Some(above), Some(among)) if among > 0.0 => Cell::Float(above / among),
                _ => empty(column),
            },
            Rule::Rate(name) => {
                let bits = if column.unit == Unit::BitsPerSecond { 8.0 } else { 1.0 };
                Cell::Float(of(&[name]).unwrap() * bits * 1e9 / of(&["window_ns"]).unwrap())
            }
            _ => continue,
        };
        line[place] = made;
    }
    line
}

/// Columns that name an object.
fn names(table: &Table) -> Vec<usize> {
    let by = match table.rollup {
        Rollup::Merged { by } => by,
        _ => &[],
    };
    let is_name = |column: &Column| column.aggregate.time == Rule::Same || by.contains(&column.name);
    let columns = table.columns.iter().enumerate();
    let named = columns.filter(|(_, column)| is_name(column) && column.name != "revision");
    named.map(|(at, _)| at).collect()
}

fn grouped(table: &Table, lines: Vec<Line>, length: i64) -> Groups {
    let (time, names) = (table.partition_column().unwrap() + 1, names(table));
    let mut groups = Groups::new();
    for line in lines {
        let window = integer(&line[time]).div_euclid(length);
        let object = names.iter().map(|at| format!("{:?}", line[*at])).collect();
        groups.entry((window, object)).or_default().push(line);
    }
    groups
}

fn same(column: &Column, ours: &Cell, theirs: &Cell) -> bool {
    match (ours, theirs) {
        (Cell::Sketch | Cell::Null, _) if column.kind == Type::Bytes => true,
        (Cell::Float(ours), Cell::Float(theirs)) => (ours - theirs).abs() <= 1e-9 * ours.abs().max(theirs.abs()),
        _ => ours == theirs,
    }
}

/// Compares the rollups of a dataset, whose windows list all their flows, with all rows that were captured; returns the number of
/// rows compared. Hours that were rolled up are whole.
pub(crate) fn assert_equal(captured: &Path, root: &Path) -> u64 {
    let captured = scan(captured).unwrap();
    let mut compared = 0;
    for resolution in Resolution::ROLLED_UP {
        let found = scan(&directory(root, resolution)).unwrap();
        assert_eq!(found.unreadable, []);
        let windows = Windows::of(&captured, resolution);
        for table in TABLES {
            let (expected, made) = (lines(&captured, table), lines(&found, table));
            compared += made.len() as u64;
            match table.rollup {
                Rollup::Merged { .. } => assert_merged(&windows, table, expected, made),
                Rollup::Kept => assert_eq!(texts(&expected), texts(&made), "{resolution} {}", table.name),
                Rollup::Raw { .. } | Rollup::Derived => assert_eq!(made, [] as [Line; 0], "{}", table.name),
            }
        }
    }
    compared
}

/// Rows that are kept, in any order of those of one instant.
fn texts(lines: &[Line]) -> Vec<String> {
    let mut texts: Vec<String> = lines.iter().map(|line| format!("{line:?}")).collect();
    texts.sort();
    texts
}

/// The windows of a resolution, as far as rows of other tables depend on them.
struct Windows {
    resolution: Resolution,
    /// The span of each observer.
    spans: BTreeMap<(i64, String), (i64, i64)>,
    /// Packets of each sprayed direction in `flows`, and in `spread`.
    packets: [BTreeMap<(i64, String), i64>; 2],
}

impl Windows {
    fn of(captured: &Scan, resolution: Resolution) -> Self {
        let length = resolution.window_ns();
        Self {
            resolution,
            spans: spans(captured, length),
            packets: ["flows", "spread"].map(|table| direction_packets(captured, table, length)),
        }
    }
}

fn assert_merged(windows: &Windows, table: &'static Table, rows: Vec<Line>, made: Vec<Line>) {
    let Windows {
        resolution,
        spans,
        packets: [of_flows, of_ports],
    } = windows;
    let length = resolution.window_ns();
    let (expected, made) = (
        grouped(table, latest(table, rows), length),
        grouped(table, made, length),
    );
    let mut left = made;
    for (key, rows) in expected {
        let object = format!("{resolution} {} {key:?}", table.name);
        let observer = table.position("observer").unwrap();
        let of_window = ["flows", "opcodes", "spread", "windows"].contains(&table.name);
        let span = match (of_window, table.position("window_ns")) {
            (true, _) => spans.get(&(key.0, format!("{:?}", rows[0][observer]))).copied(),
            (false, Some(at)) => Some(union(&rows, at)),
            (false, None) => None,
        };
        let line = line(table, &rows, span);
        let Some(made) = left.remove(&key) else {
            // The ports of a direction add up to its packets, or have no rows.
            assert_eq!(table.name, "spread", "{object} is missing");
            let direction = (key.0, format!("{:?}", line[table.position("direction_key").unwrap()]));
            assert_ne!(of_flows.get(&direction), of_ports.get(&direction), "{object}");
            continue;
        };
        assert_eq!(made.len(), 1, "{object}");
        for (at, column) in table.columns.iter().enumerate() {
            if MADE.contains(&column.name) {
                continue;
            }
            let (ours, theirs) = (&line[at], &made[0][at]);
            assert!(
                same(column, ours, theirs),
                "{object}: {}: {ours:?} {theirs:?}",
                column.name
            );
        }
    }
    assert!(left.is_empty(), "{resolution} {}: {:?}", table.name, left.keys().next());
}

/// The start of the first row and the end of the last.
fn union(rows: &[Line], length: usize) -> (i64, i64) {
    let start = length - 1;
    let starts = rows.iter().map(|row| integer(&row[start]));
    let ends = rows.iter().map(|row| integer(&row[start]) + integer(&row[length]));
    (starts.min().unwrap(), ends.max().unwrap())
}

/// The span of the windows of each observer in each window of the rollup.
fn spans(captured: &Scan, length: i64) -> BTreeMap<(i64, String), (i64, i64)> {
    let table = rocescope_model::tables::find("windows").unwrap();
    let mut groups: BTreeMap<(i64, String), Vec<Line>> = BTreeMap::new();
    for line in lines(captured, table) {
        let window = integer(&line[2]).div_euclid(length);
        groups.entry((window, format!("{:?}", line[0]))).or_default().push(line);
    }
    groups.into_iter().map(|(key, rows)| (key, union(&rows, 3))).collect()
}

/// Only the latest analysis of a window counts: of `sla`, and of what refers to it.
fn latest(table: &Table, mut rows: Vec<Line>) -> Vec<Line> {
    let Some(revision) = table.position("revision") else {
        return rows;
    };
    let number = |row: &Line| number(&row[revision]).unwrap_or(0.0) as i64;
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    for row in &rows {
        let latest = last.entry(integer(&row[2])).or_default();
        *latest = number(row).max(*latest);
    }
    rows.retain(|row| last[&integer(&row[2])] == number(row));
    rows
}

/// Packets of each sprayed direction in each window, of its rows in a table.
fn direction_packets(captured: &Scan, table: &str, length: i64) -> BTreeMap<(i64, String), i64> {
    let table = rocescope_model::tables::find(table).unwrap();
    let at = |name| table.position(name).unwrap();
    let (key, packets, port) = (at("direction_key"), at("packets"), at("udp_src_port"));
    let is_sprayed = |line: &Line| table.name == "spread" || line[port] == Cell::Null;
    let mut all = BTreeMap::new();
    for line in lines(captured, table).into_iter().filter(is_sprayed) {
        let window = integer(&line[2]).div_euclid(length);
        *all.entry((window, format!("{:?}", line[key]))).or_default() += integer(&line[packets]);
    }
    all
}
