//! The loopback tests of hosts as a matrix, a row for each NIC and a column for each endpoint, and below it what they
//! show of the selected host.

use super::pen::{Pen, Piece, piece};
use super::table;
use crate::format;
use crate::inside::Inside;
use crate::pane::Pane;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;
use rocescope_diagnose::mesh::Severity;
use rocescope_model::human::plural;
use rocescope_model::human::wrap;
use rocescope_model::{LoopbackRow, Row};

/// Cells of a column.
const COLUMN: u16 = 9;
/// Lines that the text below the matrix gets at least.
const TEXT: u16 = 7;

/// The tests in a line.
pub(super) fn summary(inside: &Inside) -> Vec<Piece> {
    let abnormal = inside.abnormal_hosts();
    let slow = inside.rows.iter().filter(|row| &*row.status == "abnormal").count();
    let tone = if abnormal > 0 { Tone::Bad } else { Tone::Faint };
    vec![
        piece(plural(inside.hosts.len() as u64, "host"), Tone::Heading, 9),
        piece(format!("{abnormal} with an abnormal link"), tone, 9),
        piece(
            format!("{slow} of {} abnormal", plural(inside.rows.len() as u64, "test")),
            tone,
            8,
        ),
    ]
}

pub(super) fn draw(view: &View, area: Rect, pen: &mut Pen<'_>) {
    table::title(view, Pane::Inside, area, true, pen);
    let listing = view.listing(Pane::Inside);
    let Some((shown, chosen)) = view.shown.as_ref().zip(listing.chosen()) else {
        let why = table::nothing(view, Pane::Inside);
        pen.text(area.x + 1, area.y + 1, &why, area.width, Tone::Faint);
        return;
    };
    let rows = &shown.inside.rows;
    let visible: Vec<&LoopbackRow> = listing.order.iter().filter_map(|at| rows.get(*at as usize)).collect();
    let Some(chosen) = rows.get(chosen) else {
        return;
    };
    let (mut nics, mut endpoints): (Vec<(&str, &str)>, Vec<&str>) = (Vec::new(), Vec::new());
    for row in &visible {
        let nic = (&*row.observer, &*row.nic);
        if !nics.contains(&nic) {
            nics.push(nic);
        }
        if !endpoints.contains(&&*row.endpoint) {
            endpoints.push(&row.endpoint);
        }
    }
    let is_latency = LoopbackRow::TABLE.columns[listing.sort].name == "latency_ns";
    let names = nics.iter().map(|(host, nic)| host.len() + nic.len() + 1);
    let name = names.max().unwrap_or(0).clamp(7, 24) as u16;
    let columns = usize::from(area.width.saturating_sub(name + 2) / COLUMN).max(1);
    let lines = usize::from(area.height.saturating_sub(TEXT + 2)).max(1);
    // The selected test stays visible.
    let column = endpoints.iter().position(|endpoint| *endpoint == &*chosen.endpoint);
    let line = nics.iter().position(|nic| *nic == (&*chosen.observer, &*chosen.nic));
    let first_column = column.unwrap_or(0).saturating_sub(columns - 1);
    let first_line = line.unwrap_or(0).saturating_sub(lines - 1);
    let place = |column: usize| area.x + 2 + name + COLUMN * (column - first_column) as u16;

    let unit = if is_latency { "us" } else { "Gbit/s" };
    pen.text(area.x + 1, area.y + 1, unit, name, Tone::Focus);
    for (at, endpoint) in endpoints.iter().enumerate().skip(first_column).take(columns) {
        let text = format!("{:>8}", format::fit(endpoint, 8));
        pen.text(place(at), area.y + 1, &text, COLUMN, Tone::Heading);
    }
    let mut y = area.y + 2;
    for (host, nic) in nics.iter().skip(first_line).take(lines) {
        let text = format::fit(&format!("{host}/{nic}"), name.into());
        let is_chosen = (*host, *nic) == (&*chosen.observer, &*chosen.nic);
        let tone = if is_chosen { Tone::Heading } else { Tone::Text };
        pen.text(area.x + 1, y, &text, name, tone);
        for (at, endpoint) in endpoints.iter().enumerate().skip(first_column).take(columns) {
            let is_here =
                |row: &&&LoopbackRow| (&*row.observer, &*row.nic) == (*host, *nic) && &*row.endpoint == *endpoint;
            let Some(row) = visible.iter().find(is_here) else {
                continue;
            };
            let (text, tone) = cell(row, is_latency);
            pen.text(place(at), y, &format!("{text:>8}"), COLUMN, tone);
            if is_chosen && *endpoint == &*chosen.endpoint {
                pen.paint(Rect::new(place(at), y, COLUMN - 1, 1), Tone::Chosen);
            }
        }
        y += 1;
    }
    y += 1;
    for (text, tone) in text(&shown.inside, chosen) {
        for line in wrap(&text, usize::from(area.width.saturating_sub(2))) {
            if y < area.bottom() {
                pen.text(area.x + 1, y, &line, area.width, tone);
            }
            y += 1;
        }
    }
}

/// The value of a test, marked if it is abnormal; faint if it proves nothing.
fn cell(row: &LoopbackRow, is_latency: bool) -> (String, Tone) {
    let value = match is_latency {
        true => row.latency_ns.map(|ns| format!("{:.2}", ns as f64 / 1e3)),
        false => row.measured_bps.map(|bps| format!("{:.1}", bps / 1e9)),
    };
    let text = value.unwrap_or_else(|| "-".into());
    match &*row.status {
        "abnormal" => (format!("{}{text}", Severity::Bad.mark()), Tone::Bad),
        "normal" => (text, Tone::Text),
        _ => (text, Tone::Faint),
    }
}

/// The selected test, and the verdicts on its host.
fn text(inside: &Inside, row: &LoopbackRow) -> Vec<(String, Tone)> {
    let gbps = |bps: Option<f64>| bps.map_or("unknown".to_owned(), |bps| format!("{:.1} Gbit/s", bps / 1e9));
    let us = |ns: Option<i64>| ns.map_or("unknown".to_owned(), |ns| format!("{:.2} us", ns as f64 / 1e3));
    let (host, nic, endpoint) = (&*row.observer, &*row.nic, &*row.endpoint);
    let mut all = vec![(
        format!(
            "{host} {nic} to {endpoint}: {}; {}, baseline {}, abnormal below {}; {}, baseline {}",
            row.status,
            gbps(row.measured_bps),
            gbps(row.baseline_bps),
            gbps(row.limit_bps),
            us(row.latency_ns),
            us(row.baseline_ns)
        ),
        Tone::Heading,
    )];
    all.push((format!("path: {}", row.path), Tone::Faint));
    let Some(found) = inside.of(host) else {
        return all;
    };
    if found.causes.is_empty() {
        all.push((format!("{host}: no abnormal links found"), Tone::Good));
    }
    for cause in &found.causes {
        let links = cause.links.iter().map(|link| format!("{} <-> {}", link.a, link.b));
        let links: Vec<String> = links.collect();
        all.push((
            format!("{host}: {} ({}): {}", cause.cause, cause.certainty, links.join(", ")),
            Tone::Bad,
        ));
        all.push((format!("do: {}", cause.action), Tone::Text));
        all.push((
            format!("evidence: {}; threshold: {}", cause.evidence, cause.threshold),
            Tone::Faint,
        ));
    }
    all
}
