//! Deletes the oldest segments.

use crate::lock::HourLock;
use crate::name::{OPEN, Observer, Partition};
use crate::scan::read_segment;
use crate::walk::{self, Found};
use crate::{Error, durable};
use rocescope_model::{Resolution, Row, SHIPPED, Time, WindowRow, footer};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// What to keep. Without limits, everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Delete segments whose hour ends at or before this instant.
    pub older_than: Option<Time>,
    /// Delete the oldest windows with all their rows, until the rest has at most this many bytes; the newest remain, also
    /// if they have more.
    pub max_bytes: Option<u64>,
}

/// The result of a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// Deleted segments.
    pub deleted_segments: u64,
    /// Deleted bytes.
    pub deleted_bytes: u64,
    /// Bytes of the remaining segments.
    pub kept_bytes: u64,
    /// Segments that remain only because they are not shipped yet.
    pub waiting_segments: u64,
}

/// Deletes sealed segments beyond the limits, the oldest first for all tables and observers, and directories that become
/// empty. Segments of `windows` are deleted together with those of the same time and observer in every other table: rows
/// of flows without their window could not be placed. Files that rocescope did not name and open segments remain; so do, if `rocescope dataset ship` copies the dataset
/// to a store, segments that the store does not have.
///
/// # Errors
/// The directories cannot be read, or a file cannot be deleted.
pub fn retain(root: &Path, limits: Limits) -> Result<Retained, Error> {
    retain_if(root, limits, &|_| true)
}

/// Same as [`retain`], but segments that were written at this instant or later remain, with those of the same windows: what
/// read the dataset then does not have them.
///
/// # Errors
/// Those of [`retain`].
pub fn retain_read(root: &Path, limits: Limits, read: SystemTime) -> Result<Retained, Error> {
    let is_read = |found: &Found| {
        let written = std::fs::metadata(&found.path).and_then(|file| file.modified());
        written.is_ok_and(|written| written < read)
    };
    retain_if(root, limits, &is_read)
}

fn retain_if(root: &Path, limits: Limits, may_go: &dyn Fn(&Found) -> bool) -> Result<Retained, Error> {
    let groups = groups(walk::segments(root)?);
    let shipped = root.join(SHIPPED);
    let is_shipped = shipped.is_dir();
    let mut deleted = Deleted::read(root)?;
    let mut retained = Retained {
        kept_bytes: groups.iter().map(Group::bytes).sum(),
        ..Retained::default()
    };
    let newest = groups.len().saturating_sub(1);
    for (number, group) in groups.into_iter().enumerate() {
        let too_old = limits.older_than.is_some_and(|time| group.end() <= time);
        let too_many = limits
            .max_bytes
            .is_some_and(|max| number < newest && retained.kept_bytes > max);
        if !too_old && !too_many {
            // Sorted by time: no later segment is older, and enough bytes are deleted.
            break;
        }
        if !group.segments.iter().all(may_go) {
            continue;
        }
        let marker = |found: &Found| found.path.strip_prefix(root).map(|name| shipped.join(name)).ok();
        let is_unshipped = |found: &&Found| !marker(found).is_some_and(|marker| marker.exists());
        let waiting = group
            .segments
            .iter()
            .filter(|_| is_shipped)
            .filter(is_unshipped)
            .count() as u64;
        if waiting > 0 {
            retained.waiting_segments += waiting;
            continue;
        }
        match deleted.note(root, &group.partition, &group.observer) {
            // Deletion is what makes room.
            Err(Error::NoSpace { .. }) => {}
            noted => noted?,
        }
        for found in &group.segments {
            durable::remove(&found.path)?;
            if is_shipped && let Some(marker) = marker(found) {
                durable::remove(&marker)?;
            }
            retained.deleted_segments += 1;
            retained.deleted_bytes += found.bytes;
            retained.kept_bytes = retained.kept_bytes.saturating_sub(found.bytes);
            remove_empty_directories(&found.path, root);
        }
    }
    Ok(retained)
}

/// The name of the file that lists from which partitions segments were deleted.
const RETAINED: &str = "retained";

/// The newest partition from which segments were deleted, of each observer. Rollups of it, and of earlier ones, are not made
/// again from what is left.
///
/// The file has a line for each observer, `PARTITION OBSERVER`; of several the newest counts. `rocescope dataset ship --keep`
/// appends lines. A line without an observer, of earlier versions, is of all.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    of_all: Option<Partition>,
    of: BTreeMap<String, Partition>,
}

impl Deleted {
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join(OPEN).join(RETAINED);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let mut deleted = Self::default();
        for line in text.lines() {
            let (partition, observer) = line.split_once(' ').map_or((line, None), |(line, of)| (line, Some(of)));
            let partition = Partition::parse(partition);
            match observer {
                Some(observer) => deleted.raise(observer, partition),
                None => deleted.of_all = deleted.of_all.max(partition),
            }
        }
        Ok(deleted)
    }

    /// The newest partition of an observer.
    pub(crate) fn of(&self, observer: &Observer) -> Option<Partition> {
        self.of.get(observer.as_str()).copied().max(self.of_all)
    }

    /// The newest partition of any observer.
    pub(crate) fn newest(&self) -> Option<Partition> {
        self.of.values().copied().max().max(self.of_all)
    }

    fn raise(&mut self, observer: &str, partition: Option<Partition>) {
        if let Some(partition) = partition {
            let newest = self.of.entry(observer.to_owned()).or_insert(partition);
            *newest = partition.max(*newest);
        }
    }

    fn text(&self) -> String {
        let of_all = self.of_all.map(|partition| format!("{}\n", partition.path().display()));
        let of = self.of.iter();
        let of = of.map(|(observer, partition)| format!("{} {observer}\n", partition.path().display()));
        of_all.into_iter().chain(of).collect()
    }

    /// Notes a partition of an observer durably, before the first of its segments is deleted.
    fn note(&mut self, root: &Path, partition: &str, observer: &Observer) -> Result<(), Error> {
        let this = Partition::parse(partition);
        if this <= self.of(observer) {
            return Ok(());
        }
        // No other process writes it meanwhile.
        let _lock = HourLock::exclusive(root)?;
        *self = Self::read(root)?;
        self.raise(observer.as_str(), this);
        let path = root.join(OPEN).join(RETAINED);
        let unfinished = path.with_extension("tmp");
        let failed = |source| Error::io("write", &unfinished, source);
        let mut file = File::create(&unfinished).map_err(failed)?;
        file.write_all(self.text().as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        durable::publish(&unfinished, &path, root)
    }
}

/// Segments that are deleted together: those of `windows` with what other tables have of the same windows.
struct Group {
    partition: String,
    start: Time,
    observer: Observer,
    /// `windows` first: a window that is still in it is complete in every table, also after a kill.
    segments: Vec<Found>,
}

impl Group {
    /// The end of its partition; of one with another name, never.
    fn end(&self) -> Time {
        let Some(partition) = Partition::parse(&self.partition) else {
            return Time(i64::MAX);
        };
        let resolution = self.segments.first().filter(|_| partition.is_first_of_day());
        let resolution = resolution.and_then(|found| {
            let segment = read_segment(found.clone()).ok()?;
            segment.footer(footer::ROLLUP)?.parse::<Resolution>().ok()
        });
        let (_, end) = resolution.unwrap_or(Resolution::Captured).partition(partition.start());
        end
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|found| found.bytes).sum()
    }
}

/// Groups the segments that rocescope named, the oldest first. A segment of another table belongs to the last windows
/// that begin no later than its rows; without any, to the first. Without windows, each is a group of its own.
fn groups(segments: Vec<Found>) -> Vec<Group> {
    let is_windows = |found: &Found| found.table == WindowRow::TABLE.name;
    let (windows, others): (Vec<Found>, Vec<Found>) = segments.into_iter().partition(is_windows);
    // By hour and observer, and then by start.
    let mut all: BTreeMap<(String, Observer), BTreeMap<Time, Vec<Found>>> = BTreeMap::new();
    for found in windows {
        let Some(name) = &found.name else { continue };
        let of_hour = all.entry((found.partition.clone(), name.observer.clone())).or_default();
        of_hour.entry(name.start()).or_default().push(found);
    }
    let with_windows: BTreeSet<(String, Observer)> = all.keys().cloned().collect();
    for found in others {
        let Some(name) = &found.name else { continue };
        let (key, start) = ((found.partition.clone(), name.observer.clone()), name.start());
        let has_windows = with_windows.contains(&key);
        let of_hour = all.entry(key).or_default();
        let earlier = of_hour.range(..=start).next_back().or_else(|| of_hour.iter().next());
        let group = earlier.filter(|_| has_windows).map_or(start, |(start, _)| *start);
        of_hour.entry(group).or_default().push(found);
    }
    let groups = all.into_iter().flat_map(|((partition, observer), of_hour)| {
        of_hour.into_iter().map(move |(start, segments)| Group {
            partition: partition.clone(),
            start,
            observer: observer.clone(),
            segments,
        })
    });
    let mut groups: Vec<Group> = groups.collect();
    groups.sort_by(|a, b| (&a.partition, a.start, &a.observer).cmp(&(&b.partition, b.start, &b.observer)));
    groups
}

/// Removes the directories of hour, day and table of a deleted segment if they are empty.
fn remove_empty_directories(segment: &Path, root: &Path) {
    for directory in segment.ancestors().skip(1) {
        if directory == root || std::fs::remove_dir(directory).is_err() {
            return;
        }
    }
}
