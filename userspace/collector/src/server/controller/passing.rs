//! Passes on to members: requests for probes along small flows, messages of other agents, and requests for recordings.

use super::{Controller, Member};
use crate::control::message::{AgentMessage, FlowRequest, RecordingRequest, Role, SmallFlows, ToMember};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Requests of small flows in a message.
const MAX_SMALL_FLOWS: usize = 64;
/// Probes of each end along the path of a small flow.
const PROBES: u16 = 10;

impl Controller {
    /// A capture box names the smallest flows of a window: asks the agents of both ends for probes.
    pub(in crate::server) fn small_flows(&self, capture: &str, named: &SmallFlows) {
        let mut state = self.state();
        let is_capture = state
            .members
            .get(capture)
            .is_some_and(|member| member.status.state.role == Role::Capture);
        if !is_capture {
            return;
        }
        let mut owners: HashMap<IpAddr, &str> = HashMap::new();
        for (name, member) in state.members.iter().filter(|(_, member)| member.mailbox.is_some()) {
            for address in &member.status.state.addresses {
                owners.insert(*address, name);
            }
        }
        let mut totals = state.flows;
        let mut requests: BTreeMap<&str, Vec<FlowRequest>> = BTreeMap::new();
        for flow in named.flows.iter().take(MAX_SMALL_FLOWS) {
            totals.named += 1;
            let ends = (owners.get(&flow.src), owners.get(&flow.dst));
            let (Some(src), Some(dst)) = ends else {
                totals.without_agent += 1;
                continue;
            };
            for end in [src, dst] {
                requests.entry(end).or_default().push(FlowRequest {
                    capture: capture.to_owned(),
                    window_start_ns: named.window_start_ns,
                    window_ns: named.window_ns,
                    flow: flow.clone(),
                    probes: PROBES,
                });
            }
        }
        for (name, requests) in requests {
            let mailbox = state.members.get(name).and_then(|member| member.mailbox.as_ref());
            let count = requests.len() as u64;
            match mailbox.map(|(_, mailbox)| mailbox.try_send(ToMember::ProbeFlows(requests))) {
                Some(Ok(())) => totals.requested += count,
                _ => totals.undelivered += count,
            }
        }
        state.flows = totals;
    }

    /// An agent has a message for another one.
    pub(in crate::server) fn pass_on(&self, from: &str, AgentMessage { agent: to, text }: AgentMessage) {
        let mut state = self.state();
        let is_agent = |member: &&Member| member.status.state.role == Role::Agent;
        let is_refused =
            text.len() > AgentMessage::MAX_BYTES || !state.members.get(from).as_ref().is_some_and(is_agent);
        let receiver = state.members.get(&to).filter(is_agent);
        let mailbox = receiver.and_then(|member| member.mailbox.as_ref());
        let message = ToMember::FromAgent(AgentMessage {
            agent: from.to_owned(),
            text,
        });
        let sent = mailbox
            .filter(|_| !is_refused)
            .map(|(_, mailbox)| mailbox.try_send(message));
        let totals = &mut state.agent_messages;
        let total = match sent {
            _ if is_refused => &mut totals.refused,
            None => &mut totals.without_agent,
            Some(Ok(())) => &mut totals.delivered,
            Some(Err(_)) => &mut totals.undelivered,
        };
        *total += 1;
    }

    /// An agent asks for a recording: all boxes that record get it, and those that the flow passes answer it. Only they
    /// know which those are.
    pub(in crate::server) fn record(&self, from: &str, request: &RecordingRequest) {
        let mut state = self.state();
        let is_agent = |member: &Member| member.status.state.role == Role::Agent;
        let mut totals = state.recordings;
        totals.requested += 1;
        let is_short = request.collective.len() + request.host.len() <= RecordingRequest::MAX_BYTES;
        if !is_short || !state.members.get(from).is_some_and(is_agent) {
            totals.refused += 1;
            state.recordings = totals;
            return;
        }
        let boxes = state.members.values().filter(|member| member.status.state.records);
        let mailboxes = boxes.filter_map(|member| member.mailbox.as_ref());
        let before = totals.passed_on + totals.undelivered;
        for (_, mailbox) in mailboxes {
            let agent = from.to_owned();
            let request = RecordingRequest {
                agent,
                ..request.clone()
            };
            match mailbox.try_send(ToMember::Record(Box::new(request))) {
                Ok(()) => totals.passed_on += 1,
                Err(_) => totals.undelivered += 1,
            }
        }
        totals.without_box += u64::from(totals.passed_on + totals.undelivered == before);
        state.recordings = totals;
    }
}
