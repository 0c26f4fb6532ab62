//! A matrix with cells coloured by severity, and the value in each cell.

use super::drawing::{Canvas, frame, number, shortened};
use maud::{Markup, html};
use rocescope_diagnose::mesh::Severity;

const TOP: f64 = 24.0;
const ROW: f64 = 24.0;
/// Maximum width of a cell.
const CELL: f64 = 92.0;
/// Width of a character of a column's name.
const LETTER: f64 = 7.0;
/// Minimum width of a cell that shows its value; narrower cells have it only in the tooltip.
const FIGURE: f64 = 52.0;

/// A cell.
#[derive(Debug)]
pub struct Cell {
    /// The value.
    pub text: String,
    /// Text of the tooltip.
    pub words: String,
    /// Its severity.
    pub severity: Severity,
}

/// Rows and columns of cells.
#[derive(Debug)]
pub struct Heat {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Name and cells of each row; `None` without a value.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

impl Heat {
    pub(super) fn legend() -> Vec<(String, &'static str)> {
        let key = |severity: Severity| format!("heat {}", severity.name());
        vec![(key(Severity::Notice), "notice"), (key(Severity::Bad), "bad")]
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        // Room for the names of rows, in units and characters.
        let (names, most) = match canvas {
            Canvas::Wide => (200.0, 26),
            Canvas::Narrow => (96.0, 12),
        };
        let room = (canvas.width() - names) / self.columns.len().max(1) as f64;
        let cell = room.min(CELL);
        let letters = ((cell - 4.0) / LETTER).max(1.0) as usize;
        let content = html! {
            @for (at, name) in self.columns.iter().enumerate() {
                @let x = names + cell * (at as f64 + 0.5);
                text.tick x=(number(x)) y="16" text-anchor="middle" { (shortened(name, letters)) }
            }
            @for (at, (name, cells)) in self.rows.iter().enumerate() {
                @let y = TOP + ROW * at as f64;
                text.label x=(number(names - 10.0)) y=(number(y + 16.0)) text-anchor="end" {
                    (shortened(name, most))
                }
                @for (column, found) in cells.iter().enumerate() {
                    @let x = names + cell * column as f64;
                    @if let Some(found) = found {
                        g.item {
                            title { (found.words) }
                            rect.heat.(found.severity.name()) x=(number(x + 1.0)) y=(number(y + 1.0))
                                width=(number(cell - 2.0)) height=(number(ROW - 2.0)) rx="3" {}
                            @if cell >= FIGURE {
                                text.value x=(number(x + cell / 2.0)) y=(number(y + 16.0)) text-anchor="middle" {
                                    (found.text)
                                }
                            }
                        }
                    }
                }
            }
        };
        let height = TOP + ROW * self.rows.len() as f64 + 4.0;
        frame(canvas, "heat", title, height, &content)
    }
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Cell, Heat, Severity};

    #[test]
    fn every_cell_is_drawn_with_its_figure_and_gravity() {
        let cell = |text: &str, severity| {
            Some(Cell {
                text: text.into(),
                words: format!("h0/a to {text}"),
                severity,
            })
        };
        let cells = vec![None, cell("1.0 %", Severity::Notice), cell("50 %", Severity::Bad)];
        let mut heat = Heat {
            columns: ["a", "b", "c"].map(String::from).into(),
            rows: vec![("h0/a".into(), cells)],
        };
        let svg = heat.svg("Drops", Canvas::Wide).into_string();
        assert_eq!(svg.matches("class=\"item\"").count(), 2);
        assert!(svg.contains("class=\"heat bad\"") && svg.contains(">50 %</text>"));
        assert!(svg.contains("<title>h0/a to 1.0 %</title>"));
        // Many columns: the values are in the tooltips.
        heat.columns = vec!["rail".into(); 40];
        let svg = heat.svg("Drops", Canvas::Wide).into_string();
        assert!(!svg.contains(">50 %</text>") && svg.contains("<title>h0/a to 50 %</title>"));
    }
}
