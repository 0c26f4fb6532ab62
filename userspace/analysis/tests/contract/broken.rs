//! Analyses that break one promise each.

use crate::promises::{Slice, check};
use rocescope_analysis::{Analysis, Input, Reads};
use rocescope_model::{Column, ProbeRow, Time};
use std::collections::{BTreeMap, BTreeSet};

const SECOND: i64 = 1_000_000_000;

/// What an analysis does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// It reads a column that it does not name.
    Columns,
    /// Its reports depend on the rows that came by then.
    Steps,
    /// It reports a window twice.
    Twice,
    /// It does not tell which windows lack rows.
    Silent,
    /// It opens a window again.
    Reopens,
}

/// Counts the probes of each second.
#[derive(Debug)]
struct Count {
    wrong: Wrong,
    open: BTreeMap<i64, u64>,
    closed_ns: i64,
    all: u64,
    late: BTreeSet<i64>,
    last: Option<(i64, u64)>,
}

impl Reads<ProbeRow> for Count {
    fn is_read(column: &Column) -> bool {
        ["time_ns", "src", "dst"].contains(&column.name)
    }

    fn time_ns(row: &ProbeRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &ProbeRow) {
        let start_ns = row.time_ns - row.time_ns.rem_euclid(SECOND);
        self.all += 1;
        if start_ns < self.closed_ns && self.wrong != Wrong::Reopens {
            if self.wrong != Wrong::Silent {
                self.late.insert(start_ns);
            }
            return;
        }
        if start_ns < self.closed_ns {
            self.late.insert(start_ns);
        }
        *self.open.entry(start_ns).or_default() += match self.wrong {
            Wrong::Columns => row.sequence,
            _ => 1,
        };
    }
}

impl Analysis for Count {
    type Report = (i64, u64);

    const INPUTS: &'static [Input<Self>] = &[Input::new::<ProbeRow>()];

    fn window_ns(&self) -> i64 {
        SECOND
    }

    fn start(report: &(i64, u64)) -> Time {
        Time(report.0)
    }

    fn advance(&mut self, watermark: Time) -> Option<(i64, u64)> {
        let (start, _) = self.open.first_key_value()?;
        (start + SECOND <= watermark.0).then(|| self.finish()).flatten()
    }

    fn finish(&mut self) -> Option<(i64, u64)> {
        if let Some(again) = self.last.take().filter(|_| self.wrong == Wrong::Twice) {
            return Some(again);
        }
        let (start, count) = self.open.pop_first()?;
        self.closed_ns = self.closed_ns.max(start + SECOND);
        let count = if self.wrong == Wrong::Steps { self.all } else { count };
        self.last = Some((start, count));
        self.last
    }

    fn late_windows(&mut self) -> Vec<Time> {
        std::mem::take(&mut self.late).into_iter().map(Time).collect()
    }
}

#[test]
fn each_broken_promise_is_found() {
    let slice = |second: i64| {
        let row = |sequence: u64| ProbeRow {
            time: Time(second * SECOND),
            time_ns: second * SECOND,
            sequence,
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 2].into(),
            ..ProbeRow::default()
        };
        Slice {
            end_ns: (second + 1) * SECOND,
            rows: vec![Box::new((1..5).map(row).collect::<Vec<_>>())],
        }
    };
    let slices: Vec<Slice> = (0..3).map(slice).collect();
    let checked = |wrong| {
        let make = || Count {
            wrong,
            open: BTreeMap::new(),
            closed_ns: i64::MIN,
            all: 0,
            late: BTreeSet::new(),
            last: None,
        };
        check(make, &slices)
    };
    assert_eq!(checked(Wrong::Nothing), Ok(3));
    assert_eq!(checked(Wrong::Columns), Err("columns"));
    assert_eq!(checked(Wrong::Steps), Err("steps"));
    assert_eq!(checked(Wrong::Twice), Err("a window is reported twice"));
    assert_eq!(checked(Wrong::Silent), Err("late rows are not reported"));
    assert_eq!(checked(Wrong::Reopens), Err("late rows report a window again"));
}
