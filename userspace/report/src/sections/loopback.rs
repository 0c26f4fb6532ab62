//! Which links inside hosts are abnormal?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::chart::heat::{self, Heat};
use crate::chart::{Chart, Plot};
use crate::collect::LoopbackFigures;
use crate::words::{instant, plural};
use rocescope_diagnose::hostping::document::TestName;
use rocescope_diagnose::hostping::measured::Quantity;
use rocescope_diagnose::hostping::rows::Run;
use rocescope_diagnose::hostping::{Document, Judge, Matrix, Rule};
use rocescope_diagnose::mesh::Severity;

/// Maximum number of hosts with matrices: those with abnormal links first.
const MAX_HOSTS: usize = 16;

/// A host, its run and what it shows.
struct Host<'a> {
    name: &'a str,
    start_ns: i64,
    measured: Matrix,
    document: Document,
}

pub(super) fn section(figures: &LoopbackFigures) -> Section {
    let hosts = figures.runs.iter().map(|(name, (start_ns, rows))| {
        let run = Run::of(rows);
        let judge = Judge {
            topology: &run.topology,
            baseline: Some(&run.baseline),
            rule: Rule::SEED,
            busy: &run.busy,
            loads: &run.loads,
        };
        let diagnosis = judge.diagnose(&run.measured);
        Host {
            name,
            start_ns: *start_ns,
            document: Document::of(&run.topology, &run.measured, &diagnosis),
            measured: run.measured,
        }
    });
    let mut hosts: Vec<Host<'_>> = hosts.collect();
    hosts.sort_by_key(|host| host.document.causes.is_empty());
    let mut section = Section {
        id: "loopback",
        title: "Inside hosts",
        findings: findings(&hosts),
        ..Section::default()
    };
    if figures.earlier > 0 {
        let tests = plural(figures.earlier, "test");
        section
            .findings
            .push(Finding::note(format!("{tests} of earlier runs are not shown.")));
    }
    if figures.unfollowed > 0 {
        let tests = plural(figures.unfollowed, "test");
        let text = format!("{tests} of more hosts or pairs than the report follows are missing here.");
        section.findings.push(Finding::bad(text));
    }
    if hosts.len() > MAX_HOSTS {
        let text = format!("The matrices are those of {MAX_HOSTS} of {} hosts.", hosts.len());
        section.findings.push(Finding::note(text));
    }
    for host in hosts.iter().take(MAX_HOSTS) {
        for quantity in [Quantity::Bandwidth, Quantity::Latency] {
            if host.measured.cells().any(|(_, _, cell)| cell.value(quantity).is_some()) {
                section.grids.push(grid(host, quantity));
                section.charts.push(chart(host, quantity));
            }
        }
    }
    section
}

fn findings(hosts: &[Host<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for host in hosts {
        for cause in &host.document.causes {
            let links: Vec<String> = cause
                .links
                .iter()
                .map(|link| format!("{} <-> {}", link.a, link.b))
                .collect();
            findings.push(Finding::bad(format!(
                "{}: {} ({}) at {}; {}; threshold: {}. To do: {}.",
                host.name,
                cause.cause,
                cause.certainty,
                links.join(", "),
                cause.evidence,
                cause.threshold,
                cause.action
            )));
        }
    }
    if findings.is_empty() {
        let of = plural(hosts.len() as u64, "host");
        findings.push(Finding::good(format!("Loopback tests of {of} accuse no link.")));
    }
    findings
}

fn title(host: &Host<'_>, quantity: Quantity) -> String {
    format!("{}, {}: {}", host.name, instant(host.start_ns), quantity.title())
}

fn test<'a>(host: &'a Host<'_>, nic: &str, endpoint: &str) -> Option<&'a TestName> {
    let mut tests = host.document.tests.iter();
    tests.find(|test| test.nic == nic && test.endpoint == endpoint)
}

fn severity(test: Option<&TestName>) -> Severity {
    match test.map(|test| test.status) {
        Some("abnormal") => Severity::Bad,
        _ => Severity::Fine,
    }
}

fn value(host: &Host<'_>, nic: &str, endpoint: &str, quantity: Quantity) -> Option<f64> {
    host.measured.cell(nic, endpoint)?.value(quantity)
}

fn text(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Bandwidth => format!("{value:.1}"),
        Quantity::Latency => format!("{value:.2}"),
    }
}

fn grid(host: &Host<'_>, quantity: Quantity) -> Grid {
    let head = |title: &str, right| Head {
        title: title.into(),
        help: String::new(),
        right,
        is_prose: false,
    };
    let matrix = &host.measured;
    let rows = matrix.nics.iter().map(|nic| {
        let cells = matrix.endpoints.iter().map(|endpoint| {
            let Some(value) = value(host, nic, endpoint, quantity) else {
                return Cell::text("");
            };
            let mark = severity(test(host, nic, endpoint)).mark();
            Cell {
                text: format!("{mark}{}", text(value, quantity)),
                number: Some(value),
            }
        });
        [Cell::text(nic.as_str())].into_iter().chain(cells).collect()
    });
    let named = matrix.endpoints.iter().map(|endpoint| head(endpoint, true));
    Grid {
        title: title(host, quantity),
        heads: [head("NIC", false)].into_iter().chain(named).collect(),
        rows: rows.collect(),
        is_drawn: true,
        ..Grid::default()
    }
}

fn chart(host: &Host<'_>, quantity: Quantity) -> Chart {
    let matrix = &host.measured;
    let rows = matrix.nics.iter().map(|nic| {
        let cells = matrix.endpoints.iter().map(|endpoint| {
            let value = value(host, nic, endpoint, quantity)?;
            let test = test(host, nic, endpoint);
            let status = test.map_or("unknown", |test| test.status);
            let baseline = test.and_then(|test| match quantity {
                Quantity::Bandwidth => test.baseline_gbps,
                Quantity::Latency => test.baseline_us,
            });
            let baseline = baseline.map_or("unknown".to_owned(), |baseline| text(baseline, quantity));
            Some(heat::Cell {
                text: text(value, quantity),
                words: format!("{nic} to {endpoint}: {status}\nbaseline {baseline}"),
                severity: severity(test),
            })
        });
        (nic.clone(), cells.collect())
    });
    Chart {
        title: title(host, quantity),
        note: Some("from the NIC at the left to the endpoint at the top; marked if abnormal".into()),
        plot: Plot::Heat(Heat {
            columns: matrix.endpoints.clone(),
            rows: rows.collect(),
        }),
    }
}
