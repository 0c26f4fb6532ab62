//! The agent without I/O: it returns the packets that are due, accepts events, and produces rows.
//!
//! The backend supplies the time, a seed the randomness. [`drive`](crate::drive()) sets the order of calls: it passes
//! all events up to `now` before it calls [`Agent::expire`] with `now`.

use crate::clocks::Clocks;
use crate::counters::Counters;
use crate::flows::{FlowCounters, FlowProbes, FlowTask};
use crate::icmp::Answer;
use crate::payload::Payload;
use crate::peers::{Origin, PeerAnswer, PeerCounters, PeerSettings, Peers};
use crate::responder::{AnswerCounters, Responder};
use crate::session::{Arrival, InFlight, Matched, Session};
use crate::throttle::Throttle;
use crate::tracer::{Finished, Limits, Reply, Started, Tracer, Tuple};
use crate::types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Presence, Refusal, Sequence};
use crate::watch::{Trip, WatchedPath, Watches};
use fastrand::Rng;
use rocescope_model::{PathRow, ProbeRow, SmallFlowRow, Text, Time};
use std::collections::VecDeque;
use std::net::IpAddr;

/// How an agent probes. The defaults are those of Hostmesh, sections 3.3 and 4, if it gives any.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the host, in every row.
    pub observer: Text,
    /// UDP destination port: 4791.
    pub udp_dst_port: u16,
    /// Interval between two probes of a NIC: 100 ms.
    pub interval: Nanos,
    /// Timeout of a probe: 500 ms.
    pub timeout: Nanos,
    /// Source ports of a NIC: 8.
    pub pool_size: usize,
    /// Lifetime of a source port: 10 minutes.
    pub pool_period: Nanos,
    /// DSCPs of the source ports, in turn, 0 to 63: 0 alone. Probes along paths of flows have the first one.
    pub dscps: Vec<u8>,
    /// Traces per second and NIC, 0 for none: 0.5.
    pub traces_per_second: f64,
    /// Maximum answers per second from one hop: 5.
    pub answers_per_second: f64,
    /// Maximum number of hops of a trace: 8.
    pub ttl_max: u8,
    /// Time after which an unchanged path is written again: 5 minutes.
    pub refresh: Nanos,
    /// Probes along paths of flows that a controller may request for one window; 0: none, and no answers to those of
    /// other agents, unless there are peers.
    pub flow_probes: u32,
    /// The NICs of other hosts that are probed: none. The agents of their hosts answer; this one answers them.
    pub peers: Option<PeerSettings>,
    /// Share of a core above which the agent slows down: 0.05.
    pub cpu_bound: f64,
    /// Seed of all random choices but the source ports.
    pub seed: u64,
    /// Seed of the source ports: an agent with the same one has the same ports at the same time.
    pub port_seed: u64,
}

impl Settings {
    /// Returns the defaults.
    #[must_use]
    pub fn new(observer: impl Into<Text>, seed: u64) -> Self {
        Self {
            observer: observer.into(),
            udp_dst_port: rocescope_wire::ROCE_UDP_PORT,
            interval: Nanos(100_000_000),
            timeout: Nanos(500_000_000),
            pool_size: 8,
            pool_period: Nanos(600_000_000_000),
            dscps: vec![0],
            traces_per_second: 0.5,
            answers_per_second: 5.0,
            ttl_max: 8,
            refresh: Nanos(300_000_000_000),
            flow_probes: 0,
            peers: None,
            cpu_bound: 0.05,
            seed,
            port_seed: seed,
        }
    }
}

/// Distinguishes the sequence numbers of traces to other hosts, whose agents return them, from those of probes.
const TRACE: u64 = 1 << 62;

/// The sequence number of a packet of a trace to another host.
const fn traced(id: u16, ttl: u8) -> Sequence {
    Sequence(TRACE | (id as u64) << 8 | ttl as u64)
}

/// The trace and the TTL of a packet that another agent answered.
const fn trace_of(sequence: Sequence) -> Option<(u16, u8)> {
    match sequence.0 >> 62 {
        1 => Some(((sequence.0 >> 8) as u16, sequence.0 as u8)),
        _ => None,
    }
}

/// The number of NICs that probe at the same time. Most of the cost of a probe is the wakeup of the agent, with cold
/// processor caches; the price of sharing one is that up to three other probes are sent before a probe is received.
const TOGETHER: u16 = 4;

fn limits(settings: &Settings) -> Limits {
    Limits {
        interval: (settings.traces_per_second > 0.0).then(|| Nanos((1e9 / settings.traces_per_second) as i64)),
        answers_per_second: settings.answers_per_second,
        ttl_max: settings.ttl_max,
        timeout: settings.timeout,
        refresh: settings.refresh,
    }
}

/// The probes and traces of all NICs of a host.
#[derive(Clone, Debug)]
pub struct Agent {
    settings: Settings,
    id: u64,
    nics: Vec<Nic>,
    names: Vec<Text>,
    clock: Clock,
    sessions: Vec<Session>,
    clocks: Clocks,
    tracer: Tracer,
    throttle: Throttle,
    /// The maximum lateness of a probe since the last update of the throttle.
    late: Nanos,
    outbox: VecDeque<Outgoing>,
    counters: Counters,
    stopped: bool,
    probe_rows: Vec<ProbeRow>,
    path_rows: Vec<PathRow>,
    last_refusal: Option<(NicIndex, Refusal)>,
    presences: Vec<(NicIndex, Presence)>,
    flows: FlowProbes,
    watches: Watches,
    peers: Option<Peers>,
    responder: Responder,
    /// Frames that were lost in this host.
    dropped: u64,
}

impl Agent {
    /// Creates an agent for these NICs that starts at `now`. With fewer than two it has no targets.
    #[must_use]
    pub fn new(settings: Settings, nics: &[Nic], clock: Clock, now: Nanos) -> Self {
        let count = nics.len() as u16;
        let mut rng = Rng::with_seed(settings.seed);
        let id = rng.u64(..);
        // Their turns are spread over the interval, in groups.
        let session = |nic: u16| {
            let turn = i64::from(nic - nic % TOGETHER);
            let first = Nanos(settings.interval.0 * turn / i64::from(count));
            Session::new(
                (NicIndex(nic), count),
                (settings.interval, settings.timeout),
                (
                    settings.pool_size,
                    settings.pool_period,
                    settings.port_seed.wrapping_add(nic.into()),
                ),
                &settings.dscps,
                now + first,
                rng.fork(),
            )
        };
        let probing = if count < 2 { 0 } else { count };
        let sessions: Vec<Session> = (0..probing).map(session).collect();
        let mut tracer = Tracer::new(limits(&settings), count, now);
        for (nic, session) in sessions.iter().enumerate() {
            tracer.follow(NicIndex(nic as u16), count, session.ports());
        }
        Self {
            id,
            names: nics.iter().map(|nic| nic.name.clone().into()).collect(),
            nics: nics.to_vec(),
            clock,
            clocks: Clocks::new(nics.len()),
            sessions,
            tracer,
            throttle: Throttle::new(settings.cpu_bound, settings.interval),
            late: Nanos(0),
            outbox: VecDeque::new(),
            counters: Counters::default(),
            stopped: false,
            probe_rows: Vec::new(),
            path_rows: Vec::new(),
            last_refusal: None,
            presences: Vec::new(),
            flows: FlowProbes::new(settings.flow_probes, settings.timeout),
            watches: Watches::default(),
            responder: Responder::new(
                settings.flow_probes > 0 || settings.peers.is_some(),
                settings.timeout,
                now,
            ),
            peers: settings.peers.clone().map(|peers| {
                Peers::new(
                    peers,
                    count,
                    (settings.port_seed, &settings.dscps),
                    settings.timeout,
                    now,
                )
            }),
            dropped: 0,
            settings,
        }
    }

    /// The settings in effect.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets what may change while the agent runs: intervals, timeouts, limits. Source ports, seed, port and name stay.
    pub fn reconfigure(&mut self, settings: &Settings, now: Nanos) {
        let own = &mut self.settings;
        own.interval = settings.interval;
        own.timeout = settings.timeout;
        own.traces_per_second = settings.traces_per_second;
        own.answers_per_second = settings.answers_per_second;
        own.ttl_max = settings.ttl_max;
        own.refresh = settings.refresh;
        own.cpu_bound = settings.cpu_bound;
        if let (Some(own), Some(new)) = (&mut own.peers, &settings.peers) {
            own.interval = new.interval;
        }
        if let (Some(peers), Some(new)) = (&mut self.peers, &own.peers) {
            peers.reconfigure(new.interval, own.timeout, now);
        }
        self.responder.reconfigure(own.timeout);
        self.throttle.reconfigure(own.cpu_bound, own.interval);
        self.tracer.reconfigure(limits(own), now);
        let count = self.nics.len() as u16;
        for (nic, session) in self.sessions.iter_mut().enumerate() {
            session.reconfigure(own.interval, own.timeout, now);
            self.tracer.follow(NicIndex(nic as u16), count, session.ports());
        }
    }

    /// Returns when the agent has to act next; `None` when everything is done.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        if !self.outbox.is_empty() {
            return Some(Nanos(i64::MIN));
        }
        let expiries = self.sessions.iter().filter_map(Session::expiry);
        let ends = self.tracer.next_end();
        let begins = (!self.stopped).then(|| {
            let probes = self.sessions.iter().map(Session::due);
            probes.chain(self.tracer.next_due()).min()
        });
        // An agent that only answers others has nothing to begin, and goes on.
        let waits = (!self.stopped).then_some(Nanos(i64::MAX));
        expiries
            .chain(ends)
            .chain(begins.flatten())
            .chain(self.flows.next_due())
            .chain(self.watches.next_due())
            .chain(self.peers.as_ref().and_then(Peers::next_due))
            .chain(self.responder.next_due())
            .chain(waits)
            .min()
    }

    /// Starts no more probes and traces; those in flight still complete.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.flows.stop();
        self.watches.stop();
        if let Some(peers) = &mut self.peers {
            peers.stop();
        }
    }

    /// Asks for probes along the path of a flow, in the next window, and traces it from its sender.
    pub fn probe_flow(&mut self, task: FlowTask, now: Nanos) {
        let FlowTask { flow, .. } = &task;
        let own = |address: IpAddr| self.nics.iter().position(|nic| nic.address == address);
        if let (Some(nic), None) = (own(flow.src), own(flow.dst))
            && self.settings.flow_probes > 0
        {
            let (remote, port) = (flow.dst, flow.udp_src_port);
            self.tracer.follow_flow(NicIndex(nic as u16), remote, port, now);
        }
        self.flows.request(task, &self.settings.observer, &self.nics, now);
    }

    /// Probes these paths at a steady pace from now on, and no others. Those that begin at no NIC of this host are left out.
    pub fn watch(&mut self, paths: impl Iterator<Item = WatchedPath>, pace: Nanos, now: Nanos) {
        if !self.stopped {
            self.watches.set(paths, pace, &self.nics, now);
        }
    }

    /// The round trips along these paths since the last call, in the order of their answers; the caller has to take them
    /// regularly.
    pub fn trips(&mut self) -> std::vec::Drain<'_, Trip> {
        self.watches.trips.drain(..)
    }

    /// The paths whose last probes are not answered, with the age of the oldest of these.
    pub fn unanswered(&self, now: Nanos) -> impl Iterator<Item = (WatchedPath, Nanos)> {
        self.watches.unanswered(now, self.settings.timeout)
    }

    /// The counters of probes to other hosts, where it has peers.
    #[must_use]
    pub fn peer_counters(&self) -> Option<PeerCounters> {
        self.peers.as_ref().map(Peers::counters)
    }

    /// The counters of answers to other agents.
    #[must_use]
    pub const fn answer_counters(&self) -> AnswerCounters {
        self.responder.counters
    }

    /// Whether frames that are lost in this host matter to other agents: [`dropped`](Self::dropped) is to be called about
    /// once a second.
    #[must_use]
    pub const fn minds_drops(&self) -> bool {
        self.peers.is_some()
    }

    /// Notes how many frames the backend has dropped so far: if these are more than before, probes of other agents and
    /// answers may be among them, so that nothing is known about those.
    pub fn dropped(&mut self, dropped: u64, now: Nanos) {
        if dropped > self.dropped {
            self.dropped = dropped;
            self.responder.receipts.begin_again(now);
            if let Some(peers) = &mut self.peers {
                peers.tear();
            }
        }
    }

    /// The counters of these probes.
    #[must_use]
    pub const fn flow_counters(&self) -> FlowCounters {
        self.flows.counters
    }

    /// The rows of these probes; the caller has to take them regularly.
    pub fn flow_rows(&mut self) -> &mut Vec<SmallFlowRow> {
        &mut self.flows.rows
    }

    /// The NICs, with their current addresses.
    #[must_use]
    pub fn nics(&self) -> &[Nic] {
        &self.nics
    }

    /// Returns the next datagram to send at `now`, if any. Call it until it returns `None`.
    pub fn next_packet(&mut self, now: Nanos) -> Option<Outgoing> {
        if let Some(mut packet) = self.outbox.pop_front() {
            packet.sent = now;
            return Some(packet);
        }
        if let Some(answer) = self.responder.next_packet(&self.nics, now) {
            return Some(answer);
        }
        let of_flow = self.flows.next_packet(self.id, now);
        if let Some(packet) = of_flow.or_else(|| self.watches.next_packet(self.id, now)) {
            let dscp = self.settings.dscps.first().copied().unwrap_or(0);
            return Some(Outgoing { dscp, ..packet });
        }
        if self.stopped {
            return None;
        }
        if let Some(probe) = self.next_probe(now) {
            return Some(probe);
        }
        if let Some(peers) = &mut self.peers
            && let Some((probe, late)) = peers.next_packet(self.id, now, self.throttle.factor(), &mut self.tracer)
        {
            self.late = self.late.max(late);
            return Some(probe);
        }
        let begun = self.tracer.begin(now)?;
        self.counters.traces += 1;
        let packets = (1..=begun.ttl_max).map(|ttl| self.trace_packet(begun, ttl, now));
        self.outbox = packets.collect();
        self.outbox.pop_front()
    }

    fn next_probe(&mut self, now: Nanos) -> Option<Outgoing> {
        let factor = self.throttle.factor();
        let count = self.nics.len() as u16;
        for (nic, session) in self.sessions.iter_mut().enumerate() {
            if session.due() > now {
                continue;
            }
            let src = NicIndex(nic as u16);
            if session.renew(now) {
                self.tracer.follow(src, count, session.ports());
            }
            let Some(due) = session.next(now, factor) else {
                continue;
            };
            self.counters.probes += 1;
            self.counters.in_flight += 1;
            self.counters.skipped += due.skipped;
            self.late = self.late.max(due.late);
            return Some(Outgoing {
                src,
                dst: due.dst,
                remote: None,
                port: due.port,
                dscp: due.dscp,
                sequence: due.sequence,
                kind: DatagramKind::Probe,
                sent: now,
                agent: self.id,
            });
        }
        None
    }

    fn trace_packet(&self, begun: Started, ttl: u8, now: Nanos) -> Outgoing {
        let session = self.sessions.get(begun.tuple.src.at());
        let dscp = match begun.tuple.remote {
            None => session.map_or(0, |session| session.dscp(begun.tuple.port)),
            Some(_) => self.settings.dscps.first().copied().unwrap_or(0),
        };
        Outgoing {
            dscp,
            src: begun.tuple.src,
            dst: begun.tuple.dst,
            remote: begun.tuple.remote,
            port: begun.tuple.port,
            sequence: begun.tuple.remote.map_or(Sequence(0), |_| traced(begun.id, ttl)),
            kind: DatagramKind::Trace { id: begun.id, ttl },
            sent: now,
            agent: self.id,
        }
    }

    /// Records that a datagram was not sent.
    pub fn refused(&mut self, outgoing: &Outgoing, why: Refusal) {
        if outgoing.remote.is_some() && !matches!(outgoing.kind, DatagramKind::Trace { .. }) {
            match (outgoing.kind, &mut self.peers) {
                (DatagramKind::PeerProbe(_), Some(peers)) => {
                    self.last_refusal = Some((outgoing.src, why));
                    peers.refused(outgoing.sequence, why);
                    self.peer_rows();
                }
                (DatagramKind::Question, _) if Watches::owns(outgoing) => self.watches.refused(outgoing.sequence),
                (DatagramKind::Question, _) => self.flows.refused(outgoing, why),
                _ => self.responder.refused(outgoing, why),
            }
            return;
        }
        self.last_refusal = Some((outgoing.src, why));
        if outgoing.kind != DatagramKind::Probe {
            self.counters.traces_unsent += 1;
            return;
        }
        let session = self.sessions.get_mut(outgoing.src.at());
        if let Some(probe) = session.and_then(|session| session.refused(outgoing.sequence)) {
            self.decided();
            self.counters.unsent += 1;
            self.row(outgoing.src, &probe, "unsent", None);
            if let Some(row) = self.probe_rows.last_mut() {
                row.unsent_reason = Some(why.name().into());
            }
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::Sent { payload, nic_sent } => self.left(payload, *nic_sent),
            Event::Refused { outgoing, why } => self.refused(outgoing, *why),
            Event::Arrived {
                nic,
                payload,
                from,
                intact,
                nic_received,
                received,
            } => {
                let arrival = Arrival {
                    intact: *intact,
                    nic_received: *nic_received,
                    received: *received,
                };
                match (payload.kind, from) {
                    (DatagramKind::Question | DatagramKind::PeerProbe(_), Some(from)) if *intact => {
                        self.question(*nic, payload, *from, arrival);
                    }
                    (DatagramKind::PeerAnswer { held_ns, receipt }, Some(from))
                        if *intact && payload.agent == self.id =>
                    {
                        self.peer_answer(&PeerAnswer {
                            sequence: payload.sequence,
                            from: *from,
                            held: Nanos(held_ns.into()),
                            receipt,
                            nic_received: *nic_received,
                            received: *received,
                        });
                    }
                    (DatagramKind::Trace { .. }, Some(from)) if *intact && payload.agent != self.id => {
                        self.question(*nic, payload, *from, arrival);
                    }
                    (DatagramKind::Answer { held_ns }, Some(from)) if *intact && payload.agent == self.id => {
                        let at = arrival.nic_received.unwrap_or(arrival.received);
                        let held = Nanos(held_ns.into());
                        match trace_of(payload.sequence) {
                            Some(packet) => self.reached(*nic, payload.port, packet, *from, arrival),
                            None if Watches::numbers(payload.sequence) => {
                                self.watches.answered(payload.sequence, *from, held, at);
                            }
                            None => self.flows.answered(payload.sequence, *from, held, at),
                        }
                    }
                    _ => self.arrived(*nic, payload, arrival),
                }
            }
            Event::Stranger => self.counters.strangers += 1,
            Event::Unreadable => self.counters.unreadable += 1,
            Event::Answered { answer, at } => self.answered(answer, *at),
            Event::Gone { nic } => self.presences.push((*nic, Presence::Gone)),
            Event::Back { nic, address } => self.back(*nic, *address),
            Event::Stepped { by } => self.stepped(*by),
        }
    }

    /// A packet of a trace reached another host, whose agent answered it.
    fn reached(&mut self, nic: NicIndex, port: u16, packet: (u16, u8), from: IpAddr, arrival: Arrival) {
        let tuple = Tuple::to(nic, from, port);
        self.tracer.arrived(tuple, packet, from, arrival.received);
    }

    /// An answer to a probe to another host.
    fn peer_answer(&mut self, answer: &PeerAnswer) {
        match &mut self.peers {
            Some(peers) => peers.answered(answer),
            None => self.counters.strangers += 1,
        }
        self.peer_rows();
    }

    /// Takes the rows of probes to other hosts.
    fn peer_rows(&mut self) {
        if let Some(peers) = &mut self.peers {
            let origin = Origin {
                observer: &self.settings.observer,
                nics: &self.nics,
                names: &self.names,
                clock: self.clock,
                udp_dst_port: self.settings.udp_dst_port,
            };
            peers.rows(&origin, &mut self.probe_rows);
        }
    }

    /// A probe of another agent, along the path of a flow or between hosts, or a packet of a trace.
    fn question(&mut self, nic: NicIndex, payload: &Payload, from: IpAddr, arrival: Arrival) {
        // The answer leaves by the clock of the agent: the NIC's may be another.
        let at = match self.clock.own {
            true => arrival.received,
            false => arrival.nic_received.unwrap_or(arrival.received),
        };
        let dscp = self.settings.dscps.first().copied().unwrap_or(0);
        self.responder.question(nic, payload, from, dscp, at);
        if matches!(payload.kind, DatagramKind::PeerProbe(_)) && self.peers.is_some() {
            // Its answers take another path than it.
            self.tracer.follow_flow(nic, from, payload.port, arrival.received);
        }
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos) {
        if let (DatagramKind::PeerProbe(_), Some(peers)) = (payload.kind, &mut self.peers) {
            if payload.agent == self.id {
                peers.left(payload.sequence, nic_sent);
                self.peer_rows();
            }
            return;
        }
        if payload.agent == self.id && payload.kind == DatagramKind::Question {
            match Watches::numbers(payload.sequence) {
                true => self.watches.left(payload.sequence, nic_sent),
                false => self.flows.left(payload.sequence, nic_sent),
            }
            return;
        }
        if payload.agent != self.id || payload.kind != DatagramKind::Probe {
            return;
        }
        let session = self.sessions.get_mut(payload.src.at());
        if let Some(probe) = session.and_then(|session| session.left(payload.sequence, nic_sent)) {
            self.received(payload.src, &probe);
        }
    }

    fn arrived(&mut self, nic: NicIndex, payload: &Payload, arrival: Arrival) {
        // A damaged payload may contain anything; it counts if it matches something in flight.
        if payload.agent != self.id || payload.dst != nic {
            if arrival.intact {
                self.counters.strangers += 1;
            } else {
                self.counters.unreadable += 1;
            }
            return;
        }
        let src = payload.src;
        if let DatagramKind::Trace { id, ttl } = payload.kind {
            let tuple = Tuple {
                src,
                dst: nic,
                port: payload.port,
                remote: None,
            };
            let at = match (self.clock.own, arrival.nic_received) {
                (false, Some(stamp)) => stamp,
                _ => arrival.received,
            };
            let address = self.nics.get(nic.at()).map(|nic| nic.address);
            if let Some(address) = address
                && arrival.intact
            {
                // It arrived after the end of its trace: its TTL exceeded the length of the path.
                self.tracer.arrived(tuple, (id, ttl), address, at);
            }
            return;
        }
        let own = self.clock.own;
        // If one clock stamps both ends, a probe that waited for a busy host is not lost.
        let since = |probe: &InFlight| match arrival.nic_received {
            Some(stamp) if !own && !probe.torn => stamp - probe.sent,
            _ => arrival.received - probe.sent,
        };
        let matched = match self.sessions.get_mut(src.at()) {
            Some(session) => session.arrived((payload.sequence, nic), arrival, since),
            None => Matched::Unknown,
        };
        match matched {
            Matched::Done(probe) => self.received(src, &probe),
            Matched::Waits => {}
            Matched::Late => self.counters.late += 1,
            Matched::Duplicate => self.counters.duplicates += 1,
            Matched::Unknown if arrival.intact => self.counters.strangers += 1,
            Matched::Unknown => self.counters.unreadable += 1,
        }
    }

    /// Finishes a probe that arrived in time.
    fn received(&mut self, src: NicIndex, probe: &InFlight) {
        let Some(arrival) = probe.arrival else {
            return;
        };
        self.decided();
        self.counters.unstamped += u64::from(probe.nic_sent.is_none());
        self.counters.torn += u64::from(probe.torn);
        if arrival.intact {
            self.counters.received += 1;
            self.row(src, probe, "received", Some(arrival));
        } else {
            self.counters.corrupt += 1;
            self.row(src, probe, "corrupt", Some(arrival));
        }
    }

    fn answered(&mut self, answer: &Answer, at: Nanos) {
        // An answer to traffic of another process.
        if answer.dst_port != self.settings.udp_dst_port {
            return;
        }
        let nic = |address| {
            let found = self.nics.iter().position(|nic| nic.address == address);
            found.map(|at| NicIndex(at as u16))
        };
        let Some(src) = nic(answer.src) else {
            self.counters.answers_strange += 1;
            return;
        };
        let (dst, remote) = match nic(answer.dst) {
            Some(dst) => (dst, None),
            None => (src, Some(answer.dst)),
        };
        let tuple = Tuple {
            src,
            dst,
            port: answer.src_port,
            remote,
        };
        let is_probe = matches!(answer.kind, Some(DatagramKind::Probe | DatagramKind::PeerProbe(_)));
        if is_probe && !answer.exceeded {
            self.counters.unreachable += 1;
            return;
        }
        match self.tracer.answered(tuple, answer, at) {
            Reply::Hop => self.counters.hop_answers += 1,
            Reply::Unreachable => self.counters.unreachable += 1,
            Reply::Unmatched => self.counters.answers_strange += 1,
        }
    }

    fn back(&mut self, nic: NicIndex, address: IpAddr) {
        if let Some(nic) = self.nics.get_mut(nic.at()) {
            nic.address = address;
        }
        self.counters.nics_replaced += 1;
        self.presences.push((nic, Presence::Back));
    }

    fn stepped(&mut self, by: Nanos) {
        self.counters.clock_steps += 1;
        for session in &mut self.sessions {
            session.stepped(by);
        }
        self.counters.traces_incomplete += self.tracer.in_flight() as u64;
        self.tracer.stepped(by);
        self.clocks.stepped(by);
        self.flows.stepped();
        self.watches.stepped();
        self.responder.stepped(by);
        if let Some(peers) = &mut self.peers {
            peers.stepped(by);
        }
    }

    /// Finishes probes that timed out and traces that ended.
    pub fn expire(&mut self, now: Nanos) {
        for nic in 0..self.sessions.len() {
            while let Some(probe) = self.sessions.get_mut(nic).and_then(|session| session.expired(now)) {
                let src = NicIndex(nic as u16);
                if probe.arrival.is_some() {
                    self.received(src, &probe);
                } else {
                    self.decided();
                    self.counters.timeouts += 1;
                    self.row(src, &probe, "timeout", None);
                }
            }
        }
        self.flows.expire(now);
        self.watches.expire(now, self.settings.timeout);
        if let Some(peers) = &mut self.peers {
            peers.expire(now);
            self.peer_rows();
        }
        for back in self.responder.receipts.sweep(now) {
            self.tracer.forget_flow(back.nic, back.to, back.port);
        }
        while let Some(ended) = self.tracer.ended(now) {
            self.trace_ended(&ended);
        }
    }

    fn trace_ended(&mut self, ended: &Finished) {
        let Some((hops, news)) = &ended.path else {
            self.counters.traces_incomplete += 1;
            return;
        };
        self.counters.traces_complete += 1;
        let Some(news) = news else {
            return;
        };
        self.counters.path_changes += u64::from(*news == crate::route::RowReason::Changed);
        for (index, hop) in hops.iter().enumerate() {
            let mut row = self.path_row(ended.tuple, ended.at);
            row.reason = news.name().into();
            row.hops = hops.len() as u16;
            row.hop = index as u16 + 1;
            row.address = hop.address;
            row.round_trip_ns = hop.round_trip.map(|time| time.0);
            self.path_rows.push(row);
        }
    }

    fn path_row(&self, tuple: Tuple, at: Nanos) -> PathRow {
        PathRow {
            observer: self.settings.observer.clone(),
            time: Time(at.0),
            time_ns: at.0,
            src_nic: self.name(tuple.src),
            // Its host knows the name.
            dst_nic: tuple.remote.map_or_else(|| self.name(tuple.dst), |_| Text::default()),
            src: self.address(tuple.src),
            dst: tuple.remote.unwrap_or_else(|| self.address(tuple.dst)),
            udp_src_port: tuple.port,
            udp_dst_port: self.settings.udp_dst_port,
            ..PathRow::default()
        }
    }

    fn row(&mut self, src: NicIndex, probe: &InFlight, outcome: &'static str, arrival: Option<Arrival>) {
        let nic_received = arrival.and_then(|arrival| arrival.nic_received);
        let received = arrival.map(|arrival| arrival.received);
        let stamps = probe.nic_sent.zip(nic_received).filter(|_| !probe.torn);
        let (mut offset, mut error) = (None, self.clock.error);
        if let (Some((left, came)), Some(now)) = (stamps, received) {
            if self.clock.own {
                self.clocks.learn(src, probe.dst, now, came - left);
                self.counters.clock_resets = self.clocks.resets();
                let estimate = self.clocks.offset(src, probe.dst, now);
                offset = estimate.map(|estimate| estimate.offset);
                error = error + estimate.map_or(Nanos(0), |estimate| estimate.error);
            } else {
                offset = Some(Nanos(0));
            }
        }
        let latency = stamps.zip(offset).map(|((left, came), offset)| came - left - offset);
        // Measured from when it was due: on a busy host the agent sends late, but once it runs it also receives without
        // delay.
        let processing = latency
            .zip(received)
            .map(|(latency, received)| (received - probe.due) - latency);
        let row = ProbeRow {
            observer: self.settings.observer.clone(),
            time: Time(probe.due.0),
            time_ns: probe.due.0,
            src_nic: self.name(src),
            dst_nic: self.name(probe.dst),
            src: self.address(src),
            dst: self.address(probe.dst),
            udp_src_port: probe.port,
            udp_dst_port: self.settings.udp_dst_port,
            dscp: Some(probe.dscp),
            sequence: probe.sequence.0,
            outcome: outcome.into(),
            nic_send_ns: probe.nic_sent.map(|time| time.0),
            nic_receive_ns: nic_received.map(|time| time.0),
            app_receive_ns: received.map(|time| time.0),
            network_latency_ns: latency.map(|time| time.0),
            processing_delay_ns: processing.map(|time| time.0),
            clock_offset_ns: offset.map(|time| time.0),
            clock_source: self.clock.source.into(),
            clock_error_ns: error.0,
            unsent_reason: None,
            round_trip_ns: None,
        };
        self.probe_rows.push(row);
    }

    fn decided(&mut self) {
        self.counters.in_flight = self.counters.in_flight.saturating_sub(1);
    }

    fn name(&self, nic: NicIndex) -> Text {
        self.names.get(nic.at()).cloned().unwrap_or_default()
    }

    fn address(&self, nic: NicIndex) -> IpAddr {
        let unknown = std::net::Ipv4Addr::UNSPECIFIED.into();
        self.nics.get(nic.at()).map_or(unknown, |nic| nic.address)
    }

    /// Updates the [`throttle`](crate::throttle) with the share of a core used since the last update. Call it about
    /// once a second.
    pub fn update_throttle(&mut self, cpu: f64) {
        self.throttle.update(cpu, std::mem::take(&mut self.late));
        self.counters.slowed = self.throttle.doubled();
    }

    /// The current multiple of the interval.
    #[must_use]
    pub const fn slowed_by(&self) -> u32 {
        self.throttle.factor()
    }

    /// The counters so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        Counters {
            traces_deferred: self.tracer.deferred(),
            ..self.counters
        }
    }

    /// The number of 5-tuples in use, and of those with a known path.
    #[must_use]
    pub fn paths(&self) -> (usize, usize) {
        self.tracer.known()
    }

    /// The same for probes to other hosts.
    #[must_use]
    pub fn peer_paths(&self) -> (usize, usize) {
        let tuples = || self.peers.iter().flat_map(Peers::tuples);
        let route = |(nic, remote, port)| self.tracer.route(Tuple::to(nic, remote, port));
        let known = tuples().filter(|tuple| route(*tuple).is_some_and(|route| !route.hops().is_empty()));
        (tuples().count(), known.count())
    }

    /// The NIC and the reason of the last datagram that was not sent.
    #[must_use]
    pub const fn last_refusal(&self) -> Option<(NicIndex, Refusal)> {
        self.last_refusal
    }

    /// Interfaces that disappeared or returned since the last call.
    pub fn presences(&mut self) -> impl Iterator<Item = (&Nic, Presence)> {
        let presences = self.presences.drain(..);
        presences.filter_map(|(nic, presence)| Some((self.nics.get(nic.at())?, presence)))
    }

    /// The collected rows; the caller has to take them regularly.
    pub fn rows(&mut self) -> (&mut Vec<ProbeRow>, &mut Vec<PathRow>) {
        (&mut self.probe_rows, &mut self.path_rows)
    }
}
