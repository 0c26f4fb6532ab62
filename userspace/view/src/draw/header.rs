//! The header: source and time, rates, the sum of frames, losses.

use super::pen::{Pen, Piece, piece};
use super::sla;
use super::{hosts, incidents, inside};
use crate::format;
use crate::header::{Losses, Motion, Newest};
use crate::keys::Action;
use crate::layout::HEADER;
use crate::pane::Pane;
use crate::recent::Shown;
use crate::theme::Tone;
use crate::view::View;
use crate::zone::Zone;
use ratatui::layout::Rect;
use rocescope_model::human::grouped;
use rocescope_model::{Time, Unit, Value, WindowRow, human};

/// Cells of the sparkline of the whole source.
const SPARK: usize = 20;

pub(super) fn draw(view: &View, area: Rect, pen: &mut Pen<'_>) {
    let line = |at: u16| Rect::new(area.x, area.y + at, area.width, 1);
    let (left, right) = source(view);
    pen.line(line(0), left, right);
    alert(view, area, pen);
    let right = usage(view);
    let Some(shown) = view.shown.as_ref() else {
        let waiting = match view.header.motion {
            Motion::Ended => "no window: the input has no frames",
            _ => "waiting for the first window to end",
        };
        pen.line(line(1), vec![piece(waiting, Tone::Notice, 9)], right);
        return;
    };
    if let (Pane::Mesh, Some(mesh)) = (view.focus(), view.mesh_shown()) {
        return sla::draw(mesh, line(1), right, pen);
    }
    if view.focus() == Pane::Hosts && !shown.host_ports.is_empty() {
        return pen.line(line(1), hosts::summary(&shown.host_ports), right);
    }
    if view.focus() == Pane::Incidents && !shown.incidents.is_empty() {
        return pen.line(line(1), incidents::summary(&shown.incidents), right);
    }
    if view.focus() == Pane::Inside && !shown.inside.rows.is_empty() {
        return pen.line(line(1), inside::summary(&shown.inside), right);
    }
    if shown.windows == 0 {
        let text = match view.mesh_shown() {
            Some(_) => "no packets were captured at this time; probes are available",
            None => "no packets were captured at this time; counters of hosts are available",
        };
        let left = vec![piece(text, Tone::Notice, 9)];
        return pen.line(line(1), left, right);
    }
    pen.line(line(1), rates(view, shown), right);
    identity(&shown.total, line(2), pen);
    pen.line(line(3), losses(view, &shown.total), marks(shown));
}

/// The worst open incident, in the last line of a header that has room for it.
fn alert(view: &View, area: Rect, pen: &mut Pen<'_>) {
    let Some((worst, number)) = view.worst_incident().filter(|_| area.height > HEADER) else {
        return;
    };
    let y = area.y + HEADER;
    let keys = view.options.keys.of(Action::Incidents).last();
    let key = keys.map_or_else(String::new, |key| format!("{key} shows it"));
    let more = match number {
        1 => key,
        _ => format!("and {} more; {key}", number - 1),
    };
    let room = usize::from(area.width).saturating_sub(more.chars().count() + 5);
    let text = format!("! {}: {}", worst.class, view.options.hosts.text(&worst.sentence));
    let x = pen.text(area.x + 1, y, &format::fit(&text, room), area.width, Tone::Bad);
    pen.text(x + 2, y, &more, area.right().saturating_sub(x + 2), Tone::Faint);
}

/// The source, how time passes, and the time of the window.
fn source(view: &View) -> (Vec<Piece>, Vec<Piece>) {
    let header = &view.header;
    let mut left = vec![
        piece("rocescope", Tone::Heading, 2),
        piece(format::fit(&header.source, 40), Tone::Focus, 9),
        piece(header.mode.clone(), Tone::Faint, 5),
    ];
    left.push(match header.motion {
        Motion::Live => piece("live", Tone::Good, 6),
        Motion::Speed(speed) if speed.is_finite() => piece(format!("×{speed}"), Tone::Good, 6),
        Motion::Speed(_) => piece("full speed", Tone::Good, 6),
        Motion::Paused => piece("PAUSED", Tone::Notice, 8),
        Motion::Ended => piece("ended", Tone::Faint, 6),
    });
    left.extend(header.newest.as_ref().map(|known| newest(known, view.options.zone)));
    if view.is_held() {
        let behind = view.recent.newest().zip(view.held);
        let behind = behind.map_or(0, |(newest, held)| newest - held);
        let text = if behind > 0 {
            format!("FROZEN -{behind}")
        } else {
            "FROZEN".into()
        };
        left.push(piece(text, Tone::Notice, 10));
    }
    let mut right = Vec::new();
    if let Some(shown) = &view.shown {
        let (start, length_ns) = match (view.focus(), view.mesh_shown()) {
            (Pane::Mesh, Some(mesh)) => (Time(mesh.start_ns), mesh.window_ns),
            _ => (shown.total.window_start, shown.total.window_ns),
        };
        let zone = view.options.zone;
        let time = zone.text(start, 3);
        let (date, clock) = (time.get(..10).unwrap_or(""), time.get(11..23).unwrap_or(""));
        right.push(piece(format!("{date} {}", zone.name(start)), Tone::Faint, 4));
        right.push(piece(clock, Tone::Heading, 10));
        let length = format::length(length_ns);
        right.push(piece(format!("+{length}"), Tone::Text, 9));
    }
    (left, right)
}

/// How old the newest data are; with the date where they are not of today.
fn newest(newest: &Newest, zone: Zone) -> Piece {
    let time = zone.text(newest.end, 0);
    let is_today = time.get(..10) == zone.text(newest.now, 0).get(..10);
    let (date, clock) = (time.get(..10).unwrap_or(""), time.get(11..19).unwrap_or(""));
    let when = match is_today {
        true => clock.to_owned(),
        false => format!("{date} {clock}"),
    };
    let age = format::age(newest.age_ns());
    match newest.is_stale() {
        true => piece(format!("STALE: newest {when}, {age} ago"), Tone::Bad, 9),
        false => piece(format!("newest {when}, {age} ago"), Tone::Faint, 6),
    }
}

/// What this process uses.
fn usage(view: &View) -> Vec<Piece> {
    let Some(own) = view.header.own else {
        return Vec::new();
    };
    let resident = human::readable(&Value::F64(own.resident_bytes as f64), Unit::Bytes);
    let cpu = format!("CPU {:.1} %", own.cpu_ratio * 100.0);
    vec![
        piece(cpu, Tone::Faint, 7),
        piece(format!("RSS {resident}"), Tone::Faint, 6),
    ]
}

fn rates(view: &View, shown: &Shown) -> Vec<Piece> {
    let total = &shown.total;
    let seconds = total.window_ns.max(1) as f64 / 1e9;
    let rate = human::rate(total.frame_bytes as f64 * 8.0 / seconds, view.options.rates);
    let packets = Value::F64(total.roce_packets as f64 / seconds);
    let trend = view.recent.rates(shown.number);
    let line = format::sparkline(&trend, SPARK.min(trend.len()), view.options.glyphs);
    vec![
        piece(format!("{rate:>11}"), Tone::Heading, 10),
        piece(
            format!("{:>9}", human::readable(&packets, Unit::PacketsPerSecond)),
            Tone::Heading,
            9,
        ),
        piece(line, Tone::Amount, 3),
        piece(flows(shown), Tone::Text, 8),
    ]
}

/// The number of flows and its uncertainty.
fn flows(shown: &Shown) -> String {
    let total = &shown.total;
    let number = grouped(total.flows);
    if shown.more_flows {
        // The top flows of several windows do not give their number of distinct flows.
        format!("flows ≥ {number}")
    } else if total.flows_exact {
        format!("flows {number} exact")
    } else {
        let error = total.flows as f64 * total.estimated_flows_stderr_ratio;
        format!("flows {number} ± {}", grouped(error.ceil() as u64))
    }
}

/// Frames as the sum of their classes. Classes of zero frames are left out where room is short.
fn identity(total: &WindowRow, area: Rect, pen: &mut Pen<'_>) {
    let mut parts = vec![
        ("RoCEv2", total.roce_packets, Tone::Text),
        ("other", total.not_roce_frames, Tone::Text),
        ("malformed", total.malformed_frames, Tone::Bad),
        ("fragments", total.fragment_frames, Tone::Notice),
        ("filtered", total.filtered_frames, Tone::Text),
        ("snapped", total.snapped_frames, Tone::Notice),
    ];
    if total.capture_lost_packets > 0 {
        parts.push(("capture loss", total.capture_lost_packets, Tone::Bad));
    }
    let sum: u64 = parts.iter().map(|(_, number, _)| number).sum();
    let text = |(name, number, _): &(&str, u64, Tone)| format!("{} {name}", grouped(*number));
    let frames = format!("{} frames", grouped(total.frames));
    let all: Vec<String> = parts.iter().map(text).collect();
    let length = frames.len() + 3 + all.iter().map(|part| part.len() + 3).sum::<usize>();
    let fits = length <= usize::from(area.width);
    let mut x = pen.text(area.x + 1, area.y, &frames, area.width, Tone::Text) + 1;
    // Rows of earlier versions may differ by the packets at the edges of their window.
    let (sign, tone) = if sum == total.frames {
        ("=", Tone::Good)
    } else {
        ("≈", Tone::Notice)
    };
    x = pen.text(x, area.y, sign, 2, tone) + 1;
    for (at, part) in parts.iter().enumerate() {
        if at > 1 && part.1 == 0 && !fits {
            continue;
        }
        if at > 0 {
            x = pen.text(x, area.y, "+", 1, Tone::Faint) + 1;
        }
        let tone = if part.1 == 0 { Tone::Faint } else { part.2 };
        let left = area.right().saturating_sub(x);
        x = pen.text(x, area.y, &text(part), left, tone) + 1;
    }
}

/// Fabric loss first, then capture loss and mirror loss by cause: of all windows so far, because a loss still matters
/// when the next window has none.
fn losses(view: &View, total: &WindowRow) -> Vec<Piece> {
    let Losses {
        live,
        interface_frames,
        socket_frames,
        windows_not_shown,
    } = view.header.losses;
    let so_far = view.so_far;
    // A dataset has the drops in its windows; live, the newest count comes from the socket itself.
    let socket_frames = socket_frames.or(so_far.socket_frames);
    let mut pieces = Vec::new();
    let mut part = |name: &str, number: Option<u64>, priority: u8| {
        let (text, tone) = match number {
            None => (format!("{name} ?"), Tone::Faint),
            Some(0) => (format!("{name} 0"), Tone::Faint),
            Some(number) => (format!("{name} {}", grouped(number)), Tone::Bad),
        };
        let priority = if tone == Tone::Bad { 10 } else { priority };
        pieces.push(piece(text, tone, priority));
    };
    let captured = so_far.ring + interface_frames.unwrap_or(0) + socket_frames.unwrap_or(0);
    part("fabric loss", so_far.fabric, 9);
    if so_far.retransmitted.is_some_and(|number| number > 0) {
        part("retransmitted", so_far.retransmitted, 9);
    }
    part("capture loss", Some(captured), 9);
    if captured > 0 {
        part("ring", Some(so_far.ring), 7);
    }
    if live && (captured > 0 || interface_frames.is_none() || socket_frames.is_none()) {
        part("interface", interface_frames, 6);
        part("socket", socket_frames, 6);
    }
    part("mirror loss", so_far.mirror, 4);
    part("late", Some(total.late_packets), 5);
    let is_unknown = so_far.fabric.is_none();
    if windows_not_shown > 0 {
        part("windows not shown", Some(windows_not_shown), 8);
    }
    if is_unknown {
        let why = view.header.no_connections.as_deref();
        let why = why.unwrap_or("no reliable connection was seen yet");
        pieces.push(piece(format!("?: {why}"), Tone::Faint, 3));
    }
    pieces
}

/// Counts that deserve attention, if above zero.
fn marks(shown: &Shown) -> Vec<Piece> {
    let total = &shown.total;
    let verdicts = shown.mesh.verdicts.len() as u64;
    let failing = shown.host_ports.iter().filter(|port| port.errors > 0).count() as u64;
    let mark = |name: &str, number: u64, tone, priority| {
        let text = format!("{name} {}", grouped(number));
        (number > 0).then(|| piece(text, tone, priority))
    };
    [
        mark("verdicts", verdicts, Tone::Bad, 9),
        mark("hosts with abnormal links", shown.inside.abnormal_hosts(), Tone::Bad, 9),
        mark("ports with errors", failing, Tone::Bad, 7),
        mark("NAK", total.nak_packets, Tone::Bad, 8),
        mark("RNR", total.rnr_nak_packets, Tone::Bad, 8),
        mark("bad ICRC", total.icrc_bad_packets.unwrap_or(0), Tone::Bad, 8),
        mark("CNP", total.cnp_packets, Tone::Notice, 3),
        mark("CE", total.ecn_ce_packets, Tone::Notice, 3),
        mark("jitter", total.jitter_events, Tone::Notice, 3),
        mark("elephants", total.elephant_flows, Tone::Notice, 2),
    ]
    .into_iter()
    .flatten()
    .collect()
}
