//! Joins the verdicts of many windows to problems: class, place, start, end and evidence.

use alloc::format;
use alloc::string::String;
use rocescope_model::VerdictRow;
use serde::Serialize;

/// A problem that lasts one window or several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// The verdict of the worst window: the one with the highest score. A place that flaps is dead in such a window, so
    /// windows in which it flaps are worse.
    #[serde(rename = "verdict")]
    pub worst: VerdictRow,
    /// The end of the last window, in nanoseconds since 1970.
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
            worst: verdict.clone(),
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
    pub fn continues_in(&self, verdict: &VerdictRow) -> bool {
        let worst = &self.worst;
        (&worst.symptom, &worst.place, worst.since_ns) == (&verdict.symptom, &verdict.place, verdict.since_ns)
    }

    /// Adds a verdict of another window: mostly a later one, but rows of a window that was analyzed again come after those of
    /// later windows.
    pub fn add(&mut self, verdict: &VerdictRow) {
        let now = Self::new(verdict);
        self.until_ns = self.until_ns.max(now.until_ns);
        self.windows += now.windows;
        self.probes += now.probes;
        self.anomalous += now.anomalous;
        self.score = self.score.max(now.score);
        let rank = |verdict: &VerdictRow| (&*verdict.class == "flapping", verdict.score);
        if rank(verdict) > rank(&self.worst) {
            self.worst = now.worst;
        }
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
        assert!(problem.continues_in(&next));
        assert!(!problem.continues_in(&verdict(2, 45, 20, 20.0)));
        problem.add(&next);
        assert_eq!((problem.windows, problem.until_ns), (2, 60));
        problem.add(&verdict(0, 25, 0, 20.0));
        assert_eq!((problem.windows, problem.until_ns), (3, 60));
        (problem.windows, problem.probes) = (2, 200);
        assert_eq!((problem.probes, problem.anomalous), (200, 30));
        assert_eq!((problem.score, problem.worst.score), (30.0, 30.0));
        problem.add(&verdict(3, 25, 90, 60.0));
        assert_eq!((problem.worst.anomalous, problem.until_ns), (90, 80));
        problem.add(&VerdictRow {
            class: "flapping".into(),
            ..verdict(4, 25, 50, 40.0)
        });
        problem.add(&verdict(5, 25, 90, 60.0));
        assert_eq!((&*problem.worst.class, problem.score), ("flapping", 60.0));
        let text = evidence(&problem.worst, 30.0);
        assert!(text.starts_with("score 30 (log-likelihood ratio"), "{text}");
    }
}
