//! Hands out whom agents probe. Who plans it reads the roster and passes the pinglists on.

use super::Controller;
use crate::control::Peering;
use crate::control::message::{Role, ToMember};
use rocescope_diagnose::pinglist::{Coverage, Pinglist};
use std::net::IpAddr;

/// An agent as the planner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// The number of its connection; `None` if it is away.
    pub connection: Option<u64>,
    /// Since when it is there or away, in nanoseconds since 1970.
    pub since_ns: i64,
    /// The addresses of its NICs that are believed.
    pub addresses: Vec<IpAddr>,
}

/// The agents of a controller, and who of them probe each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// `None` if the controller hands out no pinglists.
    pub peering: Option<Peering>,
    /// All agents, by name.
    pub agents: Vec<Agent>,
}

impl Controller {
    /// The agents that are known.
    pub(in crate::server) fn roster(&self) -> Roster {
        let state = self.state();
        let agents = state.members.values();
        let agents = agents.filter(|member| member.status.state.role == Role::Agent);
        Roster {
            peering: state.versions.plan().peers.clone(),
            agents: agents
                .map(|member| Agent {
                    name: member.status.name.clone(),
                    connection: member.mailbox.as_ref().map(|(number, _)| *number),
                    since_ns: member.status.since_ns,
                    addresses: member.status.state.addresses.clone(),
                })
                .collect(),
        }
    }

    /// Sends an agent its pinglist over this connection; returns whether it could.
    pub(in crate::server) fn hand_out(&self, name: &str, connection: u64, pinglist: &Pinglist) -> bool {
        let state = self.state();
        let mailbox = state.members.get(name).and_then(|member| member.mailbox.as_ref());
        let mailbox = mailbox.filter(|(number, _)| *number == connection);
        mailbox.is_some_and(|(_, mailbox)| mailbox.try_send(ToMember::Pinglist(pinglist.clone())).is_ok())
    }

    /// States what the pinglists cover.
    pub(in crate::server) fn covers(&self, coverage: Option<Coverage>) {
        self.state().pinglists = coverage;
    }
}
