//! The open segment: an Arrow IPC stream with every window that the store received so far, each batch with
//! checksums (`message`).
//!
//! It is not a Parquet file, because the footer comes last: an unfinished file cannot be read. Rows are not kept in
//! memory, because a `kill -9` would lose a minute of them, and their sketches alone are about 60 MiB.

use crate::message;
use crate::name::SegmentPaths;
use crate::seal::{Closed, seal};
use crate::{Error, durable};
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Small writes are buffered up to this size; larger ones go directly to the file.
const GATHER_BYTES: usize = 64 << 10;

/// An open segment. If it is dropped, the file remains for a repair to seal.
pub(crate) struct Journal {
    place: SegmentPaths,
    path: PathBuf,
    tail: Tail,
    /// Encodes batches in memory.
    stream: StreamWriter<Vec<u8>>,
    rows: u64,
    /// Length of the file up to the end of the last complete batch.
    whole: u64,
    /// Length that is synced to disk; `None` if even the name is not.
    synced: Option<u64>,
}

impl Journal {
    /// Creates a journal; its path must not exist.
    pub(crate) fn create(place: SegmentPaths, schema: &Schema) -> Result<Self, Error> {
        let path = place.journal();
        let failed = |source| Error::io("create", &path, source);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).open(&path);
        let file = file.map_err(failed)?;
        let mut tail = Tail::new(file);
        let started = StreamWriter::try_new(Vec::new(), schema)
            .map_err(|error| Error::arrow("write", &path, error))
            .and_then(|mut stream| {
                let whole = tail.put(stream.get_mut());
                let whole = whole.map_err(|source| Error::io("write", &path, source))?;
                Ok((stream, whole))
            });
        let (stream, whole) = started.inspect_err(|_| {
            // It is empty. If it remains, the next repair removes it.
            let _ = std::fs::remove_file(&path);
        })?;
        Ok(Self {
            place,
            path,
            tail,
            stream,
            rows: 0,
            whole,
            synced: None,
        })
    }

    /// Appends one batch and passes it to the kernel. On an error, truncates the file to its previous length if
    /// possible.
    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self
            .stream
            .write(batch)
            .map_err(|error| Error::arrow("write", &self.path, error))
            .and_then(|()| {
                let len = self.tail.put(self.stream.get_mut());
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

    /// Syncs all appended batches to disk.
    pub(crate) fn sync(&mut self, root: &Path) -> Result<(), Error> {
        if self.synced == Some(self.whole) {
            return Ok(());
        }
        let synced = self.tail.file.sync_data();
        synced.map_err(|source| Error::io("sync", &self.path, source))?;
        if self.synced.is_none() {
            durable::sync_names(&self.path, root)?;
        }
        self.synced = Some(self.whole);
        Ok(())
    }

    /// Returns the bytes and rows written so far.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.whole, self.rows)
    }

    /// Truncates the journal to an earlier position. If that fails, sealing drops the torn rest.
    pub(crate) fn cut_to(&mut self, whole: u64, rows: u64) {
        self.stream.get_mut().clear();
        let tail = &mut self.tail;
        tail.pending.clear();
        let _ = tail.file.set_len(whole);
        let _ = io::Seek::seek(&mut tail.file, io::SeekFrom::Start(whole));
        (tail.len, self.whole, self.rows) = (whole, whole, rows);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Seals the journal, and calls `step` between steps; removes it if it has no rows.
    pub(crate) fn seal(&self, step: fn()) -> Result<Closed, Error> {
        if self.rows == 0 {
            return durable::remove(&self.path).map(|()| Closed::default());
        }
        seal(&self.place, Some(self.rows), step)
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

/// Buffers the end of the file, like a `BufWriter`, but can discard pending bytes.
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

    /// Moves encoded messages to the file, with checksums. Returns the length of the file.
    fn put(&mut self, encoded: &mut Vec<u8>) -> io::Result<u64> {
        let encoded = std::mem::take(encoded);
        let mut rest = encoded.as_slice();
        while !rest.is_empty() {
            let (head, body, left) = message::protect_first(rest)?;
            self.write_all(&head)?;
            self.write_all(body)?;
            rest = left;
        }
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
