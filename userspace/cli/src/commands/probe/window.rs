//! The status line of a window: probes sent and lost, where, and latency.

use rocescope_model::{ProbeRow, Text, Unit, Value, human};
use rocescope_probe::{Agent, Nanos};
use std::time::Duration;

/// Maximum number of pairs with losses in a line.
const NAMED: usize = 3;

pub(super) struct Window {
    length: Nanos,
    end: Nanos,
    decided: u64,
    received: u64,
    unsent: u64,
    corrupt: u64,
    latencies: Vec<i64>,
    delays: Vec<i64>,
    /// Lost probes by pair.
    lost: Vec<(Text, Text, u64)>,
}

impl Window {
    pub(super) fn new(length: Duration, now: Nanos) -> Self {
        let length = Nanos::from(length);
        Self {
            length,
            end: now + length,
            decided: 0,
            received: 0,
            unsent: 0,
            corrupt: 0,
            latencies: Vec::new(),
            delays: Vec::new(),
            lost: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, rows: &[ProbeRow]) {
        for row in rows {
            self.decided += 1;
            self.latencies.extend(row.network_latency_ns);
            self.delays.extend(row.processing_delay_ns);
            match &*row.outcome {
                "received" => {
                    self.received += 1;
                    continue;
                }
                "corrupt" => self.corrupt += 1,
                "unsent" => self.unsent += 1,
                _ => {}
            }
            let pair = |lost: &&mut (Text, Text, u64)| lost.0 == row.src_nic && lost.1 == row.dst_nic;
            match self.lost.iter_mut().find(pair) {
                Some((_, _, count)) => *count += 1,
                None => self.lost.push((row.src_nic.clone(), row.dst_nic.clone(), 1)),
            }
        }
    }

    /// Whether the window is over; the clock may have been set forwards or backwards.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        now >= self.end || self.end >= now + self.length + self.length
    }

    /// The line, if the window is over.
    pub(super) fn line(&mut self, now: Nanos, agent: &Agent) -> Option<String> {
        if !self.is_over(now) {
            return None;
        }
        let next = Self {
            length: self.length,
            end: now + self.length,
            decided: 0,
            received: 0,
            unsent: 0,
            corrupt: 0,
            latencies: std::mem::take(&mut self.latencies),
            delays: std::mem::take(&mut self.delays),
            lost: Vec::new(),
        };
        let mut window = std::mem::replace(self, next);
        let network = quantiles(&mut self.latencies);
        let host = quantiles(&mut self.delays);
        let timeouts = window.decided - window.received - window.unsent - window.corrupt;
        let mut line = format!(
            "{} probes = {} received + {timeouts} timed out + {} corrupt + {} unsent; network {network}; host {host}",
            window.decided, window.received, window.corrupt, window.unsent,
        );
        let (tuples, known) = agent.paths();
        if tuples > 0 {
            line += &format!("; {known} of {tuples} paths");
        }
        if agent.slowed_by() > 1 {
            line += &format!("; slowed down {} times", agent.slowed_by());
        }
        window.lost.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        for (src, dst, count) in window.lost.iter().take(NAMED) {
            line += &format!("; {src} to {dst}: {count} lost");
        }
        Some(line)
    }
}

/// Median and 99th percentile as text; clears the values but keeps their memory.
fn quantiles(values: &mut Vec<i64>) -> String {
    values.sort_unstable();
    let at = |share: usize| {
        let value = values.get((values.len() * share / 100).min(values.len().saturating_sub(1)));
        value.map_or_else(
            || "-".into(),
            |value| human::readable(&Value::I64(*value), Unit::Nanoseconds),
        )
    };
    let text = format!("{} (p99 {})", at(50), at(99));
    values.clear();
    text
}
