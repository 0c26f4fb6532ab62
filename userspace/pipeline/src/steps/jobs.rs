//! Hosts that exchange steps, and where one collective of theirs ends and the next begins.
//!
//! A collective is over when no credit and no message is open, and nothing passes for a while. NCCL posts credits for all
//! steps that are due, so a slow rank does not end it.

use crate::connections::DirectionKey;
use crate::time::EventTime;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A pause that ends a collective of which nothing is open.
pub(super) const SHORTEST_GAP_NS: u64 = 100_000;
/// The same if no credits are seen: idle time alone shows little.
const GAP_NS: u64 = 10_000_000;
/// The same if a short write is open that may be a credit: nothing has answered it so far.
const UNANSWERED_GAP_NS: u64 = 10_000_000;
/// A pause that ends it although something is open: its message may have been lost by the capture.
const LONGEST_GAP_NS: u64 = 10_000_000_000;

/// What of a collective is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Open {
    Nothing,
    /// A write that may be a credit.
    Write,
    /// A credit or a message.
    Step,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    parent: u32,
    /// Start of the collective; 0: none.
    start_ns: u64,
    last_ns: u64,
    has_credits: bool,
}

/// The jobs; each starts as one pair of hosts, and is joined by others that share a host.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    hosts: HashMap<([u8; 16], u32), u32>,
    jobs: Vec<Job>,
}

impl Jobs {
    /// The job of a direction.
    pub(super) fn join(&mut self, key: &DirectionKey) -> u32 {
        let [one, two] = [key.flow.src, key.flow.dst].map(|address| self.of_host((address, key.flow.vni)));
        let (one, two) = (self.find(one), self.find(two));
        if one == two {
            return one;
        }
        let (keep, other) = (one.min(two), one.max(two));
        let gone = self.jobs[other as usize];
        self.jobs[other as usize].parent = keep;
        let job = &mut self.jobs[keep as usize];
        job.start_ns = match (job.start_ns, gone.start_ns) {
            (0, start_ns) | (start_ns, 0) => start_ns,
            (one, two) => one.min(two),
        };
        job.last_ns = job.last_ns.max(gone.last_ns);
        job.has_credits |= gone.has_credits;
        keep
    }

    fn of_host(&mut self, host: ([u8; 16], u32)) -> u32 {
        let next = self.jobs.len() as u32;
        let at = *self.hosts.entry(host).or_insert(next);
        if at == next {
            self.jobs.push(Job {
                parent: next,
                start_ns: 0,
                last_ns: 0,
                has_credits: false,
            });
        }
        at
    }

    /// The job that this one has become part of.
    pub(super) fn find(&self, mut job: u32) -> u32 {
        while self.jobs[job as usize].parent != job {
            job = self.jobs[job as usize].parent;
        }
        job
    }

    fn get(&mut self, job: u32) -> &mut Job {
        let at = self.find(job) as usize;
        &mut self.jobs[at]
    }

    /// Something passes: a collective begins if none has.
    pub(super) fn touch(&mut self, job: u32, from_ns: u64, to_ns: u64) {
        let job = self.get(job);
        if job.start_ns == 0 {
            job.start_ns = from_ns.max(1);
        }
        job.last_ns = job.last_ns.max(to_ns);
    }

    /// Credits of it are seen.
    pub(super) fn credited(&mut self, job: u32) {
        self.get(job).has_credits = true;
    }

    /// Jobs with a collective.
    pub(super) fn active(&self) -> Vec<u32> {
        let is_active = |(at, job): &(u32, &Job)| job.parent == *at && job.start_ns > 0;
        (0..).zip(&self.jobs).filter(is_active).map(|(at, _)| at).collect()
    }

    /// Whether nothing passed for so long that the collective may be over.
    pub(super) fn may_be_over(&self, job: u32, now_ns: u64) -> bool {
        let job = &self.jobs[self.find(job) as usize];
        job.start_ns > 0 && now_ns.since(job.last_ns) > SHORTEST_GAP_NS
    }

    /// Whether credits of it are seen.
    pub(super) fn has_credits(&self, job: u32) -> bool {
        self.jobs[self.find(job) as usize].has_credits
    }

    /// Whether it is over.
    pub(super) fn is_over(&self, job: u32, now_ns: u64, open: Open) -> bool {
        let job = &self.jobs[self.find(job) as usize];
        let gap_ns = match (open, job.has_credits) {
            (Open::Step, _) => LONGEST_GAP_NS,
            (Open::Write, true) => UNANSWERED_GAP_NS,
            (Open::Nothing, true) => SHORTEST_GAP_NS,
            (_, false) => GAP_NS,
        };
        now_ns.since(job.last_ns) > gap_ns
    }

    /// The collective of a job is over.
    pub(super) fn end(&mut self, job: u32) {
        self.get(job).start_ns = 0;
    }

    /// When the collective of a job began.
    pub(super) fn start_ns(&self, job: u32) -> u64 {
        self.jobs[self.find(job) as usize].start_ns
    }
}
