//! A distribution: one column for each value, sorted, with a dashed line at the ideal.

use super::drawing::{Canvas, frame, number};
use super::scale::{Linear, label};
use maud::{Markup, html};

const TOP: f64 = 22.0;
const BOTTOM: f64 = 150.0;
const HEIGHT: f64 = 172.0;
/// Largest width of a column, and of the gap beside it.
const COLUMN: f64 = 34.0;
const GAP: f64 = 0.2;

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Text of the tooltip.
    pub words: String,
    /// The value.
    pub value: f64,
}

/// Sorted columns of the same unit.
#[derive(Debug)]
pub struct Columns {
    /// Name of the unit.
    pub unit: &'static str,
    /// Text below the horizontal axis.
    pub axis: String,
    /// The value of all columns if they were equal.
    pub ideal: f64,
    /// The columns, the highest first.
    pub columns: Vec<Column>,
}

impl Columns {
    pub(super) fn legend(&self) -> Vec<(String, &'static str)> {
        vec![("c0".into(), self.unit), ("c1".into(), "ideal")]
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let (left, right) = (canvas.left(), canvas.right());
        let values = self.columns.iter().map(|column| column.value);
        let axis = Linear::to(values.fold(self.ideal, f64::max), 4.0);
        let y = |value: f64| BOTTOM - (value / axis.end).clamp(0.0, 1.0) * (BOTTOM - TOP);
        let room = ((right - left) / self.columns.len().max(1) as f64).min(COLUMN);
        let content = html! {
            text.unit x="0" y="10" { (self.unit) }
            @for tick in &axis.ticks {
                @let at = number(y(*tick));
                line.grid x1=(number(left)) x2=(number(right)) y1=(at) y2=(at) {}
                text.tick x=(number(left - 8.0)) y=(number(y(*tick) + 4.0)) text-anchor="end" { (label(*tick)) }
            }
            @for (at, column) in self.columns.iter().enumerate() {
                @let x = left + room * at as f64;
                g.item {
                    title { (column.words) }
                    rect.hit x=(number(x)) y=(number(TOP)) width=(number(room)) height=(number(BOTTOM - TOP)) {}
                    rect.bar.c0 x=(number(x + room * GAP / 2.0)) y=(number(y(column.value)))
                        width=(number(room * (1.0 - GAP))) height=(number(BOTTOM - y(column.value))) {}
                }
            }
            @let ideal = number(y(self.ideal));
            line.ideal x1=(number(left)) x2=(number(right)) y1=(ideal) y2=(ideal) {}
            line.axis x1=(number(left)) x2=(number(right)) y1=(number(BOTTOM)) y2=(number(BOTTOM)) {}
            text.tick x=(number(left)) y=(number(BOTTOM + 17.0)) { (self.axis) }
        };
        frame(canvas, "columns", title, HEIGHT, &content)
    }
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Column, Columns};

    #[test]
    fn every_value_is_a_column_and_the_ideal_a_line() {
        let column = |value: f64| Column {
            words: format!("<{value}>"),
            value,
        };
        let columns = Columns {
            unit: "flows",
            axis: "links".into(),
            ideal: 4.0,
            columns: [8.0, 0.0].map(column).into(),
        };
        let svg = columns.svg("leaf to spine", Canvas::Wide).into_string();
        assert_eq!(svg.matches("class=\"bar c0\"").count(), 2);
        // 8 is at the top, 4 in the middle, and 0 has no height.
        assert!(svg.contains("y=\"22\"") && svg.contains("height=\"0\""));
        assert!(svg.contains("class=\"ideal\"") && svg.contains("y1=\"86\" y2=\"86\""));
        assert!(svg.contains("&lt;8&gt;"));
    }
}
