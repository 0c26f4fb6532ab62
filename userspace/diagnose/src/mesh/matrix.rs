//! The pairs of NICs as rows and columns.
//!
//! NICs probe those of their own host, so a square of all NICs would be nearly empty. A row is a probing NIC, a column
//! the name of a probed NIC, the same for all hosts: if hosts are alike, a column is a rail, and a rail that fails is a
//! column that differs from the others.

use super::metric::{Metric, Severity};
use super::order::natural;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hashbrown::HashMap;
use rocescope_model::{PairRow, Text};

/// Pairs of NICs by row and column.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    /// The probing NICs: host and name, sorted by both.
    pub rows: Vec<(Text, Text)>,
    /// Names of the probed NICs, sorted.
    pub columns: Vec<Text>,
    /// Pairs by row and column: if names differ from host to host, most cells are empty.
    cells: HashMap<(usize, usize), usize>,
    /// The median of each metric over the pairs; none for ratios.
    usual_ns: [Option<i64>; Metric::ALL.len()],
}

impl Matrix {
    /// Creates the matrix of some of these pairs, by number. Of a pair that occurs more than once, as with two spans,
    /// it uses the first.
    #[must_use]
    pub fn of(pairs: &[PairRow], shown: impl IntoIterator<Item = usize>) -> Self {
        let shown = shown.into_iter();
        let shown: Vec<(usize, &PairRow)> = shown.filter_map(|at| Some((at, pairs.get(at)?))).collect();
        let mut rows: Vec<(Text, Text)> = shown.iter().map(|(_, pair)| row_of(pair)).collect();
        rows.sort_by(compare);
        rows.dedup();
        let mut columns: Vec<Text> = shown.iter().map(|(_, pair)| pair.dst_nic.clone()).collect();
        columns.sort_by(|a, b| natural(a, b));
        columns.dedup();
        let mut matrix = Self {
            cells: HashMap::with_capacity(shown.len()),
            usual_ns: Metric::ALL.map(|metric| median(&shown, metric)),
            rows,
            columns,
        };
        for (at, pair) in shown {
            if let Some(cell) = matrix.place(pair) {
                matrix.cells.entry(cell).or_insert(at);
            }
        }
        matrix
    }

    /// The pair in a cell; none on the diagonal, and if the host has no NIC of that name.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> Option<usize> {
        self.cells.get(&(row, column)).copied()
    }

    /// Row and column of a pair.
    #[must_use]
    pub fn place(&self, pair: &PairRow) -> Option<(usize, usize)> {
        let row = row_of(pair);
        let row = self.rows.binary_search_by(|other| compare(other, &row));
        let columns = &self.columns;
        let column = columns.binary_search_by(|other| natural(other, &pair.dst_nic));
        Some((row.ok()?, column.ok()?))
    }

    /// The severity of a metric of a pair, compared with the other pairs.
    #[must_use]
    pub fn severity(&self, metric: Metric, pair: &PairRow) -> Severity {
        metric.severity(pair, self.usual_ns[metric as usize])
    }

    /// Returns the next cell with a pair at least `by` rows down (up if negative), or else the last one before the
    /// edge.
    #[must_use]
    pub fn down(&self, (row, column): (usize, usize), by: i64) -> (usize, usize) {
        let holds = |row| self.at(row, column).is_some();
        (step(self.rows.len(), row, by, holds), column)
    }

    /// Returns the next cell with a pair at least `by` columns to the right (left if negative), or else the last one
    /// before the edge.
    #[must_use]
    pub fn right(&self, (row, column): (usize, usize), by: i64) -> (usize, usize) {
        let holds = |column| self.at(row, column).is_some();
        (row, step(self.columns.len(), column, by, holds))
    }
}

fn row_of(pair: &PairRow) -> (Text, Text) {
    (pair.observer.clone(), pair.src_nic.clone())
}

fn compare(a: &(Text, Text), b: &(Text, Text)) -> Ordering {
    natural(&a.0, &b.0).then_with(|| natural(&a.1, &b.1))
}

fn median(pairs: &[(usize, &PairRow)], metric: Metric) -> Option<i64> {
    let mut values: Vec<i64> = pairs.iter().filter_map(|(_, pair)| metric.nanoseconds(pair)).collect();
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// Steps from index `from` of `count` to the first at least `by` away that `holds`, or else to the farthest that does.
fn step(count: usize, from: usize, by: i64, holds: impl Fn(usize) -> bool) -> usize {
    let far = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
    let mut best = from;
    let mut offer = |at: usize| {
        let taken = holds(at);
        if taken {
            best = at;
        }
        taken && at.abs_diff(from) >= far
    };
    if by > 0 {
        let _ = (from + 1..count).any(&mut offer);
    } else if by < 0 {
        let _ = (0..from).rev().any(&mut offer);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, Severity};
    use super::Matrix;
    use alloc::format;
    use alloc::vec::Vec;
    use rocescope_model::PairRow;

    /// Two hosts of three rails; the second lacks rail 1.
    fn pairs() -> Vec<PairRow> {
        let mut pairs = Vec::new();
        for (host, rails) in [("h10", &[0, 1, 2][..]), ("h2", &[0, 2])] {
            for src in rails {
                for dst in rails.iter().filter(|dst| *dst != src) {
                    pairs.push(PairRow {
                        observer: host.into(),
                        src_nic: format!("rail{src}").into(),
                        dst_nic: format!("rail{dst}").into(),
                        network_p50_ns: Some(if *dst == 1 { 100_000 } else { 5_000 }),
                        ..PairRow::default()
                    });
                }
            }
        }
        pairs
    }

    #[test]
    fn rows_are_probing_nics_and_columns_rails() {
        let pairs = pairs();
        let matrix = Matrix::of(&pairs, 0..pairs.len());
        let rows: Vec<_> = matrix.rows.iter().map(|(h, n)| format!("{h}/{n}")).collect();
        assert_eq!(rows, ["h2/rail0", "h2/rail2", "h10/rail0", "h10/rail1", "h10/rail2"]);
        assert_eq!(matrix.columns.len(), 3);
        for (at, pair) in pairs.iter().enumerate() {
            let (row, column) = matrix.place(pair).unwrap();
            assert_eq!(matrix.at(row, column), Some(at));
        }
        assert_eq!(matrix.at(0, 0), None, "no NIC probes itself");
        assert_eq!(matrix.at(0, 1), None, "h2 has no rail1");
        assert_eq!((matrix.at(0, 3), matrix.at(5, 0)), (None, None));
        let few = Matrix::of(&pairs, [0]);
        assert_eq!((few.rows.len(), few.columns.len()), (1, 1));
    }

    #[test]
    fn steps_skip_empty_cells_and_end_at_the_edge() {
        let pairs = pairs();
        let matrix = Matrix::of(&pairs, 0..pairs.len());
        assert_eq!(matrix.right((0, 2), -1), (0, 2));
        assert_eq!(matrix.right((3, 0), 1), (3, 2));
        assert_eq!(matrix.down((1, 0), 1), (3, 0));
        assert_eq!(matrix.down((1, 0), 99), (4, 0));
        assert_eq!(matrix.down((4, 0), i64::MIN), (1, 0));
        assert_eq!(matrix.down((1, 0), 0), (1, 0));
    }

    #[test]
    fn a_pair_is_late_compared_with_the_median_of_all() {
        let pairs = pairs();
        let matrix = Matrix::of(&pairs, 0..pairs.len());
        let bad = |pair: &&PairRow| matrix.severity(Metric::NetworkP50, pair) == Severity::Bad;
        assert_eq!(pairs.iter().filter(bad).count(), 2);
    }
}
