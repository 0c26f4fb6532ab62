//! Every field of the selected row, with its unit and explanation.

use super::overlay;
use super::pen::Pen;
use crate::format;
use crate::mesh::verdict_text;
use crate::pane::Pane;
use crate::recent::Shown;
use crate::theme::Tone;
use crate::view::View;
use crate::zone::Zone;
use ratatui::layout::Rect;
use rocescope_model::{Column, ConnectionRow, Row as _, Type, Unit, Value, human};
use std::net::Ipv4Addr;

/// Cells of the page at most.
const WIDTH: u16 = 110;
/// Cells of the names and of the values.
const NAME: u16 = 22;
const VALUE: u16 = 26;

/// A line: name, value, explanation.
struct Line {
    name: &'static str,
    value: String,
    help: String,
    tone: Tone,
}

impl Line {
    fn new(name: &'static str, value: String, tone: Tone) -> Self {
        let help = String::new();
        Self {
            name,
            value,
            help,
            tone,
        }
    }
}

/// The last line that the page scrolls to.
pub(crate) fn max_scroll(view: &View) -> usize {
    let screen = Rect::new(0, 0, view.size.0, view.size.1);
    let Some((lines, page)) = page(view, screen) else {
        return 0;
    };
    lines.len().saturating_sub(overlay::inside(page).height.into())
}

pub(super) fn draw(view: &View, screen: Rect, scroll: usize, pen: &mut Pen<'_>) {
    let Some((lines, page)) = page(view, screen) else {
        return;
    };
    let table = view.focus().table();
    let heading = format!("{}: all fields of the row", table.name);
    let inside = overlay::inside(page);
    let first = scroll.min(lines.len().saturating_sub(inside.height.into()));
    overlay::frame(page, &heading, first, lines.len(), pen);
    for (line, y) in lines.iter().skip(first).zip(inside.y..inside.bottom()) {
        pen.text(inside.x, y, line.name, NAME, Tone::Heading);
        let (x, width) = (inside.x + NAME, inside.width - NAME);
        pen.text(x, y, &line.value, width, line.tone);
        let x = inside.x + NAME + VALUE;
        let width = inside.right().saturating_sub(x);
        pen.text(x, y, &line.help, width, Tone::Faint);
    }
}

fn page(view: &View, screen: Rect) -> Option<(Vec<Line>, Rect)> {
    let shown = view.shown.as_ref()?;
    let row = view.listing(view.focus()).chosen()?;
    let width = WIDTH.min(screen.width.saturating_sub(4));
    let help_width = usize::from(width.saturating_sub(4 + NAME + VALUE));
    let mut lines = match view.focus() {
        Pane::Mesh => verdicts(shown, width.saturating_sub(4 + NAME), view.options.zone),
        _ => history(view, shown, row),
    };
    let cells = view.focus().cells(shown);
    for (at, column) in view.focus().table().columns.iter().enumerate() {
        let value = cells.value(row, at);
        if value == Value::Null && is_of_owners(view.focus(), at) {
            continue;
        }
        let text = exact(column, &value, human::unit(cells, row, at));
        field(view.options.hosts.text(&text), &value, column, help_width, &mut lines);
    }
    let page = overlay::place(screen, width, lines.len());
    Some((lines, page))
}

/// Whether a column is of the owners of a connection: what is not known of them has no line.
fn is_of_owners(pane: Pane, column: usize) -> bool {
    pane == Pane::Connections && column >= ConnectionRow::TABLE.columns.len()
}

/// The flow's rates in the windows kept.
fn history(view: &View, shown: &Shown, row: usize) -> Vec<Line> {
    let flow = shown.rows.flows.get(row);
    let Some(flow) = flow.filter(|_| view.focus() == Pane::Flows) else {
        return Vec::new();
    };
    let newest = view.recent.newest().unwrap_or(0);
    let rates = view.series.rates(flow.flow_hash, shown.number, newest);
    let known = || rates.iter().filter(|rate| rate.is_finite());
    let max = known().copied().fold(0.0, f32::max);
    let min = known().copied().fold(f32::INFINITY, f32::min);
    let of = |bps: f32| human::rate(f64::from(bps), view.options.rates);
    let width = rates.len().max(1);
    let trend = format::sparkline(&rates, width, view.options.glyphs);
    let (count, min, max) = (known().count(), of(min.min(max)), of(max));
    let range = format!("{count} windows, {min} to {max}");
    vec![
        Line::new("trend", trend, Tone::Amount),
        Line::new("", range, Tone::Faint),
    ]
}

/// All verdicts of the mesh.
fn verdicts(shown: &Shown, width: u16, zone: Zone) -> Vec<Line> {
    let mut lines = Vec::new();
    let width = width.into();
    for verdict in &shown.mesh.verdicts {
        let headline = verdict_text::headline(verdict);
        sentence("verdict", &headline, width, Tone::Bad, &mut lines);
        sentence("do", &verdict.action, width, Tone::Text, &mut lines);
        let grounds = verdict_text::grounds(verdict, zone);
        sentence("because", &grounds, width, Tone::Faint, &mut lines);
    }
    lines
}

/// Wraps a text over several lines.
fn sentence(name: &'static str, text: &str, width: usize, tone: Tone, lines: &mut Vec<Line>) {
    for (at, value) in human::wrap(text, width).into_iter().enumerate() {
        lines.push(Line::new(if at == 0 { name } else { "" }, value, tone));
    }
}

fn field(mut shown: String, value: &Value<'_>, column: &'static Column, width: usize, lines: &mut Vec<Line>) {
    if column.kind == Type::Text && shown.chars().count() >= usize::from(VALUE) {
        // A sentence explains itself.
        let room = width + usize::from(VALUE);
        return sentence(column.name, &shown, room, Tone::Text, lines);
    }
    shown = format::fit(&shown, usize::from(VALUE) - 2);
    let mut help = human::wrap(column.help, width).into_iter();
    lines.push(Line {
        name: column.name,
        value: shown,
        help: help.next().unwrap_or_default(),
        tone: if *value == Value::Null { Tone::Faint } else { Tone::Text },
    });
    lines.extend(help.chain(gid(value)).map(|help| Line {
        help,
        ..Line::new("", String::new(), Tone::Text)
    }));
}

/// The GID of an IPv4 address, as NCCL and verbs programs print it.
fn gid(value: &Value<'_>) -> Option<String> {
    let Value::Text(text) = value else { return None };
    let address: Ipv4Addr = text.parse().ok()?;
    Some(format!("GID {}", address.to_ipv6_mapped()))
}

/// The exact number with its unit, and a shorter form where that differs. Drivers and `tshark` write queue pair numbers
/// in hexadecimal digits.
fn exact(column: &Column, value: &Value<'_>, unit: Unit) -> String {
    match (value, unit) {
        (Value::I64(number), _) if column.name.ends_with("qpn") => format!("{number} (0x{number:06x})"),
        (Value::I64(number), Unit::None | Unit::UnixNanoseconds) => number.to_string(),
        (Value::I64(number), unit) => {
            let (full, short) = (human::grouped(number.unsigned_abs()), human::readable(value, unit));
            let sign = if *number < 0 { "-" } else { "" };
            if number.unsigned_abs() < 1_000 {
                format!("{sign}{full} {}", unit.name())
            } else {
                format!("{sign}{full} ({short})")
            }
        }
        (Value::F64(_), unit) => human::readable(value, unit),
        _ => human::plain(value),
    }
}
