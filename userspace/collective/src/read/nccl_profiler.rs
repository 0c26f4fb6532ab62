//! The trace of NCCL's example profiler (`NCCL_PROFILE_DUMP_FILE`): an asynchronous event of Chrome's format a line.
//!
//! The trace is no valid JSON: it has values without quotes, typographic quotes, and ends in `{}]`. So each line is searched
//! for its fields. Events of a process nest: a collective, its operations to a peer, their steps, and what the network
//! plugin sent for each. Times are microseconds since the process began.

use super::{File, Imported, Operation, Receive, complete, nanos};
use crate::complaints::Complaints;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use rocescope_model::StepRow;

/// The name of the format in rows.
pub const FORMAT: &str = "nccl-profiler";

/// The state of a process while its events are read.
#[derive(Debug, Default)]
struct Process {
    collective: String,
    operation: String,
    rank: u32,
    /// Channel, peer and bytes of the operation that sends.
    send: Option<(u16, u32, u64)>,
    /// The step that sends now, and when it began to wait.
    step: Option<StepRow>,
    since_us: f64,
    /// Steps so far of each channel, in this collective.
    numbers: BTreeMap<u16, u32>,
}

/// Reads the files of all processes.
#[must_use]
pub fn read(files: &[File], observer: &str) -> Imported {
    let mut all = Imported::default();
    let mut has_qps = false;
    for file in files {
        let mut trace = Trace::default();
        trace.lines(&file.name, &file.text, &mut all);
        has_qps |= trace.has_qps;
        all.steps.extend(trace.open().cloned());
    }
    if !all.steps.is_empty() {
        let lack =
            "times of this format count from the start of each process: those of different ranks cannot be compared";
        all.complaints.add(lack, FORMAT);
        if !has_qps {
            let lack = "no queue pairs: NCCL_PROFILE_EVENT_MASK=4095 has those of the network plugin";
            all.complaints.add(lack, FORMAT);
        }
    }
    complete(&mut all, observer, FORMAT);
    all
}

/// A file, line by line.
#[derive(Debug, Default)]
pub(super) struct Trace {
    processes: BTreeMap<u64, Process>,
    lines: usize,
    has_qps: bool,
    /// The newest time, from the start of the process.
    pub(super) newest_ns: i64,
}

impl Trace {
    /// Takes whole lines.
    pub(super) fn lines(&mut self, name: &str, text: &str, all: &mut Imported) {
        for line in text.lines() {
            self.lines += 1;
            let line = line.trim();
            if line.is_empty() || line.chars().all(|sign| "[]{},".contains(sign)) {
                continue;
            }
            let at = self.lines;
            let place = || format!("{name}:{at}");
            let event = Event::of(line);
            let Some((event, pid)) = event.and_then(|event| Some((event, field(line, "pid")?.parse().ok()?))) else {
                all.complaints
                    .add("no event with `name`, `ph`, `pid` and `ts`; skipped", place());
                continue;
            };
            self.newest_ns = self.newest_ns.max(nanos(event.us));
            let process = self.processes.entry(pid).or_default();
            self.has_qps |= process.take(&event, all, place);
        }
    }

    /// The steps that send now.
    pub(super) fn open(&self) -> impl Iterator<Item = &StepRow> {
        let open = self.processes.values().filter_map(|process| process.step.as_ref());
        open.filter(|row| row.duration_ns.is_none() && row.time_ns > 0)
    }
}

/// What every line has.
#[derive(Debug)]
struct Event<'a> {
    line: &'a str,
    name: &'a str,
    category: &'a str,
    begins: bool,
    us: f64,
}

impl<'a> Event<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let us: f64 = field(line, "ts")?.parse().ok()?;
        Some(Self {
            line,
            name: field(line, "name")?,
            category: field(line, "cat").unwrap_or(""),
            begins: match field(line, "ph")? {
                "b" => true,
                "e" => false,
                _ => return None,
            },
            us: if us.is_finite() { us } else { return None },
        })
    }

    fn number(&self, key: &str) -> Option<u64> {
        field(self.line, key)?.parse().ok()
    }
}

/// The value of a key, with or without quotes: up to the next comma or brace.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.find(key)?;
        from = at + key.len();
        let before = line.get(..at)?.chars().next_back()?;
        let Some(rest) = line.get(from..).and_then(|rest| {
            let rest = rest.strip_prefix(['"', '\u{201c}', '\u{201d}'])?.trim_start();
            rest.strip_prefix(':')
        }) else {
            continue;
        };
        if !matches!(before, '"' | '\u{201c}' | '\u{201d}') {
            continue;
        }
        let value = rest.split([',', '}']).next()?.trim();
        return Some(value.trim_matches(['"', '\u{201c}', '\u{201d}']));
    }
}

impl Process {
    /// Takes an event; returns whether it names a queue pair.
    fn take(&mut self, event: &Event<'_>, all: &mut Imported, place: impl Fn() -> String) -> bool {
        match (event.category, event.name, event.begins) {
            ("COLL", name, true) => {
                let (Some(rank), Some(number)) = (event.number("Rank"), event.number("SeqNum")) else {
                    all.complaints
                        .add("a collective without `Rank` or `SeqNum`; skipped", place());
                    return false;
                };
                let communicator = field(event.line, "CommHash").unwrap_or("?");
                self.rank = rank as u32;
                self.operation = name.to_string();
                self.collective = format!("{communicator}:{name}:{number}");
                self.numbers.clear();
            }
            ("PROXY", "ProgressSend", true) => {
                self.send = event
                    .number("Channel")
                    .zip(event.number("Peer"))
                    .map(|(channel, peer)| {
                        let bytes = event.number("transSize").or_else(|| event.number("ChunkSize"));
                        (channel as u16, peer as u32, bytes.unwrap_or(0))
                    });
                if self.send.is_none() {
                    all.complaints
                        .add("an operation without `Channel` or `Peer`; skipped", place());
                }
            }
            ("PROXY", "ProgressSend", false) => {
                if let Some((channel, ..)) = self.send.take() {
                    all.finished.push(self.operation(channel));
                }
            }
            ("PROXY", "ProgressRecv", true) => {
                if let (Some(channel), Some(from)) = (event.number("Channel"), event.number("Peer")) {
                    all.receives.push(Receive {
                        by: self.operation(channel as u16),
                        from: from as u32,
                    });
                }
            }
            ("NET", "SendGpuWait", true) => {
                self.step = self.begin(&mut all.complaints, place);
                self.since_us = event.us;
            }
            ("NET", "SendGpuWait", false) => {
                let waited_ns = nanos(event.us - self.since_us);
                self.step
                    .iter_mut()
                    .for_each(|step| step.send_wait_ns = Some(waited_ns));
            }
            ("NET", "SendPeerWait", true) => self.since_us = event.us,
            ("NET", "SendPeerWait", false) => {
                let waited_ns = nanos(event.us - self.since_us);
                self.step
                    .iter_mut()
                    .for_each(|step| step.credit_wait_ns = Some(waited_ns));
            }
            ("NET", "SendWait", true) => {
                self.step.iter_mut().for_each(|step| step.time_ns = nanos(event.us));
            }
            ("NET", "SendWait", false) => {
                if let Some(mut step) = self.step.take() {
                    step.duration_ns = Some(nanos(event.us).saturating_sub(step.time_ns));
                    all.steps.push(step);
                }
            }
            ("NET_IB", "Qp", true) => {
                let (qpn, bytes) = (event.number("qp_num"), event.number("size"));
                if let Some(step) = &mut self.step {
                    step.src_qpn = qpn.map(|qpn| qpn as u32);
                    step.bytes = bytes.filter(|bytes| *bytes > 0).or(step.bytes);
                }
                return qpn.is_some();
            }
            _ => {}
        }
        false
    }

    fn operation(&self, channel: u16) -> Operation {
        Operation {
            collective: self.collective.clone().into(),
            rank: self.rank,
            channel,
        }
    }

    fn begin(&mut self, complaints: &mut Complaints, place: impl Fn() -> String) -> Option<StepRow> {
        let Some((channel, peer, bytes)) = self.send else {
            complaints.add("a step outside an operation that sends; skipped", place());
            return None;
        };
        let number = self.numbers.entry(channel).or_default();
        *number += 1;
        Some(StepRow {
            collective: self.collective.clone().into(),
            operation: self.operation.clone().into(),
            host: self.rank.to_string().into(),
            rank: Some(self.rank),
            channel: Some(channel),
            step: *number,
            dst_host: peer.to_string().into(),
            bytes: (bytes > 0).then_some(bytes),
            ..StepRow::default()
        })
    }
}
