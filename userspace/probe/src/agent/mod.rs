//! The agent without I/O: it returns the packets that are due, accepts events, and produces rows.
//!
//! The backend supplies the time, a seed the randomness. [`drive`](crate::drive()) sets the order of calls: it passes
//! all events up to `now` before it calls [`Agent::expire`] with `now`.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | [`Settings`]: how an agent probes |
//! | `host` | what all probers share |
//! | `prober` | what the agent asks of a prober |
//! | `routing` | which prober an event concerns |
//! | `local` | the prober between the NICs of the host |
//! | `traces` | the prober that traces |
//!
//! The other probers are [`flows`](crate::flows), [`watch`](crate::watch), [`peers`](crate::peers) and
//! [`responder`](crate::responder).

pub(crate) mod host;
mod local;
pub(crate) mod prober;
mod routing;
pub(crate) mod settings;
mod traces;

pub use settings::{OtherHosts, Settings};

use crate::counters::Counters;
use crate::flows::{FlowCounters, FlowProbes, FlowTask};
use crate::peers::{PeerCounters, Peers};
use crate::responder::{AnswerCounters, Responder};
use crate::tracer::Tuple;
use crate::types::{Clock, Nanos, Nic, NicIndex, Outgoing, Presence, Refusal};
use crate::watch::{Trip, Watches};
use fastrand::Rng;
use host::Host;
use local::LocalProbes;
use prober::Prober;
use rocescope_diagnose::pinglist::Pinglist;
use rocescope_model::UdpPath;
use rocescope_model::{PathRow, ProbeRow, SmallFlowRow};
use std::net::IpAddr;
use traces::Traces;

/// The probes and traces of all NICs of a host.
#[derive(Clone, Debug)]
pub struct Agent {
    host: Host,
    responder: Responder,
    flows: FlowProbes,
    watches: Watches,
    local: LocalProbes,
    peers: Option<Peers>,
    traces: Traces,
    presences: Vec<(NicIndex, Presence)>,
    /// Frames that were lost in this host.
    dropped: u64,
}

impl Agent {
    /// Creates an agent for these NICs that starts at `now`. With fewer than two it has no targets.
    #[must_use]
    pub fn new(settings: Settings, nics: &[Nic], clock: Clock, now: Nanos) -> Self {
        let mut rng = Rng::with_seed(settings.seed);
        let mut host = Host::new(settings, nics, clock, rng.u64(..), now);
        let local = LocalProbes::new(&mut host, &mut rng, now);
        let settings = &host.settings;
        let answers = settings.flow_probes > 0 || settings.peers.is_some();
        Self {
            responder: Responder::new(answers, settings.timeout, now),
            flows: FlowProbes::new(settings.flow_probes, settings.timeout),
            watches: Watches::default(),
            local,
            peers: settings.peers.clone().map(|peers| Peers::listed(peers, &host, now)),
            traces: Traces,
            presences: Vec::new(),
            dropped: 0,
            host,
        }
    }

    /// In the order in which their datagrams leave.
    fn probers(&self) -> impl Iterator<Item = &dyn Prober> {
        let first: [&dyn Prober; 4] = [&self.responder, &self.flows, &self.watches, &self.local];
        let peers = self.peers.as_ref().map(|peers| peers as &dyn Prober);
        first.into_iter().chain(peers).chain([&self.traces as &dyn Prober])
    }

    fn probers_mut(&mut self) -> (impl Iterator<Item = &mut dyn Prober>, &mut Host) {
        let first: [&mut dyn Prober; 4] = [&mut self.responder, &mut self.flows, &mut self.watches, &mut self.local];
        let peers = self.peers.as_mut().map(|peers| peers as &mut dyn Prober);
        let probers = first
            .into_iter()
            .chain(peers)
            .chain([&mut self.traces as &mut dyn Prober]);
        (probers, &mut self.host)
    }

    /// The settings in effect.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.host.settings
    }

    /// Sets what may change while the agent runs: intervals, timeouts, limits, classes of service. Source ports, seed, port and name stay.
    pub fn reconfigure(&mut self, settings: &Settings, now: Nanos) {
        self.host.reconfigure(settings, now);
        let (probers, host) = self.probers_mut();
        probers.for_each(|prober| prober.reconfigure(now, host));
    }

    /// Probes these NICs of other hosts from now on, and no others; answers those that probe this host.
    pub fn probe_peers(&mut self, pinglist: &Pinglist, now: Nanos) {
        if self.host.is_stopped {
            return;
        }
        self.host.has_peers = true;
        self.responder.answer(now);
        let host = &mut self.host;
        let peers = self.peers.get_or_insert_with(|| Peers::unlisted(host, now));
        peers.set_pinglist(pinglist, now, host);
    }

    /// Returns when the agent has to act next; `None` when everything is done.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        if !self.host.outbox.is_empty() {
            return Some(Nanos(i64::MIN));
        }
        let dues = self.probers().filter_map(|prober| prober.next_due(&self.host));
        // An agent that only answers others has nothing to begin, and goes on.
        dues.chain((!self.host.is_stopped).then_some(Nanos(i64::MAX))).min()
    }

    /// Returns the next datagram to send at `now`, if any. Call it until it returns `None`.
    pub fn next_packet(&mut self, now: Nanos) -> Option<Outgoing> {
        if let Some(packet) = self.host.outbox.pop_front() {
            return Some(Outgoing { sent: now, ..packet });
        }
        let (mut probers, host) = self.probers_mut();
        probers.find_map(|prober| prober.next_packet(now, host))
    }

    /// Finishes probes that timed out and traces that ended.
    pub fn expire(&mut self, now: Nanos) {
        self.host.expire(now);
        let (probers, host) = self.probers_mut();
        probers.for_each(|prober| prober.expire(now, host));
    }

    /// Starts no more probes and traces; those in flight still complete.
    pub fn stop(&mut self) {
        self.host.is_stopped = true;
        let (probers, host) = self.probers_mut();
        probers.for_each(|prober| prober.stop(host));
    }

    fn stepped(&mut self, by: Nanos) {
        self.host.counters.clock_steps += 1;
        self.host.questions.retain(|_| false);
        let (probers, host) = self.probers_mut();
        probers.for_each(|prober| prober.stepped(by, host));
    }

    fn back(&mut self, nic: NicIndex, address: IpAddr) {
        if let Some(nic) = self.host.nics.get_mut(nic.at()) {
            nic.address = address;
        }
        self.host.counters.nics_replaced += 1;
        self.presences.push((nic, Presence::Back));
    }

    /// Asks for probes along the path of a flow, in the next window, and traces it from its sender.
    pub fn probe_flow(&mut self, task: FlowTask, now: Nanos) {
        let FlowTask { flow, .. } = &task;
        if let (Some(nic), None) = (self.host.nic(flow.src), self.host.nic(flow.dst))
            && self.host.settings.flow_probes > 0
        {
            let (remote, port) = (flow.dst, flow.udp_src_port);
            self.host.tracer.follow_flow(nic, remote, port, now);
        }
        self.flows.request(task, &self.host, now);
    }

    /// Probes these paths at a steady pace from now on, and no others. Those that begin at no NIC of this host are left out.
    pub fn watch(&mut self, paths: impl Iterator<Item = UdpPath>, pace: Nanos, now: Nanos) {
        if !self.host.is_stopped {
            self.watches.set(paths, pace, &self.host, now);
        }
    }

    /// The round trips along these paths since the last call, in the order of their answers; the caller has to take them
    /// regularly.
    pub fn trips(&mut self) -> std::vec::Drain<'_, Trip> {
        self.watches.trips.drain(..)
    }

    /// The paths whose last probes are not answered, with the age of the oldest of these.
    pub fn unanswered(&self, now: Nanos) -> impl Iterator<Item = (UdpPath, Nanos)> {
        self.watches.unanswered(now, self.host.settings.timeout)
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
    pub const fn tracks_drops(&self) -> bool {
        self.peers.is_some()
    }

    /// Notes how many frames the backend has dropped so far: if these are more than before, probes of other agents and
    /// answers may be among them, so that nothing is known about those.
    pub fn dropped(&mut self, dropped: u64, now: Nanos) {
        if dropped > self.dropped {
            self.dropped = dropped;
            self.responder.receipts.begin_again(now);
            if let Some(peers) = &mut self.peers {
                peers.invalidate();
            }
        }
    }

    /// The counters of probes along paths of flows.
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
        &self.host.nics
    }

    /// Updates the [`throttle`](crate::throttle) with the share of a core used since the last update. Call it about
    /// once a second.
    pub fn update_throttle(&mut self, cpu: f64) {
        let late = std::mem::take(&mut self.host.late);
        self.host.throttle.update(cpu, late);
        self.host.counters.slowed = self.host.throttle.doubled();
    }

    /// The current multiple of the interval.
    #[must_use]
    pub const fn slowed_by(&self) -> u32 {
        self.host.throttle.factor()
    }

    /// The counters so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        Counters {
            deferred_traces: self.host.tracer.deferred(),
            ..self.host.counters
        }
    }

    /// The number of 5-tuples in use, and of those with a known path.
    #[must_use]
    pub fn paths(&self) -> (usize, usize) {
        self.host.tracer.known()
    }

    /// The same for probes to other hosts.
    #[must_use]
    pub fn peer_paths(&self) -> (usize, usize) {
        let tuples = || self.peers.iter().flat_map(Peers::tuples);
        let route = |(nic, remote, port)| self.host.tracer.route(Tuple::to(nic, remote, port));
        let known = tuples().filter(|tuple| route(*tuple).is_some_and(|route| !route.hops().is_empty()));
        (tuples().count(), known.count())
    }

    /// The NIC and the reason of the last datagram that was not sent.
    #[must_use]
    pub const fn last_refusal(&self) -> Option<(NicIndex, Refusal)> {
        self.host.last_refusal
    }

    /// Interfaces that disappeared or returned since the last call.
    pub fn presences(&mut self) -> impl Iterator<Item = (&Nic, Presence)> {
        let presences = self.presences.drain(..);
        presences.filter_map(|(nic, presence)| Some((self.host.nics.get(nic.at())?, presence)))
    }

    /// The collected rows; the caller has to take them regularly.
    pub fn rows(&mut self) -> (&mut Vec<ProbeRow>, &mut Vec<PathRow>) {
        (&mut self.host.probe_rows, &mut self.host.path_rows)
    }
}
