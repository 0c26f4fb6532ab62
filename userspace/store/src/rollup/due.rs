//! Which units of a resolution are due.

use super::directory;
use super::inputs::{self, Input};
use super::unsealed::{Unsealed, Windows, windows_of};
use crate::name::{Observer, Partition};
use crate::retain::Deleted;
use crate::scan::read_segment;
use crate::walk::{self, Found};
use crate::{Error, Segment, Unreadable};
use rocescope_model::{Resolution, Row, SHIPPED, SlaRow, Time, WindowRow, footer, tables};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is due of a resolution.
#[derive(Debug, Default)]
pub struct Due {
    /// Partitions of the rollup with units that are due, the oldest first.
    pub tasks: Vec<Task>,
    /// Segments of the rollup that cannot be read: their partitions are left as they are.
    pub damaged: Vec<Unreadable>,
    /// Segments that came after retention deleted what their rollup was made of, or the rollup itself: their rows are in
    /// no rollup.
    pub too_late: u64,
    /// Partitions of the finer resolution with windows that their writer has not sealed yet: only a run after that can add
    /// their rows.
    pub unsealed: Vec<PathBuf>,
}

/// A partition of a rollup and a writer, with units that are due.
#[derive(Debug)]
pub struct Task {
    /// The resolution.
    pub resolution: Resolution,
    /// Start of the partition.
    pub start: Time,
    /// Its end.
    pub end: Time,
    pub(super) writer: Observer,
    pub(super) units: Vec<DueUnit>,
    /// The segments of the rollup so far, by table.
    pub(super) old: BTreeMap<&'static str, Segment>,
}

/// A partition of the finer resolution.
#[derive(Debug)]
pub(super) struct DueUnit {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) partition: String,
    /// Whether its rows are added to those of the rollup, because what these were made of is gone.
    pub(super) extends: bool,
    pub(super) tables: BTreeMap<&'static str, DueTable>,
}

/// The segments of a unit in one table.
#[derive(Debug, Default)]
pub(super) struct DueTable {
    /// Those that are read.
    pub(super) read: Vec<Found>,
    /// Those that the rollup has already, and keeps.
    pub(super) listed: Vec<Input>,
}

/// Segments by unit, writer and table.
type Sources = BTreeMap<(Partition, Observer), BTreeMap<&'static str, Vec<Found>>>;

/// The partitions of a rollup of which the finer resolution has rows: their starts.
pub(super) fn partitions(root: &Path, resolution: Resolution) -> Result<BTreeSet<Time>, Error> {
    let Some(finer) = resolution.finer() else {
        return Ok(BTreeSet::new());
    };
    let found = walk::partitions(&directory(root, finer), has_rollups)?;
    let start = |found: Partition| resolution.partition(found.start()).0;
    Ok(found.into_iter().map(start).collect())
}

fn has_rollups(table: &str) -> bool {
    tables::find(table).is_some_and(rocescope_model::Table::has_rollups)
}

/// What is due of the partitions of the rollup that begin within a time.
pub(super) fn due(root: &Path, resolution: Resolution, within: &Range<i64>, ended_before: Time) -> Result<Due, Error> {
    let mut due = Due::default();
    let Some(finer) = resolution.finer() else {
        return Ok(due);
    };
    let (source, target) = (directory(root, finer), directory(root, resolution));
    if !source.is_dir() {
        return Ok(due);
    }
    let sources = sources(&source, within)?;
    let mut old = old(&target, within)?;
    let windows: Windows = sources
        .iter()
        .map(|(unit, found)| (unit.clone(), windows_of(found)))
        .collect();
    let mut unsealed = Unsealed::new(&source, within);
    let gone = Gone {
        source: Deleted::read(&source)?,
        target: Deleted::read(&target)?,
        is_captured: finer == Resolution::Captured,
        is_shipped: source.join(SHIPPED).is_dir(),
    };
    let mut tasks: BTreeMap<(Time, Observer), Task> = BTreeMap::new();
    for ((partition, writer), found) in sources {
        let (from, to) = finer.partition(partition.start());
        if to > ended_before {
            continue;
        }
        let (start, end) = resolution.partition(from);
        let key = (start, writer);
        let known = old.get_mut(&key).map(|old| old.open(&mut due.damaged));
        let Some(known) = known.unwrap_or(Some(&NONE)) else {
            continue;
        };
        let unit = unit(partition, (from, to), found, known, &gone.of(&key), &mut due.too_late)?;
        if let Some(unit) = unit {
            if unit.extends && unsealed.has(&(partition, key.1.clone()), &windows)? {
                due.unsealed.push(source.join(partition.path()));
                continue;
            }
            let (start, writer) = key.clone();
            let task = tasks.entry(key).or_insert_with(|| Task {
                resolution,
                start,
                end,
                writer,
                units: Vec::new(),
                old: known.clone(),
            });
            task.units.push(unit);
        }
    }
    due.tasks = tasks.into_values().collect();
    Ok(due)
}

pub(super) fn whole(root: &Path, resolution: Resolution) -> Result<Vec<(Time, Time)>, Error> {
    let Some(finer) = resolution.finer() else {
        return Ok(Vec::new());
    };
    let (source, target) = (directory(root, finer), directory(root, resolution));
    if !source.is_dir() {
        return Ok(Vec::new());
    }
    let mut old = old(&target, &ALWAYS)?;
    let mut units: BTreeMap<Partition, bool> = BTreeMap::new();
    for ((partition, writer), mut found) in sources(&source, &ALWAYS)? {
        let found = found.remove(WindowRow::TABLE.name).unwrap_or_default();
        let (start, _) = resolution.partition(partition.start());
        let known = old.get_mut(&(start, writer)).and_then(|old| old.open(&mut Vec::new()));
        let windows = known.and_then(|known| known.get(WindowRow::TABLE.name));
        let listed = listed(windows, &partition.path().to_string_lossy());
        if listed.is_empty() && found.is_empty() {
            // What has no windows, as rows of probes, has nothing to compare.
            continue;
        }
        *units.entry(partition).or_insert(true) &= is_same(&listed, &found);
    }
    let whole = units.into_iter().filter(|(_, is_whole)| *is_whole);
    Ok(whole.map(|(partition, _)| finer.partition(partition.start())).collect())
}

/// Whether the listed segments, by name and size, are those that are there.
fn is_same(listed: &[Input], found: &[Found]) -> bool {
    let mut now = found.iter().map(|f| Input::unread(&f.partition, &f.path, f.bytes));
    found.len() == listed.len() && now.all(|now| listed.iter().any(|listed| listed.looks_like(&now)))
}

/// Any partition.
pub(super) const ALWAYS: Range<i64> = i64::MIN..i64::MAX;

static NONE: BTreeMap<&'static str, Segment> = BTreeMap::new();

/// From which partitions segments were deleted.
struct Gone {
    source: Deleted,
    target: Deleted,
    is_captured: bool,
    /// Whether segments are copied to a store, which may delete them.
    is_shipped: bool,
}

impl Gone {
    /// What is deleted of a writer, for a partition of the rollup.
    fn of(&self, (start, writer): &(Time, Observer)) -> GoneOf {
        GoneOf {
            source: self.source.of(writer),
            is_target: self.target.of(writer).is_some_and(|gone| Partition::of(*start) <= gone),
            is_captured: self.is_captured,
            is_shipped: self.is_shipped,
        }
    }
}

/// The same of a writer.
struct GoneOf {
    /// The newest partition from which segments were deleted.
    source: Option<Partition>,
    /// Whether the partition of the rollup may be deleted.
    is_target: bool,
    is_captured: bool,
    is_shipped: bool,
}

/// The segments in partitions that begin within the time.
pub(super) fn sources(source: &Path, within: &Range<i64>) -> Result<Sources, Error> {
    let mut sources = Sources::new();
    for found in walk::segments_within(source, has_rollups, within)? {
        let (Some(table), Some(name)) = (tables::find(&found.table), &found.name) else {
            continue;
        };
        let Some(partition) = Partition::parse(&found.partition) else {
            continue;
        };
        let unit = sources.entry((partition, name.observer.clone())).or_default();
        unit.entry(table.name).or_default().push(found);
    }
    Ok(sources)
}

/// The segments of a partition of the rollup, read when they are first needed.
enum Old {
    Found(Vec<Found>),
    Read(BTreeMap<&'static str, Segment>),
    /// One is damaged.
    Damaged,
}

impl Old {
    /// Reads the footers; `None` if one is damaged.
    fn open(&mut self, damaged: &mut Vec<Unreadable>) -> Option<&BTreeMap<&'static str, Segment>> {
        if let Self::Found(found) = self {
            let mut read = BTreeMap::new();
            let mut is_damaged = false;
            for found in std::mem::take(found) {
                let table = tables::find(&found.table).map(|table| table.name);
                match (table, read_segment(found)) {
                    (Some(table), Ok(segment)) => drop(read.insert(table, segment)),
                    (_, Err(Some(unreadable))) => {
                        damaged.push(unreadable);
                        is_damaged = true;
                    }
                    _ => {}
                }
            }
            *self = if is_damaged { Self::Damaged } else { Self::Read(read) };
        }
        match self {
            Self::Read(read) => Some(read),
            _ => None,
        }
    }
}

fn old(target: &Path, within: &Range<i64>) -> Result<BTreeMap<(Time, Observer), Old>, Error> {
    let mut old: BTreeMap<(Time, Observer), Old> = BTreeMap::new();
    if !target.is_dir() {
        return Ok(old);
    }
    for found in walk::segments_within(target, |_| true, within)? {
        let (Some(name), Some(partition)) = (&found.name, Partition::parse(&found.partition)) else {
            continue;
        };
        let key = (partition.start(), name.observer.clone());
        if let Old::Found(list) = old.entry(key).or_insert_with(|| Old::Found(Vec::new())) {
            list.push(found);
        }
    }
    Ok(old)
}

/// What a segment of the rollup lists of a unit.
fn listed(old: Option<&Segment>, partition: &str) -> Vec<Input> {
    let text = old
        .and_then(|old| old.footer(footer::ROLLUP_INPUTS))
        .unwrap_or_default();
    let mut inputs = inputs::parse(text);
    inputs.retain(|input| input.partition == partition);
    inputs
}

/// The unit, if it is due.
fn unit(
    partition: Partition,
    (from, to): (Time, Time),
    found: BTreeMap<&'static str, Vec<Found>>,
    old: &BTreeMap<&'static str, Segment>,
    gone: &GoneOf,
    too_late: &mut u64,
) -> Result<Option<DueUnit>, Error> {
    let name = partition.path().to_string_lossy().into_owned();
    let mut tables = BTreeMap::new();
    let mut is_due = false;
    let mut is_new = true;
    let mut extends = gone.source.is_some_and(|gone| partition <= gone);
    for (table, found) in found {
        let listed = listed(old.get(table), &name);
        is_new &= listed.is_empty();
        is_due |= !is_same(&listed, &found);
        extends |= is_missing(&listed, &found, gone.is_shipped);
        tables.insert(table, (found, listed));
    }
    // Without an own list: nothing is there to add to.
    extends &= !is_new;
    let is_deleted = is_new && gone.is_target;
    if is_deleted || (extends && !gone.is_captured) {
        let changed = tables.values().filter(|(_, listed)| is_deleted || listed.is_empty());
        *too_late += changed.map(|(found, _)| found.len() as u64).sum::<u64>();
        return Ok(None);
    }
    if !is_due && !extends {
        return Ok(None);
    }
    let mut unit = DueUnit {
        from,
        to,
        partition: name,
        extends,
        tables: BTreeMap::new(),
    };
    for (table, (found, listed)) in tables {
        let due = match extends {
            true => new_segments(found, &listed, too_late)?,
            false => DueTable {
                read: found,
                listed: Vec::new(),
            },
        };
        unit.tables.insert(table, due);
    }
    // Only what is new is added.
    let adds = !extends || unit.tables.values().any(|table| !table.read.is_empty());
    Ok(adds.then_some(unit))
}

/// Whether a listed segment is gone, and compaction did not replace it. Where segments are shipped, it may be gone all the same.
fn is_missing(listed: &[Input], found: &[Found], is_shipped: bool) -> bool {
    let name = |found: &Found| found.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_there = |input: &Input| found.iter().any(|found| name(found).as_deref() == Some(&input.name));
    let is_joined = |found: &Found| is_unlisted_join(listed, found);
    !listed.iter().all(is_there) && (is_shipped || !found.iter().any(is_joined))
}

/// Whether compaction made it since: it may have rows that the rollup has.
fn is_unlisted_join(listed: &[Input], found: &Found) -> bool {
    let name = found.path.file_name().map(|name| name.to_string_lossy());
    let is_listed = listed.iter().any(|input| name.as_deref() == Some(&*input.name));
    !is_listed && found.name.as_ref().is_some_and(crate::name::SegmentName::is_joined)
}

/// The segments that the rollup does not have yet. The sums decide: a name may have been used before. Joined ones have rows
/// that it has, and perhaps others, which nothing separates: they are too late.
fn new_segments(found: Vec<Found>, listed: &[Input], too_late: &mut u64) -> Result<DueTable, Error> {
    // What is gone stays listed: the rollup has its rows, and is never again made of the rest alone.
    let mut due = DueTable {
        read: Vec::new(),
        listed: listed.to_vec(),
    };
    for found in found {
        if is_unlisted_join(listed, &found) {
            *too_late += 1;
            continue;
        }
        // A damaged one, and one that was deleted meanwhile, are none.
        let Ok(segment) = read_segment(found.clone()) else {
            continue;
        };
        if !listed.contains(&Input::of(&segment)) {
            due.read.push(found);
        }
    }
    Ok(due)
}

/// The tables in the order in which they are written: those last that state what is complete.
pub(super) fn order(table: &str) -> (bool, bool, &str) {
    (table == WindowRow::TABLE.name, table == SlaRow::TABLE.name, table)
}
