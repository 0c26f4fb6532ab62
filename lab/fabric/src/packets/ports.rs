//! Queues, pauses and counters of ports.

use super::network::Port;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    pub(super) flow: u32,
    /// Position on the flow's path of the port that it left last.
    pub(super) hop: u32,
    pub(super) payload: u32,
    pub(super) sent_ns: i64,
}

/// Counters of a flow in an epoch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlowCount {
    pub(super) flow: u32,
    pub(super) packets: u64,
    pub(super) queued: u64,
    pub(super) paused: u64,
}

/// Counters of a port in an epoch, as the authors' switches keep them: a packet that enters while the port is paused
/// counts as paused and adds nothing to the sum of the depths.
#[derive(Debug, Clone, Default)]
pub(super) struct Epoch {
    pub(super) number: i64,
    pub(super) total: FlowCount,
    pub(super) flows: Vec<FlowCount>,
    /// Bytes by ingress port.
    pub(super) meters: Vec<(Port, u64)>,
}

impl Epoch {
    fn clear(&mut self, number: i64) {
        self.number = number;
        self.total = FlowCount::default();
        self.flows.clear();
        self.meters.clear();
    }

    pub(super) fn metered(&self, ingress: Port) -> u64 {
        let of_port = self.meters.iter().find(|(port, _)| *port == ingress);
        of_port.map_or(0, |(_, bytes)| *bytes)
    }
}

/// An egress port.
#[derive(Debug, Clone, Default)]
pub(super) struct Egress {
    /// Packets, with the ingress port by which each came.
    pub(super) queue: VecDeque<(Packet, Port)>,
    pub(super) busy: bool,
    /// Paused by its peer.
    pub(super) paused: bool,
    /// Paused by an injected storm.
    pub(super) stormed: bool,
    /// When it was last paused and is no more.
    resumed_ns: Option<i64>,
    /// When it was paused, if it is.
    paused_ns: Option<i64>,
    /// Its pauses that are over: from when until when.
    pub(super) pauses: Vec<(i64, i64)>,
    pub(super) now: Epoch,
    pub(super) last: Epoch,
}

impl Egress {
    pub(super) fn may_send(&self) -> bool {
        !self.busy && !self.is_paused()
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused || self.stormed
    }

    /// Sets one of the two reasons of a pause.
    pub(super) fn pause(&mut self, now_ns: i64, by_storm: bool, on: bool) {
        let was = self.is_paused();
        match by_storm {
            true => self.stormed = on,
            false => self.paused = on,
        }
        if !was && self.is_paused() {
            self.paused_ns = Some(now_ns);
        }
        if was && !self.is_paused() {
            self.resumed_ns = Some(now_ns);
            self.end_pause(now_ns);
        }
    }

    /// Notes a pause as over, as at the end of a run.
    pub(super) fn end_pause(&mut self, now_ns: i64) {
        self.pauses.extend(self.paused_ns.take().map(|start| (start, now_ns)));
    }

    /// Whether it is paused, or was within this time.
    pub(super) fn was_paused(&self, now_ns: i64, within_ns: i64) -> bool {
        self.is_paused() || self.resumed_ns.is_some_and(|resumed| now_ns - resumed <= within_ns)
    }

    /// Begins the epoch with this number, if it has not begun.
    pub(super) fn roll(&mut self, epoch: i64) {
        if self.now.number == epoch {
            return;
        }
        core::mem::swap(&mut self.now, &mut self.last);
        if self.last.number != epoch - 1 {
            self.last.clear(epoch - 1);
        }
        self.now.clear(epoch);
    }

    /// Counts a packet that enters the queue.
    pub(super) fn count(&mut self, flow: u32, ingress: Port, bytes: u64) {
        let (queued, paused) = match self.is_paused() {
            true => (0, 1),
            false => (self.queue.len() as u64, 0),
        };
        let epoch = &mut self.now;
        let at = epoch
            .flows
            .iter()
            .position(|count| count.flow == flow)
            .unwrap_or_else(|| {
                epoch.flows.push(FlowCount {
                    flow,
                    ..FlowCount::default()
                });
                epoch.flows.len() - 1
            });
        for count in [&mut epoch.flows[at], &mut epoch.total] {
            count.packets += 1;
            count.queued += queued;
            count.paused += paused;
        }
        match epoch.meters.iter_mut().find(|(port, _)| *port == ingress) {
            Some((_, sum)) => *sum += bytes,
            None => epoch.meters.push((ingress, bytes)),
        }
    }
}

/// An ingress port.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ingress {
    /// Its bytes in the buffer of the switch.
    pub(super) held: u64,
    /// Whether it has paused its peer.
    pub(super) pauses: bool,
}
