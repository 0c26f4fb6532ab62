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
//! during a failure (Hostmesh, section 3.3.2). Of a 5-tuple without one it shows how far packets come: a fault may be older than
//! the 5-tuple. The module `trace` has what is traced, and the result.

mod trace;

pub use trace::{Finished, Limits, Reply, Started, Tuple};

use crate::answers::Answers;
use crate::icmp::Answer;
use crate::route::{Hop, Route};
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

#[derive(Clone, Debug)]
struct Running {
    begun: Started,
    at: Nanos,
    /// From TTL 1.
    hops: Vec<Hop>,
    /// The minimum TTL that reached the destination, its round trip, and the address.
    reached: Option<(u8, Nanos, IpAddr)>,
    /// The minimum TTL that a router called the destination unreachable for, the round trip, and the address.
    refused: Option<(u8, Nanos, IpAddr)>,
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

    /// When the next trace may begin.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        self.limits.interval?;
        self.due.iter().min().copied()
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
            refused: None,
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
        let idle = || {
            let routes = self.routes.range(first..=last);
            routes.filter(|(tuple, _)| !self.running.iter().any(|running| running.begun.tuple == **tuple))
        };
        let may_answer = |(_, route): &(&Tuple, &Route)| route.known().all(|hop| self.answers.may(hop, now));
        let turn = |(_, route): &(&Tuple, &Route)| route.turn();
        // Usually the first in turn may: only if not, the hops of all others are looked up.
        let next = idle().min_by_key(turn)?;
        let chosen = match may_answer(&next) {
            true => Some(*next.0),
            false => idle().filter(may_answer).min_by_key(turn).map(|(tuple, _)| *tuple),
        };
        self.deferred += u64::from(chosen.is_none());
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
        let reply = match answer.exceeded {
            true => {
                hop.address = Some(answer.from);
                hop.round_trip = Some(since);
                Reply::Hop
            }
            false => {
                // The destination itself may lack an agent, which is no matter of the way to it.
                let is_first = running.refused.is_none_or(|(least, ..)| ttl < least);
                if is_first && answer.from != answer.dst {
                    running.refused = Some((ttl, since, answer.from));
                }
                Reply::Unreachable
            }
        };
        self.answers.given(answer.from, at);
        reply
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
        let refresh = self.limits.refresh;
        let (mut path, mut cut) = (None, None);
        // Otherwise the port is no longer in use.
        if let Some(route) = self.routes.get_mut(&tuple) {
            match running.path() {
                Some(mut hops) => {
                    let news = route.learn(&mut hops, now, refresh);
                    path = Some((hops, news));
                }
                None => {
                    let (hops, is_refused) = running.cut();
                    cut = route.miss(hops, is_refused, now, refresh);
                }
            }
        }
        Some(Finished {
            tuple,
            at: now,
            path,
            cut,
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

    /// Returns the hops up to the last one that answered, and whether that one called the destination unreachable. A router
    /// without a route answers that to any TTL, so that it is no hop otherwise.
    fn cut(mut self) -> (Vec<Hop>, bool) {
        if let Some((ttl, round_trip, address)) = self.refused
            && self.hops.iter().all(|hop| hop.address != Some(address))
            && let Some(hop) = self.hops.get_mut(usize::from(ttl).saturating_sub(1))
        {
            let round_trip = Some(round_trip);
            *hop = Hop {
                address: Some(address),
                round_trip,
            };
        }
        let end = self.hops.iter().rposition(|hop| hop.address.is_some());
        self.hops.truncate(end.map_or(0, |end| end + 1));
        let last = self.hops.last().and_then(|hop| hop.address);
        let is_refused = self.refused.is_some_and(|(_, _, address)| last == Some(address));
        (self.hops, is_refused)
    }
}

#[cfg(test)]
mod tests;
