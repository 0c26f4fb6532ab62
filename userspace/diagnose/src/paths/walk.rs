//! From the egress ports of a path to directions of links.

use super::fabric::{Direction, Fabric};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// A node of a path, and the port by which the flow leaves it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Hop(pub String, pub String);

/// What a hop contradicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HopProblem {
    /// The topology has no such node.
    UnknownNode(String),
    /// The topology has no link at this port.
    UnknownPort(Hop),
    /// The hop before leads to another node.
    NotNext {
        /// The node where the link of the hop before ends.
        leads_to: String,
        /// The node of this hop.
        found: String,
    },
    /// The path crosses the same link twice.
    Loop(Hop),
}

impl HopProblem {
    /// The reason, by which hops are counted.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::UnknownNode(_) => "unknown_node",
            Self::UnknownPort(_) => "unknown_port",
            Self::NotNext { .. } => "not_next",
            Self::Loop(_) => "loop",
        }
    }
}

impl fmt::Display for HopProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(node) => write!(f, "the topology has no node {node}"),
            Self::UnknownPort(Hop(node, port)) => write!(f, "the topology has no link at {node}:{port}"),
            Self::NotNext { leads_to, found } => {
                write!(
                    f,
                    "the link of the hop before leads to {leads_to}, but the next hop is {found}"
                )
            }
            Self::Loop(Hop(node, port)) => write!(f, "the path crosses {node}:{port} twice"),
        }
    }
}

/// The links that a path crosses.
#[derive(Debug, Clone, Default)]
pub struct Walk {
    /// In order, each once. A hop without a link in the topology is missing.
    pub ways: Vec<Direction>,
    /// What contradicts the topology.
    pub problems: Vec<HopProblem>,
}

impl Walk {
    /// Finds the links of the hops.
    #[must_use]
    pub fn new(fabric: &Fabric, hops: &[Hop]) -> Self {
        let mut walk = Self::default();
        let mut leads_to: Option<usize> = None;
        for hop in hops {
            let Hop(name, port) = hop;
            let before = leads_to.take();
            let Some(node) = fabric.find(name) else {
                walk.problems.push(HopProblem::UnknownNode(name.clone()));
                continue;
            };
            if let Some(before) = before.filter(|before| *before != node) {
                walk.problems.push(HopProblem::NotNext {
                    leads_to: fabric.name(before).to_owned(),
                    found: name.clone(),
                });
            }
            let Some(way) = fabric.egress(node, port) else {
                walk.problems.push(HopProblem::UnknownPort(hop.clone()));
                continue;
            };
            leads_to = Some(fabric.to(way).node);
            if walk.ways.contains(&way) {
                walk.problems.push(HopProblem::Loop(hop.clone()));
            } else {
                walk.ways.push(way);
            }
        }
        walk
    }
}
