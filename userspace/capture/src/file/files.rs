//! Several capture files as one capture, in the order of time.
//!
//! Each file is opened twice: first for the time of its first frame, then when that time is due. So a rotated set needs
//! one reader and its thread, and files that overlap in time need one each. Standard input is read without a thread:
//! what a pipe delivers is analyzed at once.

use super::error::FileError;
use super::frame::Frame;
use super::open;
use super::reader::FrameReader;
use super::spans::FileSpan;
use rocescope_input::Input;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bits of the interface number for the interface within its file.
const INTERFACE_BITS: u32 = 16;

/// Frames in the order in which they are analyzed.
pub trait FrameSource {
    /// The next frame, `None` at the end.
    ///
    /// # Errors
    /// Those of [`FrameReader::next_frame`].
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError>;

    /// Bytes of the (uncompressed) captures consumed so far.
    fn consumed_bytes(&self) -> u64;

    /// What a message calls it.
    fn name(&self) -> String;

    /// Total length in bytes; `None` if it is unknown: of a pipe or a compressed file.
    fn length(&self) -> Option<u64>;

    /// Whether it goes on until someone ends it.
    fn is_pipe(&self) -> bool;
}

impl<R: Read> FrameSource for FrameReader<R> {
    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError> {
        Self::next_frame(self)
    }

    fn consumed_bytes(&self) -> u64 {
        Self::consumed_bytes(self)
    }

    fn name(&self) -> String {
        "the capture".into()
    }

    fn length(&self) -> Option<u64> {
        None
    }

    fn is_pipe(&self) -> bool {
        false
    }
}

/// Reads the frames of one or several files. Where files overlap in time, their frames alternate by time.
///
/// Files that overlap get different interface numbers, because they come from different places or are copies. Files of
/// a rotated set share theirs, so that flows continue from one to the next.
#[derive(Debug)]
pub struct FrameFiles {
    files: Vec<FileSpan>,
    /// Files that are not due, the earliest last.
    waiting: Vec<Waiting>,
    /// Files being read. The position of a file here is part of the numbers of its interfaces.
    lanes: Vec<Option<Lane>>,
    /// Files skipped, with the reason.
    skipped: Vec<String>,
    length: Option<u64>,
    /// Bytes of the files that were read to the end.
    consumed: u64,
    failed: Vec<(usize, FileError)>,
}

#[derive(Debug)]
struct Waiting {
    file: usize,
    first_ns: u64,
    /// The file, if it cannot be opened twice.
    reader: Option<FrameReader<Input>>,
}

#[derive(Debug)]
struct Lane {
    file: usize,
    reader: FrameReader<Input>,
}

impl FrameFiles {
    /// Opens capture files, all capture files of directories, and standard input for `-`, which `stdin` returns.
    ///
    /// # Errors
    /// A path does not exist or has no capture, or no file has a frame and one is damaged.
    pub fn open(paths: &[PathBuf], stdin: impl Fn() -> Result<Input, FileError>) -> Result<Self, FileError> {
        let mut found = Self {
            files: Vec::new(),
            waiting: Vec::new(),
            lanes: Vec::new(),
            skipped: Vec::new(),
            length: Some(0),
            consumed: 0,
            failed: Vec::new(),
        };
        let mut inodes = HashSet::new();
        let all = listed(paths)?;
        let is_single = all.len() == 1;
        for Listed { path, in_directory } in all {
            let is_stdin = path == Path::new("-");
            let file = (!is_stdin).then(|| fs::metadata(&path).ok()).flatten();
            let inode = file.as_ref().map(|file| (file.dev(), file.ino()));
            let is_again = match inode {
                Some(inode) => !inodes.insert(inode),
                None => is_stdin && found.files.iter().any(|file| file.path == path),
            };
            if is_again {
                found
                    .skipped
                    .push(format!("{}: given twice, read once", path.display()));
                continue;
            }
            let opened = match is_stdin {
                true => stdin(),
                false => open(&path),
            };
            let length = opened.as_ref().ok().and_then(|input| input.length);
            let is_read_ahead = is_single && !is_stdin;
            let reader = opened.and_then(match is_read_ahead {
                true => FrameReader::ahead,
                false => FrameReader::new,
            });
            let first = reader.and_then(|mut reader| {
                // A single capture begins at once, even if its first frame has not arrived yet.
                let first_ns = if is_single { Some(0) } else { reader.peek_ns()? };
                Ok((first_ns, reader))
            });
            let number = found.files.len();
            match first {
                Err(FileError::NotACapture(_) | FileError::Empty) if in_directory => {
                    found.skipped.push(format!("{}: not a capture file", path.display()));
                    continue;
                }
                Err(FileError::Io(error)) if !in_directory && is_wrong_path(&error) => {
                    let is_pattern = path.as_os_str().as_encoded_bytes().contains(&b'*');
                    let error = match is_pattern {
                        true => {
                            io::Error::new(error.kind(), "no such file; the shell expands a pattern without quotes")
                        }
                        false => error,
                    };
                    return Err(named(path, FileError::Io(error)));
                }
                Err(error) => found.failed.push((number, error)),
                Ok((None, _)) => {}
                Ok((Some(first_ns), reader)) => {
                    found.length = found.length.zip(length).map(|(sum, length)| sum + length);
                    let is_regular = file.is_some_and(|file| file.is_file());
                    found.waiting.push(Waiting {
                        file: number,
                        first_ns,
                        reader: Some(reader).filter(|_| is_single || !is_regular),
                    });
                }
            }
            found.files.push(FileSpan {
                path,
                frames: 0,
                first_ns: u64::MAX,
                last_ns: 0,
                error: None,
            });
        }
        if found.files.is_empty() {
            let path = paths.first().cloned().unwrap_or_default();
            return Err(named(path, FileError::NoFiles));
        }
        // Files with the same time in the order of the command line.
        found.waiting.sort_by_key(|file| (file.first_ns, file.file));
        found.waiting.reverse();
        match found.waiting.is_empty() {
            true => found.failure().map_or(Ok(found), Err),
            false => Ok(found),
        }
    }

    /// The files, with what has been read of each so far.
    #[must_use]
    pub fn files(&self) -> &[FileSpan] {
        &self.files
    }

    /// Files that were skipped, with the reason.
    #[must_use]
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// The lane with the earliest frame; opens the files that are due.
    fn earliest(&mut self) -> Option<usize> {
        loop {
            let mut earliest: Option<(u64, usize)> = None;
            for (at, lane) in self.lanes.iter_mut().enumerate() {
                let Some(Lane { file, reader }) = lane else { continue };
                match reader.peek_ns() {
                    Ok(Some(ns)) if earliest.is_none_or(|(earliest, _)| ns < earliest) => earliest = Some((ns, at)),
                    Ok(Some(_)) => {}
                    ended => {
                        self.failed.extend(ended.err().map(|error| (*file, error)));
                        self.consumed += reader.consumed_bytes();
                        *lane = None;
                    }
                }
            }
            let is_due = |waiting: &mut Waiting| earliest.is_none_or(|(earliest, _)| waiting.first_ns <= earliest);
            match self.waiting.pop_if(is_due) {
                Some(waiting) => self.begin(waiting),
                None => return earliest.map(|(_, at)| at),
            }
        }
    }

    #[cold]
    fn begin(&mut self, Waiting { file, reader, .. }: Waiting) {
        let again = || open(&self.files[file].path).and_then(FrameReader::ahead);
        match reader.map_or_else(again, Ok) {
            Ok(reader) => {
                let lane = Some(Lane { file, reader });
                match self.lanes.iter_mut().find(|lane| lane.is_none()) {
                    Some(free) => *free = lane,
                    None => self.lanes.push(lane),
                }
            }
            Err(error) => self.failed.push((file, error)),
        }
    }

    /// The error of the files that could not be read to their end.
    fn failure(&mut self) -> Option<FileError> {
        let failed = std::mem::take(&mut self.failed);
        let mut named: Vec<FileError> = failed
            .into_iter()
            .map(|(file, error)| {
                let file = &mut self.files[file];
                file.error = Some(error.to_string());
                self::named(file.path.clone(), error)
            })
            .collect();
        match (self.files.len(), named.len()) {
            (_, 0) => None,
            (1, _) => named.pop(),
            (files, _) => Some(FileError::Some {
                files,
                damaged: named.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}

impl FrameSource for FrameFiles {
    /// The next frame by time. A damaged file ends at the damage; the error follows after the frames of all files.
    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError> {
        let Some(at) = self.earliest() else {
            return self.failure().map_or(Ok(None), Err);
        };
        let Some(Lane { file, reader }) = &mut self.lanes[at] else {
            return Ok(None);
        };
        let Some(frame) = reader.next_frame()? else {
            return Ok(None);
        };
        let span = &mut self.files[*file];
        span.frames += 1;
        span.first_ns = span.first_ns.min(frame.time_ns);
        span.last_ns = span.last_ns.max(frame.time_ns);
        Ok(Some(Frame {
            interface: frame.interface | (at as u32) << INTERFACE_BITS,
            ..frame
        }))
    }

    fn consumed_bytes(&self) -> u64 {
        let reading = self.lanes.iter().flatten();
        self.consumed + reading.map(|lane| lane.reader.consumed_bytes()).sum::<u64>()
    }

    /// The path of the file, or the first and the last path and the number of files.
    fn name(&self) -> String {
        match self.files.as_slice() {
            [one] => one.path.display().to_string(),
            [first, .., last] => {
                let (first, last) = (first.path.display(), last.path.display());
                format!("{} files, {first} to {last}", self.files.len())
            }
            [] => String::new(),
        }
    }

    fn length(&self) -> Option<u64> {
        self.length
    }

    fn is_pipe(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.path == Path::new("-") || is_fifo(&file.path))
    }
}

fn is_fifo(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

/// A file to open.
struct Listed {
    path: PathBuf,
    /// Whether its directory was given instead.
    in_directory: bool,
}

/// The given files, and those of the given directories by name.
fn listed(paths: &[PathBuf]) -> Result<Vec<Listed>, FileError> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(Listed {
                path: path.clone(),
                in_directory: false,
            });
            continue;
        }
        let at = |error| named(path.clone(), FileError::Io(error));
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(at)? {
            let path = entry.map_err(at)?.path();
            let is_hidden = path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if path.is_file() && !is_hidden {
                inside.push(path);
            }
        }
        inside.sort();
        all.extend(inside.into_iter().map(|path| Listed {
            path,
            in_directory: true,
        }));
    }
    Ok(all)
}

/// Whether the user named a file that cannot be opened at all.
fn is_wrong_path(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory
    )
}

fn named(path: PathBuf, error: FileError) -> FileError {
    FileError::Named {
        path,
        cause: Box::new(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{PcapNgWriter, gaps, overlaps};
    use rocescope_wire::{FrameLengths, LinkType};
    use std::fs::File;

    /// Writes a file with frames at these seconds; the frame contains its second.
    fn write(folder: &Path, name: &str, seconds: &[u64]) -> PathBuf {
        let path = folder.join(name);
        let mut writer = PcapNgWriter::new(File::create(&path).unwrap()).unwrap();
        for second in seconds {
            let frame = Frame {
                bytes: &second.to_be_bytes(),
                link: Some(LinkType::Ethernet),
                lengths: FrameLengths {
                    captured: 8,
                    original: 8,
                },
                time_ns: second * 1_000_000_000,
                interface: 0,
            };
            writer.frame(&frame, "").unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn no_stdin() -> Result<Input, FileError> {
        Err(FileError::Empty)
    }

    /// Second and interface of each frame, and the error at the end.
    fn read(files: &mut FrameFiles) -> (Vec<(u64, u32)>, Option<FileError>) {
        let mut frames = Vec::new();
        loop {
            match files.next_frame() {
                Ok(Some(frame)) => frames.push((frame.time_ns / 1_000_000_000, frame.interface)),
                Ok(None) => return (frames, None),
                Err(error) => {
                    assert!(files.next_frame().unwrap().is_none(), "the error comes once");
                    return (frames, Some(error));
                }
            }
        }
    }

    #[test]
    fn a_rotated_set_is_one_capture_whatever_the_order_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        // A ring: file 0 was written again after file 2.
        write(folder.path(), "cap0", &[30, 31]);
        write(folder.path(), "cap1", &[10, 11]);
        write(folder.path(), "cap2", &[11, 29]);
        write(folder.path(), ".cap3", &[1]);
        std::fs::write(folder.path().join("notes.txt"), "not a capture").unwrap();
        let mut files = FrameFiles::open(&[folder.path().to_owned()], no_stdin).unwrap();
        assert_eq!(files.skipped().len(), 1);
        let (frames, error) = read(&mut files);
        let seconds: Vec<u64> = frames.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds, [10, 11, 11, 29, 30, 31]);
        assert!(error.is_none());
        // One lane at a time: flows continue from file to file.
        assert_eq!((frames[0].1, frames[4].1), (0, 0));
        assert!(overlaps(files.files()).is_empty());
        assert_eq!(gaps(files.files()).len(), 1);
        assert_eq!(files.consumed_bytes(), files.length().unwrap());
    }

    #[test]
    fn files_that_overlap_alternate_by_time_on_interfaces_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [
            write(folder.path(), "a", &[10, 12, 14]),
            write(folder.path(), "b", &[11, 13, 20]),
            write(folder.path(), "c", &[15, 16]),
        ];
        let mut files = FrameFiles::open(&paths, no_stdin).unwrap();
        let (frames, _) = read(&mut files);
        let other = 1 << INTERFACE_BITS;
        let expected = [
            (10, 0),
            (11, other),
            (12, 0),
            (13, other),
            (14, 0),
            (15, 0),
            (16, 0),
            (20, other),
        ];
        assert_eq!(frames, expected);
        assert_eq!(overlaps(files.files()).len(), 2);
    }

    #[test]
    fn a_damaged_file_is_named_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let torn = write(folder.path(), "torn", &[11, 12]);
        let whole = std::fs::read(&torn).unwrap();
        std::fs::write(&torn, &whole[..whole.len() - 3]).unwrap();
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        let good = write(folder.path(), "good", &[10, 13]);
        let mut files = FrameFiles::open(&[torn.clone(), empty.clone(), good.clone(), good], no_stdin).unwrap();
        let (frames, error) = read(&mut files);
        assert_eq!(frames.len(), 3);
        let error = error.unwrap().to_string();
        assert!(
            error.starts_with("2 of 3 files could not be read to the end: "),
            "{error}"
        );
        assert!(error.contains("torn: the file ends inside a record") && error.contains("empty: the file is empty"));
        assert!(files.files()[0].error.is_some() && files.files()[2].error.is_none());
        assert!(files.skipped()[0].ends_with("good: given twice, read once"));

        // Without a frame there is nothing to continue with.
        let error = FrameFiles::open(std::slice::from_ref(&empty), no_stdin)
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("empty: the file is empty"), "{error}");
        let missing = folder.path().join("missing");
        assert!(FrameFiles::open(&[torn, missing], no_stdin).is_err());
        let error = FrameFiles::open(&[folder.path().join(".")], no_stdin);
        assert!(error.is_ok());
    }

    #[test]
    fn a_directory_without_captures_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = FrameFiles::open(&[folder.path().to_owned()], no_stdin).unwrap_err();
        assert!(error.to_string().contains(": no capture files in this directory; "));
        let error = FrameFiles::open(&[folder.path().join("*.pcap")], no_stdin).unwrap_err();
        assert!(error.to_string().contains("*.pcap: no such file; the shell expands"));
    }
}
