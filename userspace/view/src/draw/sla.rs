//! The header of the mesh pane: the SLA of the window.

use super::pen::{Pen, Piece, piece};
use crate::mesh::verdict_text::{nanos, ratio};
use crate::theme::Tone;
use ratatui::layout::Rect;
use rocescope_model::human::grouped;
use rocescope_model::{MeshRows, PairRow, SlaRow};

/// Draws three lines from the top of `area`; `usage` is at the right of the first.
pub(super) fn draw(mesh: &MeshRows, area: Rect, usage: Vec<Piece>, pen: &mut Pen<'_>) {
    let line = |at: u16| Rect::new(area.x, area.y + at, area.width, 1);
    let Some(sla) = mesh.sla.first() else {
        pen.line(line(0), sums(&mesh.pairs), usage);
        let text = "no SLA: this window is not analyzed yet";
        pen.line(line(1), vec![piece(text, Tone::Notice, 9)], Vec::new());
        return;
    };
    pen.line(line(0), drops(sla), usage);
    let network = [
        sla.network_p50_ns,
        sla.network_p90_ns,
        sla.network_p99_ns,
        sla.network_p999_ns,
    ];
    let mut pieces = quantiles("network", network);
    let error = nanos(Some(sla.clock_error_ns));
    pieces.push(piece(format!("± {error}"), Tone::Faint, 3));
    pen.line(line(1), pieces, Vec::new());
    let processing = [
        sla.processing_p50_ns,
        sla.processing_p90_ns,
        sla.processing_p99_ns,
        sla.processing_p999_ns,
    ];
    pen.line(line(2), quantiles("host   ", processing), Vec::new());
}

fn drops(sla: &SlaRow) -> Vec<Piece> {
    let share = |name: &str, share: Option<f64>| {
        let tone = match share {
            Some(share) if share > 0.0 => Tone::Bad,
            Some(_) => Tone::Good,
            None => Tone::Faint,
        };
        piece(format!("{name} {}", ratio(share)), tone, 9)
    };
    let mut pieces = vec![
        piece(format!("{} probes", grouped(sla.probes)), Tone::Heading, 10),
        piece(format!("{} hosts", grouped(sla.hosts)), Tone::Text, 5),
        share("NIC drops", sla.share(sla.nic_drops)),
        share("network drops", sla.share(sla.network_drops)),
        share("unlocated drops", sla.share(sla.unlocated_drops)),
    ];
    let mut counted = |count: u64, name: &str| {
        if count > 0 {
            let text = format!("{} {name}", grouped(count));
            pieces.push(piece(text, Tone::Notice, 6));
        }
    };
    counted(sla.silent_hosts, "hosts silent");
    counted(sla.unsent, "unsent");
    counted(sla.late, "late rows");
    pieces
}

fn sums(pairs: &[PairRow]) -> Vec<Piece> {
    let sum = |of: fn(&PairRow) -> u64| pairs.iter().map(of).sum::<u64>();
    let (probes, drops) = (sum(|pair| pair.probes), sum(|pair| pair.timeouts + pair.corrupt));
    let share = (probes > 0).then(|| drops as f64 / probes as f64);
    vec![
        piece(format!("{} probes", grouped(probes)), Tone::Heading, 10),
        piece(format!("{} dropped", ratio(share)), Tone::Text, 9),
    ]
}

fn quantiles(name: &str, [p50, p90, p99, p999]: [Option<i64>; 4]) -> Vec<Piece> {
    let quantile = |share: &str, ns, priority| piece(format!("{share} {}", nanos(ns)), Tone::Text, priority);
    vec![
        piece(name, Tone::Faint, 10),
        quantile("P50", p50, 9),
        quantile("P90", p90, 5),
        quantile("P99", p99, 8),
        quantile("P99.9", p999, 7),
    ]
}
