//! The status line of a window: probes sent and lost, where, and latency.

use rocescope_model::{ProbeRow, Text, Unit, Value, human};
use rocescope_probe::{Agent, Nanos};
use std::net::IpAddr;
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
    /// Ways to and from other hosts: received, timed out, unknown, unsent.
    others: [u64; 4],
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
            others: [0; 4],
            latencies: Vec::new(),
            delays: Vec::new(),
            lost: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, rows: &[ProbeRow]) {
        let is_within = |row: &&ProbeRow| !row.src_nic.is_empty() && !row.dst_nic.is_empty();
        for row in rows.iter().filter(|row| !is_within(row)) {
            let [received, timeouts, unknown, unsent] = &mut self.others;
            *match &*row.outcome {
                "received" => received,
                "timeout" => timeouts,
                "unknown" => unknown,
                _ => unsent,
            } += 1;
            if &*row.outcome == "timeout" {
                self.lose(end(&row.src_nic, row.src), end(&row.dst_nic, row.dst));
            }
        }
        for row in rows.iter().filter(is_within) {
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
            self.lose(row.src_nic.clone(), row.dst_nic.clone());
        }
    }

    fn lose(&mut self, src: Text, dst: Text) {
        let pair = |lost: &&mut (Text, Text, u64)| lost.0 == src && lost.1 == dst;
        match self.lost.iter_mut().find(pair) {
            Some((_, _, count)) => *count += 1,
            None => self.lost.push((src, dst, 1)),
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
            others: [0; 4],
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
        let [received, timeouts, unknown, unsent] = window.others;
        if agent.peer_counters().is_some() {
            let (tuples, known) = agent.peer_paths();
            line += &format!(
                "; to and from other hosts {received} received + {timeouts} timed out + {unknown} unknown + {unsent} unsent, \
                {known} of {tuples} paths"
            );
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

/// The name of a NIC; of one of another host, its address.
fn end(name: &Text, address: IpAddr) -> Text {
    match name.is_empty() {
        true => Text::from(address.to_string()),
        false => name.clone(),
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
