//! Rows as a table, JSON, CSV, Markdown or Parquet, on the standard output or in a file.

mod table;

use crate::arguments::Format;
use crate::statements::explain;
use anyhow::{Context, Result, bail, ensure};
use datafusion::arrow::csv;
use datafusion::arrow::json::writer::{JsonArray, LineDelimited};
use datafusion::arrow::json::{ArrayWriter, LineDelimitedWriter, WriterBuilder};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::parquet::arrow::ArrowWriter;
use futures_util::StreamExt;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Where rows go.
pub(crate) struct Output {
    format: Format,
    to: Box<dyn Write + Send>,
    /// Results written so far.
    results: usize,
}

impl Output {
    /// Opens the file, or the standard output.
    ///
    /// # Errors
    /// The file cannot be made; Parquet would go to a terminal.
    pub(crate) fn open(format: Format, file: Option<&Path>) -> Result<Self> {
        let to: Box<dyn Write + Send> = match file {
            Some(file) => Box::new(File::create(file).with_context(|| file.display().to_string())?),
            None => {
                let is_binary = format == Format::Parquet && io::stdout().is_terminal();
                ensure!(!is_binary, "-o parquet writes bytes: state --out FILE");
                Box::new(io::stdout())
            }
        };
        Ok(Self {
            format,
            to: Box::new(BufWriter::new(to)),
            results: 0,
        })
    }

    /// Writes all rows of a result, and returns their number.
    ///
    /// # Errors
    /// The query or the writing fails.
    pub(crate) async fn write(&mut self, mut rows: SendableRecordBatchStream) -> Result<usize> {
        if rows.schema().fields().is_empty() {
            // A statement such as SET.
            return Ok(0);
        }
        if self.format == Format::Parquet && self.results > 0 {
            bail!("a Parquet file holds the rows of one statement");
        }
        self.results += 1;
        let mut sink = Sink::open(self.format, &mut self.to, &rows)?;
        let mut count = 0;
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| explain(&error))?;
            count += batch.num_rows();
            sink.write(&batch)?;
        }
        sink.finish()?;
        self.to.flush()?;
        Ok(count)
    }
}

/// One result in the making.
enum Sink<'a> {
    Table(table::Table<'a>),
    Csv(csv::Writer<&'a mut Box<dyn Write + Send>>),
    Json(ArrayWriter<&'a mut Box<dyn Write + Send>>),
    Jsonl(LineDelimitedWriter<&'a mut Box<dyn Write + Send>>),
    Parquet(Box<ArrowWriter<&'a mut Box<dyn Write + Send>>>),
}

impl<'a> Sink<'a> {
    fn open(format: Format, to: &'a mut Box<dyn Write + Send>, rows: &SendableRecordBatchStream) -> Result<Self> {
        Ok(match format {
            Format::Table => Self::Table(table::Table::new(to, rows.schema(), false)),
            Format::Markdown => Self::Table(table::Table::new(to, rows.schema(), true)),
            Format::Csv => Self::Csv(csv::WriterBuilder::new().with_header(true).build(to)),
            Format::Json => Self::Json(WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(to)),
            Format::Jsonl => Self::Jsonl(
                WriterBuilder::new()
                    .with_explicit_nulls(true)
                    .build::<_, LineDelimited>(to),
            ),
            Format::Parquet => Self::Parquet(Box::new(ArrowWriter::try_new(to, rows.schema(), None)?)),
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Table(table) => table.write(batch)?,
            Self::Csv(writer) => writer.write(batch)?,
            Self::Json(writer) => writer.write(batch)?,
            Self::Jsonl(writer) => writer.write(batch)?,
            Self::Parquet(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Table(table) => table.finish()?,
            Self::Csv(_) => {}
            Self::Jsonl(mut writer) => writer.finish()?,
            Self::Json(mut writer) => {
                writer.finish()?;
                writeln!(writer.get_mut())?;
            }
            Self::Parquet(writer) => {
                writer.close()?;
            }
        }
        Ok(())
    }
}
