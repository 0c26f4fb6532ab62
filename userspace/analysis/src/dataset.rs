//! Feeds an analysis from a dataset.

use crate::Analysis;
use crate::input::earlier;
use rocescope_model::time::HOUR_NS;
use rocescope_model::{Table, Time};
use rocescope_store::{Error, Query, Scan, TimeRange};
use std::collections::BTreeSet;
use std::ops::Range;

/// This time, and the time before it whose rows an analysis reads.
#[must_use]
pub fn reach<A: Analysis>(time: TimeRange) -> TimeRange {
    earlier(time, look_back_ns::<A>())
}

/// The rows that an analysis of a time reads.
#[must_use]
pub fn query<A: Analysis>(time: TimeRange) -> Query {
    let tables: Vec<&'static Table> = A::INPUTS.iter().map(|input| input.table).collect();
    Query::default().tables(&tables).within(reach::<A>(time))
}

fn look_back_ns<A: Analysis>() -> i64 {
    let all = A::INPUTS.iter().map(|input| input.look_back_ns);
    all.max().unwrap_or(0)
}

/// Feeds all hours of a time in order, and passes each report on, with the analysis right after it. The scan must be of
/// [`reach`].
///
/// Where an input is read in steps, a window is analyzed once no unread segment begins before its end. So an analysis
/// holds the rows of as long as a segment lasts, not of an hour.
///
/// # Errors
/// The dataset cannot be read, or an error of `take`.
pub fn hours<A: Analysis, E: From<Error>>(
    analysis: &mut A,
    found: &Scan,
    time: TimeRange,
    mut take: impl FnMut(&A, A::Report) -> Result<(), E>,
) -> Result<(), E> {
    let hours = A::INPUTS.iter().flat_map(|input| input.hours(found, time));
    let hours: BTreeSet<String> = hours.collect();
    for hour in &hours {
        let mut last_ns = i64::MIN;
        for step in A::INPUTS.iter().flat_map(|input| input.steps(found, time, hour)) {
            last_ns = last_ns.max((step.feed)(analysis)?);
            if let Some(next) = step.next {
                advance(analysis, next, &mut take)?;
            }
        }
        if last_ns == i64::MIN {
            continue;
        }
        // The next hour has no rows from before the last row's hour; its window may continue there.
        let ended = Time(last_ns).hours().saturating_add(1).saturating_mul(HOUR_NS);
        advance(analysis, Time(ended.saturating_sub(analysis.trailing_ns())), &mut take)?;
    }
    while let Some(report) = analysis.finish() {
        take(analysis, report)?;
    }
    Ok(())
}

/// Passes on the reports about all windows that end at the watermark or before.
fn advance<A: Analysis, E>(
    analysis: &mut A,
    watermark: Time,
    take: &mut impl FnMut(&A, A::Report) -> Result<(), E>,
) -> Result<(), E> {
    while let Some(report) = analysis.advance(watermark) {
        take(analysis, report)?;
    }
    Ok(())
}

/// Feeds a span of time in slices of whole windows that have `max_rows` at most, where that is possible. Passes each
/// report on, and calls `rest` after each slice. The scan must be of [`reach`].
///
/// # Errors
/// The dataset cannot be read, or an error of `take`.
pub(crate) fn slices<A: Analysis, E: From<Error>>(
    analysis: &mut A,
    found: &Scan,
    span: &Range<i64>,
    max_rows: u64,
    mut take: impl FnMut(&A, A::Report) -> Result<(), E>,
    mut rest: impl FnMut(),
) -> Result<(), E> {
    let window_ns = analysis.window_ns();
    for input in A::INPUTS.iter().filter(|input| input.look_back_ns > 0) {
        let before = span.start.saturating_sub(input.look_back_ns)..span.start;
        input.slice(analysis, found, before.into(), i64::MAX)?;
    }
    let rows = A::INPUTS.iter().map(|input| input.rows(found, span.clone().into()));
    let windows = (span.end - span.start) / window_ns;
    let slice_ns = window_ns * windows_in(max_rows, rows.sum(), windows);
    let mut at = span.start;
    while at < span.end {
        let end = at.saturating_add(slice_ns).min(span.end);
        for input in A::INPUTS {
            input.slice(analysis, found, (at..end).into(), i64::MAX)?;
        }
        advance(analysis, Time(end.saturating_sub(analysis.trailing_ns())), &mut take)?;
        rest();
        at = end;
    }
    advance(analysis, Time(span.end), &mut take)
}

/// How many windows have at most `max_rows`, if all of the `windows` together have `rows`.
fn windows_in(max_rows: u64, rows: u64, windows: i64) -> i64 {
    let windows = windows.max(1);
    let each = (rows / windows.unsigned_abs()).max(1);
    i64::try_from(max_rows / each).unwrap_or(windows).clamp(1, windows)
}

#[cfg(test)]
mod tests {
    use super::windows_in;

    #[test]
    fn as_many_windows_are_read_at_once_as_fit_into_memory() {
        let windows = |rows| windows_in(16_000_000, rows, 30);
        assert_eq!(windows(0), 30);
        assert_eq!(windows(3_000_000), 30);
        assert_eq!(windows(160_000_000), 3);
        assert_eq!(windows(480_000_000), 1);
        assert_eq!(windows(4_800_000_000), 1);
    }
}
