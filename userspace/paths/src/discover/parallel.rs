//! All flows at once: threads take the next question of any node that has a free session.
//!
//! A node that refuses a session has as many from then on as it did not refuse; the question waits for one of them.

use super::ask::{Asked, Asker, Knowledge, TRIES, pause};
use super::trace::{Question, Step, Trace};
use super::{DeviceWork, Plan, Settings};
use crate::flow::Flow;
use crate::transport::{Session, Transport};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Questions and sessions of a node.
struct Queue {
    /// Flows that wait for this node.
    waiting: VecDeque<(usize, Question)>,
    /// Free sessions.
    free: Vec<Box<dyn Session>>,
    /// Questions that are being asked.
    asked: usize,
    /// Whether the node is in the list of ready ones.
    is_ready: bool,
    /// Sessions, at most.
    limit: usize,
    /// How often it refused its only session, in a row.
    tries: u32,
}

impl Queue {
    fn new(limit: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            free: Vec::new(),
            asked: 0,
            is_ready: false,
            limit,
            tries: 0,
        }
    }
}

/// What the threads share.
struct State {
    queues: Vec<Queue>,
    /// Nodes with a question and a free session, or one that may be opened.
    ready: VecDeque<usize>,
    /// Flows by number; `None` while a thread has one.
    traces: Vec<Option<Trace>>,
    /// Flows without an end.
    unfinished: usize,
    /// Sessions that are open, free or not.
    open: usize,
    work: BTreeMap<usize, DeviceWork>,
}

impl State {
    /// Adds a node to the ready ones, if it is.
    fn offer(&mut self, node: usize) -> bool {
        let queue = &mut self.queues[node];
        let is_new = !queue.is_ready && !queue.waiting.is_empty() && queue.asked < queue.limit;
        if is_new {
            queue.is_ready = true;
            self.ready.push_back(node);
        }
        is_new
    }

    /// Closes a free session of another node.
    fn close_one(&mut self, except: usize) -> Option<Box<dyn Session>> {
        let mut others = self.queues.iter_mut().enumerate().filter(|(node, _)| *node != except);
        let closed = others.find_map(|(_, queue)| queue.free.pop())?;
        self.open -= 1;
        Some(closed)
    }
}

pub(super) fn run(
    plan: &Plan,
    flows: &[Flow],
    transport: &dyn Transport,
    settings: &Settings,
) -> (Vec<Trace>, BTreeMap<usize, DeviceWork>) {
    let asker = Asker {
        plan,
        transport,
        settings,
        known: Knowledge::new(plan.fabric.nodes().len()),
    };
    let sessions = settings.sessions.max(1);
    let mut state = State {
        queues: plan.fabric.nodes().iter().map(|_| Queue::new(sessions)).collect(),
        ready: VecDeque::new(),
        traces: Vec::with_capacity(flows.len()),
        unfinished: 0,
        open: 0,
        work: BTreeMap::new(),
    };
    for (number, flow) in flows.iter().enumerate() {
        let (trace, step) = Trace::start(plan, *flow);
        state.traces.push(Some(trace));
        if let Step::Ask(question) = step {
            let node = question.node;
            state.unfinished += 1;
            state.queues[node].waiting.push_back((number, question));
            state.offer(node);
        }
    }
    let threads = settings.threads.clamp(1, flows.len().max(1));
    let (shared, changed) = (Mutex::new(state), Condvar::new());
    thread::scope(|scope| {
        let worker = || work(&asker, &shared, &changed);
        let spawned = (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, worker));
        // Fewer threads than wished for only take longer.
        let _running: Vec<_> = spawned.filter_map(Result::ok).collect();
        worker();
    });
    let state = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    (state.traces.into_iter().flatten().collect(), state.work)
}

fn work(asker: &Asker<'_>, shared: &Mutex<State>, changed: &Condvar) {
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = lock();
    loop {
        if state.unfinished == 0 {
            changed.notify_all();
            return;
        }
        let Some((node, number, question)) = next(&mut state, changed) else {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let Some(mut trace) = state.traces[number].take() else {
            continue;
        };
        let mut session = state.queues[node].free.pop();
        let mut closed = None;
        if session.is_none() {
            state.open += 1;
            if state.open > asker.settings.open_sessions {
                closed = state.close_one(node);
            }
        }
        drop(state);
        drop(closed);
        let mut done = DeviceWork::default();
        let asked = asker.ask(&mut trace, &question, &mut session, &mut done);
        state = lock();
        state.work.entry(node).or_default().add(done);
        match session {
            Some(session) => state.queues[node].free.push(session),
            None => state.open -= 1,
        }
        let queue = &mut state.queues[node];
        let step = match asked {
            Asked::Step(step) => {
                queue.tries = 0;
                step
            }
            Asked::Crowded(refusal) => {
                let others = queue.asked - 1 + queue.free.len();
                queue.limit = queue.limit.min(others.max(1));
                queue.tries += u32::from(others == 0);
                if queue.tries > TRIES {
                    asker.give_up(&mut trace, &question, &refusal)
                } else {
                    if others == 0 {
                        let tries = queue.tries;
                        drop(state);
                        thread::sleep(pause(tries));
                        state = lock();
                    }
                    Step::Ask(question)
                }
            }
        };
        state.traces[number] = Some(trace);
        state.queues[node].asked -= 1;
        match step {
            Step::Done => state.unfinished -= 1,
            Step::Ask(question) => {
                let next = question.node;
                state.queues[next].waiting.push_back((number, question));
                if state.offer(next) {
                    changed.notify_one();
                }
            }
        }
        if state.offer(node) {
            changed.notify_one();
        }
    }
}

/// Takes a question of a ready node.
fn next(state: &mut MutexGuard<'_, State>, changed: &Condvar) -> Option<(usize, usize, Question)> {
    let node = state.ready.pop_front()?;
    let queue = &mut state.queues[node];
    queue.is_ready = false;
    let (number, question) = queue.waiting.pop_front()?;
    queue.asked += 1;
    if state.offer(node) {
        changed.notify_one();
    }
    Some((node, number, question))
}
