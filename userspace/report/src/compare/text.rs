//! The comparison as text.

use super::{Change, Comparison, Span};
use crate::sections::{Cell, Finding, Grid, Head, Section};
use crate::text::{MIN_WIDTH, write_section};
use crate::words;
use rocescope_model::hosts::Hosts;
use rocescope_model::{Value, human};

/// Returns the document, at most `width` characters wide.
#[must_use]
pub fn document(comparison: &Comparison, hosts: &Hosts, width: Option<usize>) -> String {
    let width = width.map_or(usize::MAX, |width| width.max(MIN_WIDTH));
    let mut out = String::new();
    let notes = comparison.notes.iter().map(Finding::note);
    let head = Section {
        title: "What changed from A to B",
        findings: notes.collect(),
        facts: vec![("A".into(), span(&comparison.a)), ("B".into(), span(&comparison.b))],
        ..Section::default()
    };
    write_section(&mut out, &head, width);
    for table in &comparison.tables {
        if table.changes.is_empty() {
            continue;
        }
        let mut findings = Vec::new();
        if table.omitted > 0 {
            let omitted = words::plural(table.omitted, "smaller change");
            findings.push(Finding::note(format!("{omitted} not listed (--top).")));
        }
        let section = Section {
            title: table.table,
            findings,
            grids: vec![Grid {
                title: String::new(),
                heads: ["Figure", "A", "B", "Change"].into_iter().map(head_of).collect(),
                rows: table.changes.iter().map(|change| row(change, hosts)).collect(),
                is_drawn: false,
            }],
            ..Section::default()
        };
        out.push('\n');
        write_section(&mut out, &section, width);
    }
    out
}

fn head_of(title: &str) -> Head {
    Head {
        title: title.into(),
        help: String::new(),
        right: title != "Figure",
        is_prose: false,
    }
}

fn span(span: &Span) -> String {
    let time = match span.from.zip(span.to) {
        Some((from, to)) => format!("{from:.0} to {to:.0}"),
        None => "no rows".into(),
    };
    let windows = words::plural(span.windows, "window");
    format!(
        "{}, {time}, {windows}, {} in total",
        span.dataset,
        words::length(span.covered_ns)
    )
}

fn row(change: &Change, hosts: &Hosts) -> Vec<Cell> {
    let value = |value: Option<f64>| match value {
        None => "unknown".into(),
        Some(value) => {
            let text = human::readable(&Value::F64(value), change.unit);
            if change.per_second {
                text.trim_end().to_owned() + "/s"
            } else {
                text
            }
        }
    };
    let relative = match (change.change, change.relative) {
        ("new" | "gone" | "unknown", _) | (_, None) => change.change.to_owned(),
        (_, Some(relative)) if relative >= 9.0 => format!("× {:.0}", relative + 1.0),
        (_, Some(relative)) => format!("{:+.1} %", relative * 100.0),
    };
    let figure = hosts.text(&change.figure.replace('_', " "));
    vec![
        Cell::text(figure),
        Cell::text(value(change.a)),
        Cell::text(value(change.b)),
        Cell::text(relative),
    ]
}
