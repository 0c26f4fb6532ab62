//! Names of partitions and of the files in them.

use rocescope_model::Time;
use std::fmt;
use std::path::{Path, PathBuf};

/// End of the name of a sealed segment.
const SEALED: &str = ".parquet";
/// End of the name of a segment that is being sealed; the name begins with a dot.
const UNFINISHED: &str = ".parquet.tmp";
/// End of the name of a journal; the name begins with a dot.
const JOURNAL: &str = ".arrows.tmp";
/// Longest form of an observer's name in a file name: leaves room for the rest in 255 bytes.
const OBSERVER_MAX: usize = 100;

/// Name of an observer as it stands in file names.
///
/// Two observers whose names differ only in characters that file names do not keep share lock and
/// names; numbers keep their segments apart, so nothing is lost by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Observer(String);

impl Observer {
    pub(crate) fn new(name: &str) -> Self {
        let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let kept = name.chars().map(|c| if keep(c) { c } else { '_' });
        let mut kept: String = kept.take(OBSERVER_MAX).collect();
        // Readers pass over names that begin with a dot or an underscore.
        if kept.is_empty() || kept.starts_with(['.', '_']) {
            kept.insert(0, 'x');
        }
        Self(kept)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// An hour of UTC: the directory of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Partition(
    /// Hours since 1970.
    pub(crate) i64,
);

impl Partition {
    pub(crate) fn of(time: Time) -> Self {
        Self(time.hours())
    }

    /// `date=YYYY-MM-DD/hour=HH`: sorts by time, as text too.
    pub(crate) fn path(self) -> PathBuf {
        let civil = Time(self.0.saturating_mul(3_600_000_000_000)).civil();
        let (year, month, day, hour) = (civil.year, civil.month, civil.day, civil.hour);
        PathBuf::from(format!("date={year:04}-{month:02}-{day:02}")).join(format!("hour={hour:02}"))
    }
}

/// Name of a segment: `<observer>-<start>-<seq>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentName {
    pub(crate) observer: Observer,
    /// Start of the first row's window, `YYYYMMDDTHHMMSSZ`.
    start: String,
    seq: u32,
}

impl SegmentName {
    pub(crate) fn new(observer: &Observer, start: Time, seq: u32) -> Self {
        let c = start.civil();
        Self {
            observer: observer.clone(),
            start: format!(
                "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
                c.year, c.month, c.day, c.hour, c.minute, c.second
            ),
            seq,
        }
    }

    pub(crate) fn sealed(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{self}{SEALED}"))
    }

    pub(crate) fn unfinished(&self, directory: &Path) -> PathBuf {
        directory.join(format!(".{self}{UNFINISHED}"))
    }

    pub(crate) fn journal(&self, directory: &Path) -> PathBuf {
        directory.join(format!(".{self}{JOURNAL}"))
    }

    fn parse(stem: &str) -> Option<Self> {
        let (rest, seq) = stem.rsplit_once('-')?;
        let (observer, start) = rest.rsplit_once('-')?;
        let digits = start.strip_suffix('Z')?.replacen('T', "", 1);
        let observer = Some(Observer(observer.into())).filter(|o| Observer::new(observer) == *o)?;
        (digits.len() == 14 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
        Some(Self {
            observer,
            start: start.into(),
            seq: seq.parse().ok()?,
        })
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (observer, start, seq) = (self.observer.as_str(), &self.start, self.seq);
        write!(f, "{observer}-{start}-{seq:04}")
    }
}

/// What a file in a partition is, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A sealed segment of any name.
    Sealed(Option<SegmentName>),
    /// A segment that was being sealed.
    Unfinished(SegmentName),
    /// A segment that was being written.
    Journal(SegmentName),
}

impl FileKind {
    pub(crate) fn of(file_name: &str) -> Option<Self> {
        if let Some(hidden) = file_name.strip_prefix('.') {
            let part = |end| hidden.strip_suffix(end).and_then(SegmentName::parse);
            return match (part(UNFINISHED), part(JOURNAL)) {
                (Some(name), _) => Some(Self::Unfinished(name)),
                (None, name) => name.map(Self::Journal),
            };
        }
        let stem = file_name.strip_suffix(SEALED)?;
        Some(Self::Sealed(SegmentName::parse(stem)))
    }
}

/// The lock file of an observer in the root of a dataset.
pub(crate) fn lock_path(root: &Path, observer: &Observer) -> PathBuf {
    root.join(format!(".{}.lock", observer.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{FileKind, Observer, Partition, SegmentName};
    use rocescope_model::Time;
    use std::path::Path;

    const START: Time = Time(1_795_228_209_987_654_321);

    #[test]
    fn names_say_observer_start_and_number() {
        let name = SegmentName::new(&Observer::new("rail-3"), START, 7);
        let directory = Path::new("");
        let (sealed, journal) = (name.sealed(directory), name.journal(directory));
        assert_eq!(sealed, Path::new("rail-3-20261121T023009Z-0007.parquet"));
        assert_eq!(
            journal,
            Path::new(".rail-3-20261121T023009Z-0007.arrows.tmp")
        );
        let kind = |path: &Path| FileKind::of(path.to_str().unwrap());
        assert_eq!(kind(&sealed), Some(FileKind::Sealed(Some(name.clone()))));
        assert_eq!(kind(&journal), Some(FileKind::Journal(name.clone())));
        let unfinished = name.unfinished(directory);
        assert_eq!(kind(&unfinished), Some(FileKind::Unfinished(name)));
    }

    #[test]
    fn other_files_are_not_ours() {
        assert_eq!(FileKind::of("part-0.parquet"), Some(FileKind::Sealed(None)));
        assert_eq!(FileKind::of(".a-b-c.arrows.tmp"), None);
        assert_eq!(FileKind::of("_SUCCESS"), None);
    }

    #[test]
    fn observers_become_file_names() {
        assert_eq!(Observer::new("eth0/mirror é").as_str(), "eth0_mirror__");
        assert_eq!(Observer::new("../x").as_str(), "x.._x");
        assert_eq!(Observer::new("").as_str(), "x");
        assert_eq!(Observer::new(&"a".repeat(500)).as_str().len(), 100);
    }

    #[test]
    fn partitions_are_hours_of_utc() {
        let path = |time| Partition::of(time).path();
        let hour = Path::new("date=2026-11-21").join("hour=02");
        assert_eq!(path(START), hour);
        assert!(path(Time(START.0 + 3_600_000_000_000)) > hour);
    }
}
