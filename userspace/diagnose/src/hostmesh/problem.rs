//! Joins the verdicts of many windows to problems: class, place, start, end and evidence.

use alloc::format;
use alloc::string::String;
use rocescope_model::VerdictRow;
use serde::Serialize;

/// A problem that lasts one window or several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// The verdict of the last window, with its `since_ns`.
    #[serde(rename = "verdict")]
    pub last: VerdictRow,
    /// The end of that window, in nanoseconds since 1970.
    pub until_ns: i64,
    /// The number of windows with this problem.
    pub windows: u64,
    /// The probes of these windows that crossed the place.
    pub probes: u64,
    /// The anomalous ones among them.
    pub anomalous: u64,
    /// The highest score of a window.
    #[serde(skip)]
    pub score: f64,
}

impl Problem {
    /// A problem of one window.
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

    /// Whether a verdict of a later window belongs to this problem: symptom, place and start are equal. The class may
    /// change while the problem lasts.
    #[must_use]
    pub fn goes_on_in(&self, verdict: &VerdictRow) -> bool {
        let last = &self.last;
        (&last.symptom, &last.place, last.since_ns) == (&verdict.symptom, &verdict.place, verdict.since_ns)
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

/// Returns the evidence for a verdict beside its counts: how strongly this score contradicts chance, and what the
/// paper's rules conclude.
#[must_use]
pub fn evidence(verdict: &VerdictRow, score: f64) -> String {
    let paper: String = match &*verdict.paper {
        "rnic" => "anomalous NIC".into(),
        "first" => format!("most votes ({})", verdict.votes),
        "weighted" => format!("most weighted votes ({:.1})", verdict.weighted_votes),
        _ => "no finding".into(),
    };
    format!("score {score:.0} (log-likelihood ratio against chance); Hostmesh rules: {paper}")
}

#[cfg(test)]
mod tests {
    use super::{Problem, evidence};
    use rocescope_model::VerdictRow;

    #[test]
    fn verdicts_with_the_same_start_and_place_are_one_problem() {
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
        assert!(text.starts_with("score 30 (log-likelihood ratio"), "{text}");
    }
}
