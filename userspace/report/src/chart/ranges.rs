//! Ranges of durations, from the median to the 99th percentile, on a logarithmic axis.

use super::drawing::{Canvas, RowNames, frame, number};
use crate::words::nanos;
use maud::{Markup, html};

/// Room after the last dot for its value.
const ROOM: f64 = 70.0;
const TOP: f64 = 6.0;
const ROW: f64 = 20.0;
const AXIS: f64 = 24.0;

/// A row.
#[derive(Debug)]
pub struct Range {
    /// Name of the row.
    pub name: String,
    /// Additional text of the tooltip.
    pub words: String,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

/// Rows of ranges.
#[derive(Debug)]
pub struct Ranges {
    /// The rows.
    pub rows: Vec<Range>,
}

impl Ranges {
    pub(super) fn legend(&self) -> Vec<(String, &'static str)> {
        vec![("c0".into(), "p50"), ("c1".into(), "p99")]
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let names = RowNames::on(canvas);
        let (left, right, row_height) = (names.left(), canvas.right(), ROW + names.height());
        let min = self.rows.iter().map(|row| row.p50_ns).min().unwrap_or(1);
        let max = self.rows.iter().map(|row| row.p99_ns).max().unwrap_or(1);
        let (low, high) = decades(min, max);
        let end = right - ROOM;
        let x = |ns: f64| {
            let share = (ns.max(1.0).log10() - low) / (high - low);
            left + share.clamp(0.0, 1.0) * (end - left)
        };
        let bottom = TOP + row_height * self.rows.len() as f64;
        let content = html! {
            @for (value, is_decade) in ticks(low, high) {
                @let at = number(x(value));
                line.grid x1=(at) x2=(at) y1=(number(TOP)) y2=(number(bottom)) {}
                @if is_decade || (high - low < 2.5 && canvas == Canvas::Wide) {
                    text.tick x=(at) y=(number(bottom + 17.0)) text-anchor="middle" { (nanos(value as u64)) }
                }
            }
            @for (at, row) in self.rows.iter().enumerate() {
                @let start = TOP + row_height * at as f64;
                @let y = start + names.height() + ROW / 2.0;
                @let (from, to) = (x(row.p50_ns as f64), x(row.p99_ns as f64));
                g.item {
                    title { (row.name) "\n" (row.words) }
                    rect.hit x="0" y=(number(start)) width=(number(right)) height=(number(row_height)) {}
                    (names.label(&row.name, start, y))
                    line.span x1=(number(from)) x2=(number(to)) y1=(number(y)) y2=(number(y)) {}
                    circle.dot.c0 cx=(number(from)) cy=(number(y)) r="6" {}
                    circle.dot.c1 cx=(number(to)) cy=(number(y)) r="3.5" {}
                    text.value x=(number(to + 10.0)) y=(number(y + 4.0)) { (nanos(row.p99_ns)) }
                }
            }
        };
        frame(canvas, "ranges", title, bottom + AXIS, &content)
    }
}

/// Returns powers of ten around the values, with a margin at the edges.
fn decades(min: u64, max: u64) -> (f64, f64) {
    let low = (min.max(1) as f64 * 0.8).log10().floor().max(0.0);
    let high = (max.max(1) as f64).log10().ceil();
    (low, high.max(low + 1.0))
}

/// Returns 1, 2 and 5 times each power of ten, and whether it is the power itself.
fn ticks(low: f64, high: f64) -> Vec<(f64, bool)> {
    let mut ticks = Vec::new();
    let mut power = low;
    while power <= high {
        for factor in [1.0, 2.0, 5.0] {
            let value: f64 = factor * 10f64.powf(power);
            if value.log10() <= high + 1e-9 {
                ticks.push((value.round(), factor == 1.0));
            }
        }
        power += 1.0;
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Range, Ranges, decades, ticks};

    #[test]
    fn axes_span_whole_decades() {
        assert_eq!(decades(1_300, 48_000), (3.0, 5.0));
        assert_eq!(decades(1_000, 1_000), (2.0, 3.0));
        assert_eq!(decades(0, 0), (0.0, 1.0));
        let values: Vec<f64> = ticks(3.0, 4.0).into_iter().map(|(value, _)| value).collect();
        assert_eq!(values, [1_000.0, 2_000.0, 5_000.0, 10_000.0]);
    }

    #[test]
    fn a_row_has_two_dots() {
        let ranges = Ranges {
            rows: vec![Range {
                name: "a".into(),
                words: String::new(),
                p50_ns: 8_000,
                p99_ns: 12_000,
            }],
        };
        let svg = ranges.svg("RTT", Canvas::Wide).into_string();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("12 µs") || svg.contains("12.0 µs"));
    }
}
