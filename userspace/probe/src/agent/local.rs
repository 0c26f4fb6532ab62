//! Probes between the NICs of the host, and their rows.

use super::host::Host;
use super::prober::{Prober, Received};
use crate::clocks::Clocks;
use crate::payload::Payload;
use crate::requests::{Arrival, Request};
use crate::session::{Matched, Probe, Session};
use crate::types::{DatagramKind, Nanos, NicIndex, Outgoing, Refusal, Sequence};
use fastrand::Rng;
use rocescope_model::{ProbeRow, Time};

/// The number of NICs that probe at the same time. Most of the cost of a probe is the wakeup of the agent, with cold
/// processor caches; the price of sharing one is that up to three other probes are sent before a probe is received.
const TOGETHER: u16 = 4;

/// The sessions of all NICs.
#[derive(Clone, Debug)]
pub(super) struct LocalProbes {
    sessions: Vec<Session>,
    clocks: Clocks,
}

impl LocalProbes {
    /// Begins to probe at `now`; with fewer than two NICs there are no targets.
    pub(super) fn new(host: &mut Host, rng: &mut Rng, now: Nanos) -> Self {
        let count = host.nics.len() as u16;
        let settings = &host.settings;
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
        for (nic, session) in sessions.iter().enumerate() {
            follow(NicIndex(nic as u16), session, host);
        }
        Self {
            sessions,
            clocks: Clocks::new(host.nics.len()),
        }
    }

    /// Finishes a probe that arrived in time.
    fn received(&mut self, src: NicIndex, probe: &Request<Probe>, host: &mut Host) {
        let Some(arrival) = probe.arrival else {
            return;
        };
        host.counters.unstamped += u64::from(probe.nic_sent.is_none());
        host.counters.received_across_clock_step += u64::from(probe.invalidated);
        let outcome = if arrival.intact {
            host.counters.received += 1;
            "received"
        } else {
            host.counters.corrupt += 1;
            "corrupt"
        };
        self.finish(src, probe, (outcome, None), host);
    }

    /// Makes the row of a probe with an outcome: of one that was not sent, with the reason.
    fn finish(
        &mut self,
        src: NicIndex,
        probe: &Request<Probe>,
        (outcome, unsent): (&'static str, Option<Refusal>),
        host: &mut Host,
    ) {
        host.counters.in_flight = host.counters.in_flight.saturating_sub(1);
        let received = probe.arrival.map(|arrival| arrival.received);
        let nic_received = probe.arrival.and_then(|arrival| arrival.nic_received);
        let stamps = probe.nic_sent.zip(nic_received).filter(|_| !probe.invalidated);
        let (mut offset, mut error) = (None, host.clock.error);
        if let (Some((left, came)), Some(now)) = (stamps, received) {
            if host.clock.own {
                self.clocks.learn(src, probe.asked.dst, now, came - left);
                host.counters.clock_resets = self.clocks.resets();
                let estimate = self.clocks.offset(src, probe.asked.dst, now);
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
            observer: host.settings.observer.clone(),
            time: Time(probe.due.0),
            time_ns: probe.due.0,
            src_nic: host.name(src),
            dst_nic: host.name(probe.asked.dst),
            src: host.address(src),
            dst: host.address(probe.asked.dst),
            udp_src_port: probe.asked.port,
            udp_dst_port: host.settings.udp_dst_port,
            dscp: Some(probe.asked.dscp),
            sequence: probe.number,
            outcome: outcome.into(),
            nic_send_ns: probe.nic_sent.map(|time| time.0),
            nic_receive_ns: nic_received.map(|time| time.0),
            app_receive_ns: received.map(|time| time.0),
            network_latency_ns: latency.map(|time| time.0),
            processing_delay_ns: processing.map(|time| time.0),
            clock_offset_ns: offset.map(|time| time.0),
            clock_source: host.clock.source.into(),
            clock_error_ns: error.0,
            unsent_reason: unsent.map(|why| why.name().into()),
            round_trip_ns: None,
        };
        host.probe_rows.push(row);
    }
}

/// Traces the paths of a session's source ports, and forgets those of earlier ones.
fn follow(nic: NicIndex, session: &Session, host: &mut Host) {
    let count = host.nics.len() as u16;
    host.tracer.follow(nic, count, session.ports());
    if let Some(classes) = host.classes.get_mut(nic.at()) {
        let ports = session.ports().iter();
        *classes = ports.map(|port| (*port, session.dscp(*port))).collect();
    }
}

impl Prober for LocalProbes {
    fn next_due(&self, host: &Host) -> Option<Nanos> {
        let next = |session: &Session| {
            let due = session.due();
            let expiry = session.expiry();
            match host.is_stopped {
                true => expiry,
                false => Some(expiry.map_or(due, |expiry| expiry.min(due))),
            }
        };
        self.sessions.iter().filter_map(next).min()
    }

    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
        if host.is_stopped {
            return None;
        }
        let factor = host.throttle.factor();
        for (nic, session) in self.sessions.iter_mut().enumerate() {
            if session.due() > now {
                continue;
            }
            let src = NicIndex(nic as u16);
            if session.renew(now) {
                follow(src, session, host);
            }
            let Some(due) = session.next(now, factor) else {
                continue;
            };
            host.counters.probes += 1;
            host.counters.in_flight += 1;
            host.counters.skipped += due.skipped;
            host.late = host.late.max(due.late);
            return Some(Outgoing {
                src,
                dst: due.probe.dst,
                remote: None,
                port: due.probe.port,
                dscp: due.probe.dscp,
                sequence: due.sequence,
                kind: DatagramKind::Probe,
                sent: now,
                agent: host.id,
            });
        }
        None
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos, host: &mut Host) {
        let (session, own) = (self.sessions.get_mut(payload.src.at()), host.clock.own);
        if let Some(probe) = session.and_then(|session| session.left(payload.sequence, nic_sent, own)) {
            self.received(payload.src, &probe, host);
        }
    }

    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, host: &mut Host) {
        host.last_refusal = Some((outgoing.src, why));
        let session = self.sessions.get_mut(outgoing.src.at());
        if let Some(probe) = session.and_then(|session| session.refused(outgoing.sequence)) {
            host.counters.unsent += 1;
            self.finish(outgoing.src, &probe, ("unsent", Some(why)), host);
        }
    }

    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let Received { nic, arrival, .. } = *received;
        let (src, sequence): (NicIndex, Sequence) = (received.payload.src, received.payload.sequence);
        let own = host.clock.own;
        // If one clock stamps both ends, a probe that waited for a busy host is not lost.
        let since = |probe: &Request<Probe>, arrival: &Arrival| match arrival.nic_received {
            Some(stamp) if !own && !probe.invalidated => stamp - probe.sent,
            _ => arrival.received - probe.sent,
        };
        let matched = match self.sessions.get_mut(src.at()) {
            Some(session) => session.arrived((sequence, nic), arrival, |probe| since(probe, &arrival)),
            None => Matched::Unknown,
        };
        match matched {
            Matched::Done(probe) => self.received(src, &probe, host),
            Matched::Waits => {}
            Matched::Late => host.counters.late += 1,
            Matched::Duplicate => host.counters.duplicates += 1,
            Matched::Unknown => host.unknown(arrival.intact),
        }
    }

    fn expire(&mut self, now: Nanos, host: &mut Host) {
        for nic in 0..self.sessions.len() {
            while let Some(probe) = self.sessions.get_mut(nic).and_then(|session| session.expired(now)) {
                let src = NicIndex(nic as u16);
                if probe.arrival.is_some() {
                    self.received(src, &probe, host);
                } else {
                    host.counters.timeouts += 1;
                    self.finish(src, &probe, ("timeout", None), host);
                }
            }
        }
    }

    fn stepped(&mut self, by: Nanos, _host: &mut Host) {
        for session in &mut self.sessions {
            session.stepped(by);
        }
        self.clocks.stepped(by);
    }

    fn reconfigure(&mut self, now: Nanos, host: &mut Host) {
        for (nic, session) in self.sessions.iter_mut().enumerate() {
            let settings = &host.settings;
            session.reconfigure(settings.interval, settings.timeout, &settings.dscps, now);
            follow(NicIndex(nic as u16), session, host);
        }
    }
}
