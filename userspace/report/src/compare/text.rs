//! The comparison as text.

use super::incidents::{Became, IncidentChange, Seen};
use super::{Change, Comparison, Span};
use crate::sections::incidents::sentences;
use crate::sections::{Cell, Finding, Grid, Head, Section};
use crate::text::{MIN_WIDTH, write_section};
use crate::words::{self, capital};
use rocescope_model::hosts::Hosts;
use rocescope_model::{Unit, Value, human};

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
    out.push('\n');
    write_section(&mut out, &incidents(&comparison.incidents, hosts), width);
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
                ..Grid::default()
            }],
            ..Section::default()
        };
        out.push('\n');
        write_section(&mut out, &section, width);
    }
    out
}

/// What happened to the incidents; what is new or worse with what to do.
fn incidents(changes: &[IncidentChange], hosts: &Hosts) -> Section {
    let mut findings: Vec<Finding> = Vec::new();
    for change in changes {
        if let (Became::New | Became::Worse | Became::UnknownBefore, Some(incident)) = (change.change, change.latest())
        {
            let text = format!("{}: {}", capital(change.change.name()), sentences(incident));
            findings.push(Finding::bad(hosts.text(&text)));
        }
    }
    if changes.is_empty() {
        findings.push(Finding::note("Neither side has an incident."));
    } else if findings.is_empty() {
        findings.push(Finding::good("No incident is new or worse."));
    }
    let rows = changes.iter().filter_map(|change| {
        let incident = change.latest()?;
        let suffers = |seen: &Option<Seen>| match seen {
            None => "-".to_owned(),
            Some(seen) => seen.suffers(),
        };
        Some(vec![
            Cell::text(change.change.name()),
            Cell::text(incident.class.as_str()),
            Cell::text(hosts.text(&incident.place.name)),
            Cell::text(suffers(&change.a)),
            Cell::text(suffers(&change.b)),
        ])
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    Section {
        title: "Incidents",
        findings,
        grids: match rows.is_empty() {
            true => Vec::new(),
            false => vec![Grid {
                title: String::new(),
                heads: ["Change", "Incident", "Place", "A", "B"]
                    .into_iter()
                    .map(left)
                    .collect(),
                rows,
                is_drawn: false,
                ..Grid::default()
            }],
        },
        ..Section::default()
    }
}

impl Seen {
    /// How much its connections suffer.
    fn suffers(&self) -> String {
        let rates = [
            (self.lost_per_second, "lost/s"),
            (self.retransmitted_per_second, "retransmitted/s"),
        ];
        let rates = rates.into_iter().filter_map(|(rate, what)| Some((rate?, what)));
        let rates: Vec<String> = rates
            .filter(|(rate, _)| *rate > 0.0)
            .map(|(rate, what)| {
                format!(
                    "{} {what}",
                    human::readable(&Value::F64(rate), Unit::Packets).trim_end()
                )
            })
            .collect();
        match rates.is_empty() {
            true => self.incident.certainty.name().to_owned(),
            false => rates.join(", "),
        }
    }
}

fn left(title: &str) -> Head {
    Head {
        right: false,
        ..head_of(title)
    }
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
