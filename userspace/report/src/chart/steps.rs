//! Steps of a collective over time: a lane for each rank, and the critical path through them.

use super::drawing::{Canvas, frame, number, shortened};
use super::scale::Linear;
use maud::{Markup, html};

const TOP: f64 = 6.0;
const AXIS: f64 = 26.0;
const NANOS_IN_MS: f64 = 1e6;

/// How long a step took, in what it takes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// What it takes alone is unknown.
    Unknown,
    /// At most a tenth longer.
    Normal,
    /// Less than twice as long.
    Slow,
    /// At least twice as long.
    VerySlow,
}

impl Pace {
    /// Compares a time with the expected one.
    #[must_use]
    pub fn of(took_ns: i64, expected_ns: Option<i64>) -> Self {
        match expected_ns.filter(|expected| *expected > 0) {
            None => Self::Unknown,
            Some(expected) if took_ns as f64 <= 1.1 * expected as f64 => Self::Normal,
            Some(expected) if (took_ns as f64) < 2.0 * expected as f64 => Self::Slow,
            Some(_) => Self::VerySlow,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Unknown => "c2",
            Self::Normal => "c0",
            Self::Slow => "c1",
            Self::VerySlow => "c4",
        }
    }
}

/// A step, or several consecutive ones.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Start, since the start of the collective.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Its pace.
    pub pace: Pace,
    /// Whether the critical path goes through it.
    pub is_critical: bool,
    /// What it is.
    pub words: String,
}

/// The steps of a rank.
#[derive(Debug, Clone)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// Its steps.
    pub bars: Vec<Bar>,
}

/// A step of the critical path: its lane, start and end.
pub type Critical = (usize, i64, i64);

/// Lanes, and the critical path from the start of the collective to its end.
#[derive(Debug, Clone)]
pub struct StepsPlot {
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// The critical path.
    pub path: Vec<Critical>,
}

impl StepsPlot {
    pub(super) fn legend() -> Vec<(String, &'static str)> {
        let key = |pace: Pace| pace.class().to_owned();
        vec![
            (key(Pace::Normal), "as long as alone"),
            (key(Pace::Slow), "longer"),
            (key(Pace::VerySlow), "twice as long or more"),
            (key(Pace::Unknown), "unknown"),
        ]
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let (left, letters) = match canvas {
            Canvas::Wide => (120.0, 16),
            Canvas::Narrow => (52.0, 7),
        };
        let right = canvas.right();
        let row = if self.lanes.len() > 24 { 14.0 } else { 22.0 };
        let bottom = TOP + row * self.lanes.len() as f64;
        let bars = self.lanes.iter().flat_map(|lane| &lane.bars);
        let end_ns = bars.map(|bar| bar.end_ns).max().unwrap_or(0).max(1);
        let axis = Linear::to(end_ns as f64 / NANOS_IN_MS, f64::from(canvas.labels()));
        let x = |ns: i64| left + (ns as f64 / NANOS_IN_MS / axis.end).clamp(0.0, 1.0) * (right - left);
        let middle = |lane: usize| TOP + row * (lane as f64 + 0.5);
        let content = html! {
            @for tick in &axis.ticks {
                @let at = left + tick / axis.end * (right - left);
                line.grid x1=(number(at)) x2=(number(at)) y1=(number(TOP)) y2=(number(bottom)) {}
                text.tick x=(number(at)) y=(number(bottom + 16.0)) text-anchor=(if *tick == axis.end { "end" } else { "middle" }) {
                    (number(*tick)) @if *tick == axis.end { " ms" }
                }
            }
            @for (at, lane) in self.lanes.iter().enumerate() {
                @let y = middle(at);
                text.label x=(number(left - 8.0)) y=(number(y + 4.0)) text-anchor="end" { (shortened(&lane.name, letters)) }
                @for bar in &lane.bars {
                    rect.step.(bar.pace.class()).critical[bar.is_critical] x=(number(x(bar.start_ns))) y=(number(y - row * 0.36))
                        width=(number((x(bar.end_ns) - x(bar.start_ns)).max(0.8))) height=(number(row * 0.72)) {
                        title { (bar.words) }
                    }
                }
            }
            @if !self.path.is_empty() {
                polyline.critical points=(self.points(x, middle)) {}
            }
        };
        frame(canvas, "steps", title, bottom + AXIS, &content)
    }

    fn points(&self, x: impl Fn(i64) -> f64, y: impl Fn(usize) -> f64) -> String {
        let ends = self
            .path
            .iter()
            .flat_map(|(lane, start, end)| [(*lane, *start), (*lane, *end)]);
        let points = ends.map(|(lane, ns)| format!("{},{}", number(x(ns)), number(y(lane))));
        points.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, Canvas, Lane, Pace, StepsPlot};

    #[test]
    fn every_step_is_drawn_and_the_critical_path_crosses_lanes() {
        let bar = |start_ns, end_ns, is_critical| Bar {
            start_ns,
            end_ns,
            pace: Pace::of(end_ns - start_ns, Some(1_000_000)),
            is_critical,
            words: "step <1>".into(),
        };
        let lane = |name: &str, bars| Lane {
            name: name.into(),
            bars,
        };
        let plot = StepsPlot {
            lanes: vec![
                lane("a", vec![bar(0, 1_000_000, true), bar(1_000_000, 2_000_000, false)]),
                lane("b", vec![bar(0, 1_000_000, false), bar(1_000_000, 4_000_000, true)]),
            ],
            path: vec![(0, 0, 1_000_000), (1, 1_000_000, 4_000_000)],
        };
        let svg = plot.svg("Steps", Canvas::Wide).into_string();
        assert_eq!(svg.matches("<rect").count(), 4);
        assert_eq!(svg.matches("c4 critical\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("step &lt;1&gt;"));
        assert_eq!(
            [Pace::of(11, None), Pace::of(19, Some(10))],
            [Pace::Unknown, Pace::Slow]
        );
    }
}
