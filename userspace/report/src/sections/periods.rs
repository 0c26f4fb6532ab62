//! Values over time, one step for each period.

use crate::Report;
use crate::chart::lines::{Span, Step};
use crate::report::Period;
use crate::series::{Join, Series};

/// Returns the time span of all charts.
pub(super) const fn span(report: &Report) -> Span {
    Span {
        start_ns: report.totals.start_ns,
        end_ns: report.totals.end_ns,
    }
}

/// Returns one value for each period; the first and last period end with their windows.
pub(super) fn steps<P: Join>(report: &Report, series: &Series<P>, figure: impl Fn(&P, f64) -> f64) -> Vec<Step> {
    let span = span(report);
    let periods = series.iter().filter_map(|(start_ns, period)| {
        let end_ns = start_ns.saturating_add(series.period_ns()).min(span.end_ns);
        let start_ns = start_ns.max(span.start_ns);
        let seconds = end_ns.saturating_sub(start_ns) as f64 / 1e9;
        (seconds > 0.0).then(|| Step {
            start_ns,
            end_ns,
            value: figure(period, seconds),
        })
    });
    periods.collect()
}

/// Returns a count of windows as a rate, one value for each period.
pub(super) fn rate(report: &Report, count: impl Fn(&Period) -> u64) -> Vec<Step> {
    steps(report, &report.series, |period, seconds| count(period) as f64 / seconds)
}

/// Describes the down-sampling, if there was any.
pub(super) fn sampled(report: &Report) -> Option<String> {
    let joined = report.series.joined();
    (joined > 1).then(|| {
        let length = crate::words::length(report.series.period_ns());
        format!("{joined} windows per point ({length})")
    })
}
