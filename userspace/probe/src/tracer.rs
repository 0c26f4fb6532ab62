//! The path of every 5-tuple that probes use, a few traces at a time.
//!
//! A trace sends one packet of the probe's own 5-tuple for each TTL, all at once: ECMP must send them
//! the way of the probes, and a path that changes meanwhile must not be mixed with what it was. The
//! last hop is the destination, where the packet arrives by itself. Switches limit how often they
//! answer, so traces are rationed twice: so many a second and NIC, and so many answers a second from
//! any one address.
//!
//! A trace that does not reach its destination says nothing of the path: what was known stays, which is
//! what the timeouts of a failure need (Hostmesh, section 3.3.2).

use crate::answers::Answers;
use crate::icmp::Answer;
use crate::route::{Hop, News, Route};
use crate::types::{DatagramKind, Nanos, NicIndex};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Hops of the longest path there may be.
pub const TTL_LIMIT: u8 = 31;
/// Numbers of traces: as many as the IPv4 identification has room for.
const IDS: u16 = 1 << (16 - crate::icmp::TTL_BITS);

/// A 5-tuple: protocol and destination port are the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    /// The NIC that sends.
    pub src: NicIndex,
    /// The NIC that receives.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
}

/// How often paths are traced.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time between two traces of one NIC; `None` for no traces.
    pub interval: Option<Nanos>,
    /// Answers a second from one address.
    pub answers_per_second: f64,
    /// Hops of the longest path that is looked for, at most [`TTL_LIMIT`].
    pub ttl_max: u8,
    /// How long answers are waited for.
    pub timeout: Nanos,
    /// A path that stays is written again after this time.
    pub refresh: Nanos,
}

/// Packets of a trace that go out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Of what.
    pub tuple: Tuple,
    /// Its number.
    pub id: u16,
    /// TTLs 1 to this.
    pub ttl_max: u8,
}

/// What became of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Of what.
    pub tuple: Tuple,
    /// When.
    pub at: Nanos,
    /// The path, where the destination was reached, and whether that is worth writing.
    pub path: Option<(Vec<Hop>, Option<News>)>,
}

/// What an answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A hop of a trace that is under way.
    Hop,
    /// The trace cannot go on from there.
    Unreachable,
    /// Nobody asked.
    Strange,
}

#[derive(Clone, Debug)]
struct Running {
    begun: Begun,
    at: Nanos,
    /// From TTL 1.
    hops: Vec<Hop>,
    /// The least TTL that reached the destination, when, and where that is.
    reached: Option<(u8, Nanos, IpAddr)>,
}

/// Traces, and what they found.
#[derive(Clone, Debug)]
pub struct Tracer {
    limits: Limits,
    routes: BTreeMap<Tuple, Route>,
    running: Vec<Running>,
    /// When each NIC may begin its next trace.
    due: Vec<Nanos>,
    answers: Answers,
    next_id: u16,
    deferred: u64,
}

impl Tracer {
    /// Traces of `nics` NICs begin at `now`, one NIC after the other.
    #[must_use]
    pub fn new(limits: Limits, nics: u16, now: Nanos) -> Self {
        let interval = limits.interval.unwrap_or_default();
        let first = |nic: u16| now + Nanos(interval.0 * i64::from(nic) / i64::from(nics.max(1)));
        Self {
            limits: Limits {
                ttl_max: limits.ttl_max.clamp(1, TTL_LIMIT),
                ..limits
            },
            routes: BTreeMap::new(),
            running: Vec::new(),
            due: (0..nics).map(first).collect(),
            answers: Answers::new(limits.answers_per_second),
            next_id: 1,
            deferred: 0,
        }
    }

    /// The 5-tuples of a NIC are these from now on; what was known of others is forgotten.
    pub fn follow(&mut self, src: NicIndex, nics: u16, ports: &[u16]) {
        if self.limits.interval.is_none() {
            return;
        }
        self.routes
            .retain(|tuple, _| tuple.src != src || ports.contains(&tuple.port));
        for dst in (0..nics).map(NicIndex).filter(|dst| *dst != src) {
            for port in ports {
                let tuple = Tuple {
                    src,
                    dst,
                    port: *port,
                };
                self.routes.entry(tuple).or_default();
            }
        }
    }

    /// What is known of the path of a 5-tuple.
    #[must_use]
    pub fn route(&self, tuple: Tuple) -> Option<&Route> {
        self.routes.get(&tuple)
    }

    /// 5-tuples, and how many of them have a path.
    #[must_use]
    pub fn known(&self) -> (usize, usize) {
        let known = self
            .routes
            .values()
            .filter(|route| !route.hops().is_empty());
        (self.routes.len(), known.count())
    }

    /// Traces that were put off because a hop would have had to answer too often.
    #[must_use]
    pub const fn deferred(&self) -> u64 {
        self.deferred
    }

    /// Traces under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.running.len()
    }

    /// When something is to be done next.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        self.limits.interval?;
        let begins = self.due.iter().min().copied();
        begins.into_iter().chain(self.next_end()).min()
    }

    /// When the next trace that is under way gives up.
    #[must_use]
    pub fn next_end(&self) -> Option<Nanos> {
        let ends = self.running.iter().map(|running| running.at);
        ends.min().map(|at| at + self.limits.timeout + Nanos(1))
    }

    /// The trace that is due at `now`, if one is: of the 5-tuple that was asked for least recently.
    pub fn begin(&mut self, now: Nanos) -> Option<Begun> {
        let interval = self.limits.interval?;
        let tuple = (0..self.due.len()).find_map(|nic| {
            let due = self.due.get_mut(nic).filter(|due| **due <= now)?;
            // Turns that were missed are not made up for.
            let next = *due + interval;
            *due = if next > now { next } else { now + interval };
            self.choose(NicIndex(nic as u16), now)
        })?;
        let route = self.routes.get_mut(&tuple)?;
        route.asked = Some(now);
        let ttl_max = match route.hops().len() {
            0 => self.limits.ttl_max,
            _ if route.missed => self.limits.ttl_max,
            known => known as u8,
        };
        let begun = Begun {
            tuple,
            id: self.next_id,
            ttl_max,
        };
        // 0 with TTL 0 would be the identification of a probe.
        self.next_id = (self.next_id + 1) % IDS;
        self.running.push(Running {
            begun,
            at: now,
            hops: vec![Hop::default(); ttl_max.into()],
            reached: None,
        });
        Some(begun)
    }

    /// Of the 5-tuples whose hops may answer, the one that was asked for least recently.
    fn choose(&mut self, nic: NicIndex, now: Nanos) -> Option<Tuple> {
        let first = Tuple {
            src: nic,
            dst: NicIndex(0),
            port: 0,
        };
        let last = Tuple {
            src: nic,
            dst: NicIndex(u16::MAX),
            port: u16::MAX,
        };
        let mut some = false;
        let chosen = self
            .routes
            .range(first..=last)
            .filter(|(tuple, _)| {
                !self
                    .running
                    .iter()
                    .any(|running| running.begun.tuple == **tuple)
            })
            .filter(|(_, route)| {
                some = true;
                let hops = route.hops().iter().flatten();
                hops.into_iter().all(|hop| self.answers.may(*hop, now))
            })
            .min_by_key(|(_, route)| route.asked)
            .map(|(tuple, _)| *tuple);
        self.deferred += u64::from(some && chosen.is_none());
        chosen
    }

    /// A router answered a packet of a trace of `tuple`.
    pub fn answered(&mut self, tuple: Tuple, answer: &Answer, at: Nanos) -> Heard {
        let Some(DatagramKind::Trace { id, ttl }) = answer.kind else {
            return Heard::Strange;
        };
        let Some(running) = self.running(tuple, id) else {
            return Heard::Strange;
        };
        let since = at - running.at;
        let Some(hop) = usize::from(ttl)
            .checked_sub(1)
            .and_then(|at| running.hops.get_mut(at))
        else {
            return Heard::Strange;
        };
        if !answer.exceeded {
            return Heard::Unreachable;
        }
        hop.address = Some(answer.from);
        hop.round_trip = Some(since);
        self.answers.given(answer.from, at);
        Heard::Hop
    }

    /// A packet of a trace reached the destination, `address`; whether anybody waits for it.
    pub fn arrived(
        &mut self,
        tuple: Tuple,
        (id, ttl): (u16, u8),
        address: IpAddr,
        at: Nanos,
    ) -> bool {
        let Some(running) = self.running(tuple, id) else {
            return false;
        };
        if running.reached.is_none_or(|(least, ..)| ttl < least) {
            running.reached = Some((ttl, at, address));
        }
        true
    }

    fn running(&mut self, tuple: Tuple, id: u16) -> Option<&mut Running> {
        self.running
            .iter_mut()
            .find(|running| running.begun.id == id && running.begun.tuple == tuple)
    }

    /// The next trace that has all its answers, or has waited long enough.
    pub fn ended(&mut self, now: Nanos) -> Option<Ended> {
        let timeout = self.limits.timeout;
        let at = self
            .running
            .iter()
            .position(|running| running.is_whole() || now - running.at > timeout)?;
        let running = self.running.swap_remove(at);
        let tuple = running.begun.tuple;
        let path = match (running.path(), self.routes.get_mut(&tuple)) {
            (Some(mut hops), Some(route)) => {
                let news = route.learn(&mut hops, now, self.limits.refresh);
                Some((hops, news))
            }
            (None, Some(route)) => {
                route.missed = true;
                None
            }
            // The port is no longer used.
            (_, None) => None,
        };
        Some(Ended {
            tuple,
            at: now,
            path,
        })
    }

    /// The clock was set. Traces under way are given up.
    pub fn stepped(&mut self, by: Nanos) {
        self.running.clear();
        for due in &mut self.due {
            *due = *due + by;
        }
        self.answers.stepped(by);
        for route in self.routes.values_mut() {
            route.stepped(by);
        }
    }
}

impl Running {
    /// The destination was reached, and every hop before it answered.
    fn is_whole(&self) -> bool {
        self.reached.is_some_and(|(last, ..)| {
            let before = usize::from(last).saturating_sub(1);
            let mut hops = self.hops.iter().take(before);
            hops.all(|hop| hop.address.is_some())
        })
    }

    /// The hops up to the destination, if it was reached.
    fn path(&self) -> Option<Vec<Hop>> {
        let (last, at, address) = self.reached?;
        let before = usize::from(last).saturating_sub(1);
        let mut hops: Vec<Hop> = self.hops.iter().take(before).copied().collect();
        hops.push(Hop {
            address: Some(address),
            round_trip: Some(at - self.at),
        });
        Some(hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const TUPLE: Tuple = Tuple {
        src: NicIndex(0),
        dst: NicIndex(1),
        port: 50_000,
    };
    const DESTINATION: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9));

    fn tracer(answers_per_second: f64) -> Tracer {
        let limits = Limits {
            interval: Some(Nanos(1_000)),
            answers_per_second,
            ttl_max: 8,
            timeout: Nanos(500),
            refresh: Nanos(1_000_000),
        };
        let mut tracer = Tracer::new(limits, 2, Nanos(0));
        tracer.follow(TUPLE.src, 2, &[TUPLE.port]);
        tracer
    }

    fn hop(ttl: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, ttl))
    }

    fn answer(from: IpAddr, id: u16, ttl: u8) -> Answer {
        Answer {
            from,
            exceeded: true,
            code: 0,
            src: hop(100),
            dst: DESTINATION,
            src_port: TUPLE.port,
            dst_port: 4791,
            kind: Some(DatagramKind::Trace { id, ttl }),
        }
    }

    /// A trace at `now` over routers that answer from these addresses; what became of it.
    fn trace(tracer: &mut Tracer, now: i64, routers: &[IpAddr], reaches: bool) -> (u8, Ended) {
        let begun = tracer.begin(Nanos(now)).unwrap();
        assert_eq!(begun.tuple, TUPLE);
        for ttl in 1..=begun.ttl_max {
            match routers.get(usize::from(ttl) - 1) {
                Some(router) => {
                    let heard =
                        tracer.answered(TUPLE, &answer(*router, begun.id, ttl), Nanos(now + 5));
                    assert_eq!(heard, Heard::Hop);
                }
                None if reaches => {
                    assert!(tracer.arrived(TUPLE, (begun.id, ttl), DESTINATION, Nanos(now + 9)));
                }
                None => {}
            }
        }
        let waits = if reaches && usize::from(begun.ttl_max) > routers.len() {
            9
        } else {
            501
        };
        assert_eq!(tracer.ended(Nanos(now + waits - 1)).is_none(), waits == 501);
        let ended = match waits {
            501 => tracer.ended(Nanos(now + waits)).unwrap(),
            _ => {
                return (
                    begun.ttl_max,
                    Ended {
                        tuple: TUPLE,
                        at: Nanos(now),
                        path: None,
                    },
                );
            }
        };
        (begun.ttl_max, ended)
    }

    fn news(ended: &Ended) -> Option<News> {
        ended.path.as_ref().and_then(|(_, news)| *news)
    }

    #[test]
    fn a_path_is_known_when_its_destination_is_reached_and_every_hop_answered() {
        let mut tracer = tracer(100.0);
        let begun = tracer.begin(Nanos(0)).unwrap();
        assert_eq!(begun.ttl_max, 8);
        for ttl in 3..=8 {
            assert!(tracer.arrived(TUPLE, (begun.id, ttl), DESTINATION, Nanos(9)));
        }
        tracer.answered(TUPLE, &answer(hop(2), begun.id, 2), Nanos(4));
        assert_eq!(tracer.ended(Nanos(10)), None, "the first hop is missing");
        tracer.answered(TUPLE, &answer(hop(1), begun.id, 1), Nanos(3));
        let ended = tracer.ended(Nanos(10)).unwrap();
        let (hops, news) = ended.path.unwrap();
        let addresses: Vec<_> = hops.iter().map(|hop| hop.address.unwrap()).collect();
        assert_eq!(addresses, [hop(1), hop(2), DESTINATION]);
        let times: Vec<_> = hops.iter().map(|hop| hop.round_trip.unwrap().0).collect();
        assert_eq!(times, [3, 4, 9]);
        assert_eq!(news, Some(News::First));
        assert_eq!(tracer.known(), (1, 1));
    }

    #[test]
    fn a_trace_that_fails_leaves_what_is_known_and_looks_further_next_time() {
        let mut tracer = tracer(100.0);
        let known = [hop(1), hop(2)];
        trace(&mut tracer, 0, &known, true);
        let before = tracer.route(TUPLE).unwrap().hops().to_vec();
        let (ttl_max, ended) = trace(&mut tracer, 1_000, &known[..1], false);
        assert_eq!(
            (ttl_max, ended.path),
            (3, None),
            "what is known bounds what is asked"
        );
        assert_eq!(tracer.route(TUPLE).unwrap().hops(), before);
        // Now over one hop more.
        let begun = tracer.begin(Nanos(2_000)).unwrap();
        assert_eq!(begun.ttl_max, 8);
        for ttl in 1..=3 {
            tracer.answered(TUPLE, &answer(hop(ttl), begun.id, ttl), Nanos(2_001));
        }
        assert!(tracer.arrived(TUPLE, (begun.id, 4), DESTINATION, Nanos(2_002)));
        let ended = tracer.ended(Nanos(2_002)).unwrap();
        assert_eq!(news(&ended), Some(News::Changed));
    }

    #[test]
    fn answers_nobody_asked_for_are_strange() {
        let mut tracer = tracer(100.0);
        let begun = tracer.begin(Nanos(0)).unwrap();
        let strange = |tracer: &mut Tracer, tuple, answer| {
            assert_eq!(tracer.answered(tuple, &answer, Nanos(1)), Heard::Strange);
        };
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id + 1, 1));
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 0));
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 9));
        let other = Tuple {
            port: 50_001,
            ..TUPLE
        };
        strange(&mut tracer, other, answer(hop(1), begun.id, 1));
        assert!(!tracer.arrived(other, (begun.id, 1), DESTINATION, Nanos(1)));
    }

    #[test]
    fn no_address_is_asked_more_often_than_it_may_be() {
        let mut tracer = tracer(2.0);
        tracer.limits.interval = Some(Nanos(50_000_000));
        let mut asked = 0;
        for turn in 0..200 {
            let now = Nanos(turn * 50_000_000);
            if let Some(begun) = tracer.begin(now) {
                asked += 1;
                tracer.answered(TUPLE, &answer(hop(1), begun.id, 1), now);
                tracer.arrived(TUPLE, (begun.id, 2), DESTINATION, now);
                tracer.ended(now).unwrap();
            }
        }
        // Ten seconds, two a second, and the two that may come at once.
        assert!((20..=22).contains(&asked), "{asked}");
        assert!(tracer.deferred() > 100);
    }

    #[test]
    fn every_tuple_has_its_turn() {
        let limits = Limits {
            interval: Some(Nanos(10)),
            ..tracer(1e6).limits
        };
        let mut tracer = Tracer::new(limits, 3, Nanos(0));
        let ports = [1, 2, 3, 4];
        tracer.follow(NicIndex(1), 3, &ports);
        let mut asked = Vec::new();
        for turn in 1..9 {
            let now = Nanos(turn * 1_000);
            while let Some(begun) = tracer.begin(now) {
                asked.push(begun.tuple);
            }
            while tracer.ended(now + Nanos(900)).is_some() {}
        }
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), 8);
        tracer.follow(NicIndex(1), 3, &[1]);
        assert_eq!(tracer.known(), (2, 0));
    }
}
