//! The steps of a collective as a trace, in the JSON format that ui.perfetto.dev and Chrome open, an event a line.
//!
//! | in the trace | is |
//! |---|---|
//! | a process | a host, by its name and its ranks |
//! | a thread | a channel of the host; steps that overlap have several |
//! | a slice | a step, with what it waited for as its arguments |
//! | an arrow | from the end of a step to the start of the one that waited for it |
//! | a counter | what captures and agents measured of what the host sent |

use crate::analysis::Analysis;
use crate::steps::{Step, Steps};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use core::net::IpAddr;
use rocescope_model::Time;
use serde_json::{Map, Value, json};

/// What was measured of an address at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The time.
    pub time_ns: i64,
    /// Who sent.
    pub src: IpAddr,
    /// What it is.
    pub counter: Counter,
    /// How much.
    pub value: f64,
}

/// A counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Bytes of frames.
    Rate,
    /// Round trips.
    RoundTrip,
    /// Packets of its steps that were retransmitted.
    Retransmitted,
}

impl Counter {
    const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate, Gbit/s",
            Self::RoundTrip => "round trips, us",
            Self::Retransmitted => "retransmitted packets so far",
        }
    }
}

/// The trace; [`Display`] writes it.
#[derive(Debug)]
pub struct Trace<'a> {
    steps: &'a Steps,
    /// Steps on the critical path.
    critical: BTreeSet<usize>,
    samples: &'a [Sample],
    /// Index of the host of an address.
    hosts: BTreeMap<IpAddr, usize>,
    /// Thread of each step.
    threads: Vec<usize>,
    /// Time 0 of the trace.
    start_ns: i64,
}

impl<'a> Trace<'a> {
    /// The trace of a collective, with samples in the order of time.
    #[must_use]
    pub fn of(analysis: &'a Analysis, samples: &'a [Sample]) -> Self {
        let steps = &analysis.steps;
        let sent = steps.steps.iter().map(|step| step.start_ns);
        let start_ns = sent.chain(samples.iter().map(|sample| sample.time_ns)).min();
        let addresses = steps.steps.iter().filter_map(|step| {
            let host = steps.streams[step.stream as usize].host as usize;
            Some((steps.flow(step)?.src, host))
        });
        Self {
            steps,
            critical: analysis.path.parts.iter().map(|part| part.step).collect(),
            samples,
            hosts: addresses.collect(),
            threads: threads(steps),
            start_ns: start_ns.unwrap_or(0),
        }
    }

    /// Index of the host that sends a step.
    fn host(&self, step: &Step) -> usize {
        self.steps.streams[step.stream as usize].host as usize
    }

    /// Microseconds since the start, to the nanosecond: a time since 1970 would not be exact in JSON.
    fn us(&self, time_ns: i64) -> Value {
        micros(time_ns.saturating_sub(self.start_ns))
    }

    /// Names of hosts, and of their threads.
    fn names(&self) -> Vec<Value> {
        let mut named = Vec::new();
        for (host, name) in self.steps.hosts.iter().enumerate() {
            let pid = number(host);
            named.push(json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": &**name}}));
            named.push(json!({"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": host}}));
        }
        let mut threads = BTreeMap::new();
        for (step, thread) in self.steps.steps.iter().zip(&self.threads) {
            threads.entry(*thread).or_insert(step);
        }
        for (thread, step) in threads {
            let name = match self.steps.streams[step.stream as usize].channel {
                Some(channel) => format!("channel {channel}"),
                None => String::from("steps"),
            };
            let (pid, tid) = (number(self.host(step)), number(thread));
            named.push(json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}));
        }
        named
    }

    fn slice(&self, index: usize) -> Value {
        let step = &self.steps.steps[index];
        let to = &*self.steps.hosts[step.to as usize];
        let mut of = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                of.insert(name.into(), value);
            }
        };
        add("bytes", (step.bytes > 0).then(|| step.bytes.into()));
        add("alone_us", step.expected_ns().map(micros));
        add("credit_wait_us", step.credit_wait_ns().map(micros));
        add("send_wait_us", step.send_wait_ns().map(micros));
        add(
            "retransmitted_packets",
            (step.retransmitted > 0).then(|| step.retransmitted.into()),
        );
        add("dst_qpn", step.qpn().map(Value::from));
        let waited = step.awaited().map(|awaited| {
            let awaited = &self.steps.steps[awaited];
            format!("step {} of {}", awaited.number, self.steps.host(awaited))
        });
        add("waited_for", waited.map(Value::from));
        add("critical_path", self.critical.contains(&index).then_some(true.into()));
        json!({
            "ph": "X", "name": format!("step {} to {to}", step.number), "cat": "step",
            "pid": number(self.host(step)), "tid": number(self.threads[index]),
            "ts": self.us(step.start_ns), "dur": micros(step.duration_ns.max(0)), "args": of,
        })
    }

    /// From the last nanosecond of the step that was waited for, because its end is outside of its slice.
    fn arrow(&self, index: usize) -> Option<[Value; 2]> {
        let step = &self.steps.steps[index];
        let from = step.awaited()?;
        let awaited = &self.steps.steps[from];
        let end_ns = awaited.end_ns().saturating_sub(1).max(awaited.start_ns);
        let event = |phase: &str, step: &Step, thread: usize, time_ns: i64| {
            json!({
                "ph": phase, "name": "waits", "cat": "wait", "id": index, "bp": "e",
                "pid": number(self.host(step)), "tid": number(thread), "ts": self.us(time_ns),
            })
        };
        Some([
            event("s", awaited, self.threads[from], end_ns),
            event("f", step, self.threads[index], step.start_ns),
        ])
    }

    /// The samples of hosts, added up or compared where a host has several at a time.
    fn counters(&self) -> BTreeMap<(i64, usize, Counter), f64> {
        let mut counters = BTreeMap::new();
        for sample in self.samples {
            if let Some(host) = self.hosts.get(&sample.src) {
                let value: &mut f64 = counters.entry((sample.time_ns, *host, sample.counter)).or_default();
                *value = match sample.counter {
                    Counter::RoundTrip => value.max(sample.value),
                    Counter::Rate | Counter::Retransmitted => *value + sample.value,
                };
            }
        }
        self.count_retransmitted(&mut counters);
        counters
    }

    /// What the steps of each host retransmitted up to the end of each.
    fn count_retransmitted(&self, counters: &mut BTreeMap<(i64, usize, Counter), f64>) {
        let mut steps: Vec<&Step> = self.steps.steps.iter().filter(|step| step.retransmitted > 0).collect();
        steps.sort_by_key(|step| step.end_ns());
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        for step in steps {
            let host = self.host(step);
            let sum = sums.entry(host).or_default();
            *sum += step.retransmitted;
            counters.insert((step.end_ns(), host, Counter::Retransmitted), *sum as f64);
        }
    }
}

impl Display for Trace<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let start = json!(format!("{}", Time(self.start_ns)));
        write!(f, "{{\"otherData\":{{\"start\":{start}}},\"traceEvents\":[")?;
        let mut separator = "\n";
        let mut event = |value: &Value| {
            let written = write!(f, "{separator}{value}");
            separator = ",\n";
            written
        };
        self.names().iter().try_for_each(&mut event)?;
        for index in 0..self.steps.steps.len() {
            event(&self.slice(index))?;
            self.arrow(index).iter().flatten().try_for_each(&mut event)?;
        }
        for ((time_ns, host, counter), value) in self.counters() {
            let name = counter.name();
            let (pid, ts) = (number(host), self.us(time_ns));
            event(&json!({"ph": "C", "name": name, "pid": pid, "ts": ts, "args": {"value": value}}))?;
        }
        f.write_str("\n]}\n")
    }
}

/// Threads of all steps: one for each channel of a host, and more for steps that begin before the ones before them end.
fn threads(steps: &Steps) -> Vec<usize> {
    let mut threads = alloc::vec![0; steps.steps.len()];
    let mut next = 0;
    for stream in 0..steps.streams.len() {
        let mut order: Vec<usize> = steps.of_stream(stream).collect();
        order.sort_by_key(|step| (steps.steps[*step].start_ns, *step));
        // The end of the last step of each thread.
        let mut ends: Vec<i64> = Vec::new();
        for index in order {
            let step = &steps.steps[index];
            let free = ends.iter().position(|end| *end <= step.start_ns);
            let lane = free.unwrap_or(ends.len());
            match ends.get_mut(lane) {
                Some(end) => *end = step.end_ns(),
                None => ends.push(step.end_ns()),
            }
            threads[index] = next + lane;
        }
        next += ends.len();
    }
    threads
}

/// The number of a process or thread: 0 is that of an idle processor.
const fn number(index: usize) -> usize {
    index + 1
}

/// Microseconds, to the nanosecond.
fn micros(ns: i64) -> Value {
    match ns % 1_000 {
        0 => json!(ns / 1_000),
        _ => json!(ns as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyze;
    use crate::sample::{row, steps};
    use crate::telemetry::Telemetry;
    use alloc::string::ToString;
    use rocescope_model::StepRow;

    const START: i64 = 1_795_000_000_000_000_000;

    /// Two hosts; step 2 of `b` waits for step 1 of `a`, and step 2 of `a` begins before step 1 ended.
    fn rows() -> [StepRow; 4] {
        let a: IpAddr = [10, 0, 0, 1].into();
        let b: IpAddr = [10, 0, 0, 2].into();
        let of = |host: &str, step: u32, to: &str, waits, start: i64, took, src, dst| StepRow {
            src: Some(src),
            dst: Some(dst),
            bytes: Some(4_096),
            retransmitted_packets: Some(u64::from(step == 2)),
            ..row(host, step, to, waits, START + start, took)
        };
        [
            of("a", 1, "b", None, 0, 2_500, a, b),
            of("a", 2, "b", None, 2_000, 1_000, a, b),
            of("b", 1, "a", None, 100, 1_000, b, a),
            of("b", 2, "a", Some(("a", 1)), 2_600, 1_400, b, a),
        ]
    }

    #[test]
    fn a_trace_has_hosts_steps_waits_and_counters() {
        let analysis = analyze(steps(&rows()), &Telemetry::default());
        let sample = |time_ns, host, counter, value| Sample {
            time_ns: START + time_ns,
            src: [10, 0, 0, host].into(),
            counter,
            value,
        };
        let samples = [
            sample(0, 1, Counter::Rate, 80.0),
            sample(0, 1, Counter::Rate, 20.5),
            sample(0, 9, Counter::Rate, 1.0),
            sample(1_000, 2, Counter::RoundTrip, 7.0),
            sample(1_000, 2, Counter::RoundTrip, 5.0),
        ];
        let text = Trace::of(&analysis, &samples).to_string();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            parsed["traceEvents"].as_array().unwrap().len(),
            text.lines().count() - 2
        );
        assert_eq!(text, include_str!("trace_sample.json"));
    }

    #[test]
    fn names_of_others_do_not_break_it() {
        let name = "a\"\\\u{1b}]\n";
        let steps = steps(&[row(name, 1, "b", None, 0, 5)]);
        let text = Trace::of(&analyze(steps, &Telemetry::default()), &[]).to_string();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["traceEvents"][0]["args"]["name"], name);
        let nothing = Trace::of(&analyze(Steps::default(), &Telemetry::default()), &[]).to_string();
        let parsed: Value = serde_json::from_str(&nothing).unwrap();
        assert_eq!(parsed["traceEvents"], json!([]));
    }
}
