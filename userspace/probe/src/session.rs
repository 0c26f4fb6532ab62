//! The probes of one NIC: due, in flight, timed out.

use crate::ports::Pool;
use crate::requests::{Arrival, Request, Requests};
use crate::shuffle::Shuffle;
use crate::types::{Nanos, NicIndex, Sequence};
use fastrand::Rng;
use std::collections::VecDeque;

/// The number of timed-out probes that are remembered, to distinguish late arrivals from duplicates.
const REMEMBERED: usize = 64;

/// A probe in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Destination.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// The class of service of this port.
    pub dscp: u8,
}

/// A probe that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Number of the probe.
    pub sequence: Sequence,
    /// The probe.
    pub probe: Probe,
    /// How late it is.
    pub late: Nanos,
    /// Turns that were missed and are skipped.
    pub skipped: u64,
}

/// How an arrival matches the probes of this NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// The probe is finished.
    Done(Request<Probe>),
    /// It arrived in time; its (2) is still missing.
    Waits,
    /// It arrived after its timeout.
    Late,
    /// It is a duplicate.
    Duplicate,
    /// This NIC never sent it.
    Unknown,
}

/// The probes that one NIC sends.
#[derive(Clone, Debug)]
pub struct Session {
    nic: NicIndex,
    interval: Nanos,
    timeout: Nanos,
    rng: Rng,
    pool: Pool,
    /// DSCPs of the ports, in turn.
    dscps: Vec<u8>,
    shuffle: Shuffle,
    next_due: Nanos,
    in_flight: Requests<Probe>,
    timed_out: VecDeque<Sequence>,
}

impl Session {
    /// Creates the session of `nic`, one of `nics`: the first probe at `first`, then one every `interval`.
    #[must_use]
    pub fn new(
        (nic, nics): (NicIndex, u16),
        (interval, timeout): (Nanos, Nanos),
        (pool_size, pool_period, pool_seed): (usize, Nanos, u64),
        dscps: &[u8],
        first: Nanos,
        rng: Rng,
    ) -> Self {
        let pool = Pool::new(pool_size, pool_period, first, pool_seed);
        Self {
            nic,
            interval: Nanos(interval.0.max(1)),
            timeout,
            shuffle: Shuffle::new(nics.saturating_sub(1), pool.ports().len() as u16),
            pool,
            dscps: dscps.to_vec(),
            rng,
            next_due: first,
            in_flight: Requests::default(),
            timed_out: VecDeque::new(),
        }
    }

    /// Sets other times and classes: the next probe is due within the new interval.
    pub fn reconfigure(&mut self, interval: Nanos, timeout: Nanos, dscps: &[u8], now: Nanos) {
        dscps.clone_into(&mut self.dscps);
        self.interval = Nanos(interval.0.max(1));
        self.timeout = timeout;
        self.next_due = self.next_due.min(now + self.interval);
    }

    /// When the next probe is due.
    #[must_use]
    pub const fn due(&self) -> Nanos {
        self.next_due
    }

    /// When the oldest probe in flight times out.
    #[must_use]
    pub fn expiry(&self) -> Option<Nanos> {
        let oldest = self.in_flight.oldest()?;
        Some(oldest.sent + self.timeout + Nanos(1))
    }

    /// The number of probes in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The source ports it draws from.
    #[must_use]
    pub fn ports(&self) -> &[u16] {
        self.pool.ports()
    }

    /// The DSCP of a source port.
    #[must_use]
    pub fn dscp(&self, port: u16) -> u8 {
        let slot = self.pool.ports().iter().position(|known| *known == port);
        self.dscp_of(slot.unwrap_or(0))
    }

    /// Every port keeps its class of service: all classes take the same share of probes, and each has paths of its own.
    fn dscp_of(&self, slot: usize) -> u8 {
        match self.dscps.len() {
            0 => 0,
            classes => self.dscps[slot % classes],
        }
    }

    /// Renews expired ports; returns whether there were any.
    pub fn renew(&mut self, now: Nanos) -> bool {
        self.pool.renew(now)
    }

    /// Returns the probe that is due at `now`, if any; it is in flight from now on. `factor` multiplies the interval to
    /// the next. Missed turns are skipped.
    pub fn next(&mut self, now: Nanos, factor: u32) -> Option<Due> {
        if now < self.next_due {
            return None;
        }
        let late = now - self.next_due;
        let interval = self.interval.0.saturating_mul(factor.max(1).into());
        let skipped = late.0 / interval;
        let turn = self.next_due;
        self.next_due = self.next_due + Nanos(interval.saturating_mul(skipped + 1));
        let target = self.shuffle.next(&mut self.rng);
        let probe = Probe {
            dst: self.other(target.other),
            port: self.pool.port(target.port),
            dscp: self.dscp_of(usize::from(target.port)),
        };
        Some(Due {
            sequence: Sequence(self.in_flight.ask(probe, turn, now)),
            probe,
            late,
            skipped: skipped.unsigned_abs(),
        })
    }

    /// Returns one of the other NICs, by its number among them.
    const fn other(&self, other: u16) -> NicIndex {
        NicIndex(if other >= self.nic.0 { other + 1 } else { other })
    }

    /// Removes a probe that was not sent.
    pub fn refused(&mut self, sequence: Sequence) -> Option<Request<Probe>> {
        self.in_flight.remove(sequence.0)
    }

    /// Records when a probe left (2). Returns the probe if it had already arrived. On the clock of the agent, its time begins
    /// then: what delays the agent itself is no timeout.
    pub fn left(&mut self, sequence: Sequence, nic_sent: Nanos, is_own_clock: bool) -> Option<Request<Probe>> {
        if !is_own_clock {
            self.in_flight.delayed(sequence.0, nic_sent);
        }
        self.in_flight.left(sequence.0, nic_sent)
    }

    /// Records the arrival of a probe, `since` after it was sent. A probe that takes exactly the timeout is in time.
    pub fn arrived(
        &mut self,
        (sequence, dst): (Sequence, NicIndex),
        arrival: Arrival,
        since: impl FnOnce(&Request<Probe>) -> Nanos,
    ) -> Matched {
        let Some(probe) = self.in_flight.get(sequence.0) else {
            return match self.timed_out.iter().position(|late| *late == sequence) {
                Some(at) => {
                    self.timed_out.remove(at);
                    Matched::Late
                }
                None if self.in_flight.was_asked(sequence.0) => Matched::Duplicate,
                None => Matched::Unknown,
            };
        };
        if probe.asked.dst != dst {
            return Matched::Unknown;
        }
        if probe.arrival.is_some() {
            return Matched::Duplicate;
        }
        if since(probe) > self.timeout {
            // It stays until `expired` returns it.
            return Matched::Late;
        }
        let complete = self.in_flight.arrived(sequence.0, arrival);
        complete.map_or(Matched::Waits, Matched::Done)
    }

    /// Returns the oldest probe if it was sent longer ago than the timeout. One with an arrival came in time, but its
    /// departure timestamp never arrived.
    pub fn expired(&mut self, now: Nanos) -> Option<Request<Probe>> {
        if now < self.expiry()? {
            return None;
        }
        let oldest = self.in_flight.oldest()?.number;
        let probe = self.in_flight.remove(oldest)?;
        if probe.arrival.is_none() {
            if self.timed_out.len() == REMEMBERED {
                self.timed_out.pop_front();
            }
            self.timed_out.push_back(Sequence(probe.number));
        }
        Some(probe)
    }

    /// The clock was set.
    pub fn stepped(&mut self, by: Nanos) {
        self.next_due = self.next_due + by;
        self.pool.stepped(by);
        self.in_flight.stepped(by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use proptest::prelude::*;

    const INTERVAL: Nanos = Nanos(100);
    const TIMEOUT: Nanos = Nanos(500);

    fn session(nic: u16, nics: u16, seed: u64) -> Session {
        Session::new(
            (NicIndex(nic), nics),
            (INTERVAL, TIMEOUT),
            (4, Nanos(10_000), seed),
            &[26, 0],
            Nanos(0),
            Rng::with_seed(seed),
        )
    }

    #[test]
    fn classes_take_turns_among_the_ports_and_each_port_keeps_its_own() {
        let mut session = session(0, 2, 1);
        let ports = session.ports().to_vec();
        let mut met = std::collections::BTreeMap::new();
        for turn in 0..40 {
            let due = session.next(Nanos(turn * INTERVAL.0), 1).unwrap();
            let slot = ports.iter().position(|port| *port == due.probe.port).unwrap();
            assert_eq!(due.probe.dscp, [26, 0][slot % 2]);
            assert_eq!(session.dscp(due.probe.port), due.probe.dscp);
            *met.entry(due.probe.dscp).or_insert(0) += 1;
        }
        assert_eq!(met, [(0, 20), (26, 20)].into());
    }

    fn arrival(at: i64) -> Arrival {
        Arrival {
            intact: true,
            nic_received: Some(Nanos(at)),
            received: Nanos(at),
            held: Nanos(0),
        }
    }

    /// Sends the probe of time 0, which arrives at `at`.
    fn comes(at: i64) -> Matched {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        session.left(due.sequence, Nanos(1), true);
        session.arrived((due.sequence, due.probe.dst), arrival(at), |probe| {
            Nanos(at) - probe.sent
        })
    }

    #[test]
    fn the_timeout_itself_is_in_time_and_the_next_instant_is_not() {
        assert!(matches!(comes(500), Matched::Done(_)));
        assert_eq!(comes(501), Matched::Late);
    }

    #[test]
    fn a_probe_expires_immediately_after_its_timeout() {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        assert_eq!(session.expired(Nanos(500)), None);
        assert_eq!(session.expiry(), Some(Nanos(501)));
        assert_eq!(session.expired(Nanos(501)).unwrap().number, due.sequence.0);
        let met =
            |session: &mut Session, sequence| session.arrived((sequence, due.probe.dst), arrival(600), |_| Nanos(600));
        assert_eq!(met(&mut session, due.sequence), Matched::Late);
        assert_eq!(met(&mut session, due.sequence), Matched::Duplicate);
        assert_eq!(met(&mut session, Sequence(1)), Matched::Unknown);
    }

    #[test]
    fn an_agent_that_is_delayed_before_it_sends_gives_the_probe_its_whole_time() {
        for (is_own_clock, expiry) in [(false, 2501), (true, 501)] {
            let mut session = session(0, 2, 1);
            let due = session.next(Nanos(0), 1).unwrap();
            assert_eq!(session.left(due.sequence, Nanos(2000), is_own_clock), None);
            assert_eq!(session.expiry(), Some(Nanos(expiry)));
        }
    }

    #[test]
    fn an_arrival_waits_for_its_departure_timestamp() {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        let to = (due.sequence, due.probe.dst);
        assert_eq!(session.arrived(to, arrival(9), |_| Nanos(9)), Matched::Waits);
        assert_eq!(session.arrived(to, arrival(9), |_| Nanos(9)), Matched::Duplicate);
        let done = session.left(due.sequence, Nanos(2), true).unwrap();
        assert_eq!(done.nic_sent, Some(Nanos(2)));
        assert_eq!(done.arrival, Some(arrival(9)));
        assert_eq!(session.in_flight(), 0);
    }

    #[test]
    fn missed_turns_are_skipped_and_counted() {
        let mut session = session(0, 2, 1);
        assert_eq!(session.next(Nanos(0), 1).unwrap().skipped, 0);
        assert_eq!(session.next(Nanos(99), 1), None);
        let due = session.next(Nanos(350), 1).unwrap();
        assert_eq!((due.late, due.skipped), (Nanos(250), 2));
        let probe = session.in_flight.iter().last().unwrap();
        assert_eq!((probe.due, probe.sent), (Nanos(100), Nanos(350)));
        assert_eq!(session.due(), Nanos(400));
        session.next(Nanos(400), 4);
        assert_eq!(session.due(), Nanos(800));
    }

    proptest! {
        #[test]
        fn a_nic_probes_every_other_nic_but_not_itself(nics in 2u16..12, seed: u64) {
            for nic in 0..nics {
                let mut session = session(nic, nics, seed);
                let mut met = vec![0u32; usize::from(nics)];
                for turn in 0..i64::from(nics) * 60 {
                    met[session.next(Nanos(turn * 100), 1).unwrap().probe.dst.at()] += 1;
                }
                for (target, count) in met.into_iter().enumerate() {
                    prop_assert_eq!(count == 0, target == usize::from(nic));
                }
            }
        }

        #[test]
        fn the_same_seed_sends_the_same_probes(seed: u64) {
            let sent = || {
                let mut session = session(1, 5, seed);
                (0..50).map(|turn| session.next(Nanos(turn * 100), 1)).collect::<Vec<_>>()
            };
            prop_assert_eq!(sent(), sent());
        }
    }
}
