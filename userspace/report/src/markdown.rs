//! The document as markdown: headings, lists, and tables as GitHub renders them.

use crate::Report;
use crate::sections::{self, Grid, Level};
use rocescope_model::markdown_table::escape;

/// Returns the document.
#[must_use]
pub fn document(report: &Report) -> String {
    let mut out = format!("# rocescope report: {}\n", escape(&report.origin.dataset));
    for section in sections::all(report) {
        out.push_str(&format!("\n## {}\n\n", section.title));
        for finding in &section.findings {
            let text = escape(&finding.text);
            out.push_str(&match finding.level {
                Level::Bad => {
                    let end = text.find(". ").map_or(text.len(), |at| at + 1);
                    let (first, rest) = text.split_at(end);
                    format!("- **{first}**{rest}\n")
                }
                Level::Good | Level::Note => format!("- {text}\n"),
            });
        }
        if !section.facts.is_empty() {
            if !section.findings.is_empty() {
                out.push('\n');
            }
            out.push_str("| | |\n|---|---|\n");
            for (name, text) in &section.facts {
                out.push_str(&format!("| {} | {} |\n", escape(name), escape(text)));
            }
        }
        for grid in &section.grids {
            write_grid(&mut out, grid);
        }
    }
    out
}

fn write_grid(out: &mut String, grid: &Grid) {
    if grid.title.is_empty() {
        out.push('\n');
    } else {
        out.push_str(&format!("\n{}\n\n", escape(&grid.title)));
    }
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        out.push('|');
        for cell in cells {
            out.push_str(&cell);
            out.push('|');
        }
        out.push('\n');
    };
    let heads = grid.heads.iter();
    line(&mut heads.clone().map(|head| format!(" {} ", escape(&head.title))));
    line(&mut heads.map(|head| if head.right { "---:" } else { "---" }.into()));
    for row in &grid.rows {
        line(&mut row.iter().map(|cell| format!(" {} ", escape(&cell.text))));
    }
}
