//! The path of every 5-tuple that probes use, a few traces at a time.
//!
//! A trace sends one packet with the probe's own 5-tuple for each TTL, all at once: ECMP must route them like the
//! probes, and a path that changes meanwhile must not be mixed with the old one. The last hop is the destination, where
//! the packet itself arrives. Switches limit how often they answer, so traces have two limits: traces per second and
//! NIC, and answers per second from one address.
//!
//! 5-tuples to other hosts are traced too: flows of other programs where a controller asks for probes along them, those of
//! probes to other hosts, and the ways back of such probes. The agent of the other host answers the packets that reach it.
//!
//! A trace that does not reach its destination does not change the known path, which is needed to locate the timeouts
//! during a failure (Hostmesh, section 3.3.2).

use crate::answers::Answers;
use crate::icmp::Answer;
use crate::route::{Hop, Route, RowReason};
use crate::types::{DatagramKind, Nanos, NicIndex};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The maximum number of hops that can be configured.
pub const TTL_LIMIT: u8 = 31;
/// Flows to other hosts that are traced from a NIC: an eighth of its own 5-tuples, at eight NICs.
pub const FLOWS: usize = 56;
/// When a flow was asked for that is kept.
const KEPT: Nanos = Nanos(i64::MAX);
/// The number of distinct trace numbers: as many as fit into the IPv4 identification.
const IDS: u16 = 1 << (16 - crate::icmp::TTL_BITS);

/// A 5-tuple: protocol and destination port are the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    /// The NIC that sends.
    pub src: NicIndex,
    /// The NIC that receives; of a flow to another host, the sending one again.
    pub dst: NicIndex,
    /// UDP source port.
    pub port: u16,
    /// The address of the other host, of a flow to one.
    pub remote: Option<IpAddr>,
}

impl Tuple {
    /// That of a flow to another host.
    #[must_use]
    pub const fn to(src: NicIndex, remote: IpAddr, port: u16) -> Self {
        Self {
            src,
            dst: src,
            port,
            remote: Some(remote),
        }
    }
}

/// The limits of traces.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time between two traces of one NIC; `None` for no traces.
    pub interval: Option<Nanos>,
    /// Answers per second from one address.
    pub answers_per_second: f64,
    /// Maximum number of hops, at most [`TTL_LIMIT`].
    pub ttl_max: u8,
    /// Timeout of answers.
    pub timeout: Nanos,
    /// An unchanged path is written again after this time.
    pub refresh: Nanos,
}

/// The packets of a trace that has just begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Of what.
    pub tuple: Tuple,
    /// Its number.
    pub id: u16,
    /// The maximum TTL; the trace uses 1 to this.
    pub ttl_max: u8,
}

/// The result of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Of what.
    pub tuple: Tuple,
    /// When.
    pub at: Nanos,
    /// The path, if the destination was reached, and why it gets a row, if it does.
    pub path: Option<(Vec<Hop>, Option<RowReason>)>,
}

/// How an answer matches the traces in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A hop of a trace in flight.
    Hop,
    /// The trace cannot go on from there.
    Unreachable,
    /// It matches no trace.
    Unmatched,
}

#[derive(Clone, Debug)]
struct Running {
    begun: Started,
    at: Nanos,
    /// From TTL 1.
    hops: Vec<Hop>,
    /// The minimum TTL that reached the destination, its round trip, and the address.
    reached: Option<(u8, Nanos, IpAddr)>,
}

/// Traces and their results.
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
    /// When each flow to another host was last asked for.
    flows: BTreeMap<Tuple, Nanos>,
}

impl Tracer {
    /// Creates a tracer for `nics` NICs; traces begin at `now`, one NIC after the other.
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
            flows: BTreeMap::new(),
        }
    }

    /// Sets other limits; known paths stay.
    pub fn reconfigure(&mut self, limits: Limits, now: Nanos) {
        self.limits = Limits {
            ttl_max: limits.ttl_max.clamp(1, TTL_LIMIT),
            ..limits
        };
        self.answers = Answers::new(limits.answers_per_second);
        let latest = now + limits.interval.unwrap_or_default();
        self.due.iter_mut().for_each(|due| *due = latest.min(*due));
    }

    /// Sets the 5-tuples of a NIC; the paths of others are forgotten.
    pub fn follow(&mut self, src: NicIndex, nics: u16, ports: &[u16]) {
        if self.limits.interval.is_none() {
            return;
        }
        self.routes
            .retain(|tuple, _| tuple.src != src || tuple.remote.is_some() || ports.contains(&tuple.port));
        for dst in (0..nics).map(NicIndex).filter(|dst| *dst != src) {
            for port in ports {
                let tuple = Tuple {
                    src,
                    dst,
                    port: *port,
                    remote: None,
                };
                self.routes.entry(tuple).or_default();
            }
        }
    }

    /// Traces a flow from a NIC to another host too, until no one has asked for it for a while. Flows of a NIC take turns with
    /// its other 5-tuples; beyond a bound the one that was asked for least recently is forgotten.
    pub fn follow_flow(&mut self, src: NicIndex, remote: IpAddr, port: u16, now: Nanos) {
        let tuple = Tuple::to(src, remote, port);
        if let Some(asked) = self.flows.get_mut(&tuple) {
            *asked = now.max(*asked);
            return;
        }
        if self.limits.interval.is_none() || src.at() >= self.due.len() {
            return;
        }
        self.flows.insert(tuple, now);
        self.routes.entry(tuple).or_default();
        let of_nic = self.flows.iter().filter(|(tuple, _)| tuple.src == src);
        if of_nic.clone().count() > FLOWS
            && let Some((oldest, _)) = of_nic.min_by_key(|(_, asked)| **asked)
        {
            let oldest = *oldest;
            self.flows.remove(&oldest);
            self.routes.remove(&oldest);
        }
    }

    /// The same until [`unkeep_flow`](Self::unkeep_flow).
    pub fn keep_flow(&mut self, src: NicIndex, remote: IpAddr, port: u16) {
        self.follow_flow(src, remote, port, KEPT);
    }

    /// Traces a flow no more that was kept.
    pub fn unkeep_flow(&mut self, src: NicIndex, remote: IpAddr, port: u16) {
        let tuple = Tuple::to(src, remote, port);
        self.flows.remove(&tuple);
        self.routes.remove(&tuple);
    }

    /// Traces a flow no more, unless it is kept.
    pub fn forget_flow(&mut self, src: NicIndex, remote: IpAddr, port: u16) {
        if self.flows.get(&Tuple::to(src, remote, port)) != Some(&KEPT) {
            self.unkeep_flow(src, remote, port);
        }
    }

    /// Forgets flows that no one has asked for in twice the time of a refresh.
    fn forget_flows(&mut self, now: Nanos) {
        let since = now - self.limits.refresh - self.limits.refresh;
        for (tuple, _) in self.flows.extract_if(.., |_, asked| *asked < since) {
            self.routes.remove(&tuple);
        }
    }

    /// Returns the known path of a 5-tuple.
    #[must_use]
    pub fn route(&self, tuple: Tuple) -> Option<&Route> {
        self.routes.get(&tuple)
    }

    /// The number of 5-tuples of probes, and of those with a known path.
    #[must_use]
    pub fn known(&self) -> (usize, usize) {
        let own = || self.routes.iter().filter(|(tuple, _)| tuple.remote.is_none());
        let known = own().filter(|(_, route)| !route.hops().is_empty());
        (own().count(), known.count())
    }

    /// The number of traces deferred because a hop would have had to answer too often.
    #[must_use]
    pub const fn deferred(&self) -> u64 {
        self.deferred
    }

    /// The number of traces in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// When the tracer has to act next.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        self.limits.interval?;
        let begins = self.due.iter().min().copied();
        begins.into_iter().chain(self.next_end()).min()
    }

    /// When the next trace in flight times out.
    #[must_use]
    pub fn next_end(&self) -> Option<Nanos> {
        let ends = self.running.iter().map(|running| running.at);
        ends.min().map(|at| at + self.limits.timeout + Nanos(1))
    }

    /// Begins the trace that is due at `now`, if any: of a 5-tuple with an unknown hop, or of the least recently traced.
    pub fn begin(&mut self, now: Nanos) -> Option<Started> {
        let interval = self.limits.interval?;
        self.forget_flows(now);
        let tuple = (0..self.due.len()).find_map(|nic| {
            let due = self.due.get_mut(nic).filter(|due| **due <= now)?;
            // Missed turns are skipped.
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
        let begun = Started {
            tuple,
            id: self.next_id,
            ttl_max,
        };
        // Number 0 with TTL 0 would be the identification of a probe.
        self.next_id = (self.next_id + 1) % IDS;
        self.running.push(Running {
            begun,
            at: now,
            hops: vec![Hop::default(); ttl_max.into()],
            reached: None,
        });
        Some(begun)
    }

    /// Returns the 5-tuple whose turn it is among those whose hops may answer.
    fn choose(&mut self, nic: NicIndex, now: Nanos) -> Option<Tuple> {
        let first = Tuple {
            src: nic,
            dst: NicIndex(0),
            port: 0,
            remote: None,
        };
        let last = Tuple {
            src: nic,
            dst: NicIndex(u16::MAX),
            port: u16::MAX,
            remote: None,
        };
        let mut some = false;
        let chosen = self
            .routes
            .range(first..=last)
            .filter(|(tuple, _)| !self.running.iter().any(|running| running.begun.tuple == **tuple))
            .filter(|(_, route)| {
                some = true;
                let hops = route.hops().iter().flatten();
                hops.into_iter().all(|hop| self.answers.may(*hop, now))
            })
            .min_by_key(|(_, route)| route.turn())
            .map(|(tuple, _)| *tuple);
        self.deferred += u64::from(some && chosen.is_none());
        chosen
    }

    /// Handles an answer of a router to a packet of a trace of `tuple`.
    pub fn answered(&mut self, tuple: Tuple, answer: &Answer, at: Nanos) -> Reply {
        let Some(DatagramKind::Trace { id, ttl }) = answer.kind else {
            return Reply::Unmatched;
        };
        let Some(running) = self.running(tuple, id) else {
            return Reply::Unmatched;
        };
        let since = at - running.at;
        let Some(hop) = usize::from(ttl).checked_sub(1).and_then(|at| running.hops.get_mut(at)) else {
            return Reply::Unmatched;
        };
        if !answer.exceeded {
            return Reply::Unreachable;
        }
        hop.address = Some(answer.from);
        hop.round_trip = Some(since);
        self.answers.given(answer.from, at);
        Reply::Hop
    }

    /// Handles a packet of a trace that reached the destination, `address`; returns whether it matches a trace in
    /// flight.
    pub fn arrived(&mut self, tuple: Tuple, (id, ttl): (u16, u8), address: IpAddr, at: Nanos) -> bool {
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

    /// Returns the next trace that has all answers or timed out.
    pub fn ended(&mut self, now: Nanos) -> Option<Finished> {
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
                route.miss();
                None
            }
            // The port is no longer in use.
            (_, None) => None,
        };
        Some(Finished { tuple, at: now, path })
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
        for asked in self.flows.values_mut().filter(|asked| **asked != KEPT) {
            *asked = *asked + by;
        }
    }
}

impl Running {
    /// Whether the destination was reached, and every hop before it answered.
    fn is_whole(&self) -> bool {
        self.reached.is_some_and(|(last, ..)| {
            let before = usize::from(last).saturating_sub(1);
            let mut hops = self.hops.iter().take(before);
            hops.all(|hop| hop.address.is_some())
        })
    }

    /// Returns the hops up to the destination, if it was reached.
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
        remote: None,
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

    /// Runs a trace at `now` over routers that answer from these addresses; returns its result.
    fn trace(tracer: &mut Tracer, now: i64, routers: &[IpAddr], reaches: bool) -> (u8, Finished) {
        let begun = tracer.begin(Nanos(now)).unwrap();
        assert_eq!(begun.tuple, TUPLE);
        for ttl in 1..=begun.ttl_max {
            match routers.get(usize::from(ttl) - 1) {
                Some(router) => {
                    let reply = tracer.answered(TUPLE, &answer(*router, begun.id, ttl), Nanos(now + 5));
                    assert_eq!(reply, Reply::Hop);
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
                    Finished {
                        tuple: TUPLE,
                        at: Nanos(now),
                        path: None,
                    },
                );
            }
        };
        (begun.ttl_max, ended)
    }

    fn news(ended: &Finished) -> Option<RowReason> {
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
        assert_eq!(news, Some(RowReason::First));
        assert_eq!(tracer.known(), (1, 1));
    }

    #[test]
    fn a_failed_trace_keeps_the_known_path_and_the_next_one_uses_more_hops() {
        let mut tracer = tracer(100.0);
        let known = [hop(1), hop(2)];
        trace(&mut tracer, 0, &known, true);
        let before = tracer.route(TUPLE).unwrap().hops().to_vec();
        let (ttl_max, ended) = trace(&mut tracer, 1_000, &known[..1], false);
        assert_eq!((ttl_max, ended.path), (3, None), "the known path limits the TTL");
        assert_eq!(tracer.route(TUPLE).unwrap().hops(), before);
        // Now with one more hop.
        let begun = tracer.begin(Nanos(2_000)).unwrap();
        assert_eq!(begun.ttl_max, 8);
        for ttl in 1..=3 {
            tracer.answered(TUPLE, &answer(hop(ttl), begun.id, ttl), Nanos(2_001));
        }
        assert!(tracer.arrived(TUPLE, (begun.id, 4), DESTINATION, Nanos(2_002)));
        let ended = tracer.ended(Nanos(2_002)).unwrap();
        assert_eq!(news(&ended), Some(RowReason::Changed));
    }

    #[test]
    fn unexpected_answers_match_no_trace() {
        let mut tracer = tracer(100.0);
        let begun = tracer.begin(Nanos(0)).unwrap();
        let strange = |tracer: &mut Tracer, tuple, answer| {
            assert_eq!(tracer.answered(tuple, &answer, Nanos(1)), Reply::Unmatched);
        };
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id + 1, 1));
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 0));
        strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 9));
        let other = Tuple { port: 50_001, ..TUPLE };
        strange(&mut tracer, other, answer(hop(1), begun.id, 1));
        assert!(!tracer.arrived(other, (begun.id, 1), DESTINATION, Nanos(1)));
    }

    #[test]
    fn no_address_exceeds_its_rate_of_answers() {
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
        // Ten seconds at two per second, and a burst of two.
        assert!((20..=22).contains(&asked), "{asked}");
        assert!(tracer.deferred() > 100);
    }

    #[test]
    fn a_path_with_an_unknown_hop_is_traced_again_before_others_and_not_forever() {
        let mut tracer = tracer(1e6);
        let ports = [1, 2, 3, 4, 5, 6];
        tracer.follow(TUPLE.src, 2, &ports);
        // The first router never answers to the third port, and missed the first packet of the first one.
        let mut first = 0;
        let mut asked = Vec::new();
        for turn in 0..23 {
            let now = Nanos(turn * 1_000);
            let begun = tracer.begin(now).unwrap();
            let port = begun.tuple.port;
            first += u32::from(port == 1);
            if port != 3 && (port, first) != (1, 1) {
                tracer.answered(begun.tuple, &answer(hop(1), begun.id, 1), now);
            }
            tracer.arrived(begun.tuple, (begun.id, 2), DESTINATION, now);
            tracer.ended(now + Nanos(501)).unwrap();
            asked.push(port);
        }
        let new = [1, 2, 3, 4, 5, 6];
        let repeated = [1, 3, 3, 3, 3, 3, 3];
        let turns = [2, 4, 5, 6, 1, 3, 2, 4, 5, 6];
        assert_eq!(asked, [&new[..], &repeated, &turns].concat());
    }

    #[test]
    fn flows_to_other_hosts_take_turns_and_are_bounded() {
        let mut tracer = tracer(1e6);
        let remote = hop(77);
        let flow = |port| Tuple {
            src: TUPLE.src,
            dst: TUPLE.src,
            port,
            remote: Some(remote),
        };
        tracer.follow_flow(TUPLE.src, remote, 9, Nanos(0));
        // Ports of probes change; the flow stays.
        tracer.follow(TUPLE.src, 2, &[TUPLE.port]);
        let mut asked = Vec::new();
        for turn in 0..4 {
            let now = Nanos(turn * 1_000);
            let begun = tracer.begin(now).unwrap();
            tracer.answered(begun.tuple, &answer(hop(1), begun.id, 1), now);
            let destination = begun.tuple.remote.unwrap_or(DESTINATION);
            assert!(tracer.arrived(begun.tuple, (begun.id, 2), destination, now));
            tracer.ended(now).unwrap();
            asked.push(begun.tuple);
        }
        assert_eq!(asked, [flow(9), TUPLE, flow(9), TUPLE]);
        let hops = tracer.route(flow(9)).unwrap().hops();
        assert_eq!(hops, [Some(hop(1)), Some(remote)]);
        assert_eq!(tracer.known(), (1, 1), "of probes");
        // One more than there is room for.
        for port in 0..FLOWS as u16 {
            tracer.follow_flow(TUPLE.src, remote, 100 + port, Nanos(10_000 + i64::from(port)));
        }
        assert!(tracer.route(flow(9)).is_none() && tracer.route(flow(100)).is_some());
        // No one has asked for the others since.
        tracer.follow_flow(TUPLE.src, remote, 99, Nanos(3_000_000));
        tracer.begin(Nanos(3_000_000)).unwrap();
        assert_eq!(tracer.routes.len(), 2);
    }

    #[test]
    fn every_tuple_is_traced() {
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
