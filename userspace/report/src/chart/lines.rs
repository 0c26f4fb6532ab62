//! Rates over time: one step for each period; the first line is filled.

use super::drawing::{Canvas, frame, number};
use super::scale::{Linear, label, prefix};
pub use super::time::Span;
use crate::words::instant;
use maud::{Markup, html};
use rocescope_model::{Unit, Value, human};
use std::fmt::Write;

const TOP: f64 = 22.0;
const BOTTOM: f64 = 190.0;
const HEIGHT: f64 = 214.0;

/// The value of a period.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Start of the period, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Its end.
    pub end_ns: i64,
    /// The value.
    pub value: f64,
}

/// A line of a chart.
#[derive(Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: &'static str,
    /// Number of its colour.
    pub colour: usize,
    /// Its values in time order; the line is broken at periods without a value.
    pub steps: Vec<Step>,
}

/// Lines over the same time.
#[derive(Debug)]
pub struct Lines {
    /// Unit of all figures.
    pub unit: Unit,
    /// The time.
    pub span: Span,
    /// Whether all but the first are dashed: so that both show where two coincide.
    pub dashed: bool,
    /// The lines; that with the most steps has the tooltips.
    pub lines: Vec<Line>,
}

impl Lines {
    pub(super) fn legend(&self) -> Vec<(String, &'static str)> {
        let lines = self.lines.iter();
        lines.map(|line| (format!("c{}", line.colour), line.name)).collect()
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let steps = self.lines.iter().flat_map(|line| &line.steps);
        let greatest = steps.map(|step| step.value).fold(0.0, f64::max);
        let (factor, unit) = prefix(self.unit, greatest);
        let axis = Linear::to(greatest / factor, 4.0);
        let y = |value: f64| BOTTOM - (value / factor / axis.end).clamp(0.0, 1.0) * (BOTTOM - TOP);
        let content = html! {
            text.unit x="0" y="10" { (unit) }
            @for tick in &axis.ticks {
                @let at = y(tick * factor);
                line.grid x1=(number(canvas.left())) x2=(number(canvas.right())) y1=(number(at)) y2=(number(at)) {}
                text.tick x=(number(canvas.left() - 8.0)) y=(number(at + 4.0)) text-anchor="end" { (label(*tick)) }
            }
            (self.span.axis(canvas, TOP, BOTTOM))
            @for (at, line) in self.lines.iter().enumerate() {
                @if at == 0 {
                    path.area.(format!("c{}", line.colour)) d=(self.path(line, canvas, &y, true)) {}
                }
                path.line.dashed[at > 0 && self.dashed].(format!("c{}", line.colour))
                    d=(self.path(line, canvas, &y, false)) {}
            }
            (self.hits(canvas))
        };
        frame(canvas, "lines", title, HEIGHT, &content)
    }

    /// The outline of a line; closed to the axis where it is filled.
    fn path(&self, line: &Line, canvas: Canvas, y: &impl Fn(f64) -> f64, filled: bool) -> String {
        let mut path = String::new();
        let mut end: Option<(i64, f64)> = None;
        for step in &line.steps {
            let (from, to) = (self.span.x(step.start_ns, canvas), self.span.x(step.end_ns, canvas));
            let at = number(y(step.value));
            // Writing to a string cannot fail.
            let _ = match end {
                Some((end_ns, _)) if end_ns == step.start_ns => {
                    write!(path, "V{at}H{}", number(to))
                }
                _ => {
                    close(&mut path, end.filter(|_| filled));
                    let bottom = if filled { number(BOTTOM) } else { at.clone() };
                    write!(path, "M{} {bottom}V{at}H{}", number(from), number(to))
                }
            };
            end = Some((step.end_ns, to));
        }
        close(&mut path, end.filter(|_| filled));
        path
    }

    /// One invisible stripe a period, with its figures in words.
    fn hits(&self, canvas: Canvas) -> Markup {
        let busiest = self.lines.iter().max_by_key(|line| line.steps.len());
        html! {
            @for step in busiest.map_or(&[][..], |line| &line.steps) {
                @let x = self.span.x(step.start_ns, canvas);
                @let width = (self.span.x(step.end_ns, canvas) - x).max(0.5);
                rect.hit x=(number(x)) y=(number(TOP)) width=(number(width)) height=(number(BOTTOM - TOP)) {
                    title { (self.words(step)) }
                }
            }
        }
    }

    fn words(&self, of: &Step) -> String {
        let mut text = instant(of.start_ns);
        for line in &self.lines {
            let at = line.steps.partition_point(|step| step.start_ns <= of.start_ns);
            let step = at.checked_sub(1).and_then(|at| line.steps.get(at));
            if let Some(step) = step.filter(|step| step.end_ns > of.start_ns) {
                let value = human::readable(&Value::F64(step.value), self.unit);
                let _ = write!(text, "\n{}: {value}", line.name);
            }
        }
        text
    }
}

fn close(path: &mut String, end: Option<(i64, f64)>) {
    if end.is_some() {
        let _ = write!(path, "V{}Z", number(BOTTOM));
    }
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Line, Lines, Span, Step};
    use rocescope_model::Unit;

    fn lines(steps: &[(i64, f64)]) -> Lines {
        let steps = steps.iter().map(|(start_ns, value)| Step {
            start_ns: *start_ns,
            end_ns: start_ns + 10,
            value: *value,
        });
        Lines {
            unit: Unit::BitsPerSecond,
            span: Span {
                start_ns: 0,
                end_ns: 40,
            },
            dashed: false,
            lines: vec![Line {
                name: "mean",
                colour: 0,
                steps: steps.collect(),
            }],
        }
    }

    #[test]
    fn a_period_is_a_step_and_time_without_figures_a_gap() {
        let lines = lines(&[(0, 1.0), (10, 2.0), (30, 4.0)]);
        let y = |value: f64| value;
        assert_eq!(
            lines.path(&lines.lines[0], Canvas::Wide, &y, false),
            "M58 1V1H280V2H502M724 4V4H946"
        );
        assert_eq!(
            lines.path(&lines.lines[0], Canvas::Wide, &y, true),
            "M58 190V1H280V2H502V190ZM724 190V4H946V190Z"
        );
        let svg = lines.svg("rates", Canvas::Wide).into_string();
        assert_eq!(svg.matches("class=\"hit\"").count(), 3);
        assert!(svg.contains("mean: 2 bit/s"));
    }

    #[test]
    fn nothing_draws_an_empty_axis() {
        let svg = lines(&[]).svg("rates", Canvas::Wide).into_string();
        assert!(svg.contains("bit/s") && !svg.contains("NaN") && !svg.contains("inf"));
    }
}
