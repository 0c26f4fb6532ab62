//! One flow: the next question, and what an answer means.

use super::{Plan, Settings, Tunnel};
use crate::driver::{Answer, PORT_CHANNEL, Refusal};
use crate::flow::{Flow, UDP};
use rocescope_diagnose::paths::{Direction, Fabric};
use std::net::IpAddr;

/// A flow, and what is known of its path.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The flow.
    pub flow: Flow,
    /// The directions of links that it crosses, in order.
    pub ways: Vec<Direction>,
    /// How the path ended.
    pub outcome: Outcome,
    around: Around,
}

/// The UDP destination port of VXLAN.
const VXLAN_PORT: u16 = 4789;

/// The header around the flow where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// This VXLAN header.
    Outer(Flow),
    /// A VXLAN header to this tunnel end point, with an unknown source port.
    Unknown(IpAddr),
}

/// How a path ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `complete`, or why it ended early.
    pub reason: &'static str,
    /// What the reason is about; empty for a complete path.
    pub detail: String,
}

/// A node that is to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) node: usize,
    /// The port by which the flow arrives; `None` at its source.
    pub(super) ingress: Option<String>,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Step {
    Ask(Question),
    Done,
}

impl Trace {
    /// A flow at its source.
    pub(super) fn start(plan: &Plan, flow: Flow) -> (Self, Step) {
        let mut trace = Self {
            flow,
            ways: Vec::new(),
            outcome: Outcome {
                reason: "unfinished",
                detail: String::new(),
            },
            around: Around::Nothing,
        };
        let fabric = &plan.fabric;
        let Some(source) = fabric.owner(flow.src) else {
            let detail = format!("no node of the topology has the address {}", flow.src);
            let step = trace.end("unknown_source", detail);
            return (trace, step);
        };
        if let Some(address) = [flow.src, flow.dst].into_iter().find(|end| fabric.is_shared(*end)) {
            let detail = format!("several nodes of the topology have the address {address}");
            let step = trace.end("address_repeated", detail);
            return (trace, step);
        }
        if fabric.owner(flow.dst).is_none() {
            let detail = format!("no node of the topology has the address {}", flow.dst);
            let step = trace.end("unknown_destination", detail);
            return (trace, step);
        }
        let step = trace.enter(plan, source, None, usize::MAX);
        (trace, step)
    }

    /// The header that a switch hashes: the outer one between tunnel ends.
    pub(super) const fn header(&self) -> &Flow {
        match &self.around {
            Around::Outer(outer) => outer,
            _ => &self.flow,
        }
    }

    /// Whether [`header`](Self::header) is the outer one of a tunnel.
    pub(super) const fn is_in_tunnel(&self) -> bool {
        matches!(self.around, Around::Outer(_))
    }

    pub(super) fn end(&mut self, reason: &'static str, detail: String) -> Step {
        self.outcome = Outcome { reason, detail };
        Step::Done
    }

    pub(super) fn refused(&mut self, plan: &Plan, question: &Question, refusal: &Refusal) -> Step {
        let name = plan.fabric.name(question.node);
        self.end(refusal.reason, format!("{name}: {}", refusal.message))
    }

    /// The flow arrives at a node.
    fn enter(&mut self, plan: &Plan, node: usize, ingress: Option<&str>, max_hops: usize) -> Step {
        let fabric = &plan.fabric;
        let name = fabric.name(node);
        if fabric.owner(self.flow.dst) == Some(node) {
            return self.end(crate::known::COMPLETE, String::new());
        }
        if fabric.is_host(node) && ingress.is_some() {
            let detail = format!(
                "it arrives at {name}, which does not have the address {}",
                self.flow.dst
            );
            return self.end("wrong_host", detail);
        }
        match self.around {
            Around::Outer(Flow { dst: far, .. }) | Around::Unknown(far) if plan.vtep(node) == Some(far) => {
                self.around = Around::Nothing;
            }
            Around::Unknown(far) => return self.outer_unknown(far),
            _ => {}
        }
        if self.ways.len() >= max_hops {
            return self.end(
                "too_long",
                format!("it is not at its destination after {} nodes", self.ways.len()),
            );
        }
        if plan.devices.get(node).is_some_and(Option::is_some) {
            return Step::Ask(Question {
                node,
                ingress: ingress.map(str::to_owned),
            });
        }
        // A host with a single link needs no question.
        match (ingress, only_link(fabric, node)) {
            (None, Some(way)) => self.cross(plan, way, max_hops),
            _ => {
                let detail = match (fabric.is_host(node), fabric.leaving(node).count()) {
                    (true, 0) => format!("the host {name} has no link"),
                    (true, links) => format!(
                        "the host {name} has {links} links, and only it knows which one it sends to: state its `management` \
                         and the driver `linux` in the topology, or --host-driver linux"
                    ),
                    (false, _) => {
                        format!("the switch {name} has no driver: state `driver` in the topology, or --driver")
                    }
                };
                self.end("no_driver", detail)
            }
        }
    }

    /// The flow crosses a link.
    fn cross(&mut self, plan: &Plan, way: Direction, max_hops: usize) -> Step {
        let fabric = &plan.fabric;
        if self.ways.contains(&way) {
            let at = fabric.end_name(fabric.from(way));
            return self.end("loop", format!("it comes back to {at}"));
        }
        self.ways.push(way);
        let end = fabric.to(way);
        let (node, port) = (end.node, end.port.clone());
        self.enter(plan, node, Some(&port), max_hops)
    }

    /// A node answered.
    pub(super) fn answered(&mut self, plan: &Plan, question: &Question, answer: Answer, settings: &Settings) -> Step {
        let fabric = &plan.fabric;
        let name = fabric.name(question.node);
        match answer {
            Answer::NoRoute(words) => self.end("dead_end", format!("{name} has no way to {}: {words}", self.flow.dst)),
            Answer::Delivered => self.end(
                "contradiction",
                format!(
                    "{name} takes {} for its own address, the topology does not",
                    self.flow.dst
                ),
            ),
            Answer::Tunnel(port) => match (self.around, plan.tunnel(question.node, self.flow.dst)) {
                (Around::Nothing, Tunnel::Between(near, far)) => match self.outer(near, far) {
                    outer @ Around::Outer(_) => {
                        self.around = outer;
                        // Which port the outer header leaves by is a question of its own.
                        Step::Ask(Question {
                            node: question.node,
                            ingress: None,
                        })
                    }
                    _ => self.outer_unknown(far),
                },
                (Around::Nothing, Tunnel::Unknown) => self.tunnel_unknown(name),
                _ => self.end(
                    "contradiction",
                    format!("{name} sends it through {port}: the topology has no tunnel there (`vtep` of both ends)"),
                ),
            },
            Answer::Port(port) => self.leave_by(plan, question.node, &port, settings.max_hops),
            Answer::Channel(port) => match fabric.members(question.node, &port) {
                Some(members) => {
                    let count = members.len();
                    let detail = format!("{name} answers {port} of {count} ports, and not which of them");
                    self.end(PORT_CHANNEL, detail)
                }
                None => self.end(
                    PORT_CHANNEL,
                    format!("{name} answers the port channel {port}, and not which of its ports"),
                ),
            },
        }
    }

    /// The flow leaves a node by this port, or by the only member of this port channel.
    fn leave_by(&mut self, plan: &Plan, node: usize, port: &str, max_hops: usize) -> Step {
        let fabric = &plan.fabric;
        let port = match fabric.members(node, port) {
            Some([member]) if fabric.egress(node, port).is_none() => member,
            _ => port,
        };
        match fabric.egress(node, port) {
            Some(way) => self.leave(plan, node, way, max_hops),
            None => self.no_link(fabric.name(node), port),
        }
    }

    /// The flow leaves a node that was asked: as it came, or in a tunnel that begins there.
    fn leave(&mut self, plan: &Plan, node: usize, way: Direction, max_hops: usize) -> Step {
        if self.around == Around::Nothing && plan.fabric.owner(self.flow.dst) != Some(plan.fabric.to(way).node) {
            match plan.tunnel(node, self.flow.dst) {
                Tunnel::None => {}
                Tunnel::Between(near, far) => self.around = self.outer(near, far),
                Tunnel::Unknown => return self.tunnel_unknown(plan.fabric.name(node)),
            }
        }
        self.cross(plan, way, max_hops)
    }

    fn outer(&self, src: IpAddr, dst: IpAddr) -> Around {
        match self.flow.outer_src_port {
            None => Around::Unknown(dst),
            Some(src_port) => Around::Outer(Flow {
                src,
                dst,
                protocol: UDP,
                src_port,
                dst_port: VXLAN_PORT,
                dst_qpn: None,
                outer_src_port: None,
            }),
        }
    }

    fn outer_unknown(&mut self, far: IpAddr) -> Step {
        self.end(
            "outer_port_unknown",
            format!("switches up to the tunnel end {far} hash the source port of the VXLAN header, which is unknown"),
        )
    }

    fn tunnel_unknown(&mut self, name: &str) -> Step {
        let detail = format!(
            "{name} sends it through a tunnel, and the topology does not have the one `vtep` behind which {} is",
            self.flow.dst
        );
        self.end("tunnel_end_unknown", detail)
    }

    fn no_link(&mut self, name: &str, port: &str) -> Step {
        self.end(
            "contradiction",
            format!("{name} answers {port}, where the topology has no link"),
        )
    }
}

fn only_link(fabric: &Fabric, node: usize) -> Option<Direction> {
    let mut ways = fabric.leaving(node);
    let way = ways.next()?;
    ways.next().is_none().then_some(way)
}
