//! What was read of switches by subscription.

use super::sampled::SwitchSummary;
use crate::switch::Samples;
use rocescope_model::human::plural;
use rocescope_model::{json, render};
use serde::Serialize;
use std::collections::BTreeMap;

/// What happened to the subscriptions.
#[derive(Debug, Default, Serialize)]
pub struct Subscribed {
    /// The switches.
    pub asked: Vec<Asked>,
    /// What happened to the values.
    pub samples: Samples,
    /// The rows.
    pub switches: SwitchSummary,
}

/// What happened to the subscriptions of a switch.
#[derive(Debug, Default, Serialize)]
pub struct Asked {
    /// The switch.
    pub switch: String,
    /// Its address.
    pub address: String,
    /// Connections.
    pub connections: u64,
    /// Messages that it sent.
    pub messages: u64,
    /// Connections that failed or ended early, by reason.
    pub failures: BTreeMap<&'static str, u64>,
    /// Why the last of them did.
    pub last_failure: Option<String>,
    /// The paths that it does not serve, and why.
    pub refused: BTreeMap<String, String>,
    #[serde(skip)]
    is_failing: bool,
}

impl Asked {
    /// What is known of a switch before it is asked.
    #[must_use]
    pub fn of(switch: String, address: String) -> Self {
        Self {
            switch,
            address,
            ..Self::default()
        }
    }

    /// Counts a connection; returns whether the one before failed.
    pub const fn connected(&mut self) -> bool {
        self.connections += 1;
        std::mem::replace(&mut self.is_failing, false)
    }

    /// Counts a failure; returns whether its reason is another than that of the one before.
    pub fn failed(&mut self, reason: &'static str, why: String) -> bool {
        *self.failures.entry(reason).or_default() += 1;
        let is_same = self.is_failing && self.last_failure.as_ref() == Some(&why);
        self.is_failing = true;
        self.last_failure = Some(why);
        !is_same
    }

    /// Keeps that it does not serve a path; returns whether that is new.
    pub fn refused(&mut self, path: &str, why: String) -> bool {
        self.refused.insert(path.to_owned(), why).is_none()
    }

    /// Whether nothing but failures is known.
    #[must_use]
    pub fn has_only_failed(&self) -> bool {
        self.messages == 0 && !self.failures.is_empty()
    }
}

/// One JSON object.
#[must_use]
pub fn document(subscribed: &Subscribed) -> String {
    json::pretty(subscribed) + "\n"
}

/// A line for each switch, one for each column's path that has values, and the counts.
#[must_use]
pub fn text(subscribed: &Subscribed) -> String {
    let mut lines = vec![["Switch", "Address", "Messages", "Failures"].map(String::from).to_vec()];
    lines.extend(subscribed.asked.iter().map(|asked| {
        vec![
            asked.switch.clone(),
            asked.address.clone(),
            asked.messages.to_string(),
            asked.failures.values().sum::<u64>().to_string(),
        ]
    }));
    let mut text = render::align(&lines, &[false, false, true, true]);
    let used = subscribed.samples.used.iter().filter(|(_, count)| **count > 0);
    let mut lines = vec![vec!["Path".into(), "Values".into()]];
    lines.extend(used.map(|(path, count)| vec![path.clone(), count.to_string()]));
    if lines.len() > 1 {
        text.push('\n');
        text.push_str(&render::align(&lines, &[false, true]));
    }
    text.push_str(&format!("\n{} stored\n", plural(subscribed.switches.rows, "row")));
    for asked in &subscribed.asked {
        if let Some(why) = &asked.last_failure {
            text.push_str(&format!("last failure of {}: {why}\n", asked.switch));
        }
        for (path, why) in &asked.refused {
            text.push_str(&format!("{} does not serve {path}: {why}\n", asked.switch));
        }
    }
    for (why, count) in &subscribed.samples.unused {
        text.push_str(&format!("{} not used: {why}\n", plural(*count, "value")));
    }
    for (count, what) in [
        (subscribed.switches.rows_not_stored, "rows were not stored"),
        (
            subscribed.switches.overflow,
            "readings are beyond the ports and queues that are kept",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} {what}\n"));
        }
    }
    text
}
