//! Probes to other hosts that have no outcome yet, and what receipts decide about them.
//!
//! A probe is lost on the way there if a receipt states so that was asked for long enough after it left: had it arrived in
//! time, the receipt would have it. It is lost on the way back if a receipt states that it was answered, and no answer comes
//! within another timeout.

use super::lanes::Lanes;
use super::receipt_message::{Outcome, Receipt, numbers};
use crate::requests::{Request, Requests};
use crate::types::Nanos;
use std::net::IpAddr;

/// The shortest and the longest wait for a receipt about a probe, after its timeout. A collector waits 10 s for rows.
const PATIENCE: (Nanos, Nanos) = (Nanos(3_000_000_000), Nanos(30_000_000_000));

/// An agent notices within this time that frames were lost in its host, and then no longer calls their probes missing.
pub(super) const NOTICED: Nanos = Nanos::SECOND;

/// What a probe to another host asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerProbe {
    /// Its 5-tuple.
    pub(super) tuple: u32,
    /// The 5-tuple that it asks about.
    pub(super) about: u32,
    /// The other host.
    pub(super) host: usize,
    /// When a receipt stated first that it arrived, and whether the latest one states that it was answered.
    pub(super) confirmed: Option<(Nanos, bool)>,
}

/// A probe without an outcome. It is invalidated if its answer may have been lost in this host.
pub(super) type Pending = Request<PeerProbe>;

/// From the departure of the probe to the arrival of its answer, without the time that the other agent held it.
pub(super) fn round_trip(probe: &Pending) -> Option<Nanos> {
    let arrival = probe.arrival?;
    let trip = match (probe.nic_sent, arrival.nic_received) {
        (Some(sent), Some(received)) => received - sent,
        _ => arrival.received - probe.sent,
    };
    Some(Nanos((trip - arrival.held).0.max(0)))
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    pub(super) all: Requests<PeerProbe>,
    timeout: Nanos,
    patience: Nanos,
    at_once: u16,
}

impl Probes {
    pub(super) fn new(timeout: Nanos, interval: Nanos, at_once: u16) -> Self {
        Self {
            all: Requests::default(),
            timeout,
            patience: patience(interval, at_once),
            at_once,
        }
    }

    pub(super) fn reconfigure(&mut self, timeout: Nanos, interval: Nanos) {
        self.timeout = timeout;
        self.patience = patience(interval, self.at_once);
    }

    /// How many hosts have turns with one another from now on.
    pub(super) const fn expect(&mut self, at_once: u16) {
        self.at_once = at_once;
    }

    /// Whether a 5-tuple has any.
    pub(super) fn has(&self, tuple: u32) -> bool {
        self.all.iter().any(|probe| probe.asked.tuple == tuple)
    }

    /// The 5-tuple to a host that a probe which leaves now should ask about, and its destination: of those with a probe
    /// that timed out, the one that was asked about least recently.
    pub(super) fn wanting(&self, host: usize, now: Nanos, lanes: &mut Lanes) -> Option<(u32, IpAddr)> {
        let latest = now - self.timeout - NOTICED;
        let wants = |probe: &&Pending| probe.sent <= latest && probe.asked.host == host && probe.is_open();
        let asked = |probe: &&Pending| {
            let tuple = lanes.tuple(probe.asked.tuple);
            (tuple.map(|tuple| tuple.asked), probe.sent)
        };
        let open = self.all.iter().filter(wants);
        let number = open.min_by_key(asked)?.asked.tuple;
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
        let is_decided = |probe: &Pending| {
            let in_time = probe.sent <= latest && probe.sent > known_from;
            in_time && probe.asked.tuple == about && probe.arrival.is_none()
        };
        let outcome = |probe: &Pending| receipt.outcome(numbers(probe.number).1);
        for probe in self.all.iter_mut().filter(|probe| is_decided(probe)) {
            if let Outcome::Arrived { answered } = outcome(probe) {
                let first = probe.asked.confirmed.map_or(received, |(at, _)| at);
                probe.asked.confirmed = Some((first, answered));
            }
        }
        self.all.extract_if(|probe| {
            is_decided(probe) && probe.asked.confirmed.is_none() && outcome(probe) == Outcome::Missing
        })
    }

    /// The probes that no receipt will decide any more, or whose receipt has waited long enough for an answer.
    pub(super) fn expired(&mut self, now: Nanos) -> Vec<Pending> {
        let (timeout, patience) = (self.timeout, self.patience);
        self.all.extract_if(|probe| probe.end(timeout, patience) <= now)
    }

    /// When the next one expires.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        let ends = self.all.iter().map(|probe| probe.end(self.timeout, self.patience));
        ends.min()
    }

    pub(super) fn stop(&mut self) {
        self.patience = Nanos(0);
    }

    /// The clock was set.
    pub(super) fn stepped(&mut self, by: Nanos) {
        self.all.stepped(by);
        // The clocks of NICs may be others: what is in flight has no round trip.
        self.all.iter_mut().for_each(|probe| probe.nic_sent = None);
    }
}

impl Request<PeerProbe> {
    /// Whether a receipt may decide it.
    const fn is_open(&self) -> bool {
        self.arrival.is_none() && self.asked.confirmed.is_none()
    }

    /// When it expires.
    fn end(&self, timeout: Nanos, patience: Nanos) -> Nanos {
        let last = match (self.arrival, self.asked.confirmed) {
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
