//! Encoded rows for another process: one table, one hour, one Arrow IPC stream.
//!
//! In a file, a parcel is a plain Arrow IPC stream of one batch, which any Arrow library reads. On the wire, Arrow
//! Flight carries its three parts separately: [`Parcel::split`] finds them without decoding. Received bytes are
//! untrusted; [`Parcel::open`] validates them.

use crate::decode::Decoded;
use crate::split::split;
use crate::{Batch, Error, encode, schema};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::root_as_message;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use rocescope_model::tables::find;
use rocescope_model::{Cells, Column, footer};
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a message of an IPC stream.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// A message without a header ends the stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The parts of an encoded batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parcel<'a> {
    /// The message with table and columns: equal for parcels of one table and version.
    pub schema: &'a [u8],
    /// The message with the positions of the columns in the body.
    pub header: &'a [u8],
    /// The columns.
    pub body: &'a [u8],
}

/// Bytes that are not valid rows of rocescope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid rows of rocescope: {reason}")]
pub struct Unfit {
    /// Why they are invalid.
    pub reason: String,
}

impl Unfit {
    fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { reason }
    }

    fn of(error: &impl ToString) -> Self {
        Self::new(error.to_string())
    }
}

/// Encodes the rows as IPC streams of one hour and at most `max_rows` rows each (at least 1). Returns the number of
/// rows with each stream. Rows keep their order within an hour, and hours are in order.
///
/// # Errors
/// A value does not fit its column.
pub fn encode(cells: &dyn Cells, max_rows: usize) -> Result<Vec<(usize, Vec<u8>)>, Error> {
    // Only the name of the table: the message must not depend on the writer or the time.
    let schema: SchemaRef = Arc::new(schema::arrow(cells.table(), &[]));
    let failed = |error| Error::content("encode", Path::new("rows"), &error);
    let mut streams = Vec::new();
    for part in split(cells) {
        for rows in part.rows.chunks(max_rows.max(1)) {
            let batch = encode::batch(cells, rows, &schema).map_err(failed)?;
            let mut bytes = Vec::new();
            let mut stream = StreamWriter::try_new(&mut bytes, &schema).map_err(failed)?;
            stream.write(&batch).map_err(failed)?;
            stream.finish().map_err(failed)?;
            drop(stream);
            streams.push((rows.len(), bytes));
        }
    }
    Ok(streams)
}

impl<'a> Parcel<'a> {
    /// Finds the parts of a stream from [`encode`].
    ///
    /// # Errors
    /// The stream is truncated or invalid.
    pub fn split(stream: &'a [u8]) -> Result<Self, Unfit> {
        let (schema, rest) = header(stream)?;
        let (header, rest) = header(rest)?;
        let body = rest
            .strip_suffix(&END)
            .ok_or_else(|| Unfit::new("the stream is truncated"))?;
        let parcel = Self { schema, header, body };
        parcel.check()?;
        Ok(parcel)
    }

    /// Decodes the rows.
    ///
    /// # Errors
    /// The batch belongs to an unknown table, or its columns do not match the table.
    pub fn open(&self) -> Result<Batch, Unfit> {
        self.check()?;
        // The decoder does not check everything that it reads.
        let batch = panic::catch_unwind(AssertUnwindSafe(|| self.decode()));
        self.fit(&batch.map_err(|_| Unfit::new("the batch is damaged"))??)
    }

    /// Checks the lengths before decoding: the decoder allocates as many bytes as a message announces.
    fn check(&self) -> Result<(), Unfit> {
        for (header, body) in [(self.schema, 0), (self.header, self.body.len())] {
            let message = root_as_message(header).map_err(|error| Unfit::of(&error))?;
            if usize::try_from(message.bodyLength()) != Ok(body) {
                let announced = message.bodyLength();
                let reason = format!("the message announces a body of {announced} bytes, but it has {body}");
                return Err(Unfit::new(reason));
            }
        }
        Ok(())
    }

    fn decode(&self) -> Result<RecordBatch, Unfit> {
        let (one, two) = (prefix(self.schema)?, prefix(self.header)?);
        let bytes = one.as_slice().chain(self.schema).chain(two.as_slice());
        let stream = bytes.chain(self.header).chain(self.body).chain(&END[..]);
        let mut reader = StreamReader::try_new(stream, None).map_err(|error| Unfit::of(&error))?;
        match reader.next() {
            Some(batch) => batch.map_err(|error| Unfit::of(&error)),
            None => Err(Unfit::new("the stream has no batch")),
        }
    }

    fn fit(&self, batch: &RecordBatch) -> Result<Batch, Unfit> {
        let schema: &Schema = batch.schema_ref();
        let name = schema.metadata().get(footer::TABLE).map(String::as_str);
        let table = name
            .and_then(find)
            .ok_or_else(|| Unfit::new(format!("unknown table {}", name.unwrap_or("-"))))?;
        let columns = table.columns.iter().map(|column| fit(column, batch));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Batch::new(table, columns, batch.num_rows()))
    }
}

fn fit(column: &Column, batch: &RecordBatch) -> Result<Decoded, Unfit> {
    let name = column.name;
    let Some(array) = batch.column_by_name(name) else {
        // Written by a version without this column.
        return match column.nullable {
            true => Ok(Decoded::Missing),
            false => Err(Unfit::new(format!("column {name} is missing"))),
        };
    };
    if !column.nullable && array.null_count() > 0 {
        return Err(Unfit::new(format!("column {name} contains null")));
    }
    Decoded::new(column, array).ok_or_else(|| {
        let (found, kind) = (array.data_type(), column.kind.name());
        Unfit::new(format!("column {name} has type {found}, expected {kind}"))
    })
}

/// Returns the header of the first message of a stream, and the rest.
fn header(stream: &[u8]) -> Result<(&[u8], &[u8]), Unfit> {
    let cut = || Unfit::new("the stream is truncated");
    let rest = stream.strip_prefix(&CONTINUATION);
    let (len, rest) = rest.ok_or_else(cut)?.split_at_checked(4).ok_or_else(cut)?;
    let len = <[u8; 4]>::try_from(len).map(u32::from_le_bytes);
    let len = len.ok().and_then(|len| usize::try_from(len).ok());
    rest.split_at_checked(len.ok_or_else(cut)?).ok_or_else(cut)
}

/// Returns the prefix of a header in a stream.
fn prefix(header: &[u8]) -> Result<[u8; 8], Unfit> {
    let len = i32::try_from(header.len()).map_err(|_| Unfit::new("the header is too long"))?;
    let mut bytes = [0xff; 8];
    bytes[4..].copy_from_slice(&len.to_le_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Parcel, encode};
    use rocescope_model::{Cells, OpcodeRow, ProbeRow, Time};

    fn probes() -> Vec<ProbeRow> {
        let row = |n: i64| ProbeRow {
            observer: "h0".into(),
            time: Time(n),
            time_ns: n,
            sequence: n.unsigned_abs(),
            network_latency_ns: (n % 2 == 0).then_some(n),
            ..ProbeRow::default()
        };
        (0..9).map(row).collect()
    }

    #[test]
    fn rows_are_decoded() {
        let streams = encode(&probes(), 4).unwrap();
        let sizes: Vec<usize> = streams.iter().map(|(rows, _)| *rows).collect();
        assert_eq!(sizes, [4, 4, 1]);
        let mut back = Vec::new();
        for (_, stream) in &streams {
            let parcel = Parcel::split(stream).unwrap();
            assert_eq!(parcel.schema, Parcel::split(&streams[0].1).unwrap().schema);
            back.extend(parcel.open().unwrap().typed::<ProbeRow>().unwrap());
        }
        assert_eq!(back, probes());
    }

    #[test]
    fn every_stream_has_one_hour() {
        let mut rows = probes();
        rows[0].time = Time(3_600_000_000_000);
        let streams = encode(&rows, 100).unwrap();
        assert_eq!(streams.len(), 2);
    }

    #[test]
    fn a_stream_truncated_at_any_byte_is_rejected() {
        let stream = &encode(&probes(), 100).unwrap()[0].1;
        for len in 0..stream.len() {
            assert!(Parcel::split(&stream[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn any_changed_byte_is_rejected_or_read_without_panic() {
        let stream = &encode(&probes(), 100).unwrap()[0].1;
        for at in 0..stream.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = stream.clone();
                damaged[at] ^= flip;
                let opened = Parcel::split(&damaged).and_then(|parcel| parcel.open());
                assert!(opened.is_err() || opened.unwrap().rows() <= 9, "byte {at}");
            }
        }
    }

    #[test]
    fn a_parcel_names_its_table() {
        let opcodes = encode(&vec![OpcodeRow::default()], 1).unwrap();
        let batch = Parcel::split(&opcodes[0].1).unwrap().open().unwrap();
        assert_eq!(batch.table().name, "opcodes");
    }

    #[test]
    fn an_announced_length_is_checked() {
        let stream = &encode(&probes(), 100).unwrap()[0].1;
        let whole = Parcel::split(stream).unwrap();
        let cut = Parcel {
            body: &whole.body[..8],
            ..whole
        };
        assert!(cut.open().unwrap_err().reason.contains("announces a body of"));
    }
}
