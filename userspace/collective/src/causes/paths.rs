//! Paths of flows: ports that share them badly, and flows that return to a switch.

use super::ports::Ports;
use super::{Cause, Kind};
use crate::steps::FlowKey;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Packets of the fuller of two ports, in those of the other, that are an imbalance.
const IMBALANCE: u64 = 2;

impl Ports {
    /// Ports with a queue that have at least twice the packets of another port of their switch by which flows to one of
    /// their receivers go too.
    pub(super) fn imbalances(&self, start_ns: i64) -> Vec<Cause> {
        let mut causes = Vec::new();
        for (at, port) in self.ports.iter().enumerate() {
            if port.peer_is_host != Some(false) || port.queued < port.packets.max(1) {
                continue;
            }
            let is_lighter = |other: &usize| {
                let (key, other) = (&self.keys[*other], &self.ports[*other]);
                key.switch == self.keys[at].switch
                    && other.peer_is_host == Some(false)
                    && other.packets.saturating_mul(IMBALANCE) <= port.packets
                    && other.queued < other.packets.max(1)
                    && other
                        .flows
                        .iter()
                        .any(|one| port.flows.iter().any(|flow| flow.dst == one.dst))
            };
            if let Some(other) = (0..self.ports.len()).filter(|other| *other != at).find(is_lighter) {
                causes.push(self.cause(Kind::LoadImbalance, at, &[at, other], port.waiting.clone(), start_ns));
            }
        }
        causes
    }

    /// Flows whose ports, each linked to the switch of the next, return to a switch.
    pub(super) fn loops(&self, start_ns: i64) -> Vec<Cause> {
        let mut by_flow: BTreeMap<FlowKey, Vec<usize>> = BTreeMap::new();
        for (at, port) in self.ports.iter().enumerate() {
            for flow in &port.flows {
                by_flow.entry(*flow).or_default().push(at);
            }
        }
        let mut causes: Vec<Cause> = Vec::new();
        for (flow, ports) in by_flow {
            for first in &ports {
                let Some(path) = self.back_to_switch(*first, &ports) else {
                    continue;
                };
                let known = causes.iter_mut().find(|cause| cause.path.contains(&self.keys[*first]));
                match known {
                    Some(known) if known.flows.contains(&flow) => {}
                    Some(known) => known.flows.push(flow),
                    None => causes.push(self.cause(Kind::RoutingLoop, *first, &path, vec![flow], start_ns)),
                }
            }
        }
        causes
    }

    /// The shortest way from a port back to its switch over these ports, each linked to the switch of the next. A flow that
    /// leaves its loop has several ports at a switch.
    fn back_to_switch(&self, first: usize, ports: &[usize]) -> Option<Vec<usize>> {
        let mut reached = vec![(first, 0)];
        let mut at = 0;
        while let Some((port, _)) = reached.get(at).copied() {
            let peer = self.ports[port].peer.as_ref();
            if peer.is_some_and(|peer| peer.switch == self.keys[first].switch) {
                let mut path = vec![port];
                let mut here = at;
                while here > 0 {
                    here = reached[here].1;
                    path.push(reached[here].0);
                }
                path.reverse();
                return Some(path);
            }
            for next in ports {
                let follows = peer.is_some_and(|peer| peer.switch == self.keys[*next].switch);
                if follows && reached.iter().all(|(known, _)| known != next) {
                    reached.push((*next, at));
                }
            }
            at += 1;
        }
        None
    }
}
