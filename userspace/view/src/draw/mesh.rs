//! The mesh pane: the matrix, and beside or below it the verdicts and the pair under the cursor.

use super::pen::Pen;
use super::table;
use crate::format;
use crate::mesh::plan::Plan;
use crate::mesh::verdict_text::{self, Line};
use crate::pane::Pane;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;
use rocescope_diagnose::mesh::{Metric, Severity};
use rocescope_model::{PairRow, Row, Value};

pub(super) fn draw(view: &View, area: Rect, pen: &mut Pen<'_>) {
    table::title(view, Pane::Mesh, area, true, pen);
    let plan = view.mesh_plan(area);
    let Some(mesh) = view.mesh_shown() else {
        let why = view.header.no_mesh.as_deref();
        let why = why.unwrap_or("no probe mesh yet");
        pen.text(area.x + 1, area.y + 1, why, area.width, Tone::Faint);
        return;
    };
    if view.pair().is_none() {
        let why = match (mesh.pairs.is_empty(), view.is_filtered(Pane::Mesh)) {
            (false, true) => format!("nothing matches `{}`", view.filter),
            _ => "no probe in this window".into(),
        };
        pen.text(area.x + 1, area.y + 1, &why, area.width, Tone::Faint);
        return;
    }
    headings(view, &plan, pen);
    rows(view, &mesh.pairs, &plan, pen);
    verdict_text(view, &plan, pen);
}

/// The metric in the cells, and the names of the columns.
fn headings(view: &View, plan: &Plan, pen: &mut Pen<'_>) {
    let (first, count) = plan.columns;
    let columns = view.matrix.columns.iter().enumerate();
    let y = plan.headings.y;
    let metric = PairRow::TABLE.columns.get(view.listing(Pane::Mesh).sort);
    let title = metric.map_or("", |metric| metric.title);
    pen.text(plan.headings.x + 1, y, title, plan.name, Tone::Focus);
    for (at, name) in columns.skip(first).take(count) {
        let room = usize::from(plan.column) - 1;
        let text = format!("{:>room$}", format::fit(name, room));
        let right = (at - first) as u16;
        let x = plan.headings.x + 2 + plan.name + plan.column * right;
        pen.text(x, y, &text, plan.column, Tone::Heading);
    }
}

fn rows(view: &View, pairs: &[PairRow], plan: &Plan, pen: &mut Pen<'_>) {
    let matrix = &view.matrix;
    let cursor = view.pair().and_then(|pair| matrix.place(pair));
    let (first, count) = plan.columns;
    let rows = matrix.rows.iter().enumerate().skip(plan.first_row);
    for ((row, (host, nic)), y) in rows.zip(plan.matrix.y..plan.matrix.bottom()) {
        let name = format::fit(&format!("{host}/{nic}"), plan.name.into());
        let tone = match cursor {
            Some((chosen, _)) if chosen == row => Tone::Heading,
            _ => Tone::Text,
        };
        pen.text(plan.matrix.x + 1, y, &name, plan.name, tone);
        for column in first..first + count {
            let (Some(at), Some((x, y))) = (matrix.at(row, column), plan.place(row, column)) else {
                continue;
            };
            let cell = Rect::new(x, y, plan.column - 1, 1);
            metric(view, &pairs[at], cell, pen);
            if cursor == Some((row, column)) {
                pen.paint(cell, Tone::Chosen);
            }
        }
    }
}

/// The metric of a pair, marked by its severity for terminals without colours.
fn metric(view: &View, pair: &PairRow, cell: Rect, pen: &mut Pen<'_>) {
    let at = view.listing(Pane::Mesh).sort;
    let Some(column) = PairRow::TABLE.columns.get(at) else {
        return;
    };
    let value = pair.value(at);
    let severity = Metric::of_column(column.name).map_or(Severity::Fine, |metric| view.matrix.severity(metric, pair));
    let tone = match (severity, &value) {
        (Severity::Bad, _) => Tone::Bad,
        (Severity::Notice, _) => Tone::Notice,
        (Severity::Fine, Value::Null | Value::I64(0)) => Tone::Faint,
        (Severity::Fine, Value::F64(ratio)) if *ratio == 0.0 => Tone::Faint,
        (Severity::Fine, _) => Tone::Text,
    };
    let text = format::cell(&value, column.unit, view.options.rates, view.options.zone);
    let text = format!("{}{}", severity.mark(), text.trim_end());
    let text = format::fit(&text, cell.width.into());
    let x = cell.right() - text.chars().count() as u16;
    pen.text(x, cell.y, &text, cell.width, tone);
}

/// As many verdicts as fit, and the pair.
fn verdict_text(view: &View, plan: &Plan, pen: &mut Pen<'_>) {
    let area = plan.verdict_text;
    let verdicts = verdict_text::verdicts(view, area.width);
    let pair = verdict_text::pair(view, area.width);
    // The pair is short. The verdicts get the other lines: whole verdicts if at least one fits.
    let room = usize::from(area.height).saturating_sub(pair.len() + 2);
    let count = view.mesh_shown().map_or(0, |mesh| mesh.verdicts.len());
    let all: usize = verdicts.iter().map(Vec::len).sum();
    let mut lines: Vec<Line> = Vec::new();
    let mut whole = 0;
    for verdict in verdicts {
        let left = if all <= room { room } else { room.saturating_sub(1) };
        if whole > 0 && lines.len() + verdict.len() > left {
            break;
        }
        lines.extend(verdict);
        lines.truncate(left);
        whole += 1;
    }
    if all > room {
        let mut keys = view.options.keys.of(crate::Action::Detail);
        let key = keys.next().map_or_else(String::new, |key| key.to_string());
        let more = match count.saturating_sub(whole) {
            0 => format!("{key} shows the rest"),
            more => format!("{more} more: {key} shows all"),
        };
        lines.push((more, Tone::Notice));
    }
    let mut y = rule(area, area.y, &format!(" Verdicts {count} "), pen);
    if let Some(seen) = plan.seen(&view.matrix) {
        let text = format!(" {seen} ");
        let x = area.right().saturating_sub(text.len() as u16 + 1);
        pen.text(x, area.y, &text, area.width, Tone::Faint);
    }
    for (text, tone) in lines {
        y = line(area, y, &text, tone, pen);
    }
    let name = view.pair().map(verdict_text::name).unwrap_or_default();
    // Beside the matrix the pair follows the verdicts; below the matrix it is at the end of the screen.
    let at = area.bottom().saturating_sub(pair.len() as u16 + 1);
    let at = if plan.beside { (y + 1).min(at) } else { at };
    let mut y = rule(area, at, &format!(" {name} "), pen);
    for (text, tone) in pair {
        y = line(area, y, &text, tone, pen);
    }
}

fn rule(area: Rect, y: u16, title: &str, pen: &mut Pen<'_>) -> u16 {
    let rule = "─".repeat(area.width.into());
    if y < area.bottom() {
        pen.text(area.x, y, &rule, area.width, Tone::Faint);
        line(area, y, title, Tone::Heading, pen);
    }
    y + 1
}

fn line(area: Rect, y: u16, text: &str, tone: Tone, pen: &mut Pen<'_>) -> u16 {
    if y < area.bottom() {
        pen.text(area.x + 1, y, text, area.width.saturating_sub(1), tone);
    }
    y + 1
}
