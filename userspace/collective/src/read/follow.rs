//! A file while a job writes it: takes what was appended, and returns the steps that are whole.
//!
//! What is not whole yet, an object or a line, waits for the rest. Times that count from the start of a process become times
//! of day: an event is read after it happened, so the shortest time between both, over all reads, is how late reads are
//! at best, and the clock of the process begins that much before.

use super::nccl_profiler::Trace;
use super::{File, Imported, comma, complete, flight_recorder, nccl_inspector, nccl_profiler};
use crate::complaints::Complaints;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{StepRow, Time};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// An object that is longer is skipped.
const MAX_PENDING: usize = 16 << 20;

/// A format that jobs write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// [`comma`].
    Comma,
    /// [`nccl_profiler`].
    NcclProfiler,
    /// [`nccl_inspector`].
    NcclInspector,
    /// [`flight_recorder`].
    FlightRecorder,
}

/// What was appended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Appended {
    /// Steps, from whom ranks receive, and what was skipped.
    pub ended: Imported,
    /// Steps that go on: they are reported again when they end.
    pub open: Vec<StepRow>,
}

/// A file that grows.
#[derive(Debug)]
pub struct Follower {
    format: Format,
    name: String,
    observer: String,
    /// What is not whole yet.
    pending: String,
    trace: Trace,
    /// How far the times of the trace are behind the time of day.
    behind_ns: Option<i64>,
}

impl Follower {
    /// A file of this name, at its start.
    #[must_use]
    pub fn new(format: Format, name: &str, observer: &str) -> Self {
        Self {
            format,
            name: name.to_string(),
            observer: observer.to_string(),
            pending: String::new(),
            trace: Trace::default(),
            behind_ns: None,
        }
    }

    /// Takes what was appended by `now_ns`.
    pub fn take(&mut self, appended: &str, now_ns: i64) -> Appended {
        self.pending.push_str(appended);
        let mut complaints = Complaints::default();
        let whole = match self.format {
            Format::NcclProfiler => self.pending.rfind('\n').map_or(0, |at| at + 1),
            _ => whole_objects(&self.pending),
        };
        let rest = self.pending.split_off(whole);
        let mut text = core::mem::replace(&mut self.pending, rest);
        if self.pending.len() > MAX_PENDING {
            let kind = "an object or a line that is too long; skipped";
            complaints.add(kind, format!("{}: {} bytes", self.name, self.pending.len()));
            self.pending.clear();
        }
        if self.format == Format::NcclProfiler {
            return self.trace(&text, now_ns, complaints);
        }
        if text.trim_matches(is_between).is_empty() {
            text.clear();
        }
        let file = [File {
            name: self.name.clone(),
            text,
        }];
        let mut ended = match self.format {
            Format::Comma => comma::read(&file, &self.observer),
            Format::NcclInspector => nccl_inspector::read(&file, &self.observer),
            _ => flight_recorder::read(&file, &self.observer),
        };
        ended.complaints.append(complaints);
        Appended {
            ended,
            open: Vec::new(),
        }
    }

    fn trace(&mut self, lines: &str, now_ns: i64, complaints: Complaints) -> Appended {
        let mut ended = Imported {
            complaints,
            ..Imported::default()
        };
        if !lines.is_empty() {
            self.trace.lines(&self.name, lines, &mut ended);
            let behind_ns = now_ns.saturating_sub(self.trace.newest_ns);
            self.behind_ns = Some(self.behind_ns.map_or(behind_ns, |known| known.min(behind_ns)));
        }
        complete(&mut ended, &self.observer, nccl_profiler::FORMAT);
        let mut open = Imported {
            steps: self.trace.open().cloned().collect(),
            ..Imported::default()
        };
        complete(&mut open, &self.observer, nccl_profiler::FORMAT);
        let behind_ns = self.behind_ns.unwrap_or(0);
        for row in ended.steps.iter_mut().chain(&mut open.steps) {
            row.time_ns = row.time_ns.saturating_add(behind_ns);
            row.time = Time(row.time_ns);
        }
        Appended {
            ended,
            open: open.steps,
        }
    }
}

/// What is between objects.
fn is_between(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '[' | ']' | ',')
}

/// The length of the text up to the end of its last whole object; what is broken, and not only cut, counts as whole.
fn whole_objects(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or("");
        let trimmed = rest.trim_start_matches(is_between);
        if trimmed.is_empty() {
            return text.len();
        }
        let start = at + rest.len() - trimmed.len();
        let mut values = Deserializer::from_str(trimmed).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => at = start + values.byte_offset().max(1),
            Some(Err(error)) if error.is_eof() => return start,
            // The readers skip what is broken up to the next line.
            _ => match trimmed.find('\n') {
                Some(end) => at = start + end + 1,
                None => return start,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Follower, Format};
    use alloc::vec::Vec;
    use std::format;
    use std::string::String;

    const OBJECT: &str = r#"{"name":"all_reduce","comm_hash":"1","rank":0,"seq_num":1,"proxyops":[
        {"is_send":false,"peer":7,"steps":[]},
        {"is_send":true,"peer":1,"steps":[{"step":1,"start_time":10,"end_time":30,"size":5}]}]}"#;

    #[test]
    fn an_object_counts_when_it_is_whole_however_it_was_appended() {
        let text = format!("[\n{OBJECT},\nbroken\n{OBJECT}\n]");
        for piece in [1, 7, 100, text.len()] {
            let mut follower = Follower::new(Format::Comma, "f", "h0");
            let mut steps = Vec::new();
            let mut receives = Vec::new();
            let bytes: Vec<char> = text.chars().collect();
            for chunk in bytes.chunks(piece) {
                let appended = follower.take(&chunk.iter().collect::<String>(), 99);
                steps.extend(appended.ended.steps);
                receives.extend(appended.ended.receives);
                assert!(appended.open.is_empty());
            }
            assert_eq!(steps.len(), 2, "{piece}");
            assert_eq!((steps[0].time_ns, steps[0].duration_ns), (10_000, Some(20_000)));
            assert_eq!((receives.len(), receives[0].by.rank, receives[0].from), (2, 0, 7));
        }
    }

    /// The lines of a step of rank 5 to 6, with their times in microseconds.
    fn lines(begin: u32, end: u32) -> [String; 2] {
        let event = |name: &str, category: &str, phase: &str, us: u32, more: &str| {
            format!(
                "{{\"name\": \"{name}\", \"cat\": \"{category}\", \"ph\": \"{phase}\", \"pid\": 7, \"ts\": {us}, \"args\": {{{more}}}}},\n"
            )
        };
        let begun = event(
            "AllReduce",
            "COLL",
            "b",
            1,
            "\"SeqNum\": 3, \"CommHash\": 99, \"Rank\": 5",
        ) + &event("ProgressRecv", "PROXY", "b", 2, "\"Channel\": 0, \"Peer\": 4")
            + &event("ProgressSend", "PROXY", "b", 2, "\"Channel\": 0, \"Peer\": 6")
            + &event("SendGpuWait", "NET", "b", begin, "")
            + &event("SendWait", "NET", "b", begin, "");
        [begun, event("SendWait", "NET", "e", end, "")]
    }

    #[test]
    fn a_step_of_a_trace_is_open_until_its_end_and_has_the_time_of_day() {
        let mut follower = Follower::new(Format::NcclProfiler, "trace", "h0");
        let [begun, ended] = lines(1_000, 5_000);
        // The first read is 2 ms late, the next one 1 ms.
        let first = follower.take(&begun, 1_003_000_000);
        assert_eq!((first.ended.steps.len(), first.open.len()), (0, 1));
        assert_eq!(first.open[0].time_ns, 1_003_000_000);
        assert_eq!((first.ended.receives[0].by.rank, first.ended.receives[0].from), (5, 4));
        let (half, rest) = ended.split_at(20);
        assert_eq!(follower.take(half, 1_004_000_000).open, first.open);
        let last = follower.take(rest, 1_006_000_000);
        assert_eq!((last.ended.steps.len(), last.open.len()), (1, 0));
        let step = &last.ended.steps[0];
        assert_eq!((step.time_ns, step.duration_ns), (1_002_000_000, Some(4_000_000)));
        assert_eq!(follower.take("", 1_007_000_000), super::Appended::default());
    }
}
