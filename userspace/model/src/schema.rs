//! The registry as `rocescope schema` prints it.

use crate::{FORMAT_VERSION, TABLES, Table, json, render};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use serde::Serialize;

/// Formats every table as aligned text, one line for each column.
#[must_use]
pub fn text() -> String {
    let tables: Vec<String> = TABLES.iter().map(|table| table_text(table)).collect();
    tables.join("\n")
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
    format!("{}: {}\n\n{body}", table.name, table.help)
}

/// Formats every table as one JSON object: `format_version`, and `tables` with their columns.
#[must_use]
pub fn json() -> String {
    #[derive(Serialize)]
    struct Schema {
        format_version: u32,
        tables: &'static [&'static Table],
    }
    json::pretty(&Schema {
        format_version: FORMAT_VERSION,
        tables: TABLES,
    })
}

#[cfg(test)]
mod tests {
    use super::{json, text};
    use crate::TABLES;

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
