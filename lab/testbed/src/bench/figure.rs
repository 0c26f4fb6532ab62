//! One figure of the table of `cargo xtask bench all`, beside its goal.

use std::fmt::Write;

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// Nothing; the figure is stated.
    Stated,
}

/// One figure.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    work: String,
    value: f64,
    unit: &'static str,
    /// What the same run measured of something else, in words.
    beside: String,
    goal: Goal,
}

impl Figure {
    pub(super) fn new(work: impl Into<String>, value: f64, unit: &'static str, goal: Goal) -> Self {
        Self {
            work: work.into(),
            value,
            unit,
            beside: String::new(),
            goal,
        }
    }

    /// What the same run measured of a rival, or else explains the figure.
    pub(super) fn beside(mut self, what: impl Into<String>) -> Self {
        self.beside = what.into();
        self
    }

    pub(super) fn is_met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.value >= least,
            Goal::AtMost(most) => self.value <= most,
            Goal::Stated => true,
        }
    }
}

/// The figures as a Markdown table.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut out = String::from("| work | figure | goal | | in the same run |\n|---|---|---|---|---|\n");
    for figure in figures {
        let (goal, verdict) = match figure.goal {
            Goal::AtLeast(goal) => (format!("≥ {}", number(goal)), figure.is_met()),
            Goal::AtMost(goal) => (format!("≤ {}", number(goal)), figure.is_met()),
            Goal::Stated => (String::new(), true),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {} | {} {} | {} | {} | {} |",
            figure.work,
            number(figure.value),
            figure.unit,
            goal,
            if verdict { "" } else { "missed" },
            figure.beside
        );
    }
    out
}

/// Three digits that count.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Goal, table};

    #[test]
    fn a_figure_is_beside_its_goal() {
        let figures = [
            Figure::new("a packet", 46.04, "ns", Goal::AtMost(20.0)).beside("a ring record: 163 ns"),
            Figure::new("a file", 1.85, "× tcpdump", Goal::AtLeast(1.6)),
            Figure::new("memory", 3_718.0, "bytes", Goal::Stated),
        ];
        assert_eq!(
            table(&figures).lines().skip(2).collect::<Vec<_>>(),
            [
                "| a packet | 46 ns | ≤ 20 | missed | a ring record: 163 ns |",
                "| a file | 1.85 × tcpdump | ≥ 1.6 |  |  |",
                "| memory | 3718 bytes |  |  |  |",
            ]
        );
    }

    #[test]
    fn what_was_not_measured_misses_its_goal() {
        assert!(!Figure::new("a packet", f64::NAN, "ns", Goal::AtMost(20.0)).is_met());
    }
}
