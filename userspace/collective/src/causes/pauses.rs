//! Pauses: circles, chains, and those without a reason.

use super::ports::Ports;
use super::{Cause, Kind};
use crate::steps::FlowKey;
use alloc::vec;
use alloc::vec::Vec;

/// Fewest senders to one receiver that are an incast.
const MIN_INCAST: usize = 3;

impl Ports {
    /// Circles in which every port is paused: each once, from its fullest port on.
    pub(super) fn deadlocks(&self, start_ns: i64) -> Vec<Cause> {
        let mut causes = Vec::new();
        let paused = |port: usize| self.ports[port].paused > 0;
        // 0: new; 1: on the path; 2: done.
        let mut state = vec![0_u8; self.ports.len()];
        for first in 0..self.ports.len() {
            if state[first] != 0 || !paused(first) {
                continue;
            }
            state[first] = 1;
            let mut stack = vec![(first, 0)];
            while let Some((at, edge)) = stack.last_mut() {
                let Some(next) = self.ports[*at].next.get(*edge).copied() else {
                    state[*at] = 2;
                    stack.pop();
                    continue;
                };
                *edge += 1;
                if !paused(next) {
                    continue;
                }
                match state[next] {
                    0 => {
                        state[next] = 1;
                        stack.push((next, 0));
                    }
                    1 => {
                        let from = stack.iter().position(|(port, _)| *port == next).unwrap_or(0);
                        let mut circle: Vec<usize> = stack[from..].iter().map(|(port, _)| *port).collect();
                        let fullest = (0..circle.len()).max_by_key(|at| self.ports[circle[*at]].mass());
                        circle.rotate_left(fullest.unwrap_or(0));
                        let mut flows: Vec<FlowKey> = Vec::new();
                        for flow in circle.iter().flat_map(|port| &self.ports[*port].flows) {
                            if !flows.contains(flow) {
                                flows.push(*flow);
                            }
                        }
                        causes.push(self.cause(Kind::Deadlock, circle[0], &circle, flows, start_ns));
                    }
                    _ => {}
                }
            }
        }
        causes
    }

    /// Chains of pauses with their roots: the longest chain of each root.
    pub(super) fn roots(&self) -> Vec<(usize, Vec<usize>)> {
        let mut roots: Vec<(usize, Vec<usize>)> = Vec::new();
        for first in 0..self.ports.len() {
            if self.ports[first].has_previous || self.ports[first].next.is_empty() {
                continue;
            }
            let mut seen = vec![false; self.ports.len()];
            seen[first] = true;
            let mut path = vec![first];
            let mut edges = vec![0];
            while let (Some(at), Some(edge)) = (path.last().copied(), edges.last_mut()) {
                let Some(next) = self.ports[at].next.get(*edge).copied() else {
                    if self.ports[at].next.is_empty() {
                        match roots.iter_mut().find(|(root, _)| *root == at) {
                            Some((_, longest)) if longest.len() < path.len() => longest.clone_from(&path),
                            Some(_) => {}
                            None => roots.push((at, path.clone())),
                        }
                    }
                    path.pop();
                    edges.pop();
                    continue;
                };
                *edge += 1;
                if !seen[next] {
                    seen[next] = true;
                    path.push(next);
                    edges.push(0);
                }
            }
        }
        roots
    }

    /// What a root is.
    pub(super) fn kind(&self, root: usize) -> Kind {
        let port = &self.ports[root];
        if self.is_paused_without_reason(root) {
            return Kind::PfcStorm;
        }
        let receivers: Vec<_> = port.waiting.iter().map(|flow| flow.dst).collect();
        let is_one = receivers.windows(2).all(|two| two[0] == two[1]);
        let mut senders: Vec<_> = port.waiting.iter().map(|flow| flow.src).collect();
        senders.sort_unstable();
        senders.dedup();
        match is_one && senders.len() >= MIN_INCAST {
            true => Kind::Incast,
            false => Kind::PfcBackpressure,
        }
    }

    /// Whether a port was paused although nothing beyond it explains it: its peer is a host, or a switch that reported and
    /// has no queue.
    pub(super) fn is_paused_without_reason(&self, at: usize) -> bool {
        let port = &self.ports[at];
        if port.paused == 0 || !port.next.is_empty() {
            return false;
        }
        if port.peer_is_host == Some(true) {
            return true;
        }
        let Some(peer) = &port.peer else { return false };
        let mut there = self
            .keys
            .iter()
            .zip(&self.ports)
            .filter(|(key, _)| key.switch == peer.switch);
        let mut reported = false;
        let has_queue = there.any(|(_, other)| {
            reported |= other.reported;
            other.queued >= other.packets.max(1)
        });
        reported && !has_queue
    }
}
