//! Which flows carry the traffic?

use super::grid::{Grid, filled};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::bars::{Bars, Item};
use crate::chart::{Chart, Plot};
use crate::words::{bits, bytes, percent, plural, share};
use rocescope_model::human::grouped;
use rocescope_model::{Cells, FlowRow, Unit};

const ALWAYS: [&str; 7] = ["rank", "src", "dst", "dst_qpn", "frame_bytes", "frame_bps", "packets"];
const SOMETIMES: [&str; 8] = [
    "error_frame_bytes",
    "vlan",
    "inner_vlan",
    "vni",
    "messages",
    "payload_bytes",
    "ecn_ce_packets",
    "udp_src_port",
];

/// Returns the columns of a table of flows, without empty ones; includes the observer if there are several.
pub(super) fn columns(report: &Report, rows: &dyn Cells) -> Vec<&'static str> {
    let mut columns = ALWAYS.to_vec();
    if report.observers.len() > 1 {
        columns.insert(1, "observer");
    }
    columns.extend(filled(rows, &SOMETIMES));
    columns.push("service");
    columns
}

/// Returns the name of a flow in one line.
pub(super) fn name(report: &Report, row: &FlowRow) -> String {
    let flow = format!("{} → {} QP {}", row.src, row.dst, row.dst_qpn);
    if report.observers.len() > 1 {
        format!("{}: {flow}", row.observer)
    } else {
        flow
    }
}

pub(super) fn section(report: &Report) -> Section {
    let flows = &report.flows;
    let title = if (flows.rows.len() as u64) < flows.distinct {
        format!("The {} largest flows", flows.rows.len())
    } else {
        String::new()
    };
    let items = flows.rows.iter().map(|row| {
        let max = row.frame_bytes as f64;
        let min = row.frame_bytes.saturating_sub(row.error_frame_bytes);
        let mut words = format!("{}, mean {}", bytes(row.frame_bytes), bits(row.frame_bps));
        if row.error_frame_bytes > 0 {
            words.push_str(&format!(", at least {}", bytes(min)));
        }
        Item {
            name: name(report, row),
            words,
            bounds: vec![(min as f64, max)],
        }
    });
    let items: Vec<Item> = items.collect();
    let doubt = flows.rows.iter().any(|row| row.error_frame_bytes > 0);
    let charts = (!items.is_empty()).then(|| Chart {
        title: "Frame bytes of the top flows".into(),
        note: doubt.then(|| "solid: lower bound; pale: upper bound".into()),
        plot: Plot::Bars(Bars {
            unit: Unit::Bytes,
            names: vec!["frame bytes"],
            items,
        }),
    });
    Section {
        id: "flows",
        title: "Top flows",
        findings: findings(report),
        grids: if flows.rows.is_empty() {
            Vec::new()
        } else {
            vec![Grid::of(title, &flows.rows, &columns(report, &flows.rows))]
        },
        charts: charts.into_iter().collect(),
        ..Section::default()
    }
}

fn findings(report: &Report) -> Vec<Finding> {
    let flows = &report.flows;
    let all = report.totals.sums.frame_bytes;
    let mut findings = Vec::new();
    let Some(first) = flows.rows.first() else {
        findings.push(Finding::note("No flows."));
        return findings;
    };
    let certain = |row: &FlowRow| row.frame_bytes.saturating_sub(row.error_frame_bytes);
    let shown: u64 = flows.rows.iter().map(certain).sum();
    let mut text = format!(
        "The largest flow, {}, carries {} of the frame bytes",
        name(report, first),
        percent(share(certain(first), all))
    );
    if flows.rows.len() > 1 {
        text.push_str(&format!(
            "; the {} flows shown carry {}",
            grouped(flows.rows.len() as u64),
            percent(share(shown, all))
        ));
    }
    if flows.elephants > 0 {
        text.push_str(&format!(
            "; {} reached the elephant rate",
            plural(flows.elephants, "flow")
        ));
    }
    findings.push(Finding::note(text + "."));
    let widest = flows.rows.iter().map(|row| row.error_frame_bytes).max();
    findings.push(match (flows.distinct_exact, widest.unwrap_or(0)) {
        (true, 0) => Finding::good(format!(
            "All {} are known, with exact sizes.",
            plural(flows.distinct, "flow")
        )),
        (exact, widest) => {
            let flows = plural(flows.distinct, "flow");
            let known = if exact {
                format!("{flows} are known")
            } else {
                format!("At least {flows}: windows list only their largest")
            };
            let sizes = if widest == 0 {
                "the sizes shown are exact".to_owned()
            } else {
                format!("the sizes shown exceed the true ones by at most {}", bytes(widest))
            };
            Finding::note(format!("{known}; {sizes}."))
        }
    });
    findings
}
