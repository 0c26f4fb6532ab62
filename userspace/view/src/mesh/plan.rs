//! The layout of the mesh pane, for drawing and for the mouse.

use ratatui::layout::{Position, Rect};
use rocescope_diagnose::mesh::Matrix;

/// Cells of a metric with its mark: `!100.0 %`, `+12.3 µs`.
const METRIC: usize = 8;
/// Minimum and maximum cells of a NIC name; the name of the metric, `Network P50`, is above them.
const NAME: (usize, usize) = (11, 24);
/// Minimum cells of the verdict text beside the matrix; with less room it is below.
const BESIDE: u16 = 46;

/// The areas of the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Names of the columns.
    pub headings: Rect,
    /// The visible rows.
    pub matrix: Rect,
    /// Verdicts, and the pair under the cursor.
    pub verdict_text: Rect,
    /// Whether the verdict text is beside the matrix, not below it.
    pub beside: bool,
    /// Cells of the names of rows.
    pub name: u16,
    /// Cells of a column, with the blank before it.
    pub column: u16,
    /// The first visible row.
    pub first_row: usize,
    /// The first visible column and their number.
    pub columns: (usize, usize),
}

/// Lays out a pane below its title; `lines` returns the number of lines of the verdict text at a width.
#[must_use]
pub fn of(matrix: &Matrix, pane: Rect, cursor: (usize, usize), lines: impl FnOnce(u16) -> usize) -> Plan {
    let body = Rect {
        y: pane.y + 1,
        height: pane.height.saturating_sub(1),
        ..pane
    };
    let longest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let rows = matrix.rows.iter();
    let name = longest(&mut rows.map(|(host, nic)| host.chars().count() + 1 + nic.chars().count()));
    let name = name.clamp(NAME.0, NAME.1) as u16;
    let headings = matrix.columns.iter().map(|name| name.chars().count());
    let column = longest(&mut headings.chain([METRIC])).min(NAME.1) as u16 + 1;
    let columns = u16::try_from(matrix.columns.len()).unwrap_or(u16::MAX);
    let all = column.saturating_mul(columns).saturating_add(name + 3);
    let beside = all.saturating_add(BESIDE) <= body.width;
    let count = |cells: u16| usize::from(cells.saturating_sub(1 + name) / column).max(1);
    let (width, height, verdict_text) = if beside {
        let verdict_text = Rect {
            x: body.x + all,
            width: body.width - all,
            ..body
        };
        (all, body.height, verdict_text)
    } else {
        // The matrix gets what the verdict text leaves, and at least two fifths of the lines.
        let lines = lines(body.width).min(usize::from(body.height)) as u16;
        let rows = (matrix.rows.len() + 1).min(usize::from(body.height)) as u16;
        let height = rows.min((body.height - lines).max(body.height * 2 / 5));
        let verdict_text = Rect {
            y: body.y + height,
            height: body.height - height,
            ..body
        };
        (body.width, height, verdict_text)
    };
    let seen_rows = usize::from(height.saturating_sub(1));
    let seen = count(width).min(matrix.columns.len());
    Plan {
        headings: Rect {
            width,
            height: 1,
            ..body
        },
        matrix: Rect {
            y: body.y + 1,
            width,
            height: seen_rows as u16,
            ..body
        },
        verdict_text,
        beside,
        name,
        column,
        first_row: first(cursor.0, seen_rows, matrix.rows.len()),
        columns: (first(cursor.1, seen, matrix.columns.len()), seen),
    }
}

/// The first visible one of `all`: keeps the cursor visible, in the middle where possible.
fn first(cursor: usize, seen: usize, all: usize) -> usize {
    cursor.saturating_sub(seen / 2).min(all.saturating_sub(seen))
}

impl Plan {
    /// The visible rows and columns; `None` if all are visible.
    #[must_use]
    pub fn seen(&self, matrix: &Matrix) -> Option<String> {
        let part = |name: &str, first: usize, seen: usize, all: usize| {
            let last = first + seen;
            (seen < all).then(|| format!("{name} {} to {last} of {all}", first + 1))
        };
        let rows = usize::from(self.matrix.height);
        let rows = part("rows", self.first_row, rows, matrix.rows.len());
        let (first, seen) = self.columns;
        let columns = part("columns", first, seen, matrix.columns.len());
        let parts: Vec<String> = rows.into_iter().chain(columns).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Column and line of a cell's first character, if it is visible.
    #[must_use]
    pub fn place(&self, row: usize, column: usize) -> Option<(u16, u16)> {
        let down = u16::try_from(row.checked_sub(self.first_row)?).ok()?;
        let right = column.checked_sub(self.columns.0)?;
        let is_seen = down < self.matrix.height && right < self.columns.1;
        let x = self.matrix.x + 1 + self.name + self.column * right as u16;
        is_seen.then_some((x + 1, self.matrix.y + down))
    }

    /// Row and column of the matrix at a screen position.
    #[must_use]
    pub fn cell_at(&self, x: u16, y: u16) -> Option<(usize, usize)> {
        if !self.matrix.contains(Position::new(x, y)) {
            return None;
        }
        let right = x.checked_sub(self.matrix.x + 1 + self.name)? / self.column;
        let right = usize::from(right);
        let cell = (self.first_row + usize::from(y - self.matrix.y), self.columns.0 + right);
        (right < self.columns.1).then_some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use ratatui::layout::Rect;
    use rocescope_diagnose::mesh::Matrix;
    use rocescope_model::PairRow;

    fn matrix(hosts: u32, rails: u32) -> Matrix {
        let mut pairs = Vec::new();
        for (host, src, dst) in (0..hosts * rails * rails)
            .map(|at| (at / rails / rails, at / rails % rails, at % rails))
            .filter(|(_, src, dst)| src != dst)
        {
            pairs.push(PairRow {
                observer: format!("h{host}").into(),
                src_nic: format!("rail{src}").into(),
                dst_nic: format!("rail{dst}").into(),
                ..PairRow::default()
            });
        }
        Matrix::of(&pairs, 0..pairs.len())
    }

    /// At any size and position the cursor is visible, the mouse hits it, and no area covers another.
    #[test]
    fn the_cursor_is_always_visible() {
        for (hosts, rails) in [(1, 2), (4, 4), (50, 8), (2, 40)] {
            let matrix = matrix(hosts, rails);
            for (width, height) in [(80, 19), (120, 35), (81, 40), (300, 20)] {
                let pane = Rect::new(0, 4, width, height);
                for row in 0..matrix.rows.len() {
                    for column in [0, rails as usize / 2, rails as usize - 1] {
                        let plan = of(&matrix, pane, (row, column), |_| 9);
                        let (x, y) = plan.place(row, column).unwrap();
                        assert!(x + plan.column <= plan.matrix.right() + 1);
                        assert_eq!(plan.cell_at(x, y), Some((row, column)));
                        assert!(plan.matrix.intersection(plan.verdict_text).is_empty());
                        assert!(plan.verdict_text.bottom() <= pane.bottom());
                        assert!(plan.verdict_text.height >= 9);
                    }
                }
                let plan = of(&matrix, pane, (0, 0), |_| 9);
                assert_eq!(plan.cell_at(0, pane.y + 3), None, "names are not cells");
                assert_eq!(plan.cell_at(40, pane.y), None);
            }
        }
    }
}
