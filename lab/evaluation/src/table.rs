//! The table of all accuracies, each beside its goal.

use std::fmt::Write;
use std::time::Duration;

/// How much an evaluation runs.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The sizes and seeds of `docs/bench`; otherwise few and small ones.
    pub full: bool,
    /// Whether the evaluation prints tables of its own too.
    pub details: bool,
}

impl Size {
    /// A number for each of the two sizes.
    pub(crate) fn choose<T>(self, small: T, full: T) -> T {
        if self.full { full } else { small }
    }
}

/// What a value must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Line {
    /// What is measured, where an evaluation has several parts.
    pub(crate) part: String,
    pub(crate) cases: u64,
    pub(crate) measure: &'static str,
    pub(crate) value: f64,
    pub(crate) goal: Goal,
}

impl Line {
    pub(crate) fn new(part: impl Into<String>, cases: u64, measure: &'static str, value: f64, goal: Goal) -> Self {
        Self {
            part: part.into(),
            cases,
            measure,
            value,
            goal,
        }
    }

    /// Whether the value reaches its goal.
    #[must_use]
    pub fn is_met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.value >= least,
            Goal::AtMost(most) => self.value <= most,
        }
    }
}

/// The share of `all` in percent; all of nothing is 100.
pub(crate) fn percent(part: u64, all: u64) -> f64 {
    if all == 0 {
        100.0
    } else {
        part as f64 * 100.0 / all as f64
    }
}

/// The lines of one evaluation, as they are printed: columns of fixed width.
#[must_use]
pub fn text(name: &str, lines: &[Line], took: Duration, size: Size) -> String {
    let full = if size.full { " --full" } else { "" };
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let (sign, goal) = match line.goal {
            Goal::AtLeast(goal) => ("≥", goal),
            Goal::AtMost(goal) => ("≤", goal),
        };
        let verdict = if line.is_met() { "met" } else { "MISSED" };
        let what = format!("{name}: {}", line.part);
        let goal = format!("{sign} {}", number(goal));
        // One run gives all lines of an evaluation.
        let (seconds, command) = match at {
            0 => (
                format!("{:.0}", took.as_secs_f64()),
                format!("cargo xtask lab {name}{full}"),
            ),
            _ => (String::new(), String::new()),
        };
        let row = format!(
            "{what:<44} {:>7} {:<34} {:>8} {goal:>9} {verdict:<6} {seconds:>7}  {command}",
            line.cases,
            line.measure,
            number(line.value)
        );
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

/// The header of the table.
#[must_use]
pub fn header() -> String {
    format!(
        "{:<44} {:>7} {:<34} {:>8} {:>9} {:<6} {:>7}  {}",
        "what", "cases", "measure", "value", "goal", "", "seconds", "command"
    )
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Goal, Line, Size, text};
    use std::time::Duration;

    #[test]
    fn a_goal_is_met_or_missed_and_the_command_stands_once() {
        let lines = [
            Line::new("all", 4, "found, %", 99.5, Goal::AtLeast(95.0)),
            Line::new("all", 4, "false alarms", 1.0, Goal::AtMost(0.0)),
        ];
        let size = Size {
            full: true,
            details: false,
        };
        let text = text("mesh", &lines, Duration::from_secs(3), size);
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            words[0],
            "mesh: all 4 found, % 99.5 ≥ 95 met 3 cargo xtask lab mesh --full"
                .split(' ')
                .collect::<Vec<_>>()
        );
        assert_eq!(words[1].last(), Some(&"MISSED"));
    }
}
