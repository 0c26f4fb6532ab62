//! Reads a journal back: the batches that are whole, and what the rest is.
//!
//! A kill truncates the last batch; damage changes bytes. Checksums tell them apart: a batch is used only if its
//! checksums match, reading continues with the next whole batch after a damaged one, and only a truncated batch at the
//! end may be dropped. A journal of a version without checksums is used up to the first batch that cannot be decoded.

use crate::guard::guarded;
use crate::marks::Marks;
use crate::message::{self, Checked, Message, NoMessage};
use crate::{Error, schema};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_ipc::reader::StreamReader;
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole batches of a journal, without the numbers of their rows. Its errors are those of the operating system.
pub(crate) struct Batches {
    path: PathBuf,
    file: BufReader<File>,
    len: u64,
    /// Position of the next message.
    at: u64,
    /// Decodes one message at a time; `None` if the schema is unreadable.
    decoder: Option<StreamReader<Cursor<Vec<u8>>>>,
    schema: SchemaRef,
    /// Whether the journal has checksums.
    checked: bool,
    torn_bytes: u64,
    damaged_bytes: u64,
    numbered: bool,
    marks: Marks,
}

impl Batches {
    /// # Errors
    /// The file cannot be opened or read.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        let metadata = file.metadata();
        let len = metadata.map_err(|source| Error::io("read", path, source))?.len();
        let mut batches = Self {
            path: path.to_owned(),
            file: BufReader::new(file),
            len,
            at: 0,
            decoder: None,
            schema: Arc::new(arrow_schema::Schema::empty()),
            checked: false,
            torn_bytes: 0,
            damaged_bytes: 0,
            numbered: false,
            marks: Marks::default(),
        };
        batches.read_schema()?;
        Ok(batches)
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the numbers read so far.
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the bytes at the end that a kill truncated, once everything is read.
    pub(crate) const fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Returns what is damaged, once everything is read.
    pub(crate) fn damage(&self) -> Option<String> {
        let bytes = self.damaged_bytes;
        (bytes > 0).then(|| match (&self.decoder, self.checked) {
            (None, _) => format!("the schema is damaged, so its {bytes} bytes cannot be read"),
            (_, true) => format!("{bytes} of {} bytes do not match their checksums", self.len),
            (_, false) => format!(
                "the last {bytes} of {} bytes cannot be read, and this journal has no checksums that could \
                 tell a truncated window from damage",
                self.len
            ),
        })
    }

    /// Whether the journal has checksums, or nothing to check.
    pub(crate) const fn is_checked(&self) -> bool {
        self.checked || self.len == 0
    }

    /// Skips what was read before, up to the position that [`position`](Self::position) returned.
    pub(crate) fn skip_to(&mut self, position: u64) -> Result<(), Error> {
        if position > self.at && position <= self.len {
            self.at = position;
            self.seek()?;
        }
        Ok(())
    }

    /// Returns the position after the last batch read.
    pub(crate) const fn position(&self) -> u64 {
        self.at
    }

    /// Reads the next batch of a journal that is being written; `None` if it is not whole yet.
    pub(crate) fn next_written(&mut self) -> Result<Option<RecordBatch>, Error> {
        match self.at < self.len {
            true => self.next_whole(),
            false => Ok(None),
        }
    }

    fn read_schema(&mut self) -> Result<(), Error> {
        if self.len == 0 {
            return Ok(());
        }
        if let Ok(bytes) = self.read()?
            && let Ok((message, _)) = Message::split(&bytes)
            && message.check() != Checked::Damaged
        {
            self.checked = message.check() == Checked::Whole;
            let read = bytes.len() as u64;
            if let Some(Ok(decoder)) = guarded(|| StreamReader::try_new(Cursor::new(bytes), None)) {
                let stripped = schema::without_number(&decoder.schema()).map(Arc::new);
                self.numbered = stripped.is_some();
                self.schema = stripped.unwrap_or_else(|| decoder.schema());
                self.decoder = Some(decoder);
                self.at = read;
                return Ok(());
            }
        }
        // Without a schema no batch can be decoded.
        let rest = self.rest()?;
        self.end(is_zero(&rest));
        Ok(())
    }

    /// Reads the next message: prefix, header and body.
    fn read(&mut self) -> Result<Result<Vec<u8>, NoMessage>, Error> {
        let mut bytes = vec![0; message::PREFIX];
        let left = self.len - self.at;
        let read = self.read_at_most(left, |batches| {
            batches.file.read_exact(&mut bytes)?;
            let Some(prefix) = bytes.first_chunk() else {
                return Ok(Err(NoMessage::Truncated));
            };
            let Some(header) = message::header_len(*prefix) else {
                return Ok(Err(NoMessage::Invalid));
            };
            if (bytes.len() + header) as u64 > left {
                return Ok(Err(NoMessage::Truncated));
            }
            bytes.resize(message::PREFIX + header, 0);
            batches.file.read_exact(&mut bytes[message::PREFIX..])?;
            let Some(body) = message::body_len(&bytes[message::PREFIX..]) else {
                return Ok(Err(NoMessage::Invalid));
            };
            if (bytes.len() as u64).saturating_add(body as u64) > left {
                return Ok(Err(NoMessage::Truncated));
            }
            let head = bytes.len();
            bytes.resize(head + body, 0);
            batches.file.read_exact(&mut bytes[head..])?;
            Ok(Ok(()))
        });
        Ok(read?.map(|()| bytes))
    }

    fn read_at_most<T>(
        &mut self,
        left: u64,
        read: impl FnOnce(&mut Self) -> io::Result<Result<T, NoMessage>>,
    ) -> Result<Result<T, NoMessage>, Error> {
        if left < message::PREFIX as u64 {
            return Ok(Err(NoMessage::Truncated));
        }
        match read(self) {
            // The file became shorter meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Err(NoMessage::Truncated)),
            Err(error) => Err(Error::io("read", &self.path, error)),
            Ok(read) => Ok(read),
        }
    }

    /// Decodes the next message if it is whole.
    fn next_whole(&mut self) -> Result<Option<RecordBatch>, Error> {
        let Ok(bytes) = self.read()? else {
            return Ok(None);
        };
        let Ok((message, _)) = Message::split(&bytes) else {
            return Ok(None);
        };
        match message.check() {
            Checked::Whole if self.checked => {}
            Checked::Unknown if !self.checked => {}
            _ => return Ok(None),
        }
        let len = bytes.len() as u64;
        let Some(decoder) = &mut self.decoder else {
            return Ok(None);
        };
        *decoder.get_mut() = Cursor::new(bytes);
        let Some(Some(Ok(batch))) = guarded(|| decoder.next()) else {
            return Ok(None);
        };
        let batch = self.strip(batch);
        if batch.is_some() {
            self.at += len;
        }
        Ok(batch)
    }

    /// Skips to the next whole batch; false if there is none.
    fn skip_damage(&mut self) -> Result<bool, Error> {
        // Only a damaged or truncated journal is read into memory.
        let rest = self.rest()?;
        if self.checked
            && let Some(next) = message::find_whole(rest.get(1..).unwrap_or_default())
        {
            let damaged = next as u64 + 1;
            self.damaged_bytes += damaged;
            self.at += damaged;
            self.seek()?;
            return Ok(true);
        }
        self.end(is_zero(&rest) || (self.checked && is_truncated(&rest)));
        Ok(false)
    }

    fn end(&mut self, torn: bool) {
        let bytes = self.len - self.at;
        self.at = self.len;
        match torn {
            true => self.torn_bytes += bytes,
            false => self.damaged_bytes += bytes,
        }
    }

    /// Returns the bytes from the next message to the end.
    fn rest(&mut self) -> Result<Vec<u8>, Error> {
        self.seek()?;
        let mut rest = Vec::new();
        let read = self.file.by_ref().take(self.len - self.at).read_to_end(&mut rest);
        read.map_err(|source| Error::io("read", &self.path, source))?;
        Ok(rest)
    }

    fn seek(&mut self) -> Result<(), Error> {
        let sought = self.file.seek(SeekFrom::Start(self.at));
        sought.map(drop).map_err(|source| Error::io("read", &self.path, source))
    }

    /// Removes the numbers from a batch; `None` if they are invalid.
    fn strip(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        if !self.numbered {
            return Some(batch);
        }
        let (own, number) = batch.columns().split_at(self.schema.fields().len());
        let [senders, epochs, sequences] = number else {
            return None;
        };
        let senders = senders.as_string_opt::<i32>()?;
        let epochs = epochs.as_primitive_opt::<Int64Type>()?.values();
        let sequences = sequences.as_primitive_opt::<Int64Type>()?.values();
        let mut last = None;
        for (row, (&epoch, &sequence)) in epochs.iter().zip(sequences).enumerate() {
            let number = (senders.value(row), epoch, sequence);
            if last != Some(number) {
                self.marks.note(number.0, epoch, sequence);
                last = Some(number);
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), own.to_vec()).ok()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.len {
            match self.next_whole() {
                Ok(None) => {}
                batch => return batch.transpose(),
            }
            match self.skip_damage() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// Whether a message starts here that a kill truncated. Damage that only looks like it leaves the checksums of the
/// whole message behind.
fn is_truncated(rest: &[u8]) -> bool {
    if Message::split(rest) != Err(NoMessage::Truncated) {
        return false;
    }
    let header = rest.split_first_chunk().and_then(|(prefix, rest)| {
        let len = message::header_len(*prefix)?;
        rest.get(..len)
    });
    match header {
        // The body is incomplete.
        Some(header) => message::is_whole_header(header),
        None => !message::has_mark(rest),
    }
}

/// Whether a file system that lost power filled this with zeros.
fn is_zero(rest: &[u8]) -> bool {
    rest.iter().all(|byte| *byte == 0)
}
