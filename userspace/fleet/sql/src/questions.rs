//! Saved questions: what operators ask, each with a sentence. The same files run in DuckDB and Spark.

use anyhow::{Context, Result};

/// A saved question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// Its name.
    pub name: &'static str,
    /// Its SQL; the first line is a comment with the sentence.
    pub sql: &'static str,
}

impl Question {
    /// What it asks, in a sentence.
    pub(crate) fn sentence(&self) -> &'static str {
        let first = self.sql.lines().next().unwrap_or_default();
        first.trim_start_matches('-').trim()
    }
}

macro_rules! questions {
    ($($name:literal),* $(,)?) => {
        /// All of them.
        pub(crate) const ALL: &[Question] = &[$(Question {
            name: $name,
            sql: include_str!(concat!("../../../../fleet/rocescope_fleet/questions/", $name, ".sql")),
        }),*];
    };
}

questions![
    "busiest_windows",
    "capture_health",
    "congested_windows",
    "events_by_kind",
    "failed_connections",
    "host_errors",
    "lossy_connections",
    "lossy_pairs",
    "marked_flows",
    "mesh_latency",
    "mesh_loss",
    "opcode_mix",
    "receivers_not_ready",
    "retransmitting_hosts",
    "slow_connections",
    "top_flows",
    "top_receivers",
    "top_senders",
    "uneven_links",
    "uneven_ports",
];

/// The question with this name.
///
/// # Errors
/// There is none.
pub(crate) fn find(name: &str) -> Result<Question> {
    let found = ALL.iter().find(|question| question.name == name).copied();
    found.with_context(|| format!("no question is named {name:?}; --list names them all"))
}

/// Names and sentences.
pub(crate) fn list() -> String {
    let width = ALL.iter().map(|question| question.name.len()).max().unwrap_or(0);
    ALL.iter()
        .map(|question| format!("{:width$}  {}\n", question.name, question.sentence()))
        .collect()
}
