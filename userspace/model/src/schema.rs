//! The registry itself, as `rocescope schema` prints it.

use crate::{Aggregate, FORMAT_VERSION, TABLES, Table, json::Writer, render};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Every table as aligned text: one line a column.
#[must_use]
pub fn text() -> String {
    let tables: Vec<String> = TABLES.iter().map(|table| table_text(table)).collect();
    tables.join("\n")
}

/// One table as aligned text.
#[must_use]
pub fn table_text(table: &Table) -> String {
    let heading = ["column", "type", "unit", "null", "adds up", "what it says"];
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

/// Every table as one JSON object: `format_version`, and `tables` with their columns.
#[must_use]
pub fn json() -> String {
    let mut json = Writer::pretty();
    json.begin_object();
    json.key("format_version").integer(FORMAT_VERSION);
    json.key("tables").begin_array();
    for table in TABLES {
        json.begin_object();
        json.key("name").string(table.name);
        json.key("help").string(table.help);
        json.key("columns").begin_array();
        for column in table.columns {
            json.begin_object();
            json.key("name").string(column.name);
            json.key("type").string(column.kind.name());
            json.key("unit").string(column.unit.name());
            json.key("nullable").bool(column.nullable);
            json.key("aggregate").begin_object();
            let Aggregate { time, observers } = column.aggregate;
            json.key("time").string(&time.to_string());
            json.key("observers").string(&observers.to_string());
            json.end_object();
            json.key("help").string(column.help);
            json.end_object();
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    json.finish()
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
