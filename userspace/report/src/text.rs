//! The document for terminals: aligned, in human units, with a maximum width.

use crate::Report;
use crate::sections::{self, Cell, Grid, Level, Section};
use rocescope_model::human::visible;
use rocescope_model::human::wrap;

/// Minimum width for wrapping.
pub(crate) const MIN_WIDTH: usize = 40;

/// Returns the document, at most `width` characters wide; a table that does not fit omits its last columns and names
/// them.
#[must_use]
pub fn document(report: &Report, width: Option<usize>) -> String {
    let width = width.map_or(usize::MAX, |width| width.max(MIN_WIDTH));
    let mut out = String::new();
    for section in sections::all(report) {
        if !out.is_empty() {
            out.push('\n');
        }
        write_section(&mut out, &section, width);
    }
    out
}

pub(crate) fn write_section(out: &mut String, section: &Section, width: usize) {
    out.push_str(section.title);
    out.push('\n');
    for finding in &section.findings {
        let mark = match finding.level {
            Level::Bad => "  ! ",
            Level::Good | Level::Note => "  - ",
        };
        write_wrapped(out, mark, &visible(&finding.text), width);
    }
    let names = section.facts.iter().map(|(name, _)| name.chars().count());
    let column = names.max().unwrap_or(0);
    for (name, text) in &section.facts {
        write_wrapped(out, &format!("  {name:<column$}  "), &visible(text), width);
    }
    for grid in &section.grids {
        write_grid(out, grid, width);
    }
}

fn write_grid(out: &mut String, grid: &Grid, width: usize) {
    out.push('\n');
    if !grid.title.is_empty() {
        write_wrapped(out, "  ", &grid.title, width);
    }
    let heads = grid.heads.iter().map(|head| head.title.clone());
    let mut lines = vec![heads.collect::<Vec<_>>()];
    let cell = |cell: &Cell| visible(&cell.text);
    let rows = grid.rows.iter().map(|row| row.iter().map(cell).collect());
    lines.extend(rows);
    let widths: Vec<usize> = (0..grid.heads.len())
        .map(|at| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let shown = fitting(&widths, width.saturating_sub(2));
    for line in &lines {
        let mut text = String::new();
        for ((cell, head), width) in line.iter().zip(&grid.heads).zip(&widths).take(shown) {
            text.push_str("  ");
            text.push_str(&if head.right {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            });
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    let left = grid.heads.iter().skip(shown);
    let left: Vec<&str> = left.map(|head| head.title.as_str()).collect();
    if !left.is_empty() {
        let text = format!("(a wider terminal also shows {})", left.join(", "));
        write_wrapped(out, "  ", &text, width);
    }
}

/// Returns how many columns, two spaces apart, fit into `width`; at least two.
fn fitting(widths: &[usize], width: usize) -> usize {
    let mut used = 0;
    let fits = widths.iter().take_while(|column| {
        used += **column + 2;
        used <= width.saturating_add(2)
    });
    fits.count().max(2).min(widths.len())
}

/// Writes text after `mark`; further lines are indented.
fn write_wrapped(out: &mut String, mark: &str, text: &str, width: usize) {
    let indent = mark.chars().count();
    let mut before = mark.to_owned();
    for line in wrap(text, width.saturating_sub(indent)) {
        out.push_str(&before);
        out.push_str(&line);
        out.push('\n');
        before = " ".repeat(indent);
    }
}

#[cfg(test)]
mod tests {
    use super::{fitting, write_wrapped};

    #[test]
    fn wrapped_lines_are_indented() {
        let mut out = String::new();
        write_wrapped(&mut out, "  - ", "one two three four", 14);
        assert_eq!(out, "  - one two\n    three four\n");
    }

    #[test]
    fn at_least_two_columns_are_shown() {
        assert_eq!(fitting(&[4, 4, 4], 16), 3);
        assert_eq!(fitting(&[4, 4, 4], 15), 2);
        assert_eq!(fitting(&[40, 40, 4], 15), 2);
        assert_eq!(fitting(&[1, 1], usize::MAX), 2);
    }
}
