//! Events: counts by kind, over time, and the most important of each kind.

use super::top::Top;
use crate::series::{Join, Series};
use rocescope_model::EventRow;
use std::collections::BTreeMap;

/// Maximum number of kinds with their own count; further kinds are `other`.
const MOST_KINDS: usize = 32;
/// Initial period length of the fine series, which does not depend on windows.
const FINE_NS: i64 = 1_000_000;

/// Counts by kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventCounts(pub BTreeMap<String, u64>);

impl Join for EventCounts {
    fn join(&mut self, other: Self) {
        for (kind, count) in other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }
}

/// One kind of event.
#[derive(Debug, Clone, Default)]
pub struct KindFigures {
    /// Name of the kind.
    pub kind: String,
    /// Number of rows.
    pub rows: u64,
    /// Packets or changes that the rows represent.
    pub count: u64,
    /// Time of the first, in nanoseconds since 1970.
    pub first_ns: i64,
    /// Time of the last.
    pub last_ns: i64,
    /// Its most important rows, in descending order.
    pub top: Vec<EventRow>,
}

/// The events of a report.
#[derive(Debug)]
pub struct EventFigures {
    /// By kind, the most severe first.
    pub kinds: Vec<KindFigures>,
    /// Packets or changes by kind, in periods of windows.
    pub series: Series<EventCounts>,
    /// Rows by kind, in the shortest periods that the span allows.
    pub fine: Series<EventCounts>,
}

impl EventFigures {
    /// Returns the total number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.rows).sum()
    }

    /// Returns the packets or changes of a kind; 0 if there are none.
    #[must_use]
    pub fn count(&self, kind: &str) -> u64 {
        let kind = self.kinds.iter().find(|found| found.kind == kind);
        kind.map_or(0, |found| found.count)
    }

    /// Returns at most `max` rows: the most important of each kind, the most severe kinds first.
    #[must_use]
    pub fn important(&self, max: usize) -> Vec<EventRow> {
        let mut rounds = vec![0; self.kinds.len()];
        let mut left = max;
        // One of each kind in turn, until the list is full or nothing is left.
        while left > 0 {
            let before = left;
            for (kind, taken) in self.kinds.iter().zip(&mut rounds) {
                if left > 0 && *taken < kind.top.len() {
                    *taken += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
        let kinds = self.kinds.iter().zip(rounds);
        kinds
            .flat_map(|(kind, taken)| kind.top.iter().take(taken).cloned())
            .collect()
    }
}

#[derive(Debug)]
struct EventKind {
    figures: KindFigures,
    top: Top<u64, EventRow>,
}

/// Events so far.
#[derive(Debug)]
pub(super) struct Events {
    max: usize,
    kinds: BTreeMap<String, EventKind>,
    series: Option<Series<EventCounts>>,
    fine: Series<EventCounts>,
}

impl Events {
    pub(super) const fn new(max: usize) -> Self {
        Self {
            max,
            kinds: BTreeMap::new(),
            series: None,
            fine: Series::new(FINE_NS),
        }
    }

    /// Adds an event; `window_ns` is the length of windows, if known.
    pub(super) fn add(&mut self, row: EventRow, window_ns: i64) {
        let known = self.kinds.contains_key(&*row.kind) || self.kinds.len() < MOST_KINDS;
        let name = if known { &*row.kind } else { "other" };
        let max = self.max;
        let kind = self.kinds.entry(name.into()).or_insert_with(|| EventKind {
            figures: KindFigures {
                kind: name.into(),
                first_ns: i64::MAX,
                last_ns: i64::MIN,
                ..KindFigures::default()
            },
            top: Top::new(max),
        });
        let figures = &mut kind.figures;
        figures.rows += 1;
        figures.count = figures.count.saturating_add(row.count);
        figures.first_ns = figures.first_ns.min(row.time_ns);
        figures.last_ns = figures.last_ns.max(row.time_ns);
        let counts = |count| EventCounts(BTreeMap::from([(name.to_owned(), count)]));
        let series = self.series.get_or_insert_with(|| Series::new(window_ns));
        series.add(row.time_ns, counts(row.count));
        self.fine.add(row.time_ns, counts(1));
        kind.top.offer(weight(&row), || row);
    }

    pub(super) fn finish(self) -> EventFigures {
        let kinds = self.kinds.into_values().map(|kind| KindFigures {
            top: kind.top.into_sorted(),
            ..kind.figures
        });
        let mut kinds: Vec<KindFigures> = kinds.collect();
        kinds.sort_by_key(|kind| EventRow::gravity(&kind.kind));
        EventFigures {
            kinds,
            series: self.series.unwrap_or_else(|| Series::new(FINE_NS)),
            fine: self.fine,
        }
    }
}

/// Returns the importance of a row within its kind: for a change of rate the change in bit/s, otherwise its count.
fn weight(row: &EventRow) -> u64 {
    match (row.value, row.previous) {
        (Some(now), Some(before)) => (now - before).abs() as u64,
        _ => row.count,
    }
}

#[cfg(test)]
mod tests {
    use super::Events;
    use rocescope_model::EventRow;

    fn row(kind: &'static str, count: u64) -> EventRow {
        EventRow {
            kind: kind.into(),
            count,
            ..EventRow::default()
        }
    }

    #[test]
    fn every_kind_has_its_turn_and_the_gravest_come_first() {
        let mut events = Events::new(9);
        for count in 1..=5 {
            events.add(row("connect", count), 1);
            events.add(row("loss", count), 1);
        }
        events.add(row("unheard_of", 1), 1);
        let figures = events.finish();
        assert_eq!((figures.rows(), figures.count("loss")), (11, 15));
        let listed: Vec<(String, u64)> = figures
            .important(4)
            .iter()
            .map(|row| (row.kind.to_string(), row.count))
            .collect();
        let expected = [("loss", 5), ("loss", 4), ("unheard_of", 1), ("connect", 5)];
        assert_eq!(listed, expected.map(|(kind, count)| (kind.to_owned(), count)));
        assert_eq!(figures.important(99).len(), 11);
    }

    #[test]
    fn kinds_without_end_do_not_fill_the_memory() {
        let mut events = Events::new(1);
        for number in 0..1_000 {
            let kind = format!("kind {number}");
            let row = EventRow {
                kind: kind.into(),
                ..row("", 1)
            };
            events.add(row, 1);
        }
        let figures = events.finish();
        assert_eq!(figures.rows(), 1_000);
        assert_eq!(figures.count("other"), 1_000 - 32);
    }
}
