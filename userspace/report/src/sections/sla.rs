//! The service level of the mesh over time.

use super::grid::Grid;
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::lines::{Line, Lines, Span, Step};
use crate::chart::{Chart, Plot};
use crate::collect::MeshFigures;
use crate::words::{length, percent, plural};
use rocescope_model::{SlaRow, Unit};

const COLUMNS: [&str; 10] = [
    "window_start",
    "nic_drops",
    "network_drops",
    "unlocated_drops",
    "verdicts",
    "network_p50_ns",
    "network_p99_ns",
    "processing_p50_ns",
    "processing_p99_ns",
    "probes",
];

pub(super) fn section(report: &Report, mesh: &MeshFigures) -> Section {
    let total = &mesh.total.sums;
    let rows = mesh.sla();
    let first = rows.len().saturating_sub(report.scope.top);
    let title = match first {
        0 => "By time".to_owned(),
        _ => format!("The last {} of {}", rows.len() - first, rows.len()),
    };
    let quantiles = |[p50, p90, p99, p999]: [Option<i64>; 4]| {
        let of = |ns: Option<i64>| ns.map_or_else(|| "-".into(), length);
        format!("P50 {}, P90 {}, P99 {}, P99.9 {}", of(p50), of(p90), of(p99), of(p999))
    };
    let share = |drops: Option<u64>| total.share(drops).map_or_else(|| "-".into(), percent);
    let facts = vec![
        ("NIC drops".into(), share(total.nic_drops)),
        ("Network drops".into(), share(total.network_drops)),
        ("Unlocated drops".into(), share(total.unlocated_drops)),
        (
            "Network".into(),
            quantiles([
                total.network_p50_ns,
                total.network_p90_ns,
                total.network_p99_ns,
                total.network_p999_ns,
            ]),
        ),
        (
            "Host".into(),
            quantiles([
                total.processing_p50_ns,
                total.processing_p90_ns,
                total.processing_p99_ns,
                total.processing_p999_ns,
            ]),
        ),
    ];
    Section {
        id: "sla",
        title: "SLA of the mesh",
        findings: findings(mesh),
        facts,
        grids: vec![Grid::of(title, &rows[first..].to_vec(), &COLUMNS)],
        charts: charts(mesh, &rows),
    }
}

fn findings(mesh: &MeshFigures) -> Vec<Finding> {
    let total = &mesh.total.sums;
    let windows = plural(mesh.total.windows, "window");
    let mut findings = vec![Finding::note(format!(
        "Analysed: {windows}. Each latency below is the largest of all windows."
    ))];
    if total.silent_hosts > 0 {
        let hosts = plural(total.silent_hosts, "host");
        findings.push(Finding::bad(format!(
            "{hosts} sent no probes in a window, although they did in the minute before."
        )));
    }
    if !total.unjudged.is_empty() {
        findings.push(Finding::note(format!("Not everything was judged: {}.", total.unjudged)));
    }
    findings
}

fn charts(mesh: &MeshFigures, rows: &[SlaRow]) -> Vec<Chart> {
    let span = Span {
        start_ns: mesh.start_ns,
        end_ns: mesh.end_ns,
    };
    let steps = |of: &dyn Fn(&SlaRow) -> Option<f64>| -> Vec<Step> {
        let steps = rows.iter().filter_map(|row| {
            Some(Step {
                start_ns: row.window_start_ns,
                end_ns: row.window_start_ns.saturating_add(row.window_ns),
                value: of(row)?,
            })
        });
        steps.collect()
    };
    let joined = mesh.series.joined();
    let note = (joined > 1).then(|| {
        let length = length(mesh.series.period_ns());
        format!("{joined} windows per point ({length}), the largest of each")
    });
    let chart = |title: &str, unit, lines: Vec<(&'static str, Vec<Step>)>| {
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(colour, (name, steps))| Line { name, colour, steps });
        Chart {
            title: title.into(),
            note: note.clone(),
            plot: Plot::Lines(Lines {
                unit,
                span,
                dashed: true,
                lines: lines.collect(),
            }),
        }
    };
    let time = |ns: Option<i64>| ns.map(|ns| ns as f64);
    vec![
        chart(
            "Drops",
            Unit::Ratio,
            vec![
                ("network", steps(&|row| row.share(row.network_drops))),
                ("NICs", steps(&|row| row.share(row.nic_drops))),
                ("not located", steps(&|row| row.share(row.unlocated_drops))),
            ],
        ),
        chart(
            "Network latency",
            Unit::Nanoseconds,
            vec![
                ("P50", steps(&|row| time(row.network_p50_ns))),
                ("P99", steps(&|row| time(row.network_p99_ns))),
            ],
        ),
        chart(
            "Delay in the host",
            Unit::Nanoseconds,
            vec![
                ("P50", steps(&|row| time(row.processing_p50_ns))),
                ("P99", steps(&|row| time(row.processing_p99_ns))),
            ],
        ),
    ]
}
