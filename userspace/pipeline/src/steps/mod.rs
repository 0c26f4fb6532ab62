//! Steps of collectives from the wire alone.
//!
//! On RoCE, NCCL's steps are visible. The receiver posts a *credit*, a small RDMA WRITE; the sender answers with the chunk
//! as RDMA WRITE with immediate, or as RDMA WRITE and an empty one with immediate. So credit, first packet and last packet
//! of each chunk give its waits and its time. Other senders have messages and idle time only: messages that follow each
//! other closely are one step, with a confidence.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | finds the QP of a run, and what an acknowledgement settles |
//! | `message` | a message while it passes |
//! | `qp` | one direction of a QP: its messages, the credits it carries |
//! | `jobs` | hosts that exchange steps, and where one collective of theirs ends and the next begins |
//! | `rows` | steps as rows |
//!
//! Runs must come in the order of their first times, and hold at most one message each: as with every PSN marked. What
//! the capture does not see cannot be known: data that pass inside a host, and which QPs belong to one channel. QPs between
//! the same hosts are numbered in the order of their numbers instead.
//!
//! Memory: `MAX_QPS` directions with at most `MAX_OPEN` messages and credits each, and
//! `MAX_HELD` steps of collectives that have not ended.

mod jobs;
mod message;
mod qp;
mod rows;

use crate::connections::DirectionKey;
use crate::time::EventTime;
use alloc::vec::Vec;
use hashbrown::HashMap;
use jobs::{Jobs, Open};
use message::Message;
use qp::{Qp, Step};
use rocescope_model::{StepRow, Text};
use rocescope_record::RunRecord;
use rocescope_wire::{Operation, Stream};
use rows::Held;

/// Directions of QPs that are tracked; packets of others are counted.
const MAX_QPS: usize = 65_536;
/// When the table is full, all QPs are forgotten, at most this often: those that are in use come back.
const CLEAR_NS: u64 = 10_000_000_000;
/// Steps that wait for the end of their collective: 5 MiB. More become rows before it.
const MAX_HELD: usize = if cfg!(test) { 64 } else { 65_536 };
/// Payload of a credit, at most: eight requests of 64 bytes (NCCL 2.30, `ncclIbSendFifo`). Messages up to this size
/// without an immediate are credits or other control, never chunks.
const CREDIT_BYTES: u32 = 512;

/// Address, VNI and channel of a sender, whose steps are one sequence.
type Sender = ([u8; 16], u32, Option<u16>);

/// The steps of all QPs.
#[derive(Debug)]
pub(crate) struct Steps {
    observer: Text,
    places: HashMap<DirectionKey, u32>,
    qps: Vec<Qp>,
    /// The QPs from one host to another.
    siblings: HashMap<u64, Vec<u32>>,
    jobs: Jobs,
    held: Vec<Held>,
    /// Steps of each host and channel that are rows, in the collective of a job.
    numbers: HashMap<Sender, (u32, u32)>,
    settled: Vec<Step>,
    rows: Vec<StepRow>,
    /// Packets of QPs beyond the limit.
    untracked: u64,
    swept_ns: u64,
    cleared_ns: u64,
}

impl Steps {
    pub(crate) fn new(observer: Text) -> Self {
        Self {
            observer,
            places: HashMap::new(),
            qps: Vec::new(),
            siblings: HashMap::new(),
            jobs: Jobs::default(),
            held: Vec::new(),
            numbers: HashMap::new(),
            settled: Vec::new(),
            rows: Vec::new(),
            untracked: 0,
            swept_ns: 0,
            cleared_ns: 0,
        }
    }

    /// Packets of QPs that are not tracked because there are too many.
    pub(crate) const fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Processes a run; `peer` is the direction that answers it, if that is known.
    pub(crate) fn observe(&mut self, run: &RunRecord, peer: Option<DirectionKey>, is_blind: bool) {
        let key = DirectionKey::of(run);
        self.make_room(run.first_ns);
        match run.stream() {
            Stream::Request => {
                let operation = run.opcode().operation();
                if matches!(operation, Operation::RdmaWrite | Operation::Send) {
                    self.request(key, run, peer, is_blind);
                }
            }
            Stream::Acknowledge if run.syndrome().is_ack() => self.acknowledge(run, peer),
            _ => {}
        }
    }

    /// Forgets all QPs if there is no room for another.
    fn make_room(&mut self, now_ns: u64) {
        let is_due = now_ns.since(self.cleared_ns) >= CLEAR_NS;
        if self.qps.len() + 2 > MAX_QPS && is_due {
            self.cleared_ns = now_ns;
            self.finish();
            self.qps.clear();
            self.places.clear();
            self.siblings.clear();
            self.numbers.clear();
            self.jobs = Jobs::default();
        }
    }

    /// The place of a direction; `None` if there are too many.
    fn place(&mut self, key: DirectionKey) -> Option<usize> {
        if let Some(at) = self.places.get(&key) {
            return Some(*at as usize);
        }
        if self.qps.len() >= MAX_QPS {
            return None;
        }
        let at = self.qps.len();
        let job = self.jobs.join(&key);
        self.qps.push(Qp::new(key, job));
        self.places.insert(key, at as u32);
        let siblings = self.siblings.entry(key.hosts()).or_default();
        let before = |other: &u32| self.qps[*other as usize].key.flow.dst_qpn < key.flow.dst_qpn;
        siblings.insert(siblings.partition_point(before), at as u32);
        Some(at)
    }

    fn request(&mut self, key: DirectionKey, run: &RunRecord, peer: Option<DirectionKey>, is_blind: bool) {
        let Some(at) = self.place(key) else {
            self.untracked += u64::from(run.packets);
            return;
        };
        let peer = peer.and_then(|peer| self.place(peer));
        self.pair(at, peer);
        let job = self.qps[at].job;
        if self.jobs.may_be_over(job, run.first_ns) && self.is_over(job, run.first_ns) {
            self.close(job);
        }
        let is_credit = Message::is_credit(run);
        if is_credit || !self.is_beside(at) {
            self.jobs.touch(job, run.first_ns, run.last_ns());
        }
        if is_credit {
            self.qps[at].post(run);
        } else {
            self.qps[at].send(run, is_blind, &mut self.settled);
        }
        self.match_credits(at);
        self.take_settled(at);
    }

    /// Whether the messages of a QP pass beside a collective: those of the collective have credits and immediates.
    pub(super) fn is_beside(&self, at: usize) -> bool {
        let qp = &self.qps[at];
        !qp.has_immediates && self.jobs.has_credits(qp.job)
    }

    /// Both directions of a QP are known.
    fn pair(&mut self, at: usize, peer: Option<usize>) {
        if let Some(peer) = peer {
            self.qps[at].peer = Some(peer as u32);
            self.qps[peer].peer = Some(at as u32);
        }
    }

    /// Gives every open message its credit: the oldest one, posted before the message began.
    fn match_credits(&mut self, at: usize) {
        let Some(lead) = self.lead(at) else { return };
        let Some(from) = self.qps[lead].peer else { return };
        let job = self.qps[at].job;
        for number in 0..self.qps[at].open.len() {
            let message = &self.qps[at].open[number];
            if message.is_matched || message.is_plain() {
                continue;
            }
            let began_ns = message.first_ns;
            let credit = self.qps[from as usize].take_credit(began_ns);
            if credit.is_some() {
                self.jobs.credited(job);
            }
            let message = &mut self.qps[at].open[number];
            (message.is_matched, message.credit_ns) = (true, credit);
        }
    }

    /// The QP whose credits also serve this one: itself, or the one before it between the same hosts. NCCL may use
    /// several QPs in turn, and posts all credits over the first.
    fn lead(&self, at: usize) -> Option<usize> {
        let credited = |at: usize| {
            let peer = self.qps[at].peer.map(|peer| &self.qps[peer as usize]);
            peer.is_some_and(|peer| peer.posted > 0)
        };
        self.qps[at].peer?;
        if credited(at) {
            return Some(at);
        }
        let siblings = self.siblings.get(&self.qps[at].key.hosts())?;
        let place = siblings.iter().position(|other| *other as usize == at)?;
        let lower = siblings[..place].iter().rev();
        lower.map(|other| *other as usize).find(|other| credited(*other))
    }

    fn acknowledge(&mut self, run: &RunRecord, peer: Option<DirectionKey>) {
        let Some(at) = peer.and_then(|peer| self.places.get(&peer)).map(|at| *at as usize) else {
            return;
        };
        let answering = self.place(DirectionKey::of(run));
        self.pair(at, answering);
        self.match_credits(at);
        self.qps[at].acknowledge(run.last_psn, &mut self.settled);
        if !self.is_beside(at) {
            self.jobs.touch(self.qps[at].job, run.first_ns, run.last_ns());
        }
        self.take_settled(at);
    }

    /// Messages that are over become steps.
    fn take_settled(&mut self, at: usize) {
        let steps = self.settled.drain(..);
        self.held.extend(steps.map(|step| Held { qp: at as u32, step }));
        if self.held.len() >= MAX_HELD {
            self.flush(None);
        }
    }

    /// Once in a while of event time: settles what no acknowledgement settles, and ends collectives.
    pub(crate) fn turn(&mut self, now_ns: u64) {
        if now_ns.since(self.swept_ns) < jobs::SHORTEST_GAP_NS {
            return;
        }
        self.swept_ns = now_ns;
        for at in 0..self.qps.len() {
            self.qps[at].sweep(now_ns, &mut self.settled);
            self.take_settled(at);
        }
        for job in self.jobs.active() {
            if self.jobs.may_be_over(job, now_ns) && self.is_over(job, now_ns) {
                self.close(job);
            }
        }
    }

    /// Whether the collective of a job, of which nothing passed for a while, is over.
    fn is_over(&self, job: u32, now_ns: u64) -> bool {
        let job = self.jobs.find(job);
        let mut open = Open::Nothing;
        for (at, qp) in self.qps.iter().enumerate() {
            if self.jobs.find(qp.job) != job {
                continue;
            }
            let peer = qp.peer.map(|peer| &self.qps[peer as usize]);
            let sends = peer.is_some_and(|peer| peer.has_immediates);
            let may_send = peer.is_none_or(Qp::is_unused);
            let own = if !qp.open.is_empty() && !self.is_beside(at) || qp.has_credit() && sends {
                Open::Step
            } else if qp.has_credit() && may_send {
                Open::Write
            } else {
                Open::Nothing
            };
            open = open.max(own);
        }
        self.jobs.is_over(job, now_ns, open)
    }

    /// The capture ended.
    pub(crate) fn finish(&mut self) {
        for at in 0..self.qps.len() {
            self.match_credits(at);
            self.qps[at].finish(&mut self.settled);
            self.take_settled(at);
        }
        self.flush(None);
    }

    /// A collective of this job is over.
    fn close(&mut self, job: u32) {
        for at in 0..self.qps.len() {
            if self.jobs.find(self.qps[at].job) == self.jobs.find(job) {
                self.qps[at].finish(&mut self.settled);
                self.take_settled(at);
            }
        }
        self.flush(Some(job));
        for qp in &mut self.qps {
            if self.jobs.find(qp.job) == self.jobs.find(job) {
                qp.begin_collective();
            }
        }
        let jobs = &self.jobs;
        self.numbers.retain(|_, (_, other)| jobs.find(*other) != jobs.find(job));
        self.jobs.end(job);
    }

    /// Adds the rows so far.
    pub(crate) fn rows(&mut self, into: &mut Vec<StepRow>) {
        into.append(&mut self.rows);
    }
}
