//! Does every NIC reach every other?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::heat::{self, Heat};
use crate::chart::{Chart, Plot};
use crate::collect::MeshFigures;
use crate::words::{instant, length, percent, plural, share};
use rocescope_diagnose::mesh::{Matrix, Metric, Severity};
use rocescope_model::{PairRow, Row, Text, Unit, Value, human};
use std::collections::BTreeSet;

/// Maximum rows of a matrix: those with the most drops.
const MAX_ROWS: usize = 64;
/// Maximum columns: the first by name.
const MAX_COLUMNS: usize = 64;
/// The metrics that have a matrix.
const METRICS: [(Metric, &str); 3] = [
    (Metric::Drops, "Drops"),
    (Metric::NetworkP50, "Network latency, P50"),
    (Metric::NetworkP99, "Network latency, P99"),
];

pub(super) fn section(report: &Report, mesh: &MeshFigures) -> Section {
    let matrix = Matrix::of(&mesh.pairs, 0..mesh.pairs.len());
    let rows = rows(mesh, &matrix);
    let mut findings = findings(report, mesh, &matrix);
    if rows.len() < matrix.rows.len() {
        findings.push(Finding::note(format!(
            "The matrix shows the {} of {} probing NICs with the most drops.",
            rows.len(),
            human::grouped(matrix.rows.len() as u64)
        )));
    }
    if matrix.columns.len() > MAX_COLUMNS {
        findings.push(Finding::note(format!(
            "The matrix shows the first {MAX_COLUMNS} of {} names of probed NICs.",
            human::grouped(matrix.columns.len() as u64)
        )));
    }
    let mut section = Section {
        id: "mesh",
        title: "Mesh",
        findings,
        facts: facts(mesh),
        ..Section::default()
    };
    for (metric, title) in METRICS {
        section.grids.push(grid(mesh, &matrix, &rows, metric, title));
        section.charts.push(chart(mesh, &matrix, &rows, metric, title));
    }
    section
}

/// Returns the rows to show, in order.
fn rows(mesh: &MeshFigures, matrix: &Matrix) -> Vec<usize> {
    let all = matrix.rows.len();
    let columns = matrix.columns.len();
    let lost = |row: &usize| -> u64 {
        let pairs = (0..columns).filter_map(|column| matrix.at(*row, column));
        pairs.map(|pair| drops(&mesh.pairs[pair])).sum()
    };
    let mut rows: Vec<usize> = (0..all).collect();
    if all > MAX_ROWS {
        rows.sort_by_cached_key(|row| std::cmp::Reverse(lost(row)));
        rows.truncate(MAX_ROWS);
        rows.sort_unstable();
    }
    rows
}

/// Returns the columns to show.
fn columns(matrix: &Matrix) -> impl ExactSizeIterator<Item = &Text> {
    matrix.columns.iter().take(MAX_COLUMNS)
}

const fn drops(pair: &PairRow) -> u64 {
    pair.timeouts.saturating_add(pair.corrupt)
}

fn facts(mesh: &MeshFigures) -> Vec<(String, String)> {
    let pairs = mesh.pairs.iter();
    let hosts: BTreeSet<&str> = pairs.clone().map(|pair| &*pair.observer).collect();
    let probes: u64 = pairs.clone().map(|pair| pair.probes).sum();
    let drops: u64 = pairs.clone().map(drops).sum();
    let unsent: u64 = pairs.clone().map(|pair| pair.unsent).sum();
    let error = pairs.map(|pair| pair.clock_error_ns).max().unwrap_or(0);
    vec![
        (
            "Probed".into(),
            format!(
                "{} to {} ({})",
                instant(mesh.start_ns),
                instant(mesh.end_ns),
                length(mesh.end_ns.saturating_sub(mesh.start_ns))
            ),
        ),
        (
            "Pairs".into(),
            format!(
                "{} pairs of NICs on {}",
                human::grouped(mesh.pairs.len() as u64),
                plural(hosts.len() as u64, "host")
            ),
        ),
        (
            "Probes".into(),
            format!(
                "{}: {} dropped ({}); {} could not be sent",
                human::grouped(probes),
                human::grouped(drops),
                percent(share(drops, probes)),
                human::grouped(unsent)
            ),
        ),
        ("Clocks".into(), format!("error of latencies at most {}", length(error))),
    ]
}

fn findings(report: &Report, mesh: &MeshFigures, matrix: &Matrix) -> Vec<Finding> {
    let with = |wanted: Severity| -> Vec<&PairRow> {
        let pairs = mesh.pairs.iter();
        let graded = pairs.filter(|pair| matrix.severity(Metric::Drops, pair) == wanted);
        graded.collect()
    };
    let (bad, some) = (with(Severity::Bad), with(Severity::Notice));
    let mut findings = Vec::new();
    let worst = bad.iter().max_by(|a, b| {
        let ratio = |pair: &PairRow| pair.drop_ratio.unwrap_or(0.0);
        ratio(a).total_cmp(&ratio(b))
    });
    if let Some(worst) = worst {
        findings.push(Finding::bad(format!(
            "{} dropped more than 10 % of its probes; the worst is {}, {}.",
            plural(bad.len() as u64, "pair"),
            name(worst),
            percent(worst.drop_ratio.unwrap_or(0.0))
        )));
    }
    if !some.is_empty() {
        let pairs = plural(some.len() as u64, "pair");
        findings.push(Finding::note(format!("{pairs} dropped some probes.")));
    }
    if findings.is_empty() {
        findings.push(Finding::good("No probe was dropped."));
    }
    if mesh.unfollowed > 0 {
        let probes = plural(mesh.unfollowed, "probe");
        findings.push(Finding::bad(format!(
            "{probes} of more pairs than the report follows are missing below."
        )));
    }
    if mesh.total.windows == 0 {
        findings.push(Finding::note(format!(
            "The probes are not analyzed yet: run `rocescope diagnose mesh {} --write`.",
            report.origin.dataset
        )));
    }
    findings
}

fn name(pair: &PairRow) -> String {
    format!("{}/{} to {}", pair.observer, pair.src_nic, pair.dst_nic)
}

/// Formats a metric of a pair.
fn shown(metric: Metric, pair: &PairRow) -> String {
    let unit = PairRow::TABLE.position(metric.column());
    let unit = unit.map(|at| PairRow::TABLE.columns[at].unit);
    human::readable(&metric.value(pair), unit.unwrap_or(Unit::None))
}

fn grid(mesh: &MeshFigures, matrix: &Matrix, rows: &[usize], metric: Metric, title: &str) -> Grid {
    let head = |title: &str, right| Head {
        title: title.into(),
        help: String::new(),
        right,
        is_prose: false,
    };
    let named = columns(matrix).map(|name| head(name, true));
    let rows = rows.iter().map(|row| {
        let (host, nic) = &matrix.rows[*row];
        let cells = (0..columns(matrix).len()).map(|column| {
            let Some(pair) = matrix.at(*row, column).map(|at| &mesh.pairs[at]) else {
                return Cell::text("");
            };
            let mark = matrix.severity(metric, pair).mark();
            let number = match metric.value(pair) {
                Value::F64(number) => Some(number),
                Value::I64(number) => Some(number as f64),
                _ => None,
            };
            Cell {
                text: format!("{mark}{}", shown(metric, pair)),
                number,
            }
        });
        [Cell::text(format!("{host}/{nic}"))].into_iter().chain(cells).collect()
    });
    Grid {
        title: format!("{title}: from the NIC at the left to the NIC at the top"),
        heads: [head("From", false)].into_iter().chain(named).collect(),
        rows: rows.collect(),
        is_drawn: true,
        ..Grid::default()
    }
}

fn chart(mesh: &MeshFigures, matrix: &Matrix, rows: &[usize], metric: Metric, title: &str) -> Chart {
    let rows = rows.iter().map(|row| {
        let (host, nic) = &matrix.rows[*row];
        let cells = (0..columns(matrix).len()).map(|column| {
            let pair = &mesh.pairs[matrix.at(*row, column)?];
            Some(heat::Cell {
                text: shown(metric, pair),
                words: format!(
                    "{}\n{} probes, {} dropped\nnetwork P50 {}, P99 {}\nhost P50 {}, P99 {}",
                    name(pair),
                    human::grouped(pair.probes),
                    shown(Metric::Drops, pair),
                    shown(Metric::NetworkP50, pair),
                    shown(Metric::NetworkP99, pair),
                    shown(Metric::ProcessingP50, pair),
                    shown(Metric::ProcessingP99, pair),
                ),
                severity: matrix.severity(metric, pair),
            })
        });
        (format!("{host}/{nic}"), cells.collect())
    });
    Chart {
        title: title.into(),
        note: Some("from the NIC at the left to the NIC at the top".into()),
        plot: Plot::Heat(Heat {
            columns: columns(matrix).map(ToString::to_string).collect(),
            rows: rows.collect(),
        }),
    }
}
