//! One flow: the next question, and what an answer means.

use super::{Plan, Settings};
use crate::driver::{Answer, Refusal};
use crate::flow::Flow;
use rocescope_diagnose::paths::{Direction, Fabric};

/// A flow, and what is known of its path.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The flow.
    pub flow: Flow,
    /// The directions of links that it crosses, in order.
    pub ways: Vec<Direction>,
    /// How the path ended.
    pub outcome: Outcome,
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
        };
        let fabric = &plan.fabric;
        let Some(source) = fabric.owner(flow.src) else {
            let detail = format!("no node of the topology has the address {}", flow.src);
            let step = trace.end("unknown_source", detail);
            return (trace, step);
        };
        if fabric.owner(flow.dst).is_none() {
            let detail = format!("no node of the topology has the address {}", flow.dst);
            let step = trace.end("unknown_destination", detail);
            return (trace, step);
        }
        let step = trace.enter(plan, source, None, usize::MAX);
        (trace, step)
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
            return self.end("complete", String::new());
        }
        if fabric.is_host(node) && ingress.is_some() {
            let detail = format!(
                "it arrives at {name}, which does not have the address {}",
                self.flow.dst
            );
            return self.end("wrong_host", detail);
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
            _ => self.end(
                "no_driver",
                format!("{name} cannot be asked: the topology has no `management` or no `driver` for it"),
            ),
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
            Answer::NoRoute => self.end("dead_end", format!("{name} has no route to {}", self.flow.dst)),
            Answer::Delivered => self.end(
                "contradiction",
                format!(
                    "{name} takes {} for its own address, the topology does not",
                    self.flow.dst
                ),
            ),
            Answer::Port(port) => match fabric.egress(question.node, &port) {
                Some(way) => self.cross(plan, way, settings.max_hops),
                None => match fabric.members(question.node, &port) {
                    Some([member]) => match fabric.egress(question.node, member) {
                        Some(way) => self.cross(plan, way, settings.max_hops),
                        None => self.no_link(name, member),
                    },
                    Some(members) => self.end(
                        "port_channel",
                        format!(
                            "{name} answers {port} of {} ports, and not which of them",
                            members.len()
                        ),
                    ),
                    None => self.no_link(name, &port),
                },
            },
        }
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
