//! The catalogue as text and as Markdown.

use super::{Metric, Sign, Source};
use crate::render;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

const HEADING: [&str; 8] = [
    "metric",
    "table",
    "printed as",
    "dimension",
    "level",
    "sign",
    "unit",
    "names",
];

/// The catalogue as aligned text, one line for each metric.
#[must_use]
pub fn text() -> String {
    let mut lines = vec![HEADING.map(ToString::to_string).to_vec()];
    lines[0].push("meaning".to_string());
    lines.extend(Metric::all().map(|metric| {
        let mut cells = cells(metric).to_vec();
        cells[7] = sources(metric, ToString::to_string);
        cells.push(metric.help.to_string());
        cells
    }));
    format!(
        "metrics of counters: each name that a driver has for a metric, with its place\n\n{}",
        render::align(&lines, &[false; 9])
    )
}

/// The catalogue as a Markdown table.
#[must_use]
pub fn markdown() -> String {
    let mut page = format!(
        "| {} | meaning |\n|{}---|\n",
        HEADING.join(" | "),
        "---|".repeat(HEADING.len())
    );
    for metric in Metric::all() {
        let mut cells = cells(metric);
        cells[0] = format!("`{}`", cells[0]);
        if metric.printed.is_some() {
            cells[2] = format!("`{}`", cells[2]);
        }
        cells[7] = sources(metric, |name| format!("`{name}`"));
        page.push_str(&format!("| {} | {} |\n", cells.join(" | "), metric.help));
    }
    page
}

/// The cells of a metric, without its sources.
fn cells(metric: &Metric) -> [String; 8] {
    let sign = match (metric.sign, metric.side) {
        (Sign::Negative, Some(side)) => format!("negative, {}", side.name()),
        (sign, _) => sign.name().to_string(),
    };
    [
        metric.name.to_string(),
        metric.table.map_or_else(String::new, |table| table.to_string()),
        metric.printed.unwrap_or_default().to_string(),
        metric.dimension.name().to_string(),
        metric.level.name().to_string(),
        sign,
        metric.unit.name().to_string(),
        String::new(),
    ]
}

/// `mlx5, hfi1: counters/port_rcv_data × 4; bnxt_re: hw_counters/rx_bytes`
fn sources(metric: &Metric, name: impl Fn(&str) -> String) -> String {
    let one = |source: &Source| {
        let drivers: Vec<&str> = source.drivers.iter().map(|driver| driver.name()).collect();
        let drivers = match drivers.is_empty() {
            true => String::new(),
            false => format!("{}: ", drivers.join(", ")),
        };
        let factor = match source.factor {
            1 => String::new(),
            factor => format!(" × {factor}"),
        };
        format!(
            "{drivers}{}{factor}",
            name(&format!("{}/{}", source.place.name(), source.name))
        )
    };
    let all: Vec<String> = metric.sources.iter().map(one).collect();
    if all.is_empty() {
        "none yet".to_string()
    } else {
        all.join("; ")
    }
}
