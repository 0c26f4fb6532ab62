//! How much traffic?

use super::periods::{rate, sampled, span, steps};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::lines::{Line, Lines, Step};
use crate::chart::{Chart, Plot};
use crate::collect::Peak;
use crate::words::{bits, bytes, instant, packets, percent, share};
use rocescope_model::Unit;
use rocescope_model::human::grouped;

/// Ratio of peak window to mean from which traffic is bursty.
const BURST: f64 = 3.0;

pub(super) fn section(report: &Report) -> Section {
    let totals = &report.totals;
    let sums = &totals.sums;
    let rates =
        |mean: String, peak: String, at: Peak| format!("mean {mean}, peak window {peak} at {}", instant(at.start_ns));
    let mut facts = vec![
        (
            "Frame rate".to_owned(),
            rates(bits(totals.mean_bps()), bits(totals.peak_bps.rate), totals.peak_bps),
        ),
        (
            "Packet rate".to_owned(),
            rates(
                packets(totals.mean_pps()),
                packets(totals.peak_pps.rate),
                totals.peak_pps,
            ),
        ),
        (
            "Bytes".to_owned(),
            format!(
                "{} in frames, {} payload ({})",
                bytes(sums.frame_bytes),
                bytes(sums.payload_bytes),
                percent(share(sums.payload_bytes, sums.frame_bytes))
            ),
        ),
        (
            "RoCE packets".to_owned(),
            format!("{} in {} messages", grouped(sums.roce_packets), grouped(sums.messages)),
        ),
    ];
    if totals.covered_ns < totals.span_ns() {
        let mean = sums.frame_bytes as f64 * 8e9 / totals.span_ns().max(1) as f64;
        facts.push((
            "Whole time span".to_owned(),
            format!("mean {}, including time without frames", bits(mean)),
        ));
    }
    Section {
        id: "rates",
        title: "Totals and rates",
        findings: vec![finding(report)],
        facts,
        charts: vec![
            chart(
                report,
                "Frame rate",
                Unit::BitsPerSecond,
                steps(report, &report.series, |period, seconds| {
                    period.sums.frame_bytes as f64 * 8.0 / seconds
                }),
                steps(report, &report.series, |period, _| period.peak_bps),
            ),
            chart(
                report,
                "Packet rate",
                Unit::PacketsPerSecond,
                rate(report, |period| period.sums.roce_packets),
                steps(report, &report.series, |period, _| period.peak_pps),
            ),
        ],
        ..Section::default()
    }
}

fn finding(report: &Report) -> Finding {
    let totals = &report.totals;
    let (mean, peak) = (totals.mean_bps(), totals.peak_bps.rate);
    if totals.sums.roce_packets == 0 {
        Finding::note("No RoCEv2 packets.")
    } else if peak > BURST * mean {
        Finding::note(format!("Bursty: the peak window is {:.1} times the mean.", peak / mean))
    } else {
        Finding::good(format!("Steady: the peak window is {:.1} times the mean.", peak / mean))
    }
}

fn chart(report: &Report, title: &str, unit: Unit, mean: Vec<Step>, peak: Vec<Step>) -> Chart {
    let sampled = sampled(report);
    let line = |name, colour, steps| Line { name, colour, steps };
    let lines = if sampled.is_some() {
        vec![line("mean", 0, mean), line("peak window", 1, peak)]
    } else {
        vec![line("by window", 0, mean)]
    };
    Chart {
        title: title.into(),
        note: sampled,
        plot: Plot::Lines(Lines {
            unit,
            span: span(report),
            dashed: false,
            lines,
        }),
    }
}
