//! Verdicts of many windows as problems: what, where, from when until when, on what evidence.

use alloc::format;
use alloc::string::String;
use rocescope_model::VerdictRow;
use serde::Serialize;

/// A problem over one window or several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// The verdict of the last window, with its `since_ns`.
    #[serde(rename = "verdict")]
    pub last: VerdictRow,
    /// End of that window, in nanoseconds since 1970.
    pub until_ns: i64,
    /// Windows that it was seen in.
    pub windows: u64,
    /// Probes of all of them that crossed the place.
    pub probes: u64,
    /// How many of those suffered.
    pub anomalous: u64,
    /// Highest score of a window.
    #[serde(skip)]
    pub score: f64,
}

impl Problem {
    /// As one window saw it.
    #[must_use]
    pub fn new(verdict: &VerdictRow) -> Self {
        Self {
            last: verdict.clone(),
            until_ns: verdict.window_start_ns.saturating_add(verdict.window_ns),
            windows: 1,
            probes: verdict.probes,
            anomalous: verdict.anomalous,
            score: verdict.score,
        }
    }

    /// Whether a verdict of a later window is of this problem: it has the same beginning; what it is taken for may change as
    /// it goes on.
    #[must_use]
    pub fn goes_on_in(&self, verdict: &VerdictRow) -> bool {
        let last = &self.last;
        (&last.symptom, &last.place, last.since_ns)
            == (&verdict.symptom, &verdict.place, verdict.since_ns)
    }

    /// Adds a verdict of a later window.
    pub fn add(&mut self, verdict: &VerdictRow) {
        let Self {
            windows,
            probes,
            anomalous,
            score,
            ..
        } = *self;
        let now = Self::new(verdict);
        *self = Self {
            windows: windows + now.windows,
            probes: probes + now.probes,
            anomalous: anomalous + now.anomalous,
            score: score.max(now.score),
            ..now
        };
    }
}

/// What speaks for a verdict beside its counts: how far from chance it is, with this score, and what the rules of the paper say.
#[must_use]
pub fn evidence(verdict: &VerdictRow, score: f64) -> String {
    let paper: String = match &*verdict.paper {
        "rnic" => "an anomalous NIC".into(),
        "first" => format!("first with {} votes", verdict.votes),
        "weighted" => format!("first by weighted votes ({:.1})", verdict.weighted_votes),
        _ => "nothing of it".into(),
    };
    format!("e^{score:.0} times likelier than chance; the paper's rules say: {paper}")
}

#[cfg(test)]
mod tests {
    use super::{Problem, evidence};
    use rocescope_model::VerdictRow;

    #[test]
    fn verdicts_of_one_beginning_and_place_are_one_problem() {
        let verdict = |window: i64, since_ns, anomalous, score| VerdictRow {
            window_start_ns: window * 20,
            window_ns: 20,
            place: "r1>s0".into(),
            since_ns,
            probes: 100,
            anomalous,
            score,
            ..VerdictRow::default()
        };
        let mut problem = Problem::new(&verdict(1, 25, 10, 30.0));
        let next = verdict(2, 25, 20, 20.0);
        assert!(problem.goes_on_in(&next));
        assert!(!problem.goes_on_in(&verdict(2, 45, 20, 20.0)));
        problem.add(&next);
        assert_eq!((problem.windows, problem.until_ns), (2, 60));
        assert_eq!((problem.probes, problem.anomalous), (200, 30));
        assert_eq!((problem.score, problem.last.score), (30.0, 20.0));
        let text = evidence(&problem.last, problem.score);
        assert!(text.starts_with("e^30 times likelier"), "{text}");
    }
}
