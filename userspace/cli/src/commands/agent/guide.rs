//! What the controller asks of an agent, taken at the edges of its windows.

use crate::commands::membership::Membership;
use rocescope_agent::collective::Monitor;
use rocescope_agent::probes::LoopHook;
use rocescope_agent::{Parts, Result};
use rocescope_collector::control::message::{FlowCounts, FlowRequest};
use rocescope_diagnose::pinglist::Pinglist;
use rocescope_model::SmallFlowRow;
use rocescope_probe::{Agent, FlowTask, Nanos};
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::time::Duration;

/// Waits for the edges of windows, and passes on what the controller sent.
pub(super) struct Guide {
    membership: Membership,
    window_ns: i64,
    edge_ns: i64,
    parts: Parts,
    /// The monitor of collectives.
    monitor: Option<Monitor>,
    /// NICs of other hosts that the controller hands out.
    targets: usize,
}

impl Guide {
    pub(super) fn new(membership: Membership, window: Duration, parts: Parts, monitor: Option<Monitor>) -> Self {
        let window_ns = i64::try_from(window.as_nanos()).unwrap_or(i64::MAX);
        Self {
            membership,
            window_ns,
            edge_ns: edge(window_ns),
            parts,
            monitor,
            targets: 0,
        }
    }

    /// Takes a configuration if a window has ended and one waits.
    pub(super) fn take(&mut self, agent: Option<(&mut Agent, Nanos)>) {
        let now_ns = now().0;
        // The clock may have been set back.
        if now_ns < self.edge_ns && self.edge_ns - now_ns <= self.window_ns {
            return;
        }
        self.edge_ns = edge(self.window_ns);
        let Some((held, settings)) = self.membership.take() else {
            return;
        };
        if let (Some((agent, now)), Some(pace)) = (agent, &settings.probe) {
            pace.apply(agent, now);
        }
        if let (Some(monitor), Some(settings)) = (&mut self.monitor, &settings.monitor) {
            monitor.reconfigure(settings);
        }
        self.parts.reconfigure(&settings);
        status!("running version {} of the controller's configuration", held.version);
    }

    /// Probes whom the controller hands out, unless this host has a list of its own.
    fn probe_peers(&mut self, agent: &mut Agent, pinglist: &Pinglist, now: Nanos) {
        let targets: usize = pinglist.nics.iter().map(|nic| nic.targets.len()).sum();
        let is_new = std::mem::replace(&mut self.targets, targets) != targets;
        let has_list = agent.settings().peers.is_some();
        match has_list {
            true if is_new => status!("probing the hosts of --peers, not those that the controller hands out"),
            false if is_new => status!("probing {targets} NICs of other hosts, as the controller hands out"),
            _ => {}
        }
        if !has_list && (targets > 0 || agent.peer_counters().is_some()) {
            agent.probe_peers(pinglist, now);
        }
    }

    /// Ends the parts, and reports what they did.
    pub(super) fn end(mut self) -> Result<()> {
        if let Some(monitor) = &self.monitor {
            status!("{}", monitor.summary());
        }
        for line in self.parts.end()? {
            status!("{line}");
        }
        Ok(())
    }
}

/// The end of the current window: windows begin at multiples of their length.
fn edge(window_ns: i64) -> i64 {
    let now_ns = now().0;
    now_ns
        .saturating_sub(now_ns.rem_euclid(window_ns))
        .saturating_add(window_ns)
}

impl LoopHook for Guide {
    fn tick(&mut self, agent: &mut Agent, now: Nanos) {
        for FlowRequest {
            capture,
            window_start_ns,
            window_ns,
            flow,
            probes,
        } in self.membership.member.requests()
        {
            let row = SmallFlowRow {
                capture: capture.into(),
                window_start_ns,
                window_ns,
                flow_hash: flow.flow_hash,
                src: flow.src,
                dst: flow.dst,
                udp_src_port: flow.udp_src_port,
                dst_qpn: flow.dst_qpn,
                packets: flow.packets,
                frame_bytes: flow.frame_bytes,
                ..SmallFlowRow::default()
            };
            agent.probe_flow(FlowTask { flow: row, probes }, now);
        }
        if let Some(pinglist) = self.membership.member.pinglist() {
            self.probe_peers(agent, &pinglist, now);
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.turn(agent, &self.membership.member, now);
        }
        let counters = agent.flow_counters();
        self.membership.member.has_probed(FlowCounts {
            probed: counters.probed,
            over_budget: counters.over_budget,
            not_owned: counters.refused,
        });
        // A backend that sends only within the host cannot be asked.
        if agent.settings().flow_probes > 0 {
            let addresses = agent.nics().iter().map(|nic| nic.address);
            self.membership.member.has_addresses(addresses.collect());
        }
        self.take(Some((agent, now)));
    }
}
