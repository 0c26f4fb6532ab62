//! The steps of one collective.
//!
//! A *stream* is what one host sends on one channel. Its steps have numbers; a step ends when the chunk or the receiver
//! changes.

use crate::complaints::Complaints;
use crate::ids::Ids;
use crate::needs::Needs;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::{StepRow, Text};

/// No step, or no host.
const NONE: u32 = u32::MAX;

/// What identifies a flow in reports of switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Source port; `None` if unknown.
    pub src_port: Option<u16>,
}

/// What one host sends on one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream {
    /// Index in [`Steps::hosts`].
    pub host: u32,
    /// Its channel.
    pub channel: Option<u16>,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Index in [`Steps::streams`].
    pub stream: u32,
    /// Its number, from 1.
    pub number: u32,
    /// Index of the receiver in [`Steps::hosts`].
    pub to: u32,
    /// Index in [`Steps::flows`]; `u32::MAX` if unknown.
    flow: u32,
    /// Index of the step that it waited for; `u32::MAX`: only for its predecessor.
    awaited: u32,
    /// Whether it is known what data its sender needed, and which step brought the last of it; `u32::MAX`: none.
    pub(crate) data_known: bool,
    data: u32,
    /// Start, in nanoseconds since 1970.
    pub start_ns: i64,
    /// How long it took.
    pub duration_ns: i64,
    /// How long it takes alone; negative if unknown.
    expected_ns: i64,
    /// How long it waited for its credit, and then, as the capture or the profiler saw it; negative if unknown.
    credit_wait_ns: i64,
    send_wait_ns: i64,
    /// Destination queue pair number; `u32::MAX` if unknown.
    qpn: u32,
    /// Bytes sent; 0 if unknown.
    pub bytes: u64,
    /// Packets that were retransmitted.
    pub retransmitted: u64,
    /// Position in the input: ties of time are decided by it.
    pub order: u32,
}

impl Step {
    /// Its end.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    /// The step that it waited for before it began; `None` if only its predecessor.
    #[must_use]
    pub fn awaited(&self) -> Option<usize> {
        (self.awaited != NONE).then_some(self.awaited as usize)
    }

    /// How long its sender waited for the credit; `None` if unknown.
    #[must_use]
    pub fn credit_wait_ns(&self) -> Option<i64> {
        (self.credit_wait_ns >= 0).then_some(self.credit_wait_ns)
    }

    /// How long its sender did not send although the credit was there and its predecessor had ended; `None` if unknown.
    #[must_use]
    pub fn send_wait_ns(&self) -> Option<i64> {
        (self.send_wait_ns >= 0).then_some(self.send_wait_ns)
    }

    /// When its credit came; `None` if it came before its predecessor ended, or if that is unknown.
    #[must_use]
    pub fn credit_ns(&self) -> Option<i64> {
        let ready_ns = self.start_ns.saturating_sub(self.send_wait_ns()?);
        (self.credit_wait_ns != 0).then_some(ready_ns)
    }

    /// Destination queue pair number; `None` if unknown.
    #[must_use]
    pub fn qpn(&self) -> Option<u32> {
        (self.qpn != NONE).then_some(self.qpn)
    }

    /// How long it takes alone; `None` if unknown.
    #[must_use]
    pub fn expected_ns(&self) -> Option<i64> {
        (self.expected_ns >= 0).then_some(self.expected_ns)
    }
}

/// A flow that is no step of the collective, as hosts report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Background {
    /// The flow.
    pub flow: FlowKey,
    /// Its start.
    pub start_ns: i64,
    /// How long it took; `None` if it did not end.
    pub duration_ns: Option<i64>,
}

/// The steps of a collective, by stream and number.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// Names of the hosts.
    pub hosts: Vec<Text>,
    /// All streams.
    pub streams: Vec<Stream>,
    /// Flows of the steps.
    pub flows: Vec<FlowKey>,
    /// All steps: those of a stream follow each other in the order of their numbers.
    pub steps: Vec<Step>,
    /// Where the steps of each stream begin, and the end.
    firsts: Vec<usize>,
    /// Other flows.
    pub background: Vec<Background>,
    /// One clock has all times: those of a capture.
    is_captured: bool,
    /// How many steps have a wait that was inferred, because the source states none.
    pub inferred: u64,
    /// What is missing or contradicts itself.
    pub complaints: Complaints,
}

impl Steps {
    /// The name of the host that sends this step.
    #[must_use]
    pub fn host(&self, step: &Step) -> &Text {
        &self.hosts[self.streams[step.stream as usize].host as usize]
    }

    /// The flow of a step; `None` if the source does not state it.
    #[must_use]
    pub fn flow(&self, step: &Step) -> Option<FlowKey> {
        self.flows.get(step.flow as usize).copied()
    }

    /// Indices of the steps of a stream.
    #[must_use]
    pub fn of_stream(&self, stream: usize) -> core::ops::Range<usize> {
        self.firsts[stream]..self.firsts[stream + 1]
    }

    /// The step before this one in its stream.
    #[must_use]
    pub fn before(&self, step: usize) -> Option<usize> {
        (step > self.firsts[self.steps[step].stream as usize]).then(|| step - 1)
    }

    /// Whether it is the last of its stream.
    #[must_use]
    pub fn is_last(&self, step: usize) -> bool {
        step + 1 == self.firsts[self.steps[step].stream as usize + 1]
    }

    /// The step with this number in a stream.
    fn find(&self, stream: u32, number: u32) -> Option<usize> {
        let range = self.of_stream(stream as usize);
        let steps = &self.steps[range.clone()];
        // Almost always the numbers have no holes.
        let guess = number.wrapping_sub(steps.first()?.number) as usize;
        if steps.get(guess).is_some_and(|step| step.number == number) {
            return Some(range.start + guess);
        }
        let at = steps.binary_search_by_key(&number, |step| step.number).ok()?;
        Some(range.start + at)
    }

    /// How long nothing that a step waited for was missing before it started, where the waits are known; 0 elsewhere. For
    /// the first step of a stream: since the first start of all, `first_ns`.
    #[must_use]
    pub fn gap_ns(&self, index: usize, first_ns: i64) -> i64 {
        let step = &self.steps[index];
        if step.send_wait_ns().is_none() {
            return 0;
        }
        let ready = step.awaited().or_else(|| self.predecessor(index));
        let ready_ns = ready.map_or(first_ns, |ready| self.steps[ready].end_ns());
        step.start_ns.saturating_sub(ready_ns).max(0)
    }

    /// The step of its stream that a step could wait for: the one before it. Of a capture, which shows steps of a stream to
    /// several receivers side by side, the last one that had ended, back to the one to the same receiver.
    #[must_use]
    pub fn predecessor(&self, index: usize) -> Option<usize> {
        if !self.is_captured {
            return self.before(index);
        }
        let step = &self.steps[index];
        let first = self.firsts[step.stream as usize];
        let mut last: Option<usize> = None;
        for at in (first..index).rev() {
            let other = &self.steps[at];
            let is_last = last.is_none_or(|last| self.steps[last].end_ns() < other.end_ns());
            if other.end_ns() <= step.start_ns && is_last {
                last = Some(at);
            }
            if other.to == step.to {
                return last.or(Some(at));
            }
        }
        last
    }

    /// When the data arrived that a step needed, if that is known.
    pub(crate) fn data_ns(&self, index: usize) -> Option<i64> {
        let data = self.steps.get(self.steps[index].data as usize);
        data.map(Step::end_ns)
    }

    /// When a step had its data, and its predecessor had ended, at most `latest_ns`; `latest_ns` if it had neither.
    pub(crate) fn ready_ns(&self, index: usize, latest_ns: i64) -> i64 {
        let before = self.predecessor(index).map(|before| self.steps[before].end_ns());
        let awaited = self.steps[index].awaited().map(|awaited| self.steps[awaited].end_ns());
        before
            .max(awaited)
            .max(self.data_ns(index))
            .unwrap_or(latest_ns)
            .min(latest_ns)
    }

    /// First start and last end; `None` without steps.
    #[must_use]
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        let start = self.steps.iter().map(|step| step.start_ns).min()?;
        let end = self.steps.iter().map(Step::end_ns).max()?;
        Some((start, end))
    }
}

/// Collects the rows of one collective.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Builder {
    hosts: Ids<Text>,
    streams: Ids<Stream>,
    flows: Ids<FlowKey>,
    steps: Vec<Raw>,
    background: Vec<Background>,
}

/// A step before its wait is resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Raw {
    step: Step,
    waits_known: bool,
    awaited_host: u32,
    awaited_step: u32,
    is_open: bool,
}

impl Builder {
    /// Adds a row.
    pub fn add(&mut self, row: &StepRow) {
        let flow = match (row.src, row.dst) {
            (Some(src), Some(dst)) => Some(FlowKey {
                src,
                dst,
                src_port: row.src_port,
            }),
            _ => None,
        };
        if row.step == 0 {
            self.background.extend(flow.map(|flow| Background {
                flow,
                start_ns: row.time_ns,
                duration_ns: row.duration_ns,
            }));
            return;
        }
        let host = self.hosts.of(&row.host);
        let stream = self.streams.of(&Stream {
            host,
            channel: row.channel,
        });
        let is_captured = &*row.format == StepRow::CAPTURED;
        let step = Step {
            stream,
            number: row.step,
            to: self.hosts.of(&row.dst_host),
            flow: flow.map_or(NONE, |flow| self.flows.of(&flow)),
            awaited: NONE,
            data_known: row.waits_known,
            data: NONE,
            start_ns: row.time_ns,
            duration_ns: row.duration_ns.unwrap_or(0),
            expected_ns: row.expected_ns.unwrap_or(-1),
            // Only where one clock has all times: those of profilers are of their processes.
            credit_wait_ns: row.credit_wait_ns.filter(|_| is_captured).unwrap_or(-1),
            send_wait_ns: row.send_wait_ns.filter(|_| is_captured).unwrap_or(-1),
            qpn: row.dst_qpn.unwrap_or(NONE),
            bytes: row.bytes.unwrap_or(0),
            retransmitted: row.retransmitted_packets.unwrap_or(0),
            order: u32::try_from(self.steps.len()).unwrap_or(NONE),
        };
        self.steps.push(Raw {
            step,
            waits_known: row.waits_known,
            awaited_host: row.awaited_host.as_ref().map_or(NONE, |host| self.hosts.of(host)),
            awaited_step: row.awaited_step.unwrap_or(row.step.saturating_sub(1)),
            is_open: row.duration_ns.is_none(),
        });
    }

    /// Orders the steps and resolves their waits.
    #[must_use]
    pub fn finish(mut self) -> Steps {
        let mut complaints = Complaints::default();
        let key = |raw: &Raw| (raw.step.stream, raw.step.number, raw.step.order);
        if !self.steps.is_sorted_by_key(key) {
            self.steps.sort_unstable_by_key(key);
        }
        let newest = self.steps.iter().map(|raw| raw.step.end_ns()).max().unwrap_or(0);
        let hosts = self.hosts.values().to_vec();
        let name = |raw: &Raw, streams: &Ids<Stream>| {
            let host = &hosts[streams.values()[raw.step.stream as usize].host as usize];
            format!("host {host}, step {}", raw.step.number)
        };
        let mut last: Option<(u32, u32)> = None;
        let streams = &self.streams;
        self.steps.retain_mut(|raw| {
            let this = (raw.step.stream, raw.step.number);
            if last == Some(this) {
                complaints.add("a second row of this step; left out", name(raw, streams));
                return false;
            }
            if let Some((stream, number)) = last
                && stream == this.0
                && number.checked_add(1) != Some(this.1)
            {
                complaints.add("the steps before it are missing", name(raw, streams));
            }
            last = Some(this);
            if raw.is_open {
                complaints.add(
                    "did not end; taken to last until the newest step ended",
                    name(raw, streams),
                );
                raw.step.duration_ns = newest.saturating_sub(raw.step.start_ns);
            }
            if raw.step.duration_ns < 0 {
                complaints.add("ends before it starts; its time is taken as 0", name(raw, streams));
                raw.step.duration_ns = 0;
            }
            true
        });
        let mut firsts = vec![0; self.streams.values().len() + 1];
        for raw in &self.steps {
            firsts[raw.step.stream as usize + 1] += 1;
        }
        for stream in 1..firsts.len() {
            firsts[stream] += firsts[stream - 1];
        }
        let mut steps = Steps {
            hosts,
            streams: self.streams.values().to_vec(),
            flows: self.flows.values().to_vec(),
            steps: self.steps.iter().map(|raw| raw.step).collect(),
            firsts,
            background: self.background,
            is_captured: false,
            inferred: 0,
            complaints,
        };
        resolve(&mut steps, &self.steps, &self.streams);
        check(&mut steps);
        steps
    }
}

/// Turns the names of awaited steps into indices, and infers waits that the source does not state.
fn resolve(steps: &mut Steps, raws: &[Raw], streams: &Ids<Stream>) {
    // Of each step, the last step to end among those whose data it needs: the data that arrived at its host in the step
    // before. Only where the source states no waits.
    let mut needed = Vec::new();
    if raws.iter().any(|raw| !raw.waits_known) {
        needed = vec![NONE; raws.len()];
        for (index, step) in steps.steps.iter().enumerate() {
            let channel = steps.streams[step.stream as usize].channel;
            let stream = streams.find(&Stream { host: step.to, channel });
            let Some(next) = stream.and_then(|stream| steps.find(stream, step.number.checked_add(1)?)) else {
                continue;
            };
            let known = steps.steps.get(needed[next] as usize);
            if known.is_none_or(|known| known.end_ns() < step.end_ns()) {
                needed[next] = index as u32;
            }
        }
    }
    // Where one clock has all times, they show what may have been needed.
    let is_captured = raws
        .iter()
        .any(|raw| !raw.waits_known && raw.step.send_wait_ns().is_some());
    if is_captured {
        let needs = Needs::of(steps, &needed);
        for (at, step) in steps.steps.iter_mut().enumerate() {
            step.data_known |= needs.is_known[at];
            step.data = needs.data[at];
        }
        needed = needs.data;
        steps.is_captured = true;
    }
    for (index, raw) in raws.iter().enumerate() {
        if !raw.waits_known {
            let Some(data) = steps.steps.get(needed[index] as usize) else {
                continue;
            };
            let own = steps.predecessor(index).map(|before| steps.steps[before].end_ns());
            if own.is_none_or(|own| own < data.end_ns()) {
                steps.steps[index].awaited = needed[index];
                steps.inferred += 1;
            }
            continue;
        }
        if raw.awaited_host == NONE {
            continue;
        }
        let channel = steps.streams[raw.step.stream as usize].channel;
        let stream = streams.find(&Stream {
            host: raw.awaited_host,
            channel,
        });
        match stream.and_then(|stream| steps.find(stream, raw.awaited_step)) {
            Some(awaited) if awaited != index => steps.steps[index].awaited = awaited as u32,
            _ => {
                let host = &steps.hosts[raw.awaited_host as usize];
                let detail = format!("host {host}, step {}", raw.awaited_step);
                let kind = "another step waited for it, and it is missing; taken as waiting for its own predecessor";
                steps.complaints.add(kind, detail);
            }
        }
    }
}

/// Complains about steps that overlap and clocks that disagree.
fn check(steps: &mut Steps) {
    let mut worst: Option<(i64, usize, usize)> = None;
    let mut overlapping: Option<usize> = None;
    let mut overlaps = 0_u64;
    for index in 0..steps.steps.len() {
        let step = &steps.steps[index];
        if let Some(before) = steps.before(index)
            && steps.steps[before].end_ns() > step.start_ns
        {
            overlaps += 1;
            overlapping.get_or_insert(index);
        }
        if let Some(awaited) = step.awaited() {
            let early_ns = steps.steps[awaited].end_ns().saturating_sub(step.start_ns);
            if early_ns > 0 && worst.is_none_or(|(most, ..)| most < early_ns) {
                worst = Some((early_ns, index, awaited));
            }
        }
    }
    if let Some(index) = overlapping {
        let step = &steps.steps[index];
        let detail = format!("host {}, step {}", steps.host(step), step.number);
        let kind = format!("starts before the step before it ends ({overlaps} such steps)");
        steps.complaints.add(&kind, detail);
    }
    if let Some((early_ns, index, awaited)) = worst {
        let (step, other) = (&steps.steps[index], &steps.steps[awaited]);
        let detail = format!("hosts {} and {}", steps.host(step), steps.host(other));
        let ms = early_ns as f64 / 1e6;
        let kind = format!(
            "step {} starts {ms:.3} ms before the step ends that it waited for: their clocks differ; durations are right, \
             times of different hosts are not",
            step.number
        );
        steps.complaints.add(&kind, detail);
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
