//! The traces that the [`tracer`](crate::tracer) begins, as datagrams, and their rows.

use super::host::Host;
use super::prober::{Prober, Received};
use crate::icmp::Answer;
use crate::requests::Asker;
use crate::route::{Hop, RowReason};
use crate::tracer::{Finished, Reply, Started, Tuple};
use crate::types::{DatagramKind, Nanos, Outgoing, Refusal, Sequence};
use rocescope_model::{PathRow, Text, Time};

/// The traces. The host has the tracer, because all probers tell it what to trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traces;

impl Traces {
    /// A router answered.
    pub(super) fn answered(answer: &Answer, at: Nanos, host: &mut Host) {
        // An answer to traffic of another process.
        let is_own = host.nic(answer.dst).is_some();
        if answer.dst_port != host.settings.port(!is_own) {
            return;
        }
        let Some(src) = host.nic(answer.src) else {
            host.counters.unmatched_replies += 1;
            return;
        };
        let (dst, remote) = match host.nic(answer.dst) {
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
            host.counters.unreachable += 1;
            return;
        }
        match host.tracer.answered(tuple, answer, at) {
            Reply::Hop => host.counters.hop_answers += 1,
            Reply::Unreachable => host.counters.unreachable += 1,
            Reply::Unmatched => host.counters.unmatched_replies += 1,
        }
    }
}

fn packet(begun: Started, ttl: u8, now: Nanos, host: &mut Host) -> Outgoing {
    let Started { tuple, id, .. } = begun;
    let kind = DatagramKind::Trace { id, ttl };
    if let Some(remote) = tuple.remote {
        // The agent there answers it.
        let question = host.ask(Asker::Trace { id, ttl }, tuple.src, remote, tuple.port, now);
        return Outgoing { kind, ..question };
    }
    let classes = host.classes.get(tuple.src.at()).into_iter().flatten();
    let class = classes.copied().find(|(port, _)| *port == tuple.port);
    Outgoing {
        src: tuple.src,
        dst: tuple.dst,
        remote: None,
        port: tuple.port,
        dscp: class.map_or(host.settings.first_dscp(), |(_, dscp)| dscp),
        sequence: Sequence(0),
        kind,
        sent: now,
        agent: host.id,
    }
}

fn end(ended: &Finished, host: &mut Host) {
    let counters = &mut host.counters;
    match ended.path {
        Some(_) => counters.traces_complete += 1,
        None => counters.traces_incomplete += 1,
    }
    match (&ended.path, &ended.cut) {
        (Some((hops, Some(reason))), _) => {
            counters.path_changes += u64::from(*reason == RowReason::Changed);
            write(ended, hops, *reason, host);
        }
        (None, Some((hops, reason))) => {
            // The last hop is the destination, which did not answer.
            let hops = [&hops[..], &[Hop::default()]].concat();
            write(ended, &hops, *reason, host);
        }
        _ => {}
    }
}

/// Writes a row for each hop.
fn write(ended: &Finished, hops: &[Hop], reason: RowReason, host: &mut Host) {
    let tuple = ended.tuple;
    for (index, hop) in hops.iter().enumerate() {
        let row = PathRow {
            observer: host.settings.observer.clone(),
            time: Time(ended.at.0),
            time_ns: ended.at.0,
            src_nic: host.name(tuple.src),
            // Its host knows the name.
            dst_nic: tuple.remote.map_or_else(|| host.name(tuple.dst), |_| Text::default()),
            src: host.address(tuple.src),
            dst: tuple.remote.unwrap_or_else(|| host.address(tuple.dst)),
            udp_src_port: tuple.port,
            udp_dst_port: host.settings.port(tuple.remote.is_some()),
            reason: reason.name().into(),
            hops: hops.len() as u16,
            hop: index as u16 + 1,
            address: hop.address,
            round_trip_ns: hop.round_trip.map(|time| time.0),
        };
        host.path_rows.push(row);
    }
}

impl Prober for Traces {
    fn next_due(&self, host: &Host) -> Option<Nanos> {
        let begins = host.tracer.next_due().filter(|_| !host.is_stopped);
        begins.into_iter().chain(host.tracer.next_end()).min()
    }

    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
        if host.is_stopped {
            return None;
        }
        let begun = host.tracer.begin(now)?;
        host.counters.traces += 1;
        for ttl in 1..=begun.ttl_max {
            let packet = packet(begun, ttl, now, host);
            host.outbox.push_back(packet);
        }
        host.outbox.pop_front()
    }

    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, host: &mut Host) {
        host.last_refusal = Some((outgoing.src, why));
        host.counters.traces_unsent += 1;
        if outgoing.remote.is_some() {
            host.questions.remove(outgoing.sequence.0);
        }
    }

    /// A packet reached its destination: a NIC of this host, or another host, whose agent answered it.
    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let Received {
            nic, payload, arrival, ..
        } = *received;
        if let (DatagramKind::Answer { .. }, Some(from)) = (payload.kind, received.from) {
            let number = payload.sequence.0;
            let asked = host.questions.get(number).map(|question| question.asked);
            // An answer of another host than the one that was asked answers nothing: the one that was asked may still answer.
            if let Some(Asker::Trace { id, ttl }) = asked
                && host
                    .tracer
                    .arrived(Tuple::to(nic, from, payload.port), (id, ttl), from, arrival.received)
            {
                host.questions.remove(number);
            }
            return;
        }
        let address = host.nics.get(nic.at()).map(|nic| nic.address);
        if let (DatagramKind::Trace { id, ttl }, Some(address), true) = (payload.kind, address, arrival.intact) {
            let tuple = Tuple {
                src: payload.src,
                dst: nic,
                port: payload.port,
                remote: None,
            };
            let at = match host.clock.own {
                true => arrival.received,
                false => arrival.at(),
            };
            // It arrived after the end of its trace: its TTL exceeded the length of the path.
            host.tracer.arrived(tuple, (id, ttl), address, at);
        }
    }

    fn expire(&mut self, now: Nanos, host: &mut Host) {
        while let Some(ended) = host.tracer.ended(now) {
            end(&ended, host);
        }
    }

    fn stepped(&mut self, by: Nanos, host: &mut Host) {
        host.counters.traces_incomplete += host.tracer.in_flight() as u64;
        host.tracer.stepped(by);
    }
}
