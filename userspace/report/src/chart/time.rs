//! Round instants for axes, in UTC.

use super::drawing::{Canvas, number};
use maud::{Markup, html};
use rocescope_model::Time;
use rocescope_model::time::{DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS};

/// Steps of clocks and calendars.
const STEPS: [i64; 25] = [
    SECOND_NS,
    2 * SECOND_NS,
    5 * SECOND_NS,
    10 * SECOND_NS,
    15 * SECOND_NS,
    30 * SECOND_NS,
    MINUTE_NS,
    2 * MINUTE_NS,
    5 * MINUTE_NS,
    10 * MINUTE_NS,
    15 * MINUTE_NS,
    30 * MINUTE_NS,
    HOUR_NS,
    2 * HOUR_NS,
    3 * HOUR_NS,
    6 * HOUR_NS,
    12 * HOUR_NS,
    DAY_NS,
    2 * DAY_NS,
    5 * DAY_NS,
    10 * DAY_NS,
    20 * DAY_NS,
    50 * DAY_NS,
    100 * DAY_NS,
    400 * DAY_NS,
];

/// A time span on the horizontal axis.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// First instant, in nanoseconds since 1970.
    pub start_ns: i64,
    /// One past the last instant.
    pub end_ns: i64,
}

impl Span {
    /// Returns the position of an instant between the plot's edges.
    pub(super) fn x(&self, time_ns: i64, canvas: Canvas) -> f64 {
        let length = (i128::from(self.end_ns) - i128::from(self.start_ns)).max(1) as f64;
        let passed = (i128::from(time_ns) - i128::from(self.start_ns)) as f64;
        let (left, right) = (canvas.left(), canvas.right());
        left + (passed / length).clamp(0.0, 1.0) * (right - left)
    }

    fn step(&self, labels: u8) -> i64 {
        let rough = self.end_ns.saturating_sub(self.start_ns).max(1) / i64::from(labels);
        let mut step = 1;
        while step < SECOND_NS {
            for factor in [1, 2, 5] {
                if step * factor >= rough {
                    return step * factor;
                }
            }
            step *= 10;
        }
        let step = STEPS.into_iter().find(|step| *step >= rough);
        step.unwrap_or(rough - rough.rem_euclid(DAY_NS))
    }

    /// Returns round instants with their labels.
    fn ticks(&self, labels: u8) -> Vec<(i64, String)> {
        let step = self.step(labels);
        let first = self.start_ns.div_euclid(step).saturating_mul(step);
        let ticks = (0..=10).filter_map(|at| first.checked_add(step.checked_mul(at)?));
        let inside = ticks.filter(|at| (self.start_ns..=self.end_ns).contains(at));
        inside.map(|at| (at, label(at, step))).collect()
    }

    /// Draws ticks and labels of the axis at height `y`, with grid lines up to `top`.
    pub(super) fn axis(&self, canvas: Canvas, top: f64, y: f64) -> Markup {
        let (left, right) = (canvas.left(), canvas.right());
        html! {
            @for (at, label) in self.ticks(canvas.labels()) {
                @let x = self.x(at, canvas);
                line.grid x1=(number(x)) x2=(number(x)) y1=(number(top)) y2=(number(y)) {}
                @let anchor = if x > right - 30.0 { "end" } else { "middle" };
                text.tick x=(number(x)) y=(number(y + 17.0)) text-anchor=(anchor) { (label) }
            }
            line.axis x1=(number(left)) x2=(number(right)) y1=(number(y)) y2=(number(y)) {}
        }
    }
}

/// Formats a tick: the time of day, or the date at the start of a day.
fn label(at: i64, step: i64) -> String {
    let civil = Time(at).civil();
    if at % DAY_NS == 0 && step >= MINUTE_NS {
        return format!("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
    }
    let (hour, minute, second) = (civil.hour, civil.minute, civil.second);
    if step >= MINUTE_NS {
        return format!("{hour:02}:{minute:02}");
    }
    let mut text = format!("{hour:02}:{minute:02}:{second:02}");
    if step < SECOND_NS {
        // As many decimals as the step has.
        let mut decimals = 9;
        let mut rest = step;
        while rest % 10 == 0 {
            rest /= 10;
            decimals -= 1;
        }
        let fraction = format!("{:09}", civil.nanosecond);
        text.push('.');
        text.extend(fraction.chars().take(decimals));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Canvas, DAY_NS, HOUR_NS, SECOND_NS, Span};

    const START: i64 = 1_767_225_600 * SECOND_NS; // 2026-01-01

    fn labels(length: i64) -> Vec<String> {
        let span = Span {
            start_ns: START,
            end_ns: START + length,
        };
        span.ticks(8).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_round_and_few() {
        assert_eq!(labels(4 * SECOND_NS)[..3], ["00:00:00.0", "00:00:00.5", "00:00:01.0"]);
        assert_eq!(labels(90 * SECOND_NS)[1], "00:00:15");
        assert_eq!(labels(8 * HOUR_NS)[..2], ["2026-01-01", "01:00"]);
        assert_eq!(labels(30 * DAY_NS)[..2], ["2026-01-02", "2026-01-07"]);
        for length in [
            1,
            999,
            1_000_000,
            SECOND_NS,
            61 * SECOND_NS,
            HOUR_NS,
            20 * HOUR_NS,
            5 * DAY_NS,
        ] {
            let labels = labels(length);
            assert!((1..=10).contains(&labels.len()), "{length}: {labels:?}");
        }
        assert!(labels(9_000 * DAY_NS).len() <= 10);
    }

    #[test]
    fn the_ends_of_time_have_an_axis() {
        let span = Span {
            start_ns: i64::MIN,
            end_ns: i64::MAX,
        };
        let x = |time_ns| span.x(time_ns, Canvas::Wide);
        assert!(x(0) > x(i64::MIN) && x(0) < x(i64::MAX));
        assert!(span.ticks(8).len() <= 11);
    }
}
