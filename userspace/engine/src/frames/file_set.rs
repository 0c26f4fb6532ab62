//! Files of frames, one after the other: by size, by time, and only the newest.

use super::counted::Counted;
use crate::request::FileSet;
use rocescope_capture::file::{Frame, PcapNgWriter};
use rocescope_model::Time;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

type Writer = PcapNgWriter<Counted<BufWriter<Box<dyn Write + Send>>>>;

/// At most that many bytes around a frame: its block, padding, and the description of its interface.
const BLOCKS: u64 = 128;

/// The file that is being written, and those before it.
pub(super) struct Files {
    path: PathBuf,
    set: FileSet,
    names: Vec<(u32, String)>,
    current: Option<Current>,
    /// Those that may be deleted later, the oldest first.
    kept: VecDeque<PathBuf>,
    pub(super) begun: u64,
    pub(super) deleted: u64,
}

struct Current {
    writer: Writer,
    /// Time of its first frame; `None` before it.
    first_ns: Option<u64>,
}

impl Files {
    /// Creates the file. The first one of a set is created with its first frame, whose time is in its name.
    ///
    /// # Errors
    /// The file cannot be created, or the directory of the set is none.
    pub(super) fn create(path: &Path, set: FileSet, names: &[(u32, String)]) -> io::Result<Self> {
        let mut files = Self {
            path: path.to_owned(),
            set,
            names: names.to_vec(),
            current: None,
            kept: VecDeque::new(),
            begun: 0,
            deleted: 0,
        };
        if files.set.is_one() {
            files.begin(path)?;
        } else {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::metadata(folder.unwrap_or(Path::new(".")))?;
        }
        Ok(files)
    }

    /// Writes a frame, into another file if one is due.
    ///
    /// # Errors
    /// Those of the files; then the frame may be lost.
    pub(super) fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        // The writer omits them.
        if frame.link.is_none() {
            return Ok(());
        }
        if self.is_due(frame) {
            if let Some(current) = self.current.take() {
                current.writer.finish()?;
            }
            let next = named(&self.path, self.begun + 1, frame.time_ns);
            self.begin(&next)?;
            self.kept.push_back(next);
            self.delete();
        }
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        current.first_ns.get_or_insert(frame.time_ns);
        current.writer.frame(frame, "")
    }

    /// Hands all frames to the readers of the file.
    ///
    /// # Errors
    /// Those of the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match &mut self.current {
            Some(current) => current.writer.out().flush(),
            None => Ok(()),
        }
    }

    /// Whether a frame belongs to another file than the one before it.
    fn is_due(&mut self, frame: &Frame<'_>) -> bool {
        if self.set.is_one() {
            return false;
        }
        let Some(Current { writer, first_ns }) = &mut self.current else {
            return true;
        };
        // A file has a frame at least.
        let Some(first_ns) = *first_ns else { return false };
        // A clock that steps back must not make a file endless.
        let age = Duration::from_nanos(frame.time_ns.abs_diff(first_ns));
        let bytes = writer.out().bytes() + BLOCKS + frame.bytes.len() as u64;
        self.set.age.is_some_and(|most| age >= most) || self.set.bytes.is_some_and(|most| bytes > most)
    }

    fn begin(&mut self, path: &Path) -> io::Result<()> {
        let out: Box<dyn Write + Send> = match path == Path::new("-") {
            true => Box::new(io::stdout()),
            // The name of a file of a set may be that of an input, or of an earlier run.
            false if !self.set.is_one() => Box::new(File::create_new(path)?),
            false => Box::new(File::create(path)?),
        };
        let out = Counted::new(BufWriter::new(out));
        self.current = Some(Current {
            writer: PcapNgWriter::described(out, "", self.names.clone())?,
            first_ns: None,
        });
        self.begun += 1;
        Ok(())
    }

    /// Deletes the oldest of too many files. One that cannot be deleted is no longer looked at.
    fn delete(&mut self) {
        while self.set.files.is_some_and(|most| self.kept.len() > most.get()) {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.deleted += u64::from(fs::remove_file(oldest).is_ok());
        }
    }
}

/// `trace_00001_20261129165300.pcapng` of `trace.pcapng`: a name that Wireshark knows as that of a file set.
fn named(path: &Path, number: u64, time_ns: u64) -> PathBuf {
    let time = Time(i64::try_from(time_ns).unwrap_or(i64::MAX));
    let digits: String = format!("{time:.0}").chars().filter(char::is_ascii_digit).collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = format!("{stem}_{number:05}_{digits}");
    if let Some(extension) = path.extension() {
        name += &format!(".{}", extension.to_string_lossy());
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_wire::{FrameLengths, LinkType};
    use std::num::NonZeroUsize;

    const SECOND: u64 = 1_000_000_000;

    /// Writes frames of 1,000 bytes, one a second; returns the names of the files, and what was begun and deleted.
    fn written(set: FileSet, frames: u64) -> (Vec<String>, u64, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::create(&folder.path().join("trace.pcapng"), set, &[]).unwrap();
        for second in 0..frames {
            let frame = Frame {
                bytes: &[0; 1_000],
                link: Some(LinkType::Ethernet),
                lengths: FrameLengths::whole(1_000),
                time_ns: second * SECOND,
                interface: 0,
            };
            files.frame(&frame).unwrap();
        }
        files.flush().unwrap();
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        for name in &names {
            assert!(fs::metadata(folder.path().join(name)).unwrap().len() > 1_000, "{name}");
        }
        (names, files.begun, files.deleted)
    }

    #[test]
    fn files_end_by_size_and_by_time_and_the_oldest_are_deleted() {
        let (names, begun, deleted) = written(FileSet::default(), 5);
        assert_eq!(
            (names.as_slice(), begun, deleted),
            (&["trace.pcapng".to_owned()][..], 1, 0)
        );
        let by_size = FileSet {
            bytes: Some(2_700),
            ..FileSet::default()
        };
        let (names, begun, deleted) = written(by_size, 5);
        assert_eq!((begun, deleted), (3, 0));
        assert_eq!(
            names,
            [
                "trace_00001_19700101000000.pcapng",
                "trace_00002_19700101000002.pcapng",
                "trace_00003_19700101000004.pcapng"
            ]
        );
        let by_time = FileSet {
            age: Some(Duration::from_secs(3)),
            files: NonZeroUsize::new(2),
            ..FileSet::default()
        };
        let (names, begun, deleted) = written(by_time, 12);
        assert_eq!((begun, deleted), (4, 2));
        assert_eq!(
            names,
            ["trace_00003_19700101000006.pcapng", "trace_00004_19700101000009.pcapng"]
        );
    }

    #[test]
    fn a_set_overwrites_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("trace_00001_19700101000000.pcapng");
        fs::write(&there, "an input").unwrap();
        let by_time = FileSet {
            age: Some(Duration::from_secs(3)),
            ..FileSet::default()
        };
        let mut files = Files::create(&folder.path().join("trace.pcapng"), by_time, &[]).unwrap();
        let frame = Frame {
            bytes: &[0; 60],
            link: Some(LinkType::Ethernet),
            lengths: FrameLengths::whole(60),
            time_ns: 0,
            interface: 0,
        };
        assert_eq!(files.frame(&frame).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&there).unwrap(), b"an input");
    }

    #[test]
    fn a_set_without_a_directory_is_an_error_before_the_first_frame() {
        let by_time = FileSet {
            age: Some(Duration::from_secs(3)),
            ..FileSet::default()
        };
        assert!(Files::create(Path::new("/no/such/folder/trace.pcapng"), by_time, &[]).is_err());
    }
}
