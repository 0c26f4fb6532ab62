//! Which rows answer for which time: those of rollups where whole windows of them are requested, captured ones at the
//! edges and where no rollup is up to date.

use super::{directory, partitions, stale};
use crate::query::Answered;
use crate::walk;
use crate::{Error, Query, Scan, TimeRange};
use rocescope_model::time::{DAY_NS, HOUR_NS};
use rocescope_model::{ROLLUPS, Resolution, TABLES, Time};
use std::collections::BTreeSet;
use std::path::Path;

/// The longest time that is read as captured, of minutes, and of hours, if the resolution is not set.
const CAPTURED_NS: i64 = 6 * HOUR_NS;
const MINUTES_NS: i64 = 2 * DAY_NS;
const HOURS_NS: i64 = 800 * DAY_NS;

/// The resolution for a time of this length: some hundred windows, so that their course can be seen.
#[must_use]
pub const fn of_length(length_ns: i64) -> Resolution {
    if length_ns <= CAPTURED_NS {
        Resolution::Captured
    } else if length_ns <= MINUTES_NS {
        Resolution::Minute
    } else if length_ns <= HOURS_NS {
        Resolution::Hour
    } else {
        Resolution::Day
    }
}

/// The resolution for a time of a dataset; without a start, from its oldest day on.
///
/// # Errors
/// The directories cannot be read.
pub fn for_time(root: &Path, time: TimeRange, now: Time) -> Result<Resolution, Error> {
    if !root.join(ROLLUPS).is_dir() {
        return Ok(Resolution::Captured);
    }
    let mut oldest = None;
    // A partition of days begins with its month.
    for resolution in [Resolution::Captured, Resolution::Minute, Resolution::Hour] {
        let days = walk::days(&directory(root, resolution))?;
        oldest = days.into_iter().chain(oldest).min();
    }
    let to = time.to.unwrap_or(now);
    let from = time.from.or(oldest).unwrap_or(to);
    Ok(of_length(to.0.saturating_sub(from.0)))
}

/// Opens a dataset with rows of rollups in place of those that were captured: of the coarsest resolution where it has whole
/// windows of the time, of finer ones where it has not. Each instant is covered once; tables without rollups are read as
/// captured.
///
/// # Errors
/// Those of [`Query::open`].
pub fn open(root: &Path, query: &Query, coarsest: Resolution) -> Result<Scan, Error> {
    if !root.join(ROLLUPS).is_dir() {
        return query.clone().open(root);
    }
    let selected = |has_rollups: bool| -> Vec<&'static str> {
        let tables = TABLES.iter().filter(|table| query.has_table(table.name));
        let tables = tables.filter(|table| table.has_rollups() == has_rollups);
        tables.map(|table| table.name).collect()
    };
    let of = |tables, time| Query {
        tables: Some(tables),
        ..query.clone().within(time)
    };
    let mut all = of(selected(false), TimeRange::default()).open(root)?;
    for answered in divide(root, query.condition.time, coarsest)? {
        let mut part = of(selected(true), answered.time).scan(&directory(root, answered.resolution))?;
        part.segments
            .iter_mut()
            .for_each(|segment| segment.only = answered.time);
        all.segments.append(&mut part.segments);
        all.unreadable.append(&mut part.unreadable);
        all.open.append(&mut part.open);
        all.statistics.add(&part.statistics);
        all.answered.push(answered);
    }
    all.open.sort();
    all.open.dedup();
    all.answered
        .sort_by_key(|answered| answered.time.from.map(|from| from.0));
    all.query = query.clone();
    Ok(all)
}

/// Divides a time, so that each instant has one resolution, `coarsest` at most.
fn divide(root: &Path, time: TimeRange, coarsest: Resolution) -> Result<Vec<Answered>, Error> {
    let mut left = vec![(
        time.from.map_or(i64::MIN, |from| from.0),
        time.to.map_or(i64::MAX, |to| to.0),
    )];
    let mut answered = Vec::new();
    let mut due = Vec::new();
    for resolution in Resolution::ROLLED_UP {
        due.extend(stale(root, resolution)?);
    }
    for resolution in Resolution::ROLLED_UP.into_iter().rev() {
        if resolution > coarsest {
            continue;
        }
        let mut units = BTreeSet::new();
        for piece in &left {
            units.extend(made(root, resolution, part(resolution, *piece).time)?);
        }
        let is_stale = |(start, end): &(i64, i64)| due.iter().any(|(first, last)| first < end && last > start);
        let fresh = units.into_iter().filter(|unit| !is_stale(unit));
        let ranges = joined(fresh);
        let mut rest = Vec::new();
        for piece in left {
            rest.extend(take(piece, &ranges, resolution, &mut answered));
        }
        left = rest;
    }
    answered.extend(left.into_iter().map(|piece| part(Resolution::Captured, piece)));
    Ok(answered)
}

fn part(resolution: Resolution, (from, to): (i64, i64)) -> Answered {
    Answered {
        resolution,
        time: TimeRange {
            from: (from > i64::MIN).then_some(Time(from)),
            to: (to < i64::MAX).then_some(Time(to)),
        },
    }
}

/// Takes from a piece what whole windows in the ranges cover; returns what is left.
fn take(
    (from, to): (i64, i64),
    ranges: &[(i64, i64)],
    resolution: Resolution,
    answered: &mut Vec<Answered>,
) -> Vec<(i64, i64)> {
    let window = resolution.window_ns();
    let mut left = Vec::new();
    let mut at = from;
    for (start, end) in ranges {
        let first = at.max(*start);
        // Up to the next whole window, and down to the last.
        let first = first.saturating_add((window - first.rem_euclid(window)) % window);
        let last = to.min(*end);
        let last = last.saturating_sub(last.rem_euclid(window));
        if first >= last {
            continue;
        }
        if at < first {
            left.push((at, first));
        }
        answered.push(part(resolution, (first, last)));
        at = last;
    }
    if at < to {
        left.push((at, to));
    }
    left
}

/// The times of the units that the rollups of a resolution have, as far as they can be requested.
fn made(root: &Path, resolution: Resolution, time: TimeRange) -> Result<BTreeSet<(i64, i64)>, Error> {
    let mut made = BTreeSet::new();
    let (target, Some(finer)) = (directory(root, resolution), resolution.finer()) else {
        return Ok(made);
    };
    if !target.is_dir() {
        return Ok(made);
    }
    let found = Query::default().within(time).scan(&target)?;
    for segment in &found.segments {
        for partition in partitions(segment) {
            let (start, end) = finer.partition(partition.start());
            if time.overlaps(start.0, end.0 - 1) {
                made.insert((start.0, end.0));
            }
        }
    }
    Ok(made)
}

/// Joins ranges that follow each other.
fn joined(ranges: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => joined.push((start, end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::{joined, take};
    use rocescope_model::Resolution;
    use rocescope_model::time::{HOUR_NS, MINUTE_NS};

    #[test]
    fn each_instant_is_answered_once() {
        let hours = joined([(0, HOUR_NS), (HOUR_NS, 2 * HOUR_NS), (5 * HOUR_NS, 6 * HOUR_NS)].into_iter());
        assert_eq!(hours.len(), 2);
        let mut answered = Vec::new();
        let left = take((7, 6 * HOUR_NS - 1), &hours, Resolution::Hour, &mut answered);
        assert_eq!(left, [(7, HOUR_NS), (2 * HOUR_NS, 6 * HOUR_NS - 1)]);
        let mut minutes = Vec::new();
        let seconds: Vec<(i64, i64)> = left
            .into_iter()
            .flat_map(|piece| take(piece, &hours, Resolution::Minute, &mut minutes))
            .collect();
        let last = 6 * HOUR_NS - MINUTE_NS;
        assert_eq!(
            seconds,
            [(7, MINUTE_NS), (2 * HOUR_NS, 5 * HOUR_NS), (last, 6 * HOUR_NS - 1)]
        );
        let all = answered.iter().chain(&minutes).map(|part| {
            let time = part.time;
            time.to.unwrap().0 - time.from.unwrap().0
        });
        let rest: i64 = seconds.iter().map(|(from, to)| to - from).sum();
        assert_eq!(all.sum::<i64>() + rest, 6 * HOUR_NS - 1 - 7);
    }
}
