//! Which events happened?

use super::grid::{Cell, Grid, Head, filled};
use super::periods::span;
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::lanes::{Lane, Lanes, Mark};
use crate::chart::{Chart, Plot};
use crate::words::{instant, length, plural};
use rocescope_model::human::grouped;

/// Kinds that end a connection or are severe.
const GRAVE: [&str; 5] = ["retry_exhausted", "unanswered", "fatal_nak", "reject", "loss"];
/// Maximum number of marks side by side in a lane.
const MARKS: i64 = 240;
const ALWAYS: [&str; 4] = ["time", "kind", "src", "dst"];
const SOMETIMES: [&str; 2] = ["dst_qpn", "psn"];
const LAST: [&str; 2] = ["count", "detail"];

pub(super) fn section(report: &Report) -> Section {
    let events = &report.events;
    let mut section = Section {
        id: "events",
        title: "Events",
        findings: findings(report),
        ..Section::default()
    };
    if events.kinds.is_empty() {
        return section;
    }
    section.grids.push(kinds(report));
    let rows = events.important(report.scope.top);
    let mut columns = ALWAYS.to_vec();
    columns.extend(filled(&rows, &SOMETIMES));
    columns.extend(LAST);
    if !rows.is_empty() {
        let title = if (rows.len() as u64) < events.rows() {
            format!("The {} most important events, most severe first", rows.len())
        } else {
            "All events, most severe first".into()
        };
        section.grids.push(Grid::of(title, &rows, &columns));
    }
    section.charts.push(chart(report));
    section
}

fn findings(report: &Report) -> Vec<Finding> {
    let events = &report.events;
    if events.kinds.is_empty() {
        return vec![Finding::good("No events.")];
    }
    let grave = events.kinds.iter();
    let grave = grave.filter(|kind| GRAVE.contains(&kind.kind.as_str()));
    let grave: Vec<String> = grave
        .map(|kind| format!("{} {}", kind.kind, grouped(kind.rows)))
        .collect();
    let all = plural(events.rows(), "event");
    vec![if grave.is_empty() {
        let kinds = plural(events.kinds.len() as u64, "kind");
        Finding::note(format!("{all} of {kinds}; none reports loss or a failed connection."))
    } else {
        Finding::bad(format!("{all}, including: {}.", grave.join(", ")))
    }]
}

fn kinds(report: &Report) -> Grid {
    let head = |title: &str, help: &str, right| Head {
        title: title.into(),
        help: help.into(),
        right,
        is_prose: false,
    };
    let rows = report.events.kinds.iter().map(|kind| {
        vec![
            Cell::text(&kind.kind),
            Cell::number(kind.rows as f64, grouped(kind.rows)),
            Cell::number(kind.count as f64, grouped(kind.count)),
            Cell::number(kind.first_ns as f64, instant(kind.first_ns)),
            Cell::number(kind.last_ns as f64, instant(kind.last_ns)),
        ]
    });
    Grid {
        title: "By kind".into(),
        heads: vec![
            head("Event", "", false),
            head("Events", "Rows of the table `events`.", true),
            head("Count", "Packets or changes that these rows represent.", true),
            head("First", "", false),
            head("Last", "", false),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}

fn chart(report: &Report) -> Chart {
    let mut span = span(report);
    // A dataset without windows can have events.
    let first = report.events.kinds.iter().map(|kind| kind.first_ns).min();
    let last = report.events.kinds.iter().map(|kind| kind.last_ns).max();
    if report.is_empty() {
        span.start_ns = first.unwrap_or(0);
        span.end_ns = last.unwrap_or(0).saturating_add(1);
    }
    // Marks closer than this would overlap.
    let min_ns = span.end_ns.saturating_sub(span.start_ns) / MARKS;
    let fine = report.events.fine.clone().no_finer_than(min_ns);
    let lanes = report.events.kinds.iter().map(|kind| {
        let marks = fine.iter().filter_map(|(start_ns, counts)| {
            let count = *counts.0.get(&kind.kind)?;
            Some(Mark { start_ns, count })
        });
        let grave = GRAVE.contains(&kind.kind.as_str());
        Lane {
            name: kind.kind.clone(),
            colour: usize::from(grave),
            marks: marks.collect(),
        }
    });
    Chart {
        title: "When".into(),
        note: Some(format!("one mark for all events within {}", length(fine.period_ns()))),
        plot: Plot::Lanes(Lanes {
            lanes: lanes.collect(),
            span,
        }),
    }
}
