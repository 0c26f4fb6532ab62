//! What stands where in the mesh. Drawing and the mouse ask the same functions.

use ratatui::layout::{Position, Rect};
use rocescope_diagnose::mesh::Matrix;

/// Cells of a figure with its mark: `!100.0 %`, `+12.3 µs`.
const FIGURE: usize = 8;
/// Cells of a name of a NIC, at least and at most; the name of the figure, `Network P50`, stands above them.
const NAME: (usize, usize) = (11, 24);
/// Cells of the story beside the matrix, at least: else it stands below.
const BESIDE: u16 = 46;

/// The parts of the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Names of the columns.
    pub heads: Rect,
    /// The rows that are seen.
    pub matrix: Rect,
    /// Verdicts, and the pair under the cursor.
    pub story: Rect,
    /// Whether a blank column parts the two.
    pub beside: bool,
    /// Cells of the names of rows.
    pub name: u16,
    /// Cells of a column, the blank before it among them.
    pub column: u16,
    /// The first row that is seen.
    pub first_row: usize,
    /// The columns that are seen: the first, and how many.
    pub columns: (usize, usize),
}

/// The parts of a pane below its title; `lines` tells how many the story takes at a width.
#[must_use]
pub fn of(
    matrix: &Matrix,
    pane: Rect,
    cursor: (usize, usize),
    lines: impl FnOnce(u16) -> usize,
) -> Plan {
    let body = Rect {
        y: pane.y + 1,
        height: pane.height.saturating_sub(1),
        ..pane
    };
    let longest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let rows = matrix.rows.iter();
    let name = longest(&mut rows.map(|(host, nic)| host.chars().count() + 1 + nic.chars().count()));
    let name = name.clamp(NAME.0, NAME.1) as u16;
    let heads = matrix.columns.iter().map(|name| name.chars().count());
    let column = longest(&mut heads.chain([FIGURE])).min(NAME.1) as u16 + 1;
    let columns = u16::try_from(matrix.columns.len()).unwrap_or(u16::MAX);
    let all = column.saturating_mul(columns).saturating_add(name + 3);
    let beside = all.saturating_add(BESIDE) <= body.width;
    let count = |cells: u16| usize::from(cells.saturating_sub(1 + name) / column).max(1);
    let (width, height, story) = if beside {
        let story = Rect {
            x: body.x + all,
            width: body.width - all,
            ..body
        };
        (all, body.height, story)
    } else {
        // The matrix takes what the story leaves, and two fifths of the lines at least.
        let lines = lines(body.width).min(usize::from(body.height)) as u16;
        let rows = (matrix.rows.len() + 1).min(usize::from(body.height)) as u16;
        let height = rows.min((body.height - lines).max(body.height * 2 / 5));
        let story = Rect {
            y: body.y + height,
            height: body.height - height,
            ..body
        };
        (body.width, height, story)
    };
    let seen_rows = usize::from(height.saturating_sub(1));
    let seen = count(width).min(matrix.columns.len());
    Plan {
        heads: Rect {
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
        story,
        beside,
        name,
        column,
        first_row: first(cursor.0, seen_rows, matrix.rows.len()),
        columns: (first(cursor.1, seen, matrix.columns.len()), seen),
    }
}

/// The first of `all` that is seen, so that the cursor is, in the middle where there is something on both sides.
fn first(cursor: usize, seen: usize, all: usize) -> usize {
    cursor
        .saturating_sub(seen / 2)
        .min(all.saturating_sub(seen))
}

impl Plan {
    /// Which rows and columns are seen, where not all are.
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

    /// Column and line of a cell's first character, where it is seen.
    #[must_use]
    pub fn place(&self, row: usize, column: usize) -> Option<(u16, u16)> {
        let down = u16::try_from(row.checked_sub(self.first_row)?).ok()?;
        let right = column.checked_sub(self.columns.0)?;
        let is_seen = down < self.matrix.height && right < self.columns.1;
        let x = self.matrix.x + 1 + self.name + self.column * right as u16;
        is_seen.then_some((x + 1, self.matrix.y + down))
    }

    /// Row and column of the matrix at a character.
    #[must_use]
    pub fn cell_at(&self, x: u16, y: u16) -> Option<(usize, usize)> {
        if !self.matrix.contains(Position::new(x, y)) {
            return None;
        }
        let right = x.checked_sub(self.matrix.x + 1 + self.name)? / self.column;
        let right = usize::from(right);
        let cell = (
            self.first_row + usize::from(y - self.matrix.y),
            self.columns.0 + right,
        );
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

    /// At any size, and wherever it is, the cursor is seen, is hit by the mouse, and no part covers another.
    #[test]
    fn the_cursor_is_always_seen() {
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
                        assert!(plan.matrix.intersection(plan.story).is_empty());
                        assert!(plan.story.bottom() <= pane.bottom());
                        assert!(plan.story.height >= 9);
                    }
                }
                let plan = of(&matrix, pane, (0, 0), |_| 9);
                assert_eq!(plan.cell_at(0, pane.y + 3), None, "names are no cells");
                assert_eq!(plan.cell_at(40, pane.y), None);
            }
        }
    }
}
