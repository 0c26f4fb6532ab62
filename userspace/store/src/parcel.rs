//! Encoded rows for another process: one table, one hour, one Arrow IPC stream.
//!
//! In a file, a parcel is a plain Arrow IPC stream of one batch with checksums, which any Arrow
//! library reads. On the wire, Arrow
//! Flight carries its three parts separately: [`Parcel::split`] finds them without decoding. Received bytes are
//! untrusted; [`Parcel::open`] validates them.

use crate::decode::Decoded;
use crate::guard::guarded;
use crate::message::{self, Checked, Message, NoMessage};
use crate::split::split;
use crate::{Batch, Error, encode, packed, schema};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use rocescope_model::tables::find;
use rocescope_model::{Cells, Column, footer};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

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
            let mut stream = StreamWriter::try_new(Vec::new(), &schema).map_err(failed)?;
            stream.write(&batch).map_err(failed)?;
            let mut bytes = message::protect_all(stream.get_ref())
                .map_err(|source| Error::io("encode", Path::new("rows"), source))?;
            bytes.extend_from_slice(&END);
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
        let invalid = |reason| match reason {
            NoMessage::Truncated => Unfit::new("the stream is truncated"),
            NoMessage::Invalid => Unfit::new("the stream is damaged"),
        };
        let (schema, rest) = Message::split(stream).map_err(invalid)?;
        let (batch, rest) = Message::split(rest).map_err(invalid)?;
        if rest != END {
            return Err(invalid(NoMessage::Truncated));
        }
        let parcel = Self {
            schema: schema.header,
            header: batch.header,
            body: batch.body,
        };
        parcel.check()?;
        Ok(parcel)
    }

    /// Decodes the rows.
    ///
    /// # Errors
    /// The bytes do not match their checksums, the batch belongs to an unknown table, or its columns do not match the
    /// table.
    pub fn open(&self) -> Result<Batch, Unfit> {
        self.check()?;
        let batch = guarded(|| self.decode());
        self.fit(&batch.ok_or_else(|| Unfit::new("the batch is damaged"))??)
    }

    /// Checks lengths and checksums before decoding: the decoder allocates as many bytes as a message announces. Older
    /// agents send no checksums.
    fn check(&self) -> Result<(), Unfit> {
        let messages =
            [(self.schema, &[][..]), (self.header, self.body)].map(|(header, body)| Message { header, body });
        for Message { header, body } in messages {
            let announced = message::body_len(header).ok_or_else(|| Unfit::new("a message is damaged"))?;
            if announced != body.len() {
                let len = body.len();
                let reason = format!("the message announces a body of {announced} bytes, but it has {len}");
                return Err(Unfit::new(reason));
            }
        }
        match messages.map(|message| message.check()) {
            [Checked::Whole, Checked::Whole] | [Checked::Unknown, Checked::Unknown] => Ok(()),
            _ => Err(Unfit::new("the bytes do not match their checksums")),
        }
    }

    fn decode(&self) -> Result<RecordBatch, Unfit> {
        let prefix = |header| message::prefix(header).ok_or_else(|| Unfit::new("the header is too long"));
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
    let unpacked = match batch.schema_ref().field_with_name(name) {
        Ok(field) if schema::is_packed(field) => Some(packed::unpacked(array).map_err(Unfit::new)?),
        _ => None,
    };
    Decoded::new(column, unpacked.as_ref().unwrap_or(array)).ok_or_else(|| {
        let (found, kind) = (array.data_type(), column.kind.name());
        Unfit::new(format!("column {name} has type {found}, expected {kind}"))
    })
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
    fn any_changed_byte_is_rejected() {
        let stream = &encode(&probes(), 100).unwrap()[0].1;
        for at in 0..stream.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = stream.clone();
                damaged[at] ^= flip;
                let opened = Parcel::split(&damaged).and_then(|parcel| parcel.open());
                assert!(opened.is_err(), "byte {at} flipped by {flip:#x}");
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
