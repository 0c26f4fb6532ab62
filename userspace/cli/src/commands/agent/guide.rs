//! What the controller asks of an agent, taken at the edges of its windows.

use super::counting::Pace;
use super::watching::Watching;
use crate::arguments::{AgentArguments, Command};
use crate::commands::probe::{Companion, set_pace};
use crate::configuration;
use rocescope_collector::control::Member;
use rocescope_collector::control::message::{FlowCounts, FlowRequest};
use rocescope_model::SmallFlowRow;
use rocescope_probe::{Agent, FlowTask, Nanos};
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Waits for the edges of windows.
pub(super) struct Guide {
    member: Arc<Member>,
    window_ns: i64,
    edge_ns: i64,
    /// Where the pace of the counters is set.
    counters: Option<Sender<Pace>>,
    /// The monitor of collectives.
    watching: Option<Watching>,
}

impl Guide {
    pub(super) fn new(
        member: Arc<Member>,
        arguments: &AgentArguments,
        counters: Option<Sender<Pace>>,
        watching: Option<Watching>,
    ) -> Self {
        let window_ns = i64::try_from(arguments.window.as_nanos()).unwrap_or(i64::MAX);
        Self {
            member,
            window_ns,
            edge_ns: edge(window_ns),
            counters,
            watching,
        }
    }

    /// What the monitor of collectives did, in a line.
    pub(super) fn watched(&self) -> Option<String> {
        self.watching.as_ref().map(Watching::summary)
    }

    /// Takes a configuration if a window has ended and one waits.
    pub(super) fn take(&mut self, agent: Option<(&mut Agent, Nanos)>) {
        let now_ns = now().0;
        // The clock may have been set back.
        if now_ns < self.edge_ns && self.edge_ns - now_ns <= self.window_ns {
            return;
        }
        self.edge_ns = edge(self.window_ns);
        let Some(held) = self.member.take() else {
            return;
        };
        let line: Vec<OsString> = std::env::args_os().collect();
        // It was checked with this command line and file; the file may have changed since.
        let parts = match configuration::arguments(&line).map(|arguments| arguments.command) {
            Ok(Command::Agent(arguments)) => arguments.parts,
            Ok(_) => return,
            Err(error) => {
                let why = error.to_string();
                status!(
                    "the configuration cannot be read again: {}",
                    why.lines().next().unwrap_or_default()
                );
                return;
            }
        };
        if let (Some((agent, now)), Some(probe)) = (agent, &parts.probe) {
            set_pace(agent, probe, now);
        }
        if let (Some(counters), Some(arguments)) = (&self.counters, &parts.counters) {
            // A thread that failed is reported at the end.
            let _ = counters.send(Pace::from(&**arguments));
        }
        if let (Some(watching), Some(arguments)) = (&mut self.watching, &parts.collective) {
            watching.reconfigure(arguments);
        }
        status!("running version {} of the controller's configuration", held.version);
    }
}

/// The end of the current window: windows begin at multiples of their length.
fn edge(window_ns: i64) -> i64 {
    let now_ns = now().0;
    now_ns
        .saturating_sub(now_ns.rem_euclid(window_ns))
        .saturating_add(window_ns)
}

impl Companion for Guide {
    fn turn(&mut self, agent: &mut Agent, now: Nanos) {
        for FlowRequest {
            capture,
            window_start_ns,
            window_ns,
            flow,
            probes,
        } in self.member.requests()
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
        if let Some(watching) = &mut self.watching {
            watching.turn(agent, &self.member, now);
        }
        let counters = agent.flow_counters();
        self.member.has_probed(FlowCounts {
            probed: counters.probed,
            over_budget: counters.over_budget,
            not_owned: counters.refused,
        });
        // A backend that sends only within the host cannot be asked.
        if agent.settings().flow_probes > 0 {
            let addresses = agent.nics().iter().map(|nic| nic.address);
            self.member.has_addresses(addresses.collect());
        }
        self.take(Some((agent, now)));
    }
}
