//! One NIC: whom it probes when, what is under way, what timed out.

use crate::deck::Deck;
use crate::ports::Pool;
use crate::types::{Nanos, NicIndex, Sequence};
use fastrand::Rng;
use std::collections::VecDeque;

/// Probes that timed out are known for so many more, to tell one that comes late from one that comes
/// twice.
const REMEMBERED: usize = 64;

/// A probe that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its number.
    pub sequence: Sequence,
    /// Where to.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// When it was due (1).
    pub due: Nanos,
    /// When the agent sent it: later where the host kept the agent waiting.
    pub sent: Nanos,
    /// When it left (2).
    pub nic_sent: Option<Nanos>,
    /// What came in, where only (2) is waited for.
    pub arrival: Option<Arrival>,
    /// The clock was set meanwhile: its times mean nothing together.
    pub torn: bool,
}

/// A probe that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Every byte as it was sent.
    pub intact: bool,
    /// (3)
    pub nic_received: Option<Nanos>,
    /// (4)
    pub received: Nanos,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Number of the probe.
    pub sequence: Sequence,
    /// Where to.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// How late it is.
    pub late: Nanos,
    /// Turns that nobody will make up for.
    pub skipped: u64,
}

/// What an arrival is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// The probe is done with.
    Done(InFlight),
    /// It is here in time; its (2) is still to come.
    Waits,
    /// Its timeout was over.
    Late,
    /// It is here for the second time.
    Again,
    /// This NIC never sent it.
    Stranger,
}

/// The probes that one NIC sends.
#[derive(Clone, Debug)]
pub struct Session {
    nic: NicIndex,
    interval: Nanos,
    timeout: Nanos,
    rng: Rng,
    pool: Pool,
    deck: Deck,
    next_due: Nanos,
    next_sequence: u64,
    in_flight: VecDeque<InFlight>,
    timed_out: VecDeque<Sequence>,
}

impl Session {
    /// The session of `nic`, one of `nics`: the first probe at `first`, then one every `interval`.
    #[must_use]
    pub fn new(
        (nic, nics): (NicIndex, u16),
        (interval, timeout): (Nanos, Nanos),
        (pool_size, pool_period): (usize, Nanos),
        first: Nanos,
        mut rng: Rng,
    ) -> Self {
        let pool = Pool::new(pool_size, pool_period, first, &mut rng);
        Self {
            nic,
            interval: Nanos(interval.0.max(1)),
            timeout,
            deck: Deck::new(nics.saturating_sub(1), pool.ports().len() as u16),
            pool,
            rng,
            next_due: first,
            next_sequence: 0,
            in_flight: VecDeque::new(),
            timed_out: VecDeque::new(),
        }
    }

    /// When the next probe is due.
    #[must_use]
    pub const fn due(&self) -> Nanos {
        self.next_due
    }

    /// When the oldest probe under way times out.
    #[must_use]
    pub fn expiry(&self) -> Option<Nanos> {
        let oldest = self.in_flight.front()?;
        Some(oldest.sent + self.timeout + Nanos(1))
    }

    /// Probes under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The source ports it draws from.
    #[must_use]
    pub fn ports(&self) -> &[u16] {
        self.pool.ports()
    }

    /// Renews the ports whose time is over; whether there was one.
    pub fn renew(&mut self, now: Nanos) -> bool {
        self.pool.renew(now, &mut self.rng)
    }

    /// The probe that is due at `now`, if one is: it is under way from now on. `factor` stretches
    /// the interval to the next. Turns that were missed are not made up for.
    pub fn next(&mut self, now: Nanos, factor: u32) -> Option<Due> {
        if now < self.next_due {
            return None;
        }
        let late = now - self.next_due;
        let interval = self.interval.0.saturating_mul(factor.max(1).into());
        let skipped = late.0 / interval;
        let turn = self.next_due;
        self.next_due = self.next_due + Nanos(interval.saturating_mul(skipped + 1));
        let sequence = Sequence(self.next_sequence);
        self.next_sequence += 1;
        let card = self.deck.deal(&mut self.rng);
        let due = Due {
            sequence,
            dst: self.other(card.other),
            port: self.pool.port(card.port),
            late,
            skipped: skipped.unsigned_abs(),
        };
        self.in_flight.push_back(InFlight {
            sequence,
            dst: due.dst,
            port: due.port,
            due: turn,
            sent: now,
            nic_sent: None,
            arrival: None,
            torn: false,
        });
        Some(due)
    }

    /// One of the NICs but this one, by its number among those.
    const fn other(&self, other: u16) -> NicIndex {
        NicIndex(if other >= self.nic.0 {
            other + 1
        } else {
            other
        })
    }

    /// The probe was not sent: it is no longer under way.
    pub fn refused(&mut self, sequence: Sequence) -> Option<InFlight> {
        let at = self.find(sequence)?;
        self.in_flight.remove(at)
    }

    /// The probe has left (2). What it is, where it came before that was known.
    pub fn left(&mut self, sequence: Sequence, nic_sent: Nanos) -> Option<InFlight> {
        let at = self.find(sequence)?;
        let probe = self.in_flight.get_mut(at)?;
        probe.nic_sent = Some(nic_sent);
        probe.arrival?;
        self.in_flight.remove(at)
    }

    /// The probe has come, `since` after it was sent: a timeout is exactly the longest time that is
    /// still in time.
    pub fn arrived(
        &mut self,
        (sequence, dst): (Sequence, NicIndex),
        arrival: Arrival,
        since: impl FnOnce(&InFlight) -> Nanos,
    ) -> Met {
        let Some(at) = self.find(sequence) else {
            return match self.timed_out.iter().position(|late| *late == sequence) {
                Some(at) => {
                    self.timed_out.remove(at);
                    Met::Late
                }
                None if sequence.0 < self.next_sequence => Met::Again,
                None => Met::Stranger,
            };
        };
        let Some(probe) = self.in_flight.get_mut(at) else {
            return Met::Stranger;
        };
        if probe.dst != dst {
            return Met::Stranger;
        }
        if probe.arrival.is_some() {
            return Met::Again;
        }
        if since(probe) > self.timeout {
            // It stays until its timeout is noticed.
            return Met::Late;
        }
        probe.arrival = Some(arrival);
        if probe.nic_sent.is_none() {
            return Met::Waits;
        }
        self.in_flight.remove(at).map_or(Met::Stranger, Met::Done)
    }

    /// The oldest probe, if it was sent longer ago than the timeout. One with an arrival came in
    /// time, and nobody will say when it left.
    pub fn expired(&mut self, now: Nanos) -> Option<InFlight> {
        if now < self.expiry()? {
            return None;
        }
        let probe = self.in_flight.pop_front()?;
        if probe.arrival.is_none() {
            if self.timed_out.len() == REMEMBERED {
                self.timed_out.pop_front();
            }
            self.timed_out.push_back(probe.sequence);
        }
        Some(probe)
    }

    /// The clock was set.
    pub fn stepped(&mut self, by: Nanos) {
        self.next_due = self.next_due + by;
        self.pool.stepped(by);
        for probe in &mut self.in_flight {
            probe.due = probe.due + by;
            probe.sent = probe.sent + by;
            probe.torn = true;
        }
    }

    fn find(&self, sequence: Sequence) -> Option<usize> {
        self.in_flight
            .iter()
            .position(|probe| probe.sequence == sequence)
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
            (4, Nanos(10_000)),
            Nanos(0),
            Rng::with_seed(seed),
        )
    }

    fn arrival(at: i64) -> Arrival {
        Arrival {
            intact: true,
            nic_received: Some(Nanos(at)),
            received: Nanos(at),
        }
    }

    /// Sends the probe of time 0, which comes at `at`.
    fn comes(at: i64) -> Met {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        session.left(due.sequence, Nanos(1));
        session.arrived((due.sequence, due.dst), arrival(at), |probe| {
            Nanos(at) - probe.sent
        })
    }

    #[test]
    fn the_timeout_itself_is_in_time_and_the_next_instant_is_not() {
        assert!(matches!(comes(500), Met::Done(_)));
        assert_eq!(comes(501), Met::Late);
    }

    #[test]
    fn a_probe_expires_right_after_its_timeout() {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        assert_eq!(session.expired(Nanos(500)), None);
        assert_eq!(session.expiry(), Some(Nanos(501)));
        assert_eq!(session.expired(Nanos(501)).unwrap().sequence, due.sequence);
        let met = |session: &mut Session, sequence| {
            session.arrived((sequence, due.dst), arrival(600), |_| Nanos(600))
        };
        assert_eq!(met(&mut session, due.sequence), Met::Late);
        assert_eq!(met(&mut session, due.sequence), Met::Again);
        assert_eq!(met(&mut session, Sequence(1)), Met::Stranger);
    }

    #[test]
    fn an_arrival_waits_for_the_stamp_of_its_departure() {
        let mut session = session(0, 2, 1);
        let due = session.next(Nanos(0), 1).unwrap();
        let to = (due.sequence, due.dst);
        assert_eq!(session.arrived(to, arrival(9), |_| Nanos(9)), Met::Waits);
        assert_eq!(session.arrived(to, arrival(9), |_| Nanos(9)), Met::Again);
        let done = session.left(due.sequence, Nanos(2)).unwrap();
        assert_eq!(done.nic_sent, Some(Nanos(2)));
        assert_eq!(done.arrival, Some(arrival(9)));
        assert_eq!(session.in_flight(), 0);
    }

    #[test]
    fn turns_that_were_missed_are_skipped_and_counted() {
        let mut session = session(0, 2, 1);
        assert_eq!(session.next(Nanos(0), 1).unwrap().skipped, 0);
        assert_eq!(session.next(Nanos(99), 1), None);
        let due = session.next(Nanos(350), 1).unwrap();
        assert_eq!((due.late, due.skipped), (Nanos(250), 2));
        let probe = session.in_flight.back().unwrap();
        assert_eq!((probe.due, probe.sent), (Nanos(100), Nanos(350)));
        assert_eq!(session.due(), Nanos(400));
        session.next(Nanos(400), 4);
        assert_eq!(session.due(), Nanos(800));
    }

    proptest! {
        #[test]
        fn no_nic_is_its_own_target_and_every_other_is_one(nics in 2u16..12, seed: u64) {
            for nic in 0..nics {
                let mut session = session(nic, nics, seed);
                let mut met = vec![0u32; usize::from(nics)];
                for turn in 0..i64::from(nics) * 60 {
                    met[session.next(Nanos(turn * 100), 1).unwrap().dst.at()] += 1;
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
