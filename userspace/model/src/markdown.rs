//! Generates the page `docs/formats.md`: prose from here, tables from the registry.

mod sketches;

use crate::catalogue::print;
use crate::{Column, FORMAT_VERSION, Rule, TABLES, Table, Type, Unit, footer};
use alloc::string::String;
use core::fmt::Write;

/// Returns the complete page. Continuous integration fails if the file in `docs/` differs.
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
    writeln!(page, "| aggregation | merged cell |\n|---|---|")?;
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
    TABLES.iter().try_for_each(|table| write_table(page, table))?;
    page.push_str(METRICS);
    page.push_str(&print::markdown());
    Ok(())
}

fn write_table(page: &mut String, table: &Table) -> core::fmt::Result {
    writeln!(page, "\n## `{}`\n\n{}\n", table.name, table.help)?;
    writeln!(page, "Rollups: {}.\n", table.rollup)?;
    writeln!(page, "| column | type | unit | null | aggregation | meaning |")?;
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
        writeln!(page, "| `{name}` | {kind} | {unit} | {null} | {aggregate} | {help} |")?;
    }
    Ok(())
}

const LAYOUT: &str = "\
# The dataset

<!-- Generated from the registry in userspace/model. Change it there, then run `cargo xtask docs`. -->

rocescope writes its measurements as a Hive-partitioned Parquet dataset: one directory for each table,
with one directory for each day and hour (UTC).

    <root>/
      flows/
        date=2026-11-21/
          hour=02/
            rail3-20261121T024300Z-0000.parquet     a sealed segment
      .open/
        rail3.lock                                  lock of the observer's writer
        flows/
          rail3-20261121T024400Z-0000.arrows.tmp    a segment being written
      .damaged/
        flows/
          rail3-20261121T023900Z-0000.arrows        a damaged journal, set aside
      .shipped/
        flows/                                      markers of the segments that a store has
      .compact/                                     hours whose segments are being joined
      rollups/
        1m/, 1h/, 1d/                               datasets of longer windows, like this one

- `date` and `hour` come from the row's own time (`window_start`, or `time` for events). DuckDB reads
  `hour` as text (`'02'`); polars, pandas and Spark read it as a number.
- The name of a segment is the observer, the time of its first row in UTC, and a number that
  distinguishes segments of the same time. Characters of the observer other than letters, digits,
  `.`, `_` and `-` become `_` in the name; the column `observer` has the original name.
- Several observers may write into one root; one process at a time may write for an observer.
- When a capture ends, it writes a segment without rows for every table that got no rows, so that a
  query over any table finds a schema.
- Everything that is not a complete segment is in directories whose name begins with a dot, which readers
  ignore: a table can be read while it is being written.

## Sealing and repair

A Parquet file is readable only after its footer is written, at its end. While a segment is open, the
writer appends each finished window to a journal, an Arrow IPC stream, and passes it to the kernel
immediately. It seals the segment after 60 s or 64 MiB, when the hour ends, and when the capture ends:
it reads the journal, writes `.parquet.tmp` next to it, syncs that file, renames it into the table,
and syncs the directories. Only then does it remove the journal. A file whose name ends in `.parquet`
is therefore always complete. In a journal the columns of sketches are packed: the ranges that are not
zero, without the zeros between them (field metadata `rocescope.packed`).

The windows of a capture file are appended together, up to 1,024 of one hour in a step, because the
file can be read again: `kill -9` costs those that were not appended yet, at most three such steps.

The journal of a collector has three more columns, `.sender`, `.epoch` and `.sequence`: the number that
the agent gave each batch, written together with its rows. Segments do not contain them; the collector
writes the highest numbers to `.open/<table>/<observer>.marks` before it removes the journal, so that it
recognises a retransmitted batch after any crash.

Every batch of a journal ends its header with checksums (CRC-32): the bytes `rocecrc1`, the checksum of
the body, and that of the header. Arrow readers skip them as padding. Parcels of agents have them too,
and `.marks` files end with one. Journals of versions without checksums are still sealed.

After `kill -9` the journals remain. `rocescope dataset repair DIR`, or the next capture of the same observer
into the same root, seals the complete windows in them and drops a truncated one. A kill costs the
windows that were not in a journal yet: the one in progress and those that wait for late packets, which is
one `--lateness` and one `--window`, or with the defaults two or three windows; the frames in the rings of
the kernel; and the state of connections since their last rows. A power failure also loses the rows that
the kernel had not yet written to disk, but no sealed segments. Rows of `windows` are
written after all other rows of the same window, and their journal is sealed after those of the other
tables: a window that is in `windows` is complete in every table; a window that a kill truncated may be
missing there and present in other tables.

A collector analyzes a window of its mesh again when rows of it come late. Segments do not change, so the
window then has rows of several analyses in `sla`, `verdicts` and `links`, numbered by the column `revision`.
Only those with the highest number that `sla` has for a window and an observer count: its row is written last, and a later
analysis may have found nothing. `rocescope` and the views of `fleet` leave the others out. Any
other reader has to; in DuckDB:

    SELECT * FROM verdicts SEMI JOIN (SELECT observer, window_start_ns, max(coalesce(revision, 0)) AS revision
                                      FROM sla GROUP BY ALL) AS last
    ON verdicts.observer = last.observer AND verdicts.window_start_ns = last.window_start_ns
       AND coalesce(verdicts.revision, 0) = last.revision


A damaged journal is never deleted. Its whole batches are sealed, before and after the damage, and the
journal moves to `.damaged/<table>/`. `repair` names it and fails; so does a capture whose own journal is
damaged.

When the disk is full or fails, writing ends: the rows appended before are sealed if that is possible, otherwise
they stay in the journal. A running writer tries again every second, and seals them when the disk works again; so
does `repair`.

## Compaction

`rocescope dataset compact` joins the segments of an hour that is over: those of one table with the same observer,
columns and metadata, up to 256 MiB. Every row stays as it is. Rows are in the order of time if those of the
joined segments were; of equal times, the row of the earlier segment is first. A joined segment has the name
of its first one with a number from 10000 on.

- **One step.** The new segments are written to a directory below `.compact`, which gets hard links to every
  other file of the hour. Then the two directories exchange their names (`renameat2`, which ext4, XFS, Btrfs
  and tmpfs have). A reader that lists the hour finds the old segments or the new ones. After `kill -9` at any
  time, the next run removes what is in `.compact`: before the exchange the hour does not need it, and after it
  only replaced segments are there.
- **Readers.** What was replaced stays in `.compact` for ten seconds, and readers of rocescope open it there.
  Another engine that listed an hour before and opens a file after the exchange fails because the file is
  missing; it never counts rows twice. Run the query again.
- **Writers** go on, also in the same hour: a segment is sealed before or after an exchange, not meanwhile. A
  segment whose journal is still there stays as it is.
- **Damage.** A segment that does not match its checksums is named and stays as it is; so do segments without
  checksums, of other columns than those of this version, and files that rocescope did not name.
- **Stores.** Segments that `rocescope dataset ship` copied are joined only with each other; the joined segment has a
  marker, so it is not shipped again. Others are joined only with each other and have none: they are shipped
  later. One that `ship` began to copy stays as it is until the store has it.
- **Space.** An hour of a table is on disk twice until the run ends.

## Rollups

`rocescope dataset rollup` makes rows of longer windows: `rollups/1m` of those that were captured, `rollups/1h` of
those of minutes, `rollups/1d` of those of hours. Each is a dataset with the same tables, columns and file names, so
that every reader opens it by its path; a reader of `<root>/<table>` does not see it. The footer states the
resolution and the length of the windows.

- **Rows** of an object in a window become one by the rule of each column over time (*aggregation* below). An object
  is what the columns with the rule `same` name. Rows of `windows`, `flows`, `opcodes` and `spread` have the span of
  the row of `windows`: from its first captured window to the end of its last. Windows begin at whole minutes, hours
  and days in UTC.
- **Flows.** Sizes are exact where each captured window lists all its flows. Where one does not, the size and the
  error of a flow that it does not list grow by what it can hide: by its Count-Min sketch, or by all that is not
  listed. So sizes are never below the true value, and above it by at most their `error_`. The largest rows of a window
  remain, 1,000 by default.
- **Numbers of flows** (`flows`, `estimated_flows`) are by their rule those of the captured window with the most;
  `linear_counting` and `hll_flows` are merged and count the flows of the whole window. Count-Min sketches remain only in
  windows of which a part does not list its flows.
- **Quantiles** of `sla` are the largest of its windows; those of `connections` are of the connection since it began, so the
  last is valid. Those of `pdcs` are null: quantiles of parts do not add up.
- **Analyses.** Only the latest analysis of a window counts. Its number is null where windows with different ones merge.
- **Partitions** are hours for 1m, days for 1h and months for 1d: the directory of the first hour. There is one segment
  for each table, writer and partition.
- **One step.** A segment of a rollup is written in `.open` and replaces the one before by its name. Its footer lists the
  segments that it is made of (`rocescope.rollup.inputs`); if these change, because rows came late or compaction
  joined them, it is made again. Once retention deleted some of them, its rows stay, and later ones are merged into
  them.

## Checksums

The footer of a segment has checksums of all bytes of the file (`rocescope.checksums`). Readers of
rocescope compare the footer and the columns that they read, skip a damaged segment, and report it with
the reason; `rocescope dataset verify` compares every byte, and the sums of the tables. Other Parquet readers
ignore the key. Segments of versions without checksums are read as they are, and `verify` lists them.

";

const TYPES: &str = "\
## Types

The dataset uses only types that DuckDB, polars, pandas and Spark read with default settings: no
unsigned integers (Spark reads 64-bit ones as decimals), no nanosecond timestamps (Spark rejects
them), no fixed-size binary and no extension type. Pages are compressed with LZ4 (`LZ4_RAW`), and
everything but sketches is dictionary-encoded where that is smaller. Row groups whose sketches are
nearly empty have these columns in pages compressed with Zstandard (`ZSTD`): frames of raw blocks and
blocks that repeat a zero, a few hundred bytes for a megabyte.

Spark 4.3 reads all of it, but fails (`MalformedInputException`) on a filter over a column whose LZ4
dictionary exceeds 8 KiB, such as `flow_hash = 1` with more than 1,024 flows: apache/parquet-java#3478,
fixed in a later version of its Parquet library. Set `spark.hadoop.parquet.filter.dictionary.enabled`
to `false`; statistics still prune. The package in `fleet/` does so for its own frames.

Segments that `rocescope dataset compact` joined, and rollups, have Bloom filters of addresses and of
`direction_key`: an engine that asks for one of them skips the segments without it.

";

const STORED: [(Type, &str, &str); 7] = [
    (Type::I64, "INT64", "counts, identifiers, nanoseconds"),
    (Type::F64, "DOUBLE", "rates, ratios, estimates"),
    (Type::Bool, "BOOLEAN", "true or false"),
    (Type::Text, "BYTE_ARRAY (STRING)", "addresses and names"),
    (
        Type::Time,
        "INT64 (TIMESTAMP, microseconds, adjusted to UTC)",
        "instants, rounded down; the `int64` column with the same name plus `_ns` is exact",
    ),
    (Type::Bytes, "BYTE_ARRAY", "sketches"),
    (Type::ListI64, "LIST of INT64", "rows of counters"),
];

const UNITS: &str = "
## Units

The last word of a column's name is its unit. A column whose name ends in none of these words has no
unit, or its description states the unit.

";

const AGGREGATES: &str = "
## Aggregation

When several rows are merged into one, each column follows a rule. If two rules are given, `a / b`, the
first applies to consecutive rows of the same object (windows, in `top` and `report`; the latest row of a
connection), the second to rows of the same time: of several observers (`rocescope dataset merge`), or of several
connections. Null means \"not measured\".

";

const FOOTER: &str = "\
The Parquet key-value metadata of every segment describes how it was made. All values are text; keys
that do not apply are absent.

";

const VERSIONS_BEFORE: &str = "\
## Versions

This is version ";

const VERSIONS_AFTER: &str = ". A new table or a new nullable column does not change the version: readers
ignore unknown tables and columns, and read a missing column as null. Every other change (a column
renamed, removed, or with another type, unit or meaning; a new column that is not nullable; other sketch
bytes) increases the version in the footer by one. rocescope reads its own version and names any other as
unreadable. `rocescope dataset repair DATASET` converts segments and journals of earlier versions: the same rows, file by
file, each replaced in one step. A store that had them gets them again.

Version 2 renames columns, so that capture loss, mirror loss and fabric loss differ in their names:
`capture_lost_packets`, `capture_dropped_frames` and `mirror_duplicate_packets` in `windows`;
`fabric_lost_upstream_packets` and `fabric_lost_downstream_packets` in `connections` and `pdcs`; `unfilled_gaps` and
the like in `connections`.
";

const METRICS: &str = "
# Metrics of `counters`

The catalogue maps the names that drivers use to metrics. *table* is the table of the Fudan paper that lists the
metric, and *printed as* what the paper calls it, if that is not its real name. *sign* is `running` for what grows
while everything works, and `negative`, with the side that the paper attributes it to, for what grows when something
is wrong. *names* are those that a driver has, after the place where they are read: `counters/` and `hw_counters/` in
`/sys/class/infiniband/DEVICE/ports/PORT`, `netlink/` and `resources/` from RDMA netlink, `ethtool/` the statistics of
the port's network interface, `dataset/` a column of another table. `#` is a priority from 0 to 7. A factor converts
the number that the driver counts to the unit: `port_xmit_data` counts words of four bytes. Names that the catalogue
does not have are stored without a metric.

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
