//! Flow after flow: with new sessions for each (baseline), or with sessions that stay open (persistent).

use super::ask::{Asker, Knowledge};
use super::trace::{Step, Trace};
use super::{DeviceWork, Plan, Settings};
use crate::flow::Flow;
use crate::transport::{Session, Transport};
use std::collections::{BTreeMap, HashMap};

pub(super) fn run(
    plan: &Plan,
    flows: &[Flow],
    transport: &dyn Transport,
    settings: &Settings,
    is_baseline: bool,
) -> (Vec<Trace>, BTreeMap<usize, DeviceWork>) {
    let asker = Asker {
        plan,
        transport,
        settings,
        known: Knowledge::default(),
    };
    let mut work: BTreeMap<usize, DeviceWork> = BTreeMap::new();
    let mut sessions: HashMap<usize, Option<Box<dyn Session>>> = HashMap::new();
    let mut traces = Vec::with_capacity(flows.len());
    for flow in flows {
        let (mut trace, mut step) = Trace::start(plan, *flow);
        while let Step::Ask(question) = step {
            let session = sessions.entry(question.node).or_default();
            let work = work.entry(question.node).or_default();
            step = asker.ask(&mut trace, &question, session, work);
        }
        traces.push(trace);
        if is_baseline {
            sessions.clear();
        }
        // The others are idle.
        while sessions.len() > settings.open_sessions.max(1) {
            let Some(node) = sessions.keys().next().copied() else {
                break;
            };
            sessions.remove(&node);
        }
    }
    (traces, work)
}
