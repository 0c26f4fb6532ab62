//! Names of partitions, segments and their files.
//!
//! Everything that is not a complete segment is in `<root>/.open`, which readers ignore, and damaged journals are in
//! `<root>/.damaged`. A stray file in a table's directory would prevent polars, pandas and Spark from reading the table.

use rocescope_model::Time;
use rocescope_model::time::HOUR_NS;
use std::fmt;
use std::path::{Path, PathBuf};

/// Directory of locks, journals and unfinished segments, in the root.
pub(crate) const OPEN: &str = ".open";
/// Directory of damaged journals, in the root.
pub(crate) const DAMAGED: &str = ".damaged";
/// Directory of hours whose segments are being joined, or were just replaced, in the root.
pub(crate) const COMPACT: &str = ".compact";

/// Where a segment is for a while after others replaced it.
pub(crate) fn replaced(segment: &Path) -> Option<PathBuf> {
    /// Table, day, hour and name.
    const LEVELS: usize = 4;
    let root = segment.ancestors().nth(LEVELS)?;
    Some(root.join(COMPACT).join(segment.strip_prefix(root).ok()?))
}
/// Suffix of a sealed segment.
const SEALED: &str = ".parquet";
/// Suffix of a segment that is being sealed.
const UNFINISHED: &str = ".parquet.tmp";
/// Suffix of a journal.
const JOURNAL: &str = ".arrows.tmp";
/// Suffix of a damaged journal.
const SET_ASIDE: &str = ".arrows";
/// Joined segments have numbers from this on: a writer counts from 0, and must not take the name of one.
pub(crate) const FIRST_JOINED: u32 = 10_000;
/// Maximum length of an observer's name in a file name: leaves room for the rest in 255 bytes.
const OBSERVER_MAX: usize = 100;

/// Name of an observer in file names.
///
/// Observers whose names differ only in replaced characters share lock and file names; numbers distinguish their
/// segments, so no rows are lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Observer(String);

impl Observer {
    pub(crate) fn new(name: &str) -> Self {
        let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let kept = name.chars().map(|c| if keep(c) { c } else { '_' });
        let mut kept: String = kept.take(OBSERVER_MAX).collect();
        // Readers ignore names that start with a dot or an underscore.
        if kept.is_empty() || kept.starts_with(['.', '_']) {
            kept.insert(0, 'x');
        }
        Self(kept)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// An hour in UTC: the directory of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Partition(
    /// Hours since 1970.
    pub(crate) i64,
);

impl Partition {
    pub(crate) fn of(time: Time) -> Self {
        Self(time.hours())
    }

    /// Parses the name that [`path`](Self::path) returns.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let (date, hour) = path.strip_prefix("date=")?.split_once("/hour=")?;
        let mut parts = date.split('-').map(str::parse::<i64>);
        let mut part = || parts.next()?.ok();
        let day = Self::of(Time::from_date(part()?, part()?, part()?)?);
        let hour = hour.parse::<i64>().ok();
        let hour = hour.filter(|hour| (0..24).contains(hour))?;
        Some(Self(day.0 + hour))
    }

    /// Returns the first instant of the hour.
    pub(crate) const fn start(self) -> Time {
        Time(self.0.saturating_mul(HOUR_NS))
    }

    /// Whether it is the first hour of a day.
    pub(crate) const fn is_first_of_day(self) -> bool {
        self.0.rem_euclid(24) == 0
    }

    /// Returns the last nanosecond of the hour.
    pub(crate) const fn last_ns(self) -> i64 {
        self.start().0.saturating_add(HOUR_NS - 1)
    }

    /// Returns `date=YYYY-MM-DD/hour=HH`, which sorts by time as text.
    pub(crate) fn path(self) -> PathBuf {
        let civil = self.start().civil();
        let (year, month, day, hour) = (civil.year, civil.month, civil.day, civil.hour);
        PathBuf::from(format!("date={year:04}-{month:02}-{day:02}")).join(format!("hour={hour:02}"))
    }
}

/// Name of a segment: `<observer>-<start>-<seq>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentName {
    pub(crate) observer: Observer,
    /// Time of the first row, in seconds.
    start: Time,
    seq: u32,
}

impl SegmentName {
    pub(crate) fn new(observer: &Observer, start: Time, seq: u32) -> Self {
        let observer = observer.clone();
        let start = Time(start.0 - start.0.rem_euclid(1_000_000_000));
        Self { observer, start, seq }
    }

    /// Returns the time of the first row, in whole seconds.
    pub(crate) const fn start(&self) -> Time {
        self.start
    }

    /// Whether compaction made the segment.
    pub(crate) const fn is_joined(&self) -> bool {
        self.seq >= FIRST_JOINED
    }

    /// Returns the name with another number.
    pub(crate) fn numbered(&self, seq: u32) -> Self {
        Self { seq, ..self.clone() }
    }

    /// Returns the name of the sealed file.
    pub(crate) fn file(&self) -> String {
        format!("{self}{SEALED}")
    }

    /// Parses a name without its suffix.
    fn parse(stem: &str) -> Option<Self> {
        let (rest, seq) = stem.rsplit_once('-')?;
        let (observer, start) = rest.rsplit_once('-')?;
        let name = Self {
            observer: Observer(observer.into()),
            start: parse_start(start)?,
            seq: seq.parse().ok()?,
        };
        let ours = Observer::new(observer) == name.observer && name.to_string() == stem;
        ours.then_some(name)
    }

    /// Parses the name of a sealed file; `None` if rocescope did not name it.
    pub(crate) fn of_sealed(file_name: &str) -> Option<Self> {
        Self::parse(file_name.strip_suffix(SEALED)?)
    }
}

/// Whether a file name is that of a sealed segment, written by rocescope or not.
pub(crate) fn is_sealed(file_name: &str) -> bool {
    file_name.ends_with(SEALED) && !file_name.starts_with(['.', '_'])
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = self.start.civil();
        let (observer, year, seq) = (self.observer.as_str(), c.year, self.seq);
        write!(f, "{observer}-{year:04}{:02}{:02}", c.month, c.day)?;
        write!(f, "T{:02}{:02}{:02}Z-{seq:04}", c.hour, c.minute, c.second)
    }
}

/// `YYYYMMDDTHHMMSSZ`.
fn parse_start(text: &str) -> Option<Time> {
    let digits = text.strip_suffix('Z')?.replacen('T', "", 1);
    let all = digits.len() == 14 && digits.bytes().all(|b| b.is_ascii_digit());
    let number = |from, to| digits.get(from..to)?.parse::<i64>().ok();
    let day = all.then(|| Time::from_date(number(0, 4)?, number(4, 6)?, number(6, 8)?))??;
    let seconds = number(8, 10)? * 3_600 + number(10, 12)? * 60 + number(12, 14)?;
    Some(Time(day.0.checked_add(seconds * 1_000_000_000)?))
}

/// The paths of a segment's files, for each of its states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentPaths {
    pub(crate) root: PathBuf,
    pub(crate) table: String,
    pub(crate) name: SegmentName,
}

impl SegmentPaths {
    pub(crate) fn sealed(&self) -> PathBuf {
        let partition = Partition::of(self.name.start).path();
        self.root.join(&self.table).join(partition).join(self.name.file())
    }

    pub(crate) fn unfinished(&self) -> PathBuf {
        self.open(UNFINISHED)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.open(JOURNAL)
    }

    /// Returns an unused path for the damaged journal.
    pub(crate) fn damaged(&self) -> PathBuf {
        let directory = self.root.join(DAMAGED).join(&self.table);
        let at = |number: u32| match number {
            0 => directory.join(format!("{}{SET_ASIDE}", self.name)),
            _ => directory.join(format!("{}-{number}{SET_ASIDE}", self.name)),
        };
        let mut number = 0;
        while number < u32::MAX && at(number).exists() {
            number += 1;
        }
        at(number)
    }

    /// Returns the path of the marks of its observer and table.
    pub(crate) fn marks(&self) -> PathBuf {
        let file = format!("{}.marks", self.name.observer.as_str());
        self.root.join(OPEN).join(&self.table).join(file)
    }

    fn open(&self, end: &str) -> PathBuf {
        let file = format!("{}{end}", self.name);
        self.root.join(OPEN).join(&self.table).join(file)
    }
}

/// The kind of a file in [`OPEN`], by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpenFile {
    /// A segment that was being sealed.
    Unfinished(SegmentName),
    /// A segment that was being written.
    Journal(SegmentName),
}

impl OpenFile {
    pub(crate) fn of(file_name: &str) -> Option<Self> {
        let part = |end| file_name.strip_suffix(end).and_then(SegmentName::parse);
        match (part(UNFINISHED), part(JOURNAL)) {
            (Some(name), _) => Some(Self::Unfinished(name)),
            (None, name) => name.map(Self::Journal),
        }
    }
}

/// Returns the path of the lock file of an observer.
pub(crate) fn lock_path(root: &Path, observer: &Observer) -> PathBuf {
    root.join(OPEN).join(format!("{}.lock", observer.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Observer, OpenFile, Partition, SegmentName, SegmentPaths, is_sealed};
    use rocescope_model::Time;
    use std::path::Path;

    const START: Time = Time(1_795_228_209_987_654_321);

    #[test]
    fn names_contain_observer_start_and_number() {
        let place = SegmentPaths {
            root: "data".into(),
            table: "flows".into(),
            name: SegmentName::new(&Observer::new("rail-3"), START, 7),
        };
        let stem = "rail-3-20261121T023009Z-0007";
        let sealed = format!("data/flows/date=2026-11-21/hour=02/{stem}.parquet");
        assert_eq!(place.sealed(), Path::new(&sealed));
        let journal = format!("data/.open/flows/{stem}.arrows.tmp");
        assert_eq!(place.journal(), Path::new(&journal));

        let name = place.name;
        let file = |end| format!("{stem}{end}");
        assert_eq!(SegmentName::of_sealed(&file(".parquet")), Some(name.clone()));
        let journal = OpenFile::of(&file(".arrows.tmp"));
        assert_eq!(journal, Some(OpenFile::Journal(name.clone())));
        let unfinished = OpenFile::of(&file(".parquet.tmp"));
        assert_eq!(unfinished, Some(OpenFile::Unfinished(name)));
    }

    #[test]
    fn other_files_are_not_parsed() {
        assert_eq!(SegmentName::of_sealed("part-0.parquet"), None);
        assert!(is_sealed("part-0.parquet") && !is_sealed("_part-0.parquet"));
        for start in ["20260230T000000Z", "20261121T240000Z", "2026-11-21", "T\u{e9}Z"] {
            let name = format!("rail3-{start}-0000.arrows.tmp");
            assert_eq!(OpenFile::of(&name), None, "{name}");
        }
    }

    #[test]
    fn observers_become_file_names() {
        assert_eq!(Observer::new("eth0/mirror \u{e9}").as_str(), "eth0_mirror__");
        assert_eq!(Observer::new("../x").as_str(), "x.._x");
        assert_eq!(Observer::new("").as_str(), "x");
        assert_eq!(Observer::new(&"a".repeat(500)).as_str().len(), 100);
    }

    #[test]
    fn partitions_are_hours_in_utc() {
        let path = |time| Partition::of(time).path();
        let hour = Path::new("date=2026-11-21").join("hour=02");
        assert_eq!(path(START), hour);
        assert!(path(Time(START.0 + 3_600_000_000_000)) > hour);
        let parsed = Partition::parse(hour.to_str().unwrap_or_default());
        assert_eq!(parsed, Some(Partition::of(START)));
        for other in ["date=2026-11-21", "date=x/hour=02", "date=2026-11-21/hour=24"] {
            assert_eq!(Partition::parse(other), None, "{other}");
        }
    }
}
