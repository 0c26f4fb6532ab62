//! One direction of a QP: the messages that pass, and the credits that it carries for the other direction.

use super::message::{Message, ahead};
use crate::connections::DirectionKey;
use crate::time::EventTime;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use rocescope_record::RunRecord;

/// Messages without an acknowledgement, and credits without a message, that are kept; the oldest give way. NCCL has eight
/// steps in flight.
pub(super) const MAX_OPEN: usize = 32;
/// A message whose end has passed is over after this time without packets, although no acknowledgement passed.
const SETTLE_NS: u64 = 1_000_000_000;
/// Messages of other senders that follow within this time belong together, whatever the time between others.
const CLOSE_NS: u64 = 5_000;
/// A longer pause than this many times the longest one inside a step ends it.
const PAUSES: u64 = 4;
/// Confidence of a step that ends with an immediate whose credit passed, whose credit did not pass, and the highest of one
/// that only idle time ends.
const CREDITED: f64 = 1.0;
const WITHOUT_CREDIT: f64 = 0.9;
const BY_IDLE_TIME: f64 = 0.7;
/// What remains of it if the start of a message did not pass, or the capture lost packets then.
const IN_PART: f64 = 0.5;

/// A step that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) bytes: u64,
    pub(super) retransmitted: u64,
    pub(super) credit_wait_ns: Option<i64>,
    pub(super) send_wait_ns: Option<i64>,
    pub(super) confidence: f64,
}

/// Messages without immediates that follow each other closely.
#[derive(Clone, Copy, Debug)]
struct Burst {
    step: Step,
    longest_pause_ns: u64,
}

/// The state of a direction.
#[derive(Clone, Debug)]
pub(super) struct Qp {
    pub(super) key: DirectionKey,
    pub(super) udp_src_port: u16,
    pub(super) job: u32,
    pub(super) peer: Option<u32>,
    pub(super) open: VecDeque<Message>,
    /// Highest PSN that passed, and the highest that its receiver has.
    high: Option<u32>,
    acked: Option<u32>,
    /// Credits that this direction carried since the collective began, and those that no message took.
    pub(super) posted: u64,
    credits: VecDeque<u64>,
    burst: Option<Burst>,
    /// A message with immediate has passed.
    pub(super) has_immediates: bool,
    /// End of the step before, in this collective.
    ended_ns: Option<u64>,
    pub(super) channel: Option<u16>,
}

impl Qp {
    pub(super) fn new(key: DirectionKey, job: u32) -> Self {
        Self {
            key,
            udp_src_port: 0,
            job,
            peer: None,
            open: VecDeque::new(),
            high: None,
            acked: None,
            posted: 0,
            credits: VecDeque::new(),
            burst: None,
            has_immediates: false,
            ended_ns: None,
            channel: None,
        }
    }

    /// A collective begins.
    pub(super) fn begin_collective(&mut self) {
        self.credits.clear();
        self.ended_ns = None;
    }

    /// Whether a run has PSNs that did not pass before; and how many of its packets are at or below the highest.
    fn advance(&mut self, run: &RunRecord) -> (bool, u64) {
        let Some(high) = self.high else {
            self.high = Some(run.last_psn);
            return (true, 0);
        };
        let new = ahead(run.last_psn, high).max(0) as u64;
        if new > 0 {
            self.high = Some(run.last_psn);
        }
        (new > 0, u64::from(run.packets).saturating_sub(new))
    }

    /// A credit passes.
    pub(super) fn post(&mut self, run: &RunRecord) {
        let (is_new, _) = self.advance(run);
        if is_new {
            self.posted += 1;
            if self.credits.len() >= MAX_OPEN {
                self.credits.pop_front();
            }
            self.credits.push_back(run.first_ns);
        }
    }

    /// Whether it carried a credit that no message has taken.
    pub(super) fn has_credit(&self) -> bool {
        !self.credits.is_empty()
    }

    /// Whether it has sent neither messages nor credits.
    pub(super) const fn is_unused(&self) -> bool {
        self.high.is_none()
    }

    /// The oldest credit for a message that began at `began_ns`.
    pub(super) fn take_credit(&mut self, began_ns: u64) -> Option<u64> {
        self.credits.pop_front_if(|posted_ns| *posted_ns <= began_ns)
    }

    /// Packets of a message pass.
    pub(super) fn send(&mut self, run: &RunRecord, is_blind: bool, settled: &mut Vec<Step>) {
        self.udp_src_port = run.flow.udp_src_port;
        let (is_new, repeated) = self.advance(run);
        let starts = run.first > 0 || run.only > 0;
        // The newest message that begins at or below the run.
        let found = self
            .open
            .iter_mut()
            .rev()
            .find(|message| ahead(run.first_psn, message.first_psn) >= 0);
        if let Some(message) = found {
            let is_same = match starts {
                true => message.first_psn == run.first_psn,
                false => !message.has_end || ahead(run.first_psn, message.last_psn) <= 0,
            };
            if is_same {
                message.add(run, repeated);
                message.is_blind |= is_blind;
                return;
            }
        }
        // The start of a message, lost upstream before, comes behind later packets of it.
        let lost = |message: &&mut Message| !message.has_start && ahead(message.first_psn, run.first_psn) > 0;
        if starts && let Some(message) = self.open.iter_mut().find(lost) {
            message.add(run, repeated);
            return;
        }
        // A message that was lost whole comes behind later ones.
        let is_missing = starts && self.acked.is_none_or(|acked| ahead(run.first_psn, acked) > 0);
        if !is_new && !is_missing {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.settle(settled);
        }
        let mut message = Message::new(run);
        message.is_blind = is_blind;
        message.retransmitted = repeated;
        let is_before = |other: &Message| ahead(run.first_psn, other.first_psn) > 0;
        self.open.insert(self.open.partition_point(is_before), message);
    }

    /// The receiver has everything up to this PSN.
    pub(super) fn acknowledge(&mut self, psn: u32, settled: &mut Vec<Step>) {
        if self.acked.is_none_or(|acked| ahead(psn, acked) > 0) {
            self.acked = Some(psn);
        }
        while let Some(message) = self.open.front() {
            let is_over = ahead(psn, message.last_psn) >= 0 && (message.has_end || self.open.len() > 1);
            if !is_over {
                return;
            }
            self.settle(settled);
        }
    }

    /// What has been silent is over.
    pub(super) fn sweep(&mut self, now_ns: u64, settled: &mut Vec<Step>) {
        while let Some(message) = self.open.front() {
            if now_ns.since(message.last_ns) < SETTLE_NS {
                break;
            }
            self.settle(settled);
        }
        if let Some(burst) = self.burst
            && self.open.is_empty()
            && now_ns.since(burst.step.last_ns) > SETTLE_NS
        {
            self.end_burst(SETTLE_NS, settled);
        }
    }

    /// Everything is over.
    pub(super) fn finish(&mut self, settled: &mut Vec<Step>) {
        while !self.open.is_empty() {
            self.settle(settled);
        }
        self.end_burst(SETTLE_NS, settled);
    }

    /// The oldest message is over.
    fn settle(&mut self, settled: &mut Vec<Step>) {
        let Some(message) = self.open.pop_front() else { return };
        let mut step = self.step(&message);
        self.has_immediates |= message.has_immediate;
        if message.is_plain() || !message.has_end {
            self.join(step, settled);
            return;
        }
        if let Some(burst) = self.burst.take() {
            if message.is_notice() {
                let confidence = step.confidence;
                step = Step {
                    last_ns: step.last_ns,
                    retransmitted: burst.step.retransmitted + step.retransmitted,
                    credit_wait_ns: None,
                    send_wait_ns: None,
                    confidence,
                    ..burst.step
                };
                self.wait(&mut step, message.credit_ns);
            } else {
                // Messages before it that no immediate ended.
                self.push_burst(burst, SETTLE_NS, settled);
                step = self.step(&message);
            }
        }
        self.ended_ns = Some(step.last_ns);
        settled.push(step);
    }

    /// A message as a step.
    fn step(&self, message: &Message) -> Step {
        let is_whole = message.has_start && message.has_end && !message.is_blind;
        let confidence = match message.credit_ns {
            Some(_) => CREDITED,
            None => WITHOUT_CREDIT,
        };
        let mut step = Step {
            first_ns: message.first_ns,
            last_ns: message.last_ns,
            bytes: message.bytes,
            retransmitted: message.retransmitted,
            credit_wait_ns: None,
            send_wait_ns: None,
            confidence: if is_whole { confidence } else { confidence * IN_PART },
        };
        self.wait(&mut step, message.credit_ns);
        step
    }

    /// How long it waited for its credit, and then.
    fn wait(&self, step: &mut Step, credit_ns: Option<u64>) {
        let Some(credit_ns) = credit_ns else { return };
        let ready_ns = self.ended_ns.unwrap_or(0).max(credit_ns);
        step.credit_wait_ns = self.ended_ns.map(|ended_ns| ready_ns.since(ended_ns) as i64);
        step.send_wait_ns = Some(step.first_ns.since(ready_ns) as i64);
    }

    /// Adds a message without immediate to those before it, or ends these.
    fn join(&mut self, step: Step, settled: &mut Vec<Step>) {
        let Some(burst) = &mut self.burst else {
            self.burst = Some(Burst {
                step,
                longest_pause_ns: 0,
            });
            return;
        };
        let pause_ns = step.first_ns.since(burst.step.last_ns);
        if pause_ns <= (burst.longest_pause_ns * PAUSES).max(CLOSE_NS) {
            burst.longest_pause_ns = burst.longest_pause_ns.max(pause_ns);
            burst.step.last_ns = burst.step.last_ns.max(step.last_ns);
            burst.step.bytes += step.bytes;
            burst.step.retransmitted += step.retransmitted;
            return;
        }
        self.end_burst(pause_ns, settled);
        self.burst = Some(Burst {
            step,
            longest_pause_ns: 0,
        });
    }

    /// The messages without immediates are a step, after which the QP was idle for `idle_ns`.
    fn end_burst(&mut self, idle_ns: u64, settled: &mut Vec<Step>) {
        if let Some(burst) = self.burst.take() {
            self.push_burst(burst, idle_ns, settled);
        }
    }

    fn push_burst(&mut self, burst: Burst, idle_ns: u64, settled: &mut Vec<Step>) {
        let clear = 1.0 - burst.longest_pause_ns as f64 / idle_ns.max(1) as f64;
        let whole = (burst.step.confidence / WITHOUT_CREDIT).min(1.0);
        let step = Step {
            confidence: BY_IDLE_TIME * whole * clear.clamp(0.0, 1.0),
            ..burst.step
        };
        self.ended_ns = Some(step.last_ns);
        settled.push(step);
    }
}
