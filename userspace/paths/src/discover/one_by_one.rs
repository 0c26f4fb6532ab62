//! Flow after flow: with new sessions for each (baseline), or with sessions that stay open (persistent).

use super::ask::{Asked, Asker, Knowledge, TRIES, pause};
use super::trace::{Step, Trace};
use super::{DeviceWork, Plan, Settings};
use crate::flow::Flow;
use crate::transport::{Session, Transport};
use std::collections::{BTreeMap, HashMap};
use std::thread;

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
        known: Knowledge::new(plan.fabric.nodes().len()),
    };
    let mut work: BTreeMap<usize, DeviceWork> = BTreeMap::new();
    let mut sessions: HashMap<usize, Option<Box<dyn Session>>> = HashMap::new();
    let mut traces = Vec::with_capacity(flows.len());
    for flow in flows {
        let (mut trace, mut step) = Trace::start(plan, *flow);
        while let Step::Ask(question) = step {
            let session = sessions.entry(question.node).or_default();
            let work = work.entry(question.node).or_default();
            let mut tries = 0;
            step = loop {
                match asker.ask(&mut trace, &question, session, work) {
                    Asked::Step(step) => break step,
                    Asked::Crowded(refusal) if tries == TRIES => break asker.give_up(&mut trace, &question, &refusal),
                    Asked::Crowded(_) => {
                        tries += 1;
                        thread::sleep(pause(tries));
                    }
                }
            };
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
