//! A pane: title, headings and visible rows.

use super::pen::Pen;
use crate::format;
use crate::layout::{self, Placed};
use crate::pane::{Listing, Pane, Slot};
use crate::recent::Shown;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;
use rocescope_model::human;
use rocescope_model::{Cells, Column, Time, Value};

pub(super) fn draw(view: &View, pane: Pane, area: Rect, alone: bool, pen: &mut Pen<'_>) {
    title(view, pane, area, alone, pen);
    let listing = view.listing(pane);
    let columns = layout::columns(listing, area.width, view.is_estimated());
    headings(listing, &columns, area, pen);
    let rows = layout::rows(area);
    let Some(shown) = &view.shown else {
        return;
    };
    if listing.order.is_empty() {
        let text = nothing(view, pane);
        pen.text(rows.x + 1, rows.y, &text, rows.width - 1, Tone::Faint);
        return;
    }
    let cells = pane.cells(shown);
    let first = listing.first(rows.height.into());
    let places = first..listing.order.len();
    for (place, y) in places.zip(rows.y..rows.bottom()) {
        let row = listing.order[place] as usize;
        for column in &columns {
            let at = (rows.x + column.x, y);
            cell(view, shown, cells, listing.pane, row, *column, at, pen);
        }
        if place == listing.cursor && pane == view.focus() {
            pen.paint(Rect::new(rows.x, y, rows.width, 1), Tone::Chosen);
        }
    }
    if pane == Pane::Incidents
        && let Some(incident) = listing.chosen().and_then(|row| shown.incidents.get(row))
    {
        // A blank line between.
        let used = (listing.order.len() as u16).saturating_add(1).min(rows.height);
        let below = Rect::new(rows.x, rows.y + used, rows.width, rows.height - used);
        super::incidents::text(incident, &view.options.hosts, below, pen);
    }
}

/// Why there are no rows.
pub(super) fn nothing(view: &View, pane: Pane) -> String {
    if view.is_filtered(pane) {
        return format!("nothing matches `{}`", view.filter);
    }
    match (&view.header.no_connections, pane) {
        (Some(why), Pane::Connections) => why.clone(),
        (_, Pane::Connections) => "no connections yet".into(),
        (_, Pane::Hosts) => {
            let why = view.header.no_counters.as_deref();
            why.unwrap_or("no host was read at this time").into()
        }
        (_, Pane::Incidents) => {
            let why = view.header.no_incidents.as_deref();
            why.unwrap_or("no incident at this time").into()
        }
        (_, Pane::Inside) => {
            let why = view.header.no_loopback.as_deref();
            why.unwrap_or("no loopback tests at this time").into()
        }
        (_, Pane::Events) => "no events in the windows kept".into(),
        _ => "no packets in this window".into(),
    }
}

/// The number of rows: `12`, or `3 of 12` with a filter.
fn number(view: &View, pane: Pane) -> String {
    let all = view.shown.as_ref().map_or(0, |s| pane.cells(s).rows()) as u64;
    let order = view.listing(pane).order.len() as u64;
    let mut text = if view.is_filtered(pane) {
        format!("{} of {}", human::grouped(order), human::grouped(all))
    } else {
        human::grouped(all)
    };
    if let (Pane::Connections, Some(until)) = (pane, view.shown.as_ref().and_then(later)) {
        text += &format!(" until {}", until.get(11..19).unwrap_or(""));
    }
    text
}

/// The time until which connections count, if that is well after the window: a dataset has their totals once a minute.
fn later(shown: &Shown) -> Option<String> {
    let end_ns = shown.total.window_start_ns + shown.total.window_ns;
    let latest_ns = shown.connections.rows.iter().map(|row| row.time_ns).max()?;
    // Live, rows come one window early.
    (latest_ns > end_ns + shown.total.window_ns).then(|| format!("{:.0}", Time(latest_ns)))
}

fn title_of(view: &View, pane: Pane) -> String {
    match pane {
        Pane::Groups => format!("{} {}", pane.title(), view.by),
        _ => pane.title().into(),
    }
}

/// The order in which tabs are cut to their key and name, and then to their key.
const CUT: [Pane; Pane::ALL.len()] = [
    Pane::Groups,
    Pane::Inside,
    Pane::Hosts,
    Pane::Mesh,
    Pane::Events,
    Pane::Opcodes,
    Pane::Incidents,
    Pane::Connections,
    Pane::Flows,
];

/// The tabs of the title line: pane, first column, text. Where they are wider than the screen, tabs are cut, but never
/// the focused one.
fn tabs(view: &View) -> Vec<(Pane, u16, String)> {
    let fits = |tabs: &[(Pane, u16, String)]| {
        let end = tabs
            .last()
            .map_or(0, |(_, x, text)| x + text.trim_end().chars().count() as u16);
        end <= view.size.0
    };
    let last = 2 * CUT.len();
    (0..last)
        .map(|cuts| placed(view, cuts))
        .find(|tabs| fits(tabs))
        .unwrap_or_else(|| placed(view, last))
}

/// The tabs after this number of cuts.
fn placed(view: &View, cuts: usize) -> Vec<(Pane, u16, String)> {
    let is_cut = |pane: Pane, cuts: usize| pane != view.focus() && CUT.iter().take(cuts).any(|cut| *cut == pane);
    let mut x = 1;
    Pane::ALL
        .iter()
        .zip(1..)
        .filter(|(pane, _)| view.has_tab(**pane))
        .map(|(pane, key)| {
            let text = if is_cut(*pane, cuts.saturating_sub(CUT.len())) {
                format!(" {key} ")
            } else if is_cut(*pane, cuts) {
                format!(" {key} {} ", pane.title())
            } else {
                format!(" {key} {} {} ", title_of(view, *pane), number(view, *pane))
            };
            let tab = (*pane, x, text);
            x += tab.2.chars().count() as u16 + 1;
            tab
        })
        .collect()
}

/// The tab at this column, if one pane fills the screen.
pub(crate) fn tab_at(view: &View, x: u16) -> Option<Pane> {
    let tabs = tabs(view);
    let tab = tabs.iter().rev().find(|(_, from, _)| x >= *from)?;
    (x < tab.1 + tab.2.chars().count() as u16).then_some(tab.0)
}

pub(super) fn title(view: &View, pane: Pane, area: Rect, alone: bool, pen: &mut Pen<'_>) {
    let rule = "─".repeat(area.width.into());
    pen.text(area.x, area.y, &rule, area.width, Tone::Faint);
    let shown: Vec<(Pane, u16, String)> = if alone {
        tabs(view)
    } else {
        let key = pane as usize + 1;
        let text = format!(" {key} {} {} ", title_of(view, pane), number(view, pane));
        vec![(pane, 1, text)]
    };
    for (of, x, text) in shown {
        let tone = if of == view.focus() { Tone::Focus } else { Tone::Faint };
        let x = area.x + x;
        pen.text(x, area.y, &text, area.right().saturating_sub(x), tone);
    }
}

fn headings(listing: &Listing, columns: &[Placed], area: Rect, pen: &mut Pen<'_>) {
    let y = area.y + 1;
    for column in columns {
        let title = match column.slot {
            Slot::Column(at) => listing.pane.table().columns[at].title,
            Slot::Flags => "Mark",
            Slot::Spark => "Trend",
            Slot::Share => "Share",
        };
        let title = format::fit(title, column.width.into());
        let length = title.chars().count() as u16;
        let x = area.x + column.x;
        let x = if column.right {
            x + column.width.saturating_sub(length)
        } else {
            x
        };
        if column.slot == Slot::Column(listing.sort) {
            pen.text(x, y, &title, column.width, Tone::Focus);
            let mark = if listing.descending { "▼" } else { "▲" };
            let at = if column.right { x - 1 } else { x + length };
            pen.text(at, y, mark, 1, Tone::Focus);
        } else {
            pen.text(x, y, &title, column.width, Tone::Heading);
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one cell, called from one place")]
fn cell(
    view: &View,
    shown: &Shown,
    cells: &dyn Cells,
    pane: Pane,
    row: usize,
    column: Placed,
    (x, y): (u16, u16),
    pen: &mut Pen<'_>,
) {
    let width = usize::from(column.width);
    match column.slot {
        Slot::Column(at) => {
            let what = &pane.table().columns[at];
            let value = cells.value(row, at);
            let tone = match (pane, &value) {
                (Pane::Hosts, Value::Text(text)) if what.name == "state" => super::hosts::tone(text),
                (Pane::Incidents, Value::Text(text)) if what.name == "state" => super::incidents::tone(text),
                _ => tone(what, &value),
            };
            let mut text = format::cell(
                &value,
                human::unit(cells, row, at),
                view.options.rates,
                view.options.zone,
            );
            if let Some(name) = view.options.hosts.name_of(&text) {
                let both = format!("{name} ({text})");
                text = if both.chars().count() <= width {
                    both
                } else {
                    name.into()
                };
            }
            if is_upper_bound(pane, shown, row, what) {
                text.insert(0, '≤');
            }
            let text = format::fit(&text, width);
            if column.right {
                let length = text.chars().count() as u16;
                pen.amount(x + column.width - length, y, &text, tone);
            } else {
                pen.text(x, y, &text, column.width, tone);
            }
        }
        Slot::Flags if pane == Pane::Hosts => {
            if let Some(port) = shown.host_ports.get(row) {
                super::hosts::flags(port, (x, y), pen);
            }
        }
        Slot::Flags => flags(view, shown, row, (x, y), pen),
        Slot::Spark => {
            let Some(flow) = shown.rows.flows.get(row) else {
                return;
            };
            let newest = view.recent.newest().unwrap_or(0);
            let rates = view.series.rates(flow.flow_hash, shown.number, newest);
            let line = format::sparkline(&rates, width, view.options.glyphs);
            pen.text(x, y, &line, column.width, Tone::Amount);
        }
        Slot::Share => {
            let share = match pane {
                Pane::Groups => shown.groups.get(row).and_then(|group| group.frame_ratio),
                _ => {
                    let opcode = shown.rows.opcodes.get(row);
                    opcode.map(|opcode| opcode.packets as f64 / shown.total.roce_packets.max(1) as f64)
                }
            };
            let Some(share) = share else {
                return;
            };
            let percent = format!("{:>5.1} %", share * 100.0);
            let bar = view.options.glyphs.bar(share, width - percent.len() - 1);
            let x = pen.amount(x, y, &percent, Tone::Text) + 1;
            pen.text(x, y, &bar, column.width, Tone::Amount);
        }
    }
}

/// Whether the true value may be lower than the cell.
fn is_upper_bound(pane: Pane, shown: &Shown, row: usize, column: &Column) -> bool {
    let Some(flow) = shown.rows.flows.get(row).filter(|_| pane == Pane::Flows) else {
        return false;
    };
    match column.name {
        "packets" => flow.error_packets > 0,
        "frame_bytes" | "frame_bps" => flow.error_frame_bytes > 0,
        _ => false,
    }
}

/// `L`: packets retransmitted, so lost or late; `E`: elephant; `J`: sudden change; `C`: congestion experienced; `~`: its sizes are upper bounds.
fn flags(view: &View, shown: &Shown, row: usize, (x, y): (u16, u16), pen: &mut Pen<'_>) {
    let Some(flow) = shown.rows.flows.get(row) else {
        return;
    };
    let marks = [
        (flow.retransmitted_packets.unwrap_or(0) > 0, "L", Tone::Bad),
        (flow.elephant, "E", Tone::Notice),
        (view.flow_has_jitter(flow), "J", Tone::Notice),
        (flow.ecn_ce_packets > 0, "C", Tone::Notice),
        (flow.error_frame_bytes > 0, "~", Tone::Notice),
    ];
    for ((is, mark, tone), x) in marks.into_iter().zip(x..) {
        let (text, tone) = if is { (mark, tone) } else { ("·", Tone::Faint) };
        pen.text(x, y, text, 1, tone);
    }
}

/// Highlights problems, dims zeros.
fn tone(column: &Column, value: &Value<'_>) -> Tone {
    match value {
        Value::Null | Value::I64(0) => Tone::Faint,
        Value::Text(text) if column.name == "kind" => match text.as_ref() {
            "nak" | "fatal_nak" | "unanswered" | "retry_exhausted" | "loss" | "reject" => Tone::Bad,
            "connect" | "disconnect" => Tone::Good,
            _ => Tone::Notice,
        },
        Value::I64(_) => match column.name {
            "errors" => Tone::Bad,
            "nak_psn_sequence" | "rnr_nak" | "nak_fatal" | "timeouts" => Tone::Bad,
            name if name.contains("lost_") || name.starts_with("retransmitted") => Tone::Bad,
            name if name.starts_with("ecn_ce") || name.starts_with("cnp_") => Tone::Notice,
            name if name.starts_with("out_of_order") || name.starts_with("error_") => Tone::Notice,
            "rank" => Tone::Faint,
            _ => Tone::Text,
        },
        _ => Tone::Text,
    }
}
