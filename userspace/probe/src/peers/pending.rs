//! Probes to other hosts that have no outcome yet, and what receipts decide about them.
//!
//! A probe is lost on the way there if a receipt states so that was asked for long enough after it left: had it arrived in
//! time, the receipt would have it. It is lost on the way back if a receipt states that it was answered, and no answer comes
//! within another timeout.

use super::lanes::Lanes;
use super::word::{Fate, Receipt};
use crate::types::Nanos;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The shortest and the longest wait for a word about a probe, after its timeout. A collector waits 10 s for rows.
const PATIENCE: (Nanos, Nanos) = (Nanos(3_000_000_000), Nanos(30_000_000_000));

/// An agent notices within this time that frames were lost in its host, and then no longer calls their probes missing.
pub(super) const NOTICED: Nanos = Nanos::SECOND;

/// A probe without an outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// Its 5-tuple.
    pub(super) tuple: u32,
    pub(super) sequence: u32,
    /// The 5-tuple that it asks about.
    pub(super) about: u32,
    /// The other host.
    pub(super) host: usize,
    pub(super) due: Nanos,
    pub(super) sent: Nanos,
    pub(super) nic_sent: Option<Nanos>,
    pub(super) arrived: Option<Arrived>,
    /// When a word came that it arrived, and whether the latest one states that it was answered.
    pub(super) word: Option<(Nanos, bool)>,
    /// Its answer may have been lost in this host.
    pub(super) torn: bool,
}

/// The arrival of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) nic_received: Option<Nanos>,
    pub(super) received: Nanos,
    pub(super) held: Nanos,
}

impl Pending {
    /// From the departure of the probe to the arrival of its answer, without the time that the other agent held it.
    pub(super) fn round_trip(&self) -> Option<Nanos> {
        let arrived = self.arrived?;
        let trip = match (self.nic_sent, arrived.nic_received) {
            (Some(sent), Some(received)) => received - sent,
            _ => arrived.received - self.sent,
        };
        Some(Nanos((trip - arrived.held).0.max(0)))
    }
}

/// All of them, in the order in which they were sent.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    all: VecDeque<Pending>,
    timeout: Nanos,
    patience: Nanos,
    at_once: u16,
}

impl Probes {
    pub(super) fn new(timeout: Nanos, interval: Nanos, at_once: u16) -> Self {
        Self {
            all: VecDeque::new(),
            timeout,
            patience: patience(interval, at_once),
            at_once,
        }
    }

    pub(super) fn reconfigure(&mut self, timeout: Nanos, interval: Nanos) {
        self.timeout = timeout;
        self.patience = patience(interval, self.at_once);
    }

    pub(super) const fn timeout(&self) -> Nanos {
        self.timeout
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn push(&mut self, probe: Pending) {
        self.all.push_back(probe);
    }

    /// Whether a 5-tuple has any.
    pub(super) fn has(&self, tuple: u32) -> bool {
        self.all.iter().any(|probe| probe.tuple == tuple)
    }

    fn find(&self, (tuple, sequence): (u32, u32)) -> Option<usize> {
        let mut all = self.all.iter();
        all.position(|probe| (probe.tuple, probe.sequence) == (tuple, sequence))
    }

    pub(super) fn get_mut(&mut self, number: (u32, u32)) -> Option<&mut Pending> {
        let at = self.find(number)?;
        self.all.get_mut(at)
    }

    pub(super) fn take(&mut self, number: (u32, u32)) -> Option<Pending> {
        let at = self.find(number)?;
        self.all.remove(at)
    }

    /// The 5-tuple to a host that a probe which leaves now should ask about, and its destination: of those with a probe
    /// that timed out, the one that was asked about least recently.
    pub(super) fn wanting(&self, host: usize, now: Nanos, lanes: &mut Lanes) -> Option<(u32, IpAddr)> {
        let timed_out = |probe: &&Pending| probe.sent + self.timeout + NOTICED <= now;
        let wants = |probe: &&Pending| probe.host == host && probe.is_open();
        let open = self.all.iter().take_while(timed_out).filter(wants);
        let asked = |probe: &&Pending| lanes.tuple(probe.tuple).map(|tuple| tuple.asked);
        let number = open.min_by_key(asked)?.tuple;
        let tuple = lanes.tuple_mut(number)?;
        tuple.asked = now;
        Some((number, tuple.peer.address))
    }

    /// Learns from a receipt about a 5-tuple, for which a probe asked that was sent then; it was received at `received`.
    /// Returns the probes that were lost on the way there.
    pub(super) fn learn(&mut self, about: u32, receipt: &Receipt, asked: Nanos, received: Nanos) -> Vec<Pending> {
        let latest = asked - self.timeout - NOTICED;
        // The other agent began to count before this, if its clock runs as this one does.
        let known_from = received - Nanos(i64::from(receipt.since_ms) * 1_000_000);
        let mut lost = Vec::new();
        self.all.retain_mut(|probe| {
            let is_decided = probe.sent <= latest && probe.sent > known_from;
            if probe.tuple != about || !is_decided || probe.arrived.is_some() {
                return true;
            }
            match (receipt.fate(probe.sequence), probe.word) {
                (Fate::Missing, None) => {
                    lost.push(*probe);
                    false
                }
                (Fate::Arrived { answered }, word) => {
                    probe.word = Some((word.map_or(received, |(at, _)| at), answered));
                    true
                }
                _ => true,
            }
        });
        lost
    }

    /// The probes that no word will decide any more, or whose word has waited long enough for an answer.
    pub(super) fn expired(&mut self, now: Nanos) -> Vec<Pending> {
        if self.next_due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let (mut over, mut all) = (Vec::new(), VecDeque::with_capacity(self.all.len()));
        for probe in self.all.drain(..) {
            match probe.end(self.timeout, self.patience) <= now {
                true => over.push(probe),
                false => all.push_back(probe),
            }
        }
        self.all = all;
        over
    }

    /// When the next one expires.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        let ends = self.all.iter().map(|probe| probe.end(self.timeout, self.patience));
        ends.min()
    }

    pub(super) fn stop(&mut self) {
        self.patience = Nanos(0);
    }

    pub(super) fn tear(&mut self) {
        for probe in &mut self.all {
            probe.torn = true;
        }
    }

    /// The clock was set.
    pub(super) fn stepped(&mut self, by: Nanos) {
        for probe in &mut self.all {
            probe.due = probe.due + by;
            probe.sent = probe.sent + by;
            // The clocks of NICs may be others: what is in flight has no round trip.
            probe.nic_sent = None;
        }
        self.tear();
    }
}

impl Pending {
    /// Whether a word may decide it.
    const fn is_open(&self) -> bool {
        self.arrived.is_none() && self.word.is_none()
    }

    /// When it expires.
    fn end(&self, timeout: Nanos, patience: Nanos) -> Nanos {
        let last = match (self.arrived, self.word) {
            (None, Some((at, _))) => at + timeout,
            (None, None) => self.sent + timeout + patience,
            (Some(_), _) => self.sent + timeout,
        };
        last + Nanos(1)
    }
}

/// Probes to one host take turns with those to the others; a few of them should get through.
fn patience(interval: Nanos, at_once: u16) -> Nanos {
    let few = Nanos(interval.0.saturating_mul(i64::from(at_once) * 2));
    few.clamp(PATIENCE.0, PATIENCE.1)
}
