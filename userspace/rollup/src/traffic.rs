//! Merges the windows of captured traffic with their flows, opcodes and spread.

use rocescope_model::{FlowRow, OpcodeRow, Resolution, Row, SpreadRow, Text, Time, WindowRow, WindowRows};
use rocescope_pipeline::merge::{Part, merge_time};
use rocescope_store::query::Timeline;
use rocescope_store::rollup::{Sink, Unit};
use rocescope_store::{Error, Scan};
use std::collections::BTreeMap;

/// The tables that are merged here.
#[cfg(test)]
pub(crate) const TABLES: [&rocescope_model::Table; 4] =
    [WindowRow::TABLE, FlowRow::TABLE, OpcodeRow::TABLE, SpreadRow::TABLE];

/// The tables of a unit, window by window.
struct Reader<'a> {
    windows: Timeline<'a, WindowRow>,
    flows: Timeline<'a, FlowRow>,
    opcodes: Timeline<'a, OpcodeRow>,
    spread: Timeline<'a, SpreadRow>,
}

/// The windows of an observer in a window of the rollup, by their start.
type Parts = BTreeMap<String, BTreeMap<(bool, i64), Part>>;

/// The part of a window that was noted before.
fn part<'a>(parts: &'a mut Parts, observer: &Text, key: (bool, i64)) -> Option<&'a mut Part> {
    parts.get_mut(observer.as_str())?.get_mut(&key)
}

/// Adds the rows of a unit.
pub(crate) fn make(unit: &Unit<'_>, flow_rows: usize, sink: &mut Sink) -> Result<(), Error> {
    let resolution = unit.task.resolution;
    let mut readers = [Reader::new(&unit.old)?, Reader::new(&unit.new)?];
    while let Some(window) = readers.iter().filter_map(|reader| reader.next(resolution)).min() {
        let mut parts = Parts::new();
        for (number, reader) in readers.iter_mut().enumerate() {
            reader.take(resolution, window, number > 0, &mut parts)?;
        }
        let mut all = WindowRows::default();
        for parts in parts.into_values() {
            let parts: Vec<Part> = parts.into_values().collect();
            all.append(&mut merged(parts, flow_rows));
        }
        // Readers take rows in the order of time; observers need not begin a window together.
        all.windows.sort_by_key(|row| row.window_start_ns);
        all.flows.sort_by_key(|row| row.window_start_ns);
        all.opcodes.sort_by_key(|row| row.window_start_ns);
        all.spread.sort_by_key(|row| row.window_start_ns);
        sink.push(&all.windows)?;
        sink.push(&all.flows)?;
        sink.push(&all.opcodes)?;
        sink.push(&all.spread)?;
    }
    Ok(())
}

/// Merges the windows of an observer. Sketches that do not merge, as those of captures with other parameters, are left out.
fn merged(mut parts: Vec<Part>, flow_rows: usize) -> WindowRows {
    if let Ok(rows) = merge_time(&parts, flow_rows) {
        return rows;
    }
    for window in parts.iter_mut().flat_map(|part| &mut part.windows) {
        *window = window.without_sketches();
    }
    // Without sketches nothing can differ.
    merge_time(&parts, flow_rows).unwrap_or_default()
}

impl<'a> Reader<'a> {
    fn new(scan: &'a Scan) -> Result<Self, Error> {
        Ok(Self {
            windows: scan.select().columns(|_| true).timeline()?,
            flows: scan.select().columns(|_| true).timeline()?,
            opcodes: scan.select().columns(|_| true).timeline()?,
            spread: scan.select().columns(|_| true).timeline()?,
        })
    }

    /// The next window of the rollup that has rows.
    fn next(&self, resolution: Resolution) -> Option<Time> {
        self.windows.next_ns().map(|start| resolution.window(Time(start)))
    }

    /// Takes what belongs to a window of the rollup. `is_new` separates the rows of the finer resolution from those that the
    /// rollup has already, which may begin at the same time.
    fn take(&mut self, resolution: Resolution, window: Time, is_new: bool, parts: &mut Parts) -> Result<(), Error> {
        while let Some(start_ns) = self.windows.next_ns()
            && resolution.window(Time(start_ns)) == window
        {
            let key = (is_new, start_ns);
            for (_, row) in self.windows.take(start_ns)? {
                let of_observer = parts.entry(row.observer.as_str().to_owned()).or_default();
                of_observer.entry(key).or_default().windows.push(row);
            }
            for (_, row) in self.flows.take(start_ns)? {
                if let Some(part) = part(parts, &row.observer, key) {
                    part.flows.push(row);
                }
            }
            for (_, row) in self.opcodes.take(start_ns)? {
                if let Some(part) = part(parts, &row.observer, key) {
                    part.opcodes.push(row);
                }
            }
            for (_, row) in self.spread.take(start_ns)? {
                if let Some(part) = part(parts, &row.observer, key) {
                    part.spread.push(row);
                }
            }
        }
        Ok(())
    }
}
