//! Rows as a table: columns side by side, numbers to the right; on request with the bars of Markdown.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::{self, Write};

/// Rows of a table: their widths must be known before the first is printed.
const ROWS: usize = 10_000;
/// Letters of a cell. Sketches and texts of plans are longer.
const LETTERS: usize = 80;
/// Between two columns.
const GAP: &str = "  ";

pub(super) struct Table<'a> {
    to: &'a mut Box<dyn Write + Send>,
    names: Vec<String>,
    is_number: Vec<bool>,
    rows: Vec<Vec<String>>,
    /// Rows beyond the limit.
    more: usize,
    is_markdown: bool,
}

impl<'a> Table<'a> {
    pub(super) fn new(to: &'a mut Box<dyn Write + Send>, schema: SchemaRef, is_markdown: bool) -> Self {
        let fields = schema.fields();
        Self {
            to,
            names: fields.iter().map(|field| field.name().clone()).collect(),
            is_number: fields.iter().map(|field| field.data_type().is_numeric()).collect(),
            rows: Vec::new(),
            more: 0,
            is_markdown,
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let options = FormatOptions::new().with_null("–");
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options));
        let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
        let shown = batch.num_rows().min(ROWS - self.rows.len());
        for row in 0..shown {
            let cells = columns
                .iter()
                .map(|column| column.value(row).try_to_string().map(|cell| one_line(&cell)));
            self.rows.push(cells.collect::<Result<_, _>>()?);
        }
        self.more += batch.num_rows() - shown;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.is_markdown {
            // A bar in a cell would end it.
            self.rows
                .iter_mut()
                .flatten()
                .for_each(|cell| *cell = cell.replace('|', "\\|"));
        }
        let letters = |text: &str| text.chars().count();
        let widest = |(at, name): (usize, &String)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| letters(cell));
            cells.max().unwrap_or(0).max(letters(name))
        };
        let widths: Vec<usize> = self.names.iter().enumerate().map(widest).collect();
        let (start, gap, end) = if self.is_markdown {
            ("| ", " | ", " |")
        } else {
            ("", GAP, "")
        };
        for (number, row) in std::iter::once(&self.names).chain(&self.rows).enumerate() {
            let mut cells = Vec::new();
            for ((cell, width), is_number) in row.iter().zip(&widths).zip(&self.is_number) {
                let padding = " ".repeat(width - letters(cell));
                let (before, after) = if *is_number { (&*padding, "") } else { ("", &*padding) };
                cells.push([before, cell, after].concat());
            }
            let line = format!("{start}{}{end}", cells.join(gap));
            writeln!(self.to, "{}", line.trim_end())?;
            if self.is_markdown && number == 0 {
                let rule = |(width, is_number): (&usize, &bool)| {
                    let dashes = "-".repeat((*width).max(2) - 1);
                    if *is_number { dashes + ":" } else { dashes + "-" }
                };
                let rules: Vec<String> = widths.iter().zip(&self.is_number).map(rule).collect();
                writeln!(self.to, "{start}{}{end}", rules.join(gap))?;
            }
        }
        if self.more > 0 {
            writeln!(self.to, "… and {} more rows: -o csv prints them all", self.more)?;
        }
        Ok(())
    }
}

/// The cell in one line of limited length, without control characters.
fn one_line(cell: &str) -> String {
    let mut letters = cell
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut line: String = letters.by_ref().take(LETTERS).collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{LETTERS, one_line};

    #[test]
    fn a_cell_is_one_line() {
        assert_eq!(one_line("a\nb\x1b[1m"), "a b [1m");
        let long = "x".repeat(LETTERS);
        assert_eq!(one_line(&long), long);
        assert_eq!(one_line(&format!("{long}y")), format!("{long}…"));
    }
}
