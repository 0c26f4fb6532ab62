//! The page `docs/formats.md`, generated whole: prose here, tables from the registry.

mod sketches;

use crate::{Column, FORMAT_VERSION, Rule, TABLES, Table, Type, Unit, footer};
use alloc::string::String;
use core::fmt::Write;

/// The complete page. Continuous integration fails when the file in `docs/` differs from it.
#[must_use]
pub fn page() -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> core::fmt::Result {
    page.push_str(LAYOUT);
    page.push_str(TYPES);
    writeln!(page, "| type | Parquet | holds |\n|---|---|---|")?;
    for (kind, parquet, holds) in STORED {
        writeln!(page, "| `{}` | {parquet} | {holds} |", kind.name())?;
    }
    page.push_str(UNITS);
    writeln!(page, "| name ends in | unit |\n|---|---|")?;
    for unit in Unit::ALL {
        if let Some(suffix) = unit.suffix() {
            writeln!(page, "| `{suffix}` | {} |", unit.name())?;
        }
    }
    page.push_str(AGGREGATES);
    writeln!(page, "| adds up | the merged cell |\n|---|---|")?;
    for (word, meaning) in Rule::WORDS {
        writeln!(page, "| {word} | {meaning} |")?;
    }
    page.push_str("\n## Footer\n\n");
    page.push_str(FOOTER);
    writeln!(page, "| key | value |\n|---|---|")?;
    for (key, help) in footer::KEYS {
        writeln!(page, "| `{key}` | {help} |")?;
    }
    page.push_str(sketches::CHAPTER);
    write!(page, "{VERSIONS_BEFORE}{FORMAT_VERSION}{VERSIONS_AFTER}")?;
    page.push_str("\n# Tables\n");
    TABLES.iter().try_for_each(|table| write_table(page, table))
}

fn write_table(page: &mut String, table: &Table) -> core::fmt::Result {
    writeln!(page, "\n## `{}`\n\n{}\n", table.name, table.help)?;
    writeln!(
        page,
        "| column | type | unit | null | adds up | what it says |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|")?;
    for column in table.columns {
        let Column {
            name,
            kind,
            aggregate,
            help,
            ..
        } = column;
        let null = if column.nullable { "yes" } else { "" };
        let (kind, unit) = (kind.name(), column.unit.name());
        writeln!(
            page,
            "| `{name}` | {kind} | {unit} | {null} | {aggregate} | {help} |"
        )?;
    }
    Ok(())
}

const LAYOUT: &str = "\
# The dataset

<!-- Generated from the registry in userspace/model. Change it there, then run `cargo xtask docs`. -->

rocescope writes what it measures as a Hive-partitioned Parquet dataset: one directory a table,
below it one a day and one an hour, UTC.

    <root>/
      flows/
        date=2026-11-21/
          hour=02/
            rail3-20261121T024300Z-0000.parquet     a sealed segment
      .open/
        rail3.lock                                  one living writer an observer
        flows/
          rail3-20261121T024400Z-0000.arrows.tmp    a segment being written

- `date` and `hour` are those of the row's own time (`window_start`, or `time` for events). DuckDB
  takes `hour` as text (`'02'`), polars, pandas and Spark as a number.
- A segment's name is the observer, the time of its first row in UTC, and a number that tells apart
  segments of the same time. In the name, characters of the observer other than letters, digits,
  `.`, `_` and `-` become `_`; the column `observer` has it as it is.
- Several observers may write into one root; an observer is written by one process at a time.
- When a capture ends it writes a segment without rows for every table it had nothing for, so that
  a query over any table finds a schema.
- Whatever is not a whole segment lies below `.open`, where no reader looks: the directory of a
  table can be read while it is being written.

## Sealing and repair

A Parquet file is readable only once its footer is written, at its end. So while a segment is open,
each finished window is appended to a journal, an Arrow IPC stream, and handed to the kernel at
once. A segment is sealed after 60 s or 64 MiB, when its hour ends, and when the capture ends: the
journal is read back and written as `.parquet.tmp` beside it, which is synced, renamed to its place
in the table, and the directories synced. Only then is the journal removed. A file whose name ends
in `.parquet` is therefore whole.

The journal of a collector has three columns more, `.sender`, `.epoch` and `.sequence`: the number that
the agent gave each batch, in one piece with its rows. Segments are sealed without them; the highest
numbers go to `.open/<table>/<observer>.marks` before the journal is removed, so that a batch that is
sent again is known whatever was killed.

After `kill -9` the journals are still there. `rocescope repair DIR`, or the next capture of the same
observer into the same root, seals the whole windows in them; a window cut in the middle is dropped.
What the kernel had not yet written to disk is lost with the machine's power; sealed segments are
not. Rows of `windows` are written after all other rows of the same window: a window that is in
`windows` is whole in every table, one that a kill cut off may be missing there and present in
others.

When the disk is full, writing ends: what was appended before is sealed if there is room for it,
and stays in its journal for `repair` if not.

A file that is not whole Parquet all the same, because a disk or a copy failed, is named with the
reason and passed over.

";

const TYPES: &str = "\
## Types

Only types that DuckDB, polars, pandas and Spark read at their default settings. There is no
unsigned integer (Spark reads 64-bit ones as decimals), no nanosecond timestamp (Spark refuses
them), no fixed-size binary and no extension type. Pages are compressed with LZ4 (`LZ4_RAW`), and
everything but sketches is dictionary-encoded where that is smaller.

";

const STORED: [(Type, &str, &str); 7] = [
    (Type::I64, "INT64", "counts, identifiers, nanoseconds"),
    (Type::F64, "DOUBLE", "rates, shares, estimates"),
    (Type::Bool, "BOOLEAN", "true or false"),
    (Type::Text, "BYTE_ARRAY (STRING)", "addresses and names"),
    (
        Type::Time,
        "INT64 (TIMESTAMP, microseconds, adjusted to UTC)",
        "instants, rounded down; an `int64` column of the same name and `_ns` beside it is exact",
    ),
    (Type::Bytes, "BYTE_ARRAY", "sketches"),
    (Type::ListI64, "LIST of INT64", "rows of counters"),
];

const UNITS: &str = "
## Units

The last word of a column's name is its unit. A column whose name ends in none of these words has no
unit, or one that its description gives.

";

const AGGREGATES: &str = "
## How columns add up

When several rows become one, each column follows a rule. Where two rules are given, `a / b`, the first is
for rows of the same thing that follow each other (windows, in `top` and `report`; of a connection the
latest row holds), the second for rows of one time: of several capture points (`rocescope merge`), or of
several connections. Null means \"not measured\".

";

const FOOTER: &str = "\
Every segment says in its Parquet key-value metadata what made it. All values are text; keys that do
not apply are absent.

";

const VERSIONS_BEFORE: &str = "\
## Versions

This is version ";

const VERSIONS_AFTER: &str = ". A new table, or a new column that may be null, does not change the
version: readers pass over what they do not know, and take a column that a file lacks as null.
Everything else does (a column renamed, removed, or of another type, unit or meaning; a new column
that may not be null; other sketch bytes), and the version in the footer rises by one. rocescope
reads all versions up to its own and refuses later ones by name.
";

#[cfg(test)]
mod tests {
    use super::{STORED, page};
    use crate::{TABLES, footer};
    use std::format;

    #[test]
    fn the_page_has_every_table_column_type_and_key() {
        let page = page();
        for table in TABLES {
            assert!(page.contains(&format!("## `{}`\n", table.name)));
            for column in table.columns {
                let (name, kind) = (column.name, column.kind.name());
                assert!(page.contains(&format!("| `{name}` | {kind} |")), "{name}");
                assert!(STORED.iter().any(|(stored, _, _)| *stored == column.kind));
            }
        }
        for (key, _) in footer::KEYS {
            assert!(page.contains(&format!("| `{key}` |")), "{key}");
        }
    }

    #[test]
    fn no_cell_breaks_its_table() {
        for table in TABLES {
            for column in table.columns {
                assert!(!column.help.contains(['|', '\n']), "{}", column.name);
            }
        }
    }
}
