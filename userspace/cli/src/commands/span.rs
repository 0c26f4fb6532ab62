//! The requested time of a dataset, and what to tell when nothing is in it.

use crate::arguments::SpanArguments;
use anyhow::{Result, anyhow};
use rocescope_model::human::plural;
use rocescope_model::{Resolution, Row, Time};
use rocescope_runtime::clock::now;
use rocescope_store::query::Answered;
use rocescope_store::rollup::answer;
use rocescope_store::{Query, Rows, Scan, TimeRange};
use std::path::Path;

/// A connection writes its next row within a minute; its last row may be later.
pub(super) const CONNECTIONS_NS: i64 = 3_600_000_000_000;

/// The requested range.
///
/// # Errors
/// It is empty.
pub(super) fn range(span: &SpanArguments) -> Result<TimeRange> {
    span.range(now())
}

/// Opens a dataset at this time: rows of rollups in place of captured ones, up to the resolution that was asked for or
/// that fits the length of the time. `wide` is the time with what is read around it.
pub(super) fn open(root: &Path, time: TimeRange, wide: TimeRange, asked: Option<Resolution>) -> Result<Scan> {
    let coarsest = match asked {
        Some(asked) => asked,
        None => answer::for_time(root, time, now())?,
    };
    Ok(answer::open(root, &Query::default().within(wide), coarsest)?)
}

/// Which rows answer for which time, as text; nothing if all were captured.
pub(super) fn answered(found: &Scan) -> Vec<String> {
    let instant = |time: Option<Time>, open: &str| time.map_or(open.into(), |time| format!("{time:.0}"));
    let is_rolled_up = |part: &&Answered| part.resolution != Resolution::Captured;
    if !found.answered.iter().any(|part| is_rolled_up(&part)) {
        return Vec::new();
    }
    let parts = found.answered.iter().map(|part| {
        let (from, to) = (
            instant(part.time.from, "the beginning"),
            instant(part.time.to, "the end"),
        );
        format!("{} from {from} to {to}", part.resolution)
    });
    parts.collect()
}

/// Checks that the requested time, if one was requested, has rows of a table.
///
/// # Errors
/// It has none.
pub(super) fn require<R: Row>(roots: &[&Path], scans: &[Scan], span: &SpanArguments) -> Result<()> {
    if *span == SpanArguments::default() {
        return Ok(());
    }
    let time = R::TABLE
        .partition_column()
        .and_then(|column| R::TABLE.columns.get(column + 1));
    let mut rows = 0_u64;
    let selected = Rows::<R>::of(scans).within(range(span)?);
    selected.integers([time.map_or("", |column| column.name)], |_| rows += 1)?;
    if rows > 0 {
        return Ok(());
    }
    let mut why = Vec::new();
    for root in roots {
        why.extend(nothing(root, span)?.map(|nothing| nothing.to_string()));
    }
    Err(anyhow!(why.join("; ")))
}

/// Explains why `root` has no row in the requested time; `None` if no time was requested.
pub(super) fn nothing(root: &Path, span: &SpanArguments) -> Result<Option<anyhow::Error>> {
    if *span == SpanArguments::default() {
        return Ok(None);
    }
    let found = Query::default().open(root)?;
    let root = root.display();
    let known = match found.time_span() {
        Some((oldest, newest)) => format!("its rows are from {oldest:.0} to {newest:.0}"),
        None => "it has no sealed rows".into(),
    };
    let now = match span.to {
        Some(_) => String::new(),
        None => format!(", and now is {:.0}", now()),
    };
    let open = unsealed(&found);
    let damage = damage(&found);
    Ok(Some(anyhow!(
        "{root} has no rows in {span}: {known}{now}{open}{damage}"
    )))
}

/// The journals of a running capture, at the end of a line; nothing if there are none.
pub(super) fn unsealed(found: &Scan) -> String {
    match found.open.len() as u64 {
        0 => String::new(),
        open => format!("; {} not sealed yet", plural(open, "journal")),
    }
}

/// What could not be read of a dataset, at the end of a line; nothing if all could.
pub(super) fn damage(found: &Scan) -> String {
    let damaged = found.damaged();
    let Some(first) = damaged.first() else {
        return String::new();
    };
    let (path, reason) = (first.path.display(), &first.reason);
    match damaged.len() as u64 {
        1 => format!("; 1 file is unreadable: {path}: {reason}"),
        count => format!("; {count} files are unreadable, such as {path}: {reason}"),
    }
}
