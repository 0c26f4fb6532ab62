//! The pages of a column of sketches that are nearly empty, compressed without building the sketches.
//!
//! A window with four flows has two Count-Min tables of 512 KiB with 16 counters each. Building them, copying them
//! through Arrow and Parquet and compressing them took a millisecond a window, and left 4 KiB of LZ4. Here the pages are
//! written from the pieces that are not zero. The values that readers decode are the same bytes.

use crate::zero_frame::ZeroFrame;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rocescope_model::SparseBytes;
use std::mem;

/// Length of the values in a page, uncompressed: readers hold a page in memory.
const PAGE_BYTES: usize = 4 << 20;

/// A column chunk that is being written.
pub(crate) struct SketchPages {
    column: ColumnDescPtr,
    sink: TrackedWrite<Vec<u8>>,
    /// The values of the next page.
    values: Vec<Option<SparseBytes>>,
    value_bytes: usize,
    index: OffsetIndexBuilder,
    rows: u64,
    compressed: usize,
    uncompressed: usize,
}

impl SketchPages {
    pub(crate) fn new(column: ColumnDescPtr) -> Self {
        Self {
            column,
            sink: TrackedWrite::new(Vec::new()),
            values: Vec::new(),
            value_bytes: 0,
            index: OffsetIndexBuilder::new(),
            rows: 0,
            compressed: 0,
            uncompressed: 0,
        }
    }

    /// Appends a value.
    pub(crate) fn push(&mut self, value: Option<SparseBytes>) -> Result<()> {
        let len = value.as_ref().map_or(0, SparseBytes::len);
        if !self.values.is_empty() && self.value_bytes + len > PAGE_BYTES {
            self.page()?;
        }
        self.value_bytes += len;
        self.values.push(value);
        Ok(())
    }

    /// Ends the chunk: its bytes, and what the footer states of them.
    pub(crate) fn close(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        self.page()?;
        let metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE])
            .set_total_compressed_size(self.compressed as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(0)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: self.compressed as u64,
            rows_written: self.rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(self.index.build()),
        };
        Ok((self.sink.into_inner()?.into(), close))
    }

    /// Writes the waiting values as a page.
    fn page(&mut self) -> Result<()> {
        let values = mem::take(&mut self.values);
        self.value_bytes = 0;
        if values.is_empty() {
            return Ok(());
        }
        let mut frame = ZeroFrame::new();
        if self.column.max_def_level() > 0 {
            let levels = levels(&values);
            frame.bytes(&(levels.len() as u32).to_le_bytes());
            frame.bytes(&levels);
        }
        for value in values.iter().flatten() {
            frame.bytes(&(value.len() as u32).to_le_bytes());
            let mut at = 0;
            for (offset, piece) in value.pieces() {
                frame.zeros(offset - at);
                frame.bytes(piece);
                at = offset + piece.len();
            }
            frame.zeros(value.len() - at);
        }
        let len = frame.len();
        let frame = frame.finish();
        let frame = frame.ok_or_else(|| ParquetError::General("a page of sketches is longer than 4 GiB".into()))?;
        let page = Page::DataPage {
            buf: frame.into(),
            num_values: values.len() as u32,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = SerializedPageWriter::new(&mut self.sink).write_page(CompressedPage::new(page, len))?;
        self.index.append_row_count(values.len() as i64);
        self.index
            .append_offset_and_size(written.offset as i64, written.compressed_size as i32);
        self.rows += values.len() as u64;
        self.compressed += written.compressed_size;
        self.uncompressed += written.uncompressed_size;
        Ok(())
    }
}

/// Which values are not null, as runs: their number, doubled, as LEB128, then 1 or 0.
fn levels(values: &[Option<SparseBytes>]) -> Vec<u8> {
    let mut levels = Vec::new();
    for run in values.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let mut number = run.len() << 1;
        while number >= 0x80 {
            levels.push(number as u8 | 0x80);
            number >>= 7;
        }
        levels.push(number as u8);
        levels.push(u8::from(run.first().is_some_and(Option::is_some)));
    }
    levels
}
