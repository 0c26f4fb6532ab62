//! One file of the flight recorder.

use super::budget::SLACK_BYTES;
use super::event::{Event, refusal};
use rocescope_capture::file::PcapNgWriter;
use rocescope_capture::history::{History, Position, SLICE_MAX};
use rocescope_wire::extension::Syndrome;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes written in one piece of whole blocks: a full disk loses a piece, but tears no block.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum length of a comment on a frame.
const COMMENT_MAX: usize = 256;
/// Maximum number of files of one name: a capture that is read again into the same directory.
const SAME_NAME: u32 = 1_000;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Recording {
    writer: PcapNgWriter<Pieces>,
    from_ns: u64,
    /// The earliest time that an event requested, and the time from which missed frames were counted.
    asked_ns: u64,
    looked_ns: u64,
    /// The position after the last written frame.
    position: Position,
    frames: u64,
    missed: u64,
    /// Comment for the first frame from this time on.
    note: Option<(u64, String)>,
}

/// The counts of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) frames: u64,
    pub(super) bytes: u64,
    /// Missing frames of later events: overwritten before these were known, or older than the file's beginning.
    pub(super) missed: u64,
}

impl Recording {
    /// Begins a file with frames from `from_ns` on.
    pub(super) fn begin(path: &Path, comment: &str, names: Vec<(u32, String)>, from_ns: u64) -> io::Result<Self> {
        let pieces = Pieces::create(path)?;
        Ok(Self {
            writer: PcapNgWriter::described(pieces, comment, names)?,
            from_ns,
            asked_ns: from_ns,
            looked_ns: from_ns,
            position: Position::default(),
            frames: 0,
            missed: 0,
            note: None,
        })
    }

    /// Adds an event, which requests frames from `from_ns` on.
    ///
    /// An event without a frame of its own becomes the comment of the first frame after its beginning that is not
    /// written yet; of several such events, the last.
    pub(super) fn note(&mut self, event: &Event, from_ns: u64) {
        self.asked_ns = self.asked_ns.min(from_ns);
        if !event.is_frame() {
            let mut note = event.line();
            note.truncate(note.floor_char_boundary(COMMENT_MAX));
            self.note = Some((event.time_ns, note));
        }
    }

    /// Writes the frames up to `until_ns` since the last written one; returns whether `left` bytes suffice for the
    /// file.
    #[inline]
    pub(super) fn write(&mut self, history: &History, until_ns: u64, left: u64) -> io::Result<bool> {
        let oldest = history.oldest();
        if self.frames > 0 && oldest.frames_since(self.position) > 0 {
            self.missed += oldest.frames_since(self.position);
            self.position = oldest;
        }
        if self.asked_ns < self.looked_ns {
            let early = self.asked_ns..self.looked_ns;
            let held = history.since(oldest);
            let missed = held.filter(|held| early.contains(&held.frame.time_ns));
            self.missed += missed.count() as u64;
            self.looked_ns = self.asked_ns;
        }
        for held in history.since(self.position) {
            let time_ns = held.frame.time_ns;
            if time_ns < self.from_ns || time_ns > until_ns {
                continue;
            }
            let pieces = self.writer.out();
            if pieces.bytes() + SLACK_BYTES > left {
                return Ok(false);
            }
            if pieces.pending.len() >= PIECE_BYTES {
                self.flush()?;
            }
            let note = self.note.take_if(|(from_ns, _)| *from_ns <= time_ns);
            let mut comment = note.map(|(_, note)| note).unwrap_or_default();
            if held.mark != 0 {
                comment = refusal(Syndrome(held.mark));
            }
            self.writer.frame(&held.frame, &comment)?;
            self.position = held.after;
            self.frames += 1;
        }
        Ok(true)
    }

    /// Writes all pending blocks to the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let pieces = self.writer.out();
        pieces.frames = self.frames;
        pieces.flush()
    }

    /// The path of the file.
    pub(super) fn path(&mut self) -> PathBuf {
        self.writer.out().path.clone()
    }

    /// The counts of the file.
    pub(super) fn written(&mut self) -> Written {
        let missed = self.missed;
        let pieces = self.writer.out();
        Written {
            frames: pieces.whole_frames,
            bytes: pieces.whole,
            missed,
        }
    }
}

/// A file that grows by whole blocks.
#[derive(Debug)]
struct Pieces {
    file: File,
    path: PathBuf,
    pending: Vec<u8>,
    /// Frames in the file, including pending ones.
    frames: u64,
    /// Bytes in the file, and frames.
    whole: u64,
    whole_frames: u64,
    failed: bool,
}

impl Pieces {
    /// Creates a file of this name, or with a number if it exists already.
    fn create(path: &Path) -> io::Result<Self> {
        let mut at = path.to_owned();
        for number in 2..SAME_NAME {
            match File::create_new(&at) {
                Ok(file) => {
                    return Ok(Self {
                        file,
                        path: at,
                        pending: Vec::with_capacity(PIECE_BYTES + 2 * SLICE_MAX),
                        frames: 0,
                        whole: 0,
                        whole_frames: 0,
                        failed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    at = path.with_extension(format!("{number}.pcapng"));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    const fn bytes(&self) -> u64 {
        self.whole + self.pending.len() as u64
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Called between two blocks. After a failed write the file is truncated to whole blocks, so that it can be
    /// read; nothing more is written to it.
    fn flush(&mut self) -> io::Result<()> {
        if self.failed {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(&self.pending) {
            self.failed = true;
            // Best effort on a full disk.
            let _ = if self.whole == 0 {
                fs::remove_file(&self.path)
            } else {
                self.file.set_len(self.whole)
            };
            return Err(error);
        }
        self.whole += self.pending.len() as u64;
        self.whole_frames = self.frames;
        self.pending.clear();
        Ok(())
    }
}
