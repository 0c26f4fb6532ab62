//! What was read of switches by polling.

use super::sampled::SwitchSummary;
use crate::switch::Samples;
use rocescope_model::human::plural;
use rocescope_model::{Time, json, render};
use serde::Serialize;

/// What happened to the polls.
#[derive(Debug, Default, Serialize)]
pub struct Polled {
    /// Polls that succeeded.
    pub polls: u64,
    /// Polls that failed: their span was asked for again.
    pub failed_polls: u64,
    /// Why the last of them failed.
    pub last_failure: Option<String>,
    /// Everything up to this time was read.
    pub until_ns: i64,
    /// What happened to the samples.
    pub samples: Samples,
    /// The rows.
    pub switches: SwitchSummary,
    #[serde(skip)]
    is_failing: bool,
}

impl Polled {
    /// Counts a poll that succeeded; returns whether the one before failed.
    pub const fn succeeded(&mut self) -> bool {
        self.polls += 1;
        std::mem::replace(&mut self.is_failing, false)
    }

    /// Counts a poll that failed; returns whether the one before succeeded.
    pub fn failed(&mut self, why: String) -> bool {
        self.failed_polls += 1;
        self.last_failure = Some(why);
        !std::mem::replace(&mut self.is_failing, true)
    }
}

/// One JSON object.
#[must_use]
pub fn document(polled: &Polled) -> String {
    json::pretty(polled) + "\n"
}

/// A line for each metric with samples, and the counts.
#[must_use]
pub fn text(polled: &Polled) -> String {
    let used = polled.samples.used.iter().filter(|(_, count)| **count > 0);
    let mut lines = vec![vec!["Metric".into(), "Samples".into()]];
    lines.extend(used.map(|(metric, count)| vec![metric.clone(), count.to_string()]));
    let mut text = match lines.len() {
        1 => {
            let metrics: Vec<&str> = polled.samples.used.keys().map(String::as_str).collect();
            format!("no metric has samples of these: {}\n", metrics.join(", "))
        }
        _ => render::align(&lines, &[false, true]),
    };
    text.push_str(&format!(
        "\n{}, {} failed, up to {:.0}; {} stored\n",
        plural(polled.polls, "poll"),
        polled.failed_polls,
        Time(polled.until_ns),
        plural(polled.switches.rows, "row"),
    ));
    if let Some(why) = &polled.last_failure {
        text.push_str(&format!("last failure: {why}\n"));
    }
    for (why, count) in &polled.samples.unused {
        text.push_str(&format!("{} not used: {why}\n", plural(*count, "sample")));
    }
    for (count, what) in [
        (polled.switches.rows_not_stored, "rows were not stored"),
        (
            polled.switches.overflow,
            "readings are beyond the ports and queues that are kept",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} {what}\n"));
        }
    }
    text
}
