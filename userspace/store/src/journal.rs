//! The open segment: an Arrow IPC stream that holds every window handed to the store so far.
//!
//! Why not a Parquet file from the start: its footer comes last, so one that is being written
//! cannot be read. Why not rows in memory: a `kill -9` would cost a minute of them, and their
//! sketches alone are some 60 MiB.

use crate::name::SegmentPaths;
use crate::seal::{Sealed, seal};
use crate::{Error, durable};
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Small writes gather up to this; larger ones go to the file as they come.
const GATHER_BYTES: usize = 64 << 10;

/// An open segment. Dropping it leaves the file, for a repair to seal.
pub(crate) struct Journal {
    place: SegmentPaths,
    path: PathBuf,
    stream: StreamWriter<Tail>,
    rows: u64,
    /// Length of the file up to the end of the last whole batch.
    whole: u64,
    /// What of it is known to be on the disk; `None` when not even its name is.
    synced: Option<u64>,
}

impl Journal {
    /// A new journal; its place must be free.
    pub(crate) fn create(place: SegmentPaths, schema: &Schema) -> Result<Self, Error> {
        let path = place.journal();
        let failed = |source| Error::io("create", &path, source);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).open(&path);
        let file = file.map_err(failed)?;
        let tail = Tail::new(file);
        let started = StreamWriter::try_new(tail, schema)
            .map_err(|error| Error::arrow("write", &path, error))
            .and_then(|mut stream| {
                let whole = stream.get_mut().flush_len();
                let whole = whole.map_err(|source| Error::io("write", &path, source))?;
                Ok((stream, whole))
            });
        let (stream, whole) = started.inspect_err(|_| {
            // It holds nothing. If it stays, the next repair removes it.
            let _ = std::fs::remove_file(&path);
        })?;
        Ok(Self {
            place,
            path,
            stream,
            rows: 0,
            whole,
            synced: None,
        })
    }

    /// Appends one batch and hands it to the kernel. On an error the file ends, as far as that can
    /// still be done, where it ended before.
    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self
            .stream
            .write(batch)
            .map_err(|error| Error::arrow("write", &self.path, error))
            .and_then(|()| {
                let len = self.stream.get_mut().flush_len();
                len.map_err(|source| Error::io("write", &self.path, source))
            });
        match written {
            Ok(len) => {
                self.whole = len;
                self.rows += batch.num_rows() as u64;
                Ok(())
            }
            Err(error) => {
                self.cut_to(self.whole, self.rows);
                Err(error)
            }
        }
    }

    /// Waits until what was appended is on the disk.
    pub(crate) fn sync(&mut self, root: &Path) -> Result<(), Error> {
        if self.synced == Some(self.whole) {
            return Ok(());
        }
        let file = &self.stream.get_ref().file;
        let synced = file.sync_data();
        synced.map_err(|source| Error::io("sync", &self.path, source))?;
        if self.synced.is_none() {
            durable::sync_names(&self.path, root)?;
        }
        self.synced = Some(self.whole);
        Ok(())
    }

    /// Bytes and rows written so far.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.whole, self.rows)
    }

    /// Goes back to an earlier position. What cannot be cut off is torn, which sealing drops.
    pub(crate) fn cut_to(&mut self, whole: u64, rows: u64) {
        let tail = self.stream.get_mut();
        tail.pending.clear();
        let _ = tail.file.set_len(whole);
        let _ = io::Seek::seek(&mut tail.file, io::SeekFrom::Start(whole));
        (tail.len, self.whole, self.rows) = (whole, whole, rows);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it a sealed segment, or nothing if it has no rows.
    pub(crate) fn seal(self) -> Result<Option<Sealed>, Error> {
        if self.rows == 0 {
            return durable::remove(&self.path).map(|()| None);
        }
        let sealed = seal(&self.place)?;
        if sealed.rows != self.rows {
            let reason = format!("{} of {} rows came back", sealed.rows, self.rows);
            return Err(Error::content("seal", &self.path, &reason));
        }
        Ok(Some(sealed))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// The end of the file: like a `BufWriter`, but one whose pending bytes can be thrown away.
#[derive(Debug)]
struct Tail {
    file: File,
    pending: Vec<u8>,
    len: u64,
}

impl Tail {
    fn new(file: File) -> Self {
        Self {
            file,
            pending: Vec::with_capacity(GATHER_BYTES),
            len: 0,
        }
    }

    fn flush_len(&mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.len)
    }
}

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.len() + bytes.len() > GATHER_BYTES {
            self.flush()?;
        }
        if bytes.len() > GATHER_BYTES {
            self.file.write_all(bytes)?;
            self.len += bytes.len() as u64;
        } else {
            self.pending.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.pending)?;
        self.len += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
