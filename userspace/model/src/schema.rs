//! The registry as `rocescope dataset schema` prints it.

use crate::catalogue::{self, Metric};
use crate::{FORMAT_VERSION, TABLES, Table, json, render};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use serde::Serialize;

/// Formats every table as aligned text, one line for each column, and the catalogue of metrics.
#[must_use]
pub fn text() -> String {
    let tables = TABLES.iter().map(|table| table_text(table));
    let all: Vec<String> = tables.chain([catalogue::print::text()]).collect();
    all.join("\n")
}

/// Formats one table as aligned text.
#[must_use]
pub fn table_text(table: &Table) -> String {
    let heading = ["column", "type", "unit", "null", "aggregation", "meaning"];
    let mut lines = vec![heading.map(String::from)];
    lines.extend(table.columns.iter().map(|column| {
        [
            column.name.to_string(),
            column.kind.name().to_string(),
            column.unit.name().to_string(),
            if column.nullable { "yes" } else { "" }.to_string(),
            column.aggregate.to_string(),
            column.help.to_string(),
        ]
    }));
    let lines: Vec<Vec<String>> = lines.into_iter().map(Vec::from).collect();
    let body = render::align(&lines, &[false; 6]);
    format!("{}: {}\nRollups: {}.\n\n{body}", table.name, table.help, table.rollup)
}

/// Formats every table as one JSON object: `format_version`, `tables` with their columns, and the `metrics` of
/// `counters`.
#[must_use]
pub fn json() -> String {
    json_of(TABLES, Metric::all().collect())
}

/// Formats these tables as [`json()`] does, without metrics.
#[must_use]
pub fn json_of_tables(tables: &[&'static Table]) -> String {
    json_of(tables, Vec::new())
}

fn json_of(tables: &[&'static Table], metrics: Vec<&'static Metric>) -> String {
    #[derive(Serialize)]
    struct Schema<'a> {
        format_version: u32,
        tables: &'a [&'static Table],
        metrics: Vec<&'static Metric>,
    }
    json::pretty(&Schema {
        format_version: FORMAT_VERSION,
        tables,
        metrics,
    })
}

#[cfg(test)]
mod tests {
    use super::{json, text};
    use crate::TABLES;
    use crate::catalogue::Metric;

    #[test]
    fn every_metric_is_in_the_text_and_in_the_json() {
        let (text, json) = (text(), json());
        for metric in Metric::all() {
            assert!(text.contains(&std::format!("\n{} ", metric.name)));
            assert!(json.contains(&std::format!("\"name\": \"{}\"", metric.name)));
        }
        assert!(json.contains("\"printed\": \"mr_nak_retry_err\""));
    }

    #[test]
    fn every_column_is_in_the_text_and_in_the_json() {
        let (text, json) = (text(), json());
        for table in TABLES {
            assert!(text.contains(&std::format!("{}: ", table.name)));
            for column in table.columns {
                assert!(text.contains(&std::format!("\n{} ", column.name)));
                assert!(json.contains(&std::format!("\"name\": \"{}\"", column.name)));
            }
        }
    }
}
