//! Events over time: a lane for each kind, a mark for each period, sized by count.

use super::drawing::{Canvas, frame, number};
use super::time::Span;
use crate::words::instant;
use maud::{Markup, html};
use rocescope_model::human::grouped;

/// Lane names are above their lane, so that long ones do not need a column.
const ROW: f64 = 38.0;
const TOP: f64 = 4.0;
const AXIS: f64 = 26.0;

/// Events of one kind within a period.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// Start of the period, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Number of events.
    pub count: u64,
}

/// One kind.
#[derive(Debug)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// Number of its colour.
    pub colour: usize,
    /// Its marks in time order.
    pub marks: Vec<Mark>,
}

/// Lanes over the same time.
#[derive(Debug)]
pub struct Lanes {
    /// The time.
    pub span: Span,
    /// The lanes.
    pub lanes: Vec<Lane>,
}

impl Lanes {
    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let (left, right) = (canvas.left(), canvas.right());
        let bottom = TOP + ROW * self.lanes.len() as f64;
        let marks = self.lanes.iter().flat_map(|lane| &lane.marks);
        let max = marks.map(|mark| mark.count).max().unwrap_or(1).max(1);
        let content = html! {
            (self.span.axis(canvas, TOP, bottom))
            @for (at, lane) in self.lanes.iter().enumerate() {
                @let y = TOP + ROW * at as f64 + 27.0;
                @let total: u64 = lane.marks.iter().map(|mark| mark.count).sum();
                line.lane x1=(number(left)) x2=(number(right)) y1=(number(y)) y2=(number(y)) {}
                text.label x=(number(left)) y=(number(y - 12.0)) { (lane.name) tspan.faint { "  " (grouped(total)) } }
                @for mark in &lane.marks {
                    circle.mark.(format!("c{}", lane.colour)) cx=(number(self.span.x(mark.start_ns, canvas))) cy=(number(y))
                        r=(number(radius(mark.count, max))) {
                        title { (lane.name) ": " (grouped(mark.count)) "\n" (instant(mark.start_ns)) }
                    }
                }
            }
        };
        frame(canvas, "lanes", title, bottom + AXIS, &content)
    }
}

/// The area of a mark is proportional to its count.
fn radius(count: u64, max: u64) -> f64 {
    2.5 + 5.5 * (count as f64 / max.max(20) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Lane, Lanes, Mark, Span, radius};

    #[test]
    fn every_mark_is_drawn() {
        let lanes = Lanes {
            span: Span {
                start_ns: 0,
                end_ns: 100,
            },
            lanes: vec![Lane {
                name: "loss".into(),
                colour: 1,
                marks: [(0, 1), (50, 4)]
                    .map(|(start_ns, count)| Mark { start_ns, count })
                    .to_vec(),
            }],
        };
        let svg = lanes.svg("events", Canvas::Wide).into_string();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(radius(1, 4) < radius(4, 4));
    }
}
