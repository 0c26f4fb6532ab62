//! One question: opens a session where none is free, runs the commands, reads the answers.

use super::trace::{Question, Step, Trace};
use super::{DeviceWork, Plan, Settings};
use crate::driver::{Answer, Driver, Refusal};
use crate::transport::{Device, Failure, Session, Transport};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What is known of a node after its first session: it cannot be asked, or everything it answers counts.
#[derive(Debug, Default)]
pub(super) struct Knowledge(Mutex<HashMap<usize, Result<(), Refusal>>>);

impl Knowledge {
    fn get(&self, node: usize) -> Option<Result<(), Refusal>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&node).cloned()
    }

    fn set(&self, node: usize, result: Result<(), Refusal>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(node, result);
    }
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
    ) -> Step {
        let Some(Some((device, driver))) = self.plan.devices.get(question.node) else {
            return trace.end("no_driver", String::new());
        };
        match self.answer(trace, question, (device, driver), session, work) {
            Ok(answer) => trace.answered(self.plan, question, answer, self.settings),
            Err(refusal) => {
                work.fail(refusal.reason, &refusal.message);
                trace.refused(self.plan, question, &refusal)
            }
        }
    }

    fn answer(
        &self,
        trace: &Trace,
        question: &Question,
        (device, driver): (&Device, &Driver),
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<Answer, Refusal> {
        let ingress = question.ingress.as_deref();
        let command = driver.question(&trace.flow, ingress)?;
        match self.known.get(question.node) {
            Some(Err(refusal)) => return Err(refusal),
            Some(Ok(())) => {}
            None => {
                let checked = self.first(device, driver, session, work);
                self.known.set(question.node, checked.clone());
                checked?;
            }
        }
        let text = self.run(device, &command, session, work)?;
        let answer = driver.answer(&text)?;
        let Answer::Port(port) = &answer else { return Ok(answer) };
        match driver.channel_question(&trace.flow, ingress, port)? {
            None => Ok(answer),
            Some(command) => {
                let text = self.run(device, &command, session, work)?;
                driver.channel_answer(&text).map(Answer::Port)
            }
        }
    }

    /// The first contact: whether the node can be reached, and whether it hashes what no question carries.
    fn first(
        &self,
        device: &Device,
        driver: &Driver,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<(), Refusal> {
        if session.is_none() {
            work.sessions += 1;
            *session = Some(self.transport.open(device).map_err(unanswered)?);
        }
        let Some(command) = driver.hash_command() else {
            return Ok(());
        };
        let text = self.run(device, command, session, work)?;
        match driver.hash_beyond(&text) {
            None => Ok(()),
            Some(line) => {
                let line: String = line.chars().filter(|c| !c.is_control()).take(120).collect();
                Err(Refusal::new(
                    "hash_beyond_5_tuple",
                    format!("it hashes more than a question carries: {line}"),
                ))
            }
        }
    }

    /// Runs a command; opens a new session if the old one is over, once.
    fn run(
        &self,
        device: &Device,
        command: &str,
        session: &mut Option<Box<dyn Session>>,
        work: &mut DeviceWork,
    ) -> Result<String, Refusal> {
        let was_open = session.is_some();
        let mut open = match session.take() {
            Some(open) => open,
            None => {
                work.sessions += 1;
                self.transport.open(device).map_err(unanswered)?
            }
        };
        work.commands += 1;
        match open.run(command, self.settings.limit) {
            Ok(text) => {
                *session = Some(open);
                Ok(text)
            }
            // A device may close a session that was idle; a command that takes too long would take so again.
            Err(failure) if was_open && failure.reason != "time_limit" => {
                work.fail(failure.reason, &failure.message);
                drop(open);
                self.run(device, command, session, work)
            }
            Err(failure) => Err(unanswered(failure)),
        }
    }
}

fn unanswered(failure: Failure) -> Refusal {
    Refusal::new(failure.reason, failure.message)
}
