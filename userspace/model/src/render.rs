//! Rows as an aligned text table.

use crate::hosts::Hosts;
use crate::human::{self, Rates};
use crate::{Cells, Column, Unit, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Options of a text table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Columns by name, in this order; names that the table does not have are ignored. `None`: the default columns of
    /// the registry.
    pub columns: Option<&'a [&'a str]>,
    /// Whether to print numbers with prefixes and units (`1.50 MiB`) instead of in full with the unit in the heading.
    pub human: bool,
    /// Unit of rates in human output.
    pub rates: Rates,
    /// Names of addresses.
    pub hosts: Option<&'a Hosts>,
}

/// Formats a heading and one line for each row: columns two spaces apart, numbers right-aligned, no trailing spaces.
///
/// ```
/// use rocescope_model::{OpcodeRow, render};
///
/// let rows = vec![OpcodeRow { opcode: "CNP".into(), packets: 7, ..OpcodeRow::default() }];
/// let options = render::Options { columns: Some(&["opcode", "packets"]), human: true, ..Default::default() };
/// assert_eq!(render::table(&rows, options), "Opcode  Packets\nCNP           7\n");
/// ```
#[must_use]
pub fn table(cells: &dyn Cells, options: Options<'_>) -> String {
    let (lines, right) = lines(cells, options);
    align(&lines, &right)
}

/// Formats rows in lines of at most `width` characters, if leaving out these columns makes that possible: the first of
/// them that the table has, then the next. A last line counts what is left out.
#[must_use]
pub fn fitted(cells: &dyn Cells, options: Options<'_>, width: usize, dropped_first: &[&str]) -> String {
    let all = options.columns.unwrap_or_default();
    let mut kept: Vec<&str> = all.to_vec();
    let mut next = dropped_first.iter();
    loop {
        let columns = Some(kept.as_slice());
        let text = table(cells, Options { columns, ..options });
        let widest = text.lines().map(|line| line.chars().count()).max();
        let drops = widest.is_some_and(|widest| widest > width);
        let dropped = drops.then(|| next.find(|name| kept.contains(*name))).flatten();
        let Some(dropped) = dropped else {
            let left_out = (all.len() - kept.len()) as u64;
            return match left_out {
                0 => text,
                _ => format!("{text}{} in a wider terminal\n", human::plural(left_out, "more column")),
            };
        };
        kept.retain(|name| name != dropped);
    }
}

/// The cells of a table with its heading, and which columns are right-aligned.
pub(crate) fn lines(cells: &dyn Cells, options: Options<'_>) -> (Vec<Vec<String>>, Vec<bool>) {
    let table = cells.table();
    let chosen: Vec<usize> = match options.columns {
        Some(names) => names.iter().filter_map(|n| table.position(n)).collect(),
        None => (0..table.columns.len()).filter(|&i| table.columns[i].shown).collect(),
    };
    let columns: Vec<&Column> = chosen.iter().map(|&i| &table.columns[i]).collect();
    let mut lines: Vec<Vec<String>> = Vec::with_capacity(cells.rows() + 1);
    lines.push(columns.iter().map(|c| heading(c, options.human)).collect());
    for row in 0..cells.rows() {
        let cell = |&i: &usize| match (cells.value(row, i), human::unit(cells, row, i)) {
            (value, _) if !options.human => human::plain(&value),
            (Value::F64(bps), Unit::BitsPerSecond) => human::rate(bps, options.rates),
            (value @ Value::Text(_), unit) => match options.hosts {
                Some(hosts) => hosts.text(&human::readable(&value, unit)),
                None => human::readable(&value, unit),
            },
            (value, unit) => human::readable(&value, unit),
        };
        lines.push(chosen.iter().map(cell).collect());
    }
    let right = columns.iter().map(|c| c.kind.is_number()).collect();
    (lines, right)
}

/// Pads each column of `lines` to its widest cell; `right` selects the right-aligned columns. Characters that control a
/// terminal are replaced.
///
/// ```
/// let lines = [vec!["a\u{1b}[2J".to_owned(), "1".to_owned()]];
/// assert_eq!(rocescope_model::render::align(&lines, &[false, true]), "a\u{fffd}[2J  1\n");
/// ```
#[must_use]
pub fn align(lines: &[Vec<String>], right: &[bool]) -> String {
    let width = |column: usize| {
        let widths = lines.iter().filter_map(|l| l.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..right.len()).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for ((cell, &width), &right) in line.iter().zip(&widths).zip(right) {
            if !text.is_empty() {
                text.push_str("  ");
            }
            // Names are text of others; a cell keeps its width.
            let shown;
            let cell = match cell.chars().all(human::is_visible) {
                true => cell,
                false => {
                    shown = human::visible(cell);
                    &shown
                }
            };
            text.push_str(&if right {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            });
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Returns the title, with the unit if neither the cells nor the title contain it.
fn heading(column: &Column, human: bool) -> String {
    let unit = match column.unit {
        Unit::Nanoseconds | Unit::BitsPerSecond | Unit::PacketsPerSecond if !human => column.unit.name(),
        _ => return column.title.to_string(),
    };
    format!("{} [{unit}]", column.title)
}

#[cfg(test)]
mod tests {
    use super::{Options, fitted, table};
    use crate::FlowRow;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    fn rows() -> Vec<FlowRow> {
        let small = FlowRow {
            src: "10.0.0.1".parse().unwrap(),
            frame_bytes: 512,
            ..FlowRow::default()
        };
        let large = FlowRow {
            src: "fd00:0:0:1::9".parse().unwrap(),
            frame_bytes: 5_000_000_000,
            ..FlowRow::default()
        };
        vec![small, large]
    }

    #[test]
    fn plain_numbers_to_the_right_and_names_to_the_left() {
        let options = Options {
            columns: Some(&["src", "frame_bytes", "no_such_column", "frame_bps"]),
            ..Options::default()
        };
        let expected = [
            "Source         Frame bytes  Frame rate [bit/s]",
            "10.0.0.1               512               0.000",
            "fd00:0:0:1::9   5000000000               0.000",
            "",
        ];
        assert_eq!(table(&rows(), options), expected.join("\n"));
    }

    #[test]
    fn the_registry_chooses_the_columns() {
        let text = table(&rows(), Options::default());
        let heading = text.lines().next().unwrap();
        assert!(heading.contains("Destination") && !heading.contains("Hash"));
    }

    #[test]
    fn a_narrow_terminal_does_without_the_least_important_columns() {
        let options = Options {
            columns: Some(&["src", "dst", "packets", "messages"]),
            human: true,
            ..Options::default()
        };
        let fit = |width| fitted(&rows(), options, width, &["service", "messages", "dst"]);
        let heading = |width| fit(width).lines().next().unwrap_or_default().to_string();
        assert_eq!(fit(100), table(&rows(), options));
        let all = heading(100).chars().count();
        assert!(!heading(all - 1).contains("Messages") && heading(all - 1).contains("Destination"));
        assert!(fit(all - 1).ends_with("\n1 more column in a wider terminal\n"));
        // What must stay does, also where it is too wide.
        assert!(fit(1).starts_with("Source") && fit(1).contains("Packets"));
        assert!(fit(1).ends_with("\n2 more columns in a wider terminal\n"));
    }
}
