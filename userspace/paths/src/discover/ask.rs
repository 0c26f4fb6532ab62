//! One question: opens a session where none is free, runs the commands, reads the answers.

use super::trace::{Question, Step, Trace};
use super::{DeviceWork, Plan, Settings};
use crate::driver::{Answer, Driver, Hash, HashFields, Refusal, hash_unknown};
use crate::transport::{Device, Failure, INTERRUPTED, Reply, SESSION_REFUSED, Session, Transport};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a question led to.
#[derive(Debug)]
pub(super) enum Asked {
    /// The next step of the flow.
    Step(Step),
    /// The device refuses another session: the flow is where it was, and the question is to be asked again.
    Crowded(Refusal),
}

/// How often a device may refuse its only session: it may not have noticed yet that the last one ended.
pub(super) const TRIES: u32 = 6;

/// The time before the next try.
pub(super) const fn pause(tries: u32) -> Duration {
    Duration::from_millis(50 * tries as u64)
}

/// What is known of a node after its first session.
#[derive(Debug, Clone)]
enum Known {
    /// What it hashes; `None` if questions carry all of it.
    Asked(Option<Arc<HashFields>>),
    /// It cannot be asked.
    Refused(Refusal),
}

/// What a port channel of a node hashes, or why that is unknown.
type ChannelFields = Result<Option<Arc<HashFields>>, Refusal>;

/// What is known of each node.
#[derive(Debug)]
pub(super) struct Knowledge(Vec<Node>);

#[derive(Debug, Default)]
struct Node {
    known: Mutex<Option<Known>>,
    /// Held during the first contact: other sessions wait for what it finds.
    first: Mutex<()>,
    /// Of its port channels; held while it is asked.
    channels: Mutex<Option<ChannelFields>>,
    /// Commands without an answer, in a row.
    silent: AtomicU32,
}

/// Commands without an answer, in a row, after which a device is not asked again: each may take the whole limit.
const MAX_SILENT: u32 = 2;

impl Knowledge {
    /// Nothing is known of these nodes yet.
    pub(super) fn new(nodes: usize) -> Self {
        Self((0..nodes).map(|_| Node::default()).collect())
    }

    fn get(&self, node: usize) -> Option<Known> {
        self.0.get(node).and_then(|node| lock(&node.known).clone())
    }

    fn set(&self, node: usize, known: Known) {
        if let Some(node) = self.0.get(node) {
            *lock(&node.known) = Some(known);
        }
    }

    /// A command has an answer.
    fn answered(&self, node: usize) {
        if let Some(node) = self.0.get(node) {
            node.silent.store(0, Ordering::Relaxed);
        }
    }

    /// A command has none.
    fn unanswered(&self, node: usize, failure: Failure) -> Refusal {
        let Failure { reason, message } = failure;
        let silent = self
            .0
            .get(node)
            .map(|node| node.silent.fetch_add(1, Ordering::Relaxed) + 1);
        if !matches!(reason, SESSION_REFUSED | INTERRUPTED) && silent.is_some_and(|silent| silent >= MAX_SILENT) {
            let message = format!("{message}, {MAX_SILENT} times in a row: it is not asked again");
            self.set(node, Known::Refused(Refusal::new(reason, message)));
        }
        Refusal::new(reason, message)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The node that is asked.
#[derive(Clone, Copy)]
struct Target<'a> {
    node: usize,
    device: &'a Device,
    driver: &'a Driver,
}

/// Where questions are asked.
pub(super) struct Asker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) transport: &'a dyn Transport,
    pub(super) settings: &'a Settings,
    pub(super) known: Knowledge,
}

impl Asker<'_> {
    /// Asks a node about a flow. `session` is a free session of the node, and is the one that stays open.
    pub(super) fn ask(
        &self,
        trace: &mut Trace,
        question: &Question,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Asked {
        let Some(Some((device, driver))) = self.plan.devices.get(question.node) else {
            return Asked::Step(trace.end("no_driver", String::new()));
        };
        let opened = work.sessions;
        let at = Target {
            node: question.node,
            device,
            driver,
        };
        match self.answer(trace, question, at, session, work) {
            Ok(answer) => Asked::Step(trace.answered(self.plan, question, answer, self.settings)),
            Err(refusal) => {
                work.fail(refusal.reason, &refusal.message);
                if refusal.reason == SESSION_REFUSED && self.may_be_asked(question.node) {
                    work.sessions = opened;
                    return Asked::Crowded(refusal);
                }
                Asked::Step(trace.refused(self.plan, question, &refusal))
            }
        }
    }

    /// Whether nothing is known that speaks against asking a node.
    fn may_be_asked(&self, node: usize) -> bool {
        !matches!(self.known.get(node), Some(Known::Refused(_)))
    }

    /// Gives up a node that refuses even its only session: no flow waits for it again.
    pub(super) fn give_up(&self, trace: &mut Trace, question: &Question, refusal: &Refusal) -> Step {
        self.known.set(question.node, Known::Refused(refusal.clone()));
        trace.refused(self.plan, question, refusal)
    }

    fn answer(
        &self,
        trace: &mut Trace,
        question: &Question,
        at: Target<'_>,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<Answer, Refusal> {
        let ingress = question.ingress.as_deref();
        let header = *trace.header();
        let driver = at.driver;
        let command = driver.question(&header, ingress)?;
        if let Some(fields) = self.contact(at, session, work)? {
            fields.carried_for(&header, trace.is_in_tunnel())?;
        }
        let reply = self.run(at, &command, session, work)?;
        let answer = driver.answer(&reply)?;
        if trace.flow.outer_src_port.is_none() {
            trace.flow.outer_src_port = driver.outer_src_port(&reply);
        }
        match answer {
            Answer::Port(port) if self.has_member(at, &port) => {
                let Some(command) = driver.channel_question(&header, ingress, &port)? else {
                    return Ok(Answer::Channel(port));
                };
                if let Some(fields) = self.channel_fields(at, session, work)? {
                    fields.carried_for(&header, trace.is_in_tunnel())?;
                }
                let reply = self.run(at, &command, session, work)?;
                driver.channel_answer(&reply).map(Answer::Port)
            }
            answer => Ok(answer),
        }
    }

    /// Whether a port is a port channel whose member is open: the topology has no link at it, and does not name one member.
    fn has_member(&self, at: Target<'_>, port: &str) -> bool {
        let fabric = &self.plan.fabric;
        let members = fabric.members(at.node, port);
        let is_channel = members.map_or_else(|| at.driver.is_channel(port), |members| members.len() != 1);
        is_channel && fabric.egress(at.node, port).is_none()
    }

    /// What the node hashes, asked at the first contact.
    fn contact(
        &self,
        at: Target<'_>,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<Option<Arc<HashFields>>, Refusal> {
        let known = |known| match known {
            Known::Asked(fields) => Ok(fields),
            Known::Refused(refusal) => Err(refusal),
        };
        if let Some(found) = self.known.get(at.node) {
            return known(found);
        }
        // Several sessions log in at the same time, and one of them asks.
        let opened = self.open(at, session, work);
        let _first = self.known.0.get(at.node).map(|node| lock(&node.first));
        if let Some(found) = self.known.get(at.node) {
            return known(found);
        }
        let asked = opened.and_then(|()| self.fields(at, ("[hash]", at.driver.hash()), session, work));
        if let Ok(Some(fields)) = &asked {
            work.hash_fields.extend_from_slice(&fields.names);
        }
        match &asked {
            Err(refusal) if refusal.reason == SESSION_REFUSED => {}
            Err(refusal) => self.known.set(at.node, Known::Refused(refusal.clone())),
            Ok(fields) => self.known.set(at.node, Known::Asked(fields.clone())),
        }
        asked
    }

    fn open(
        &self,
        at: Target<'_>,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<(), Refusal> {
        if session.is_none() {
            work.sessions += 1;
            let opened = self.transport.open(at.device);
            *session = Some(opened.map_err(|failure| self.known.unanswered(at.node, failure))?);
        }
        Ok(())
    }

    /// What port channels of the node hash, asked at the first of them.
    fn channel_fields(
        &self,
        at: Target<'_>,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> ChannelFields {
        let hash = ("[channel.hash]", at.driver.channel_hash());
        let Some(node) = self.known.0.get(at.node) else {
            return Ok(None);
        };
        let mut known = lock(&node.channels);
        if let Some(found) = &*known {
            return found.clone();
        }
        let asked = self.fields(at, hash, session, work);
        if let Ok(Some(fields)) = &asked {
            work.channel_hash_fields.extend_from_slice(&fields.names);
        }
        if !matches!(&asked, Err(refusal) if refusal.reason == SESSION_REFUSED) {
            *known = Some(asked.clone());
        }
        asked
    }

    /// Asks what a device hashes; `part` is that of its driver which has the commands.
    fn fields(
        &self,
        at: Target<'_>,
        (part, hash): (&str, Option<&Hash>),
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<Option<Arc<HashFields>>, Refusal> {
        let mut first = None;
        if let Some(hash) = hash {
            let Some(commands) = hash.commands() else {
                return Ok(None);
            };
            for command in commands {
                let reply = self.run(at, command, session, work)?;
                if let Some(fields) = hash.read(&reply) {
                    return Ok(Some(Arc::new(fields)));
                }
                first.get_or_insert((&**command, reply));
            }
        }
        let refusal = hash_unknown(part, first.as_ref().map(|(command, reply)| (*command, reply)));
        match self.settings.assume_5_tuple {
            true => {
                work.assumed = Some(refusal.message);
                Ok(None)
            }
            false => Err(refusal),
        }
    }

    /// Runs a command; opens a new session if the old one is over, once.
    fn run(
        &self,
        at: Target<'_>,
        command: &str,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<Reply, Refusal> {
        let was_open = session.is_some();
        self.open(at, session, work)?;
        let Some(mut open) = session.take() else {
            return Err(Refusal::new("session_over", "no session"));
        };
        work.commands += 1;
        match open.run(command, self.settings.limit) {
            Ok(reply) => {
                self.known.answered(at.node);
                *session = Some(open);
                Ok(reply)
            }
            // A device may close a session that was idle; a command that takes too long would take so again.
            Err(failure) if was_open && !["time_limit", SESSION_REFUSED].contains(&failure.reason) => {
                work.fail(failure.reason, &failure.message);
                drop(open);
                self.run(at, command, session, work)
            }
            Err(failure) => Err(self.known.unanswered(at.node, failure)),
        }
    }
}
