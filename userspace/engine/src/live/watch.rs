//! What ends a capture: signals, time, a command, the last interface.

use super::plan;
use super::port::Port;
use super::report::VerdictReason;
use crate::drops::Drops;
use crate::error::{EngineError, Result};
use crate::notice::{Notice, Notices};
use crate::request::{CaptureRequest, IntakeRequest, VerdictPolicy};
use crate::service::Service;
use crate::signals::Signals;
use rocescope_host::interface::{Interface, State};
use rustix::process::{Pid, Signal, kill_process};
use std::error::Error;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the slow questions are asked: interfaces, the command.
const LOOK: Duration = Duration::from_millis(100);

/// What may end a capture.
pub(super) struct Watch {
    signals: Signals,
    service: Service,
    notices: Notices,
    reload: Reload,
    deadline: Option<Instant>,
    command: Option<Child>,
    interfaces: Vec<(Interface, State)>,
    port: Port,
    looked: Instant,
}

/// Makes the request as the configuration has it now, when somebody asks to read it again.
pub type Reload = Box<dyn FnMut() -> Result<Reloaded, Box<dyn Error + Send + Sync>>>;

/// A configuration that was read again.
#[derive(Debug)]
pub struct Reloaded {
    /// What is asked for now. A running capture applies filter, ports, verdict and thresholds.
    pub request: CaptureRequest,
    /// Options that have changed and are applied after a restart only.
    pub held_back: Vec<String>,
}

/// What a running capture takes over.
pub(super) struct Change {
    pub(super) intake: IntakeRequest,
    /// What happens to frames behind XDP.
    pub(super) verdict: VerdictReason,
    /// Whether they are to be dropped even where the interface is in use.
    pub(super) is_to_drop: bool,
}

impl Watch {
    /// Starts the command, where there is one.
    pub(super) fn begin(
        signals: Signals,
        interfaces: &[Interface],
        drops: Arc<Drops>,
        request: &CaptureRequest,
        reload: Reload,
        notices: Notices,
    ) -> Result<Self> {
        let port = Port::begin(interfaces, drops);
        let interfaces = interfaces
            .iter()
            .cloned()
            .map(|interface| {
                let state = interface.state();
                if state == State::Down {
                    notices.send(Notice::Down(interface.name.clone()));
                }
                (interface, state)
            })
            .collect();
        let command = match request.command.as_slice() {
            [] => None,
            [program, arguments @ ..] => {
                let child = Command::new(program).args(arguments).spawn();
                let name = || program.to_string_lossy().into_owned();
                Some(child.map_err(|error| EngineError::Command(name(), error))?)
            }
        };
        let now = Instant::now();
        Ok(Self {
            signals,
            service: Service::default(),
            notices,
            reload,
            deadline: request
                .duration
                .and_then(|duration| now.checked_add(duration)),
            command,
            interfaces,
            port,
            looked: now,
        })
    }

    /// Where notices go.
    pub(super) const fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Whether the counts are wanted.
    pub(super) fn asked(&self) -> bool {
        self.signals.asked()
    }

    /// What the interfaces dropped since the capture began.
    pub(super) const fn port(&self) -> &Port {
        &self.port
    }

    /// Other settings, when somebody has asked to read the configuration again and all is right with it.
    pub(super) fn reloaded(&mut self) -> Option<Change> {
        if !self.signals.reload() {
            return None;
        }
        match (self.reload)() {
            Ok(Reloaded { request, held_back }) => {
                if !held_back.is_empty() {
                    self.notices.send(Notice::HeldBack(held_back));
                }
                self.notices.send(Notice::Reloaded);
                let interfaces = self.interfaces.iter().map(|(interface, _)| interface);
                Some(Change {
                    is_to_drop: request.verdict == VerdictPolicy::Drop,
                    verdict: plan::decide(request.verdict, interfaces),
                    intake: request.intake,
                })
            }
            Err(error) => {
                let why = format!("{error:#}");
                self.notices.send(Notice::ReloadRefused(why));
                None
            }
        }
    }

    /// Whether to end.
    pub(super) fn over(&mut self) -> Result<bool> {
        let now = Instant::now();
        if self.signals.ended() || self.deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(true);
        }
        if now.duration_since(self.looked) < LOOK {
            return Ok(false);
        }
        self.looked = now;
        self.service.alive(now);
        let ended = match &mut self.command {
            Some(child) => child.try_wait().map_err(command_error)?,
            None => None,
        };
        if let Some(status) = ended {
            self.command = None;
            if !status.success() {
                self.notices.send(Notice::CommandEnded(status));
            }
            return Ok(true);
        }
        self.look();
        Ok(self
            .interfaces
            .iter()
            .all(|(_, state)| *state == State::Gone))
    }

    /// Reports what has become of the interfaces.
    fn look(&mut self) {
        for (interface, before) in &mut self.interfaces {
            if *before == State::Gone {
                continue;
            }
            let now = interface.state();
            if now != *before {
                let name = interface.name.clone();
                self.notices.send(match now {
                    State::Up => Notice::Up(name),
                    State::Down => Notice::Down(name),
                    State::Gone => Notice::Removed(name),
                });
                *before = now;
            }
            if let Some(name) = interface.current_name()
                && name != interface.name
            {
                let from = std::mem::replace(&mut interface.name, name.clone());
                self.notices.send(Notice::Renamed { from, to: name });
            }
        }
    }

    /// Ends the command, if it still runs.
    pub(super) fn end(&mut self) -> Result<()> {
        Service::stopping();
        let Some(mut child) = self.command.take() else {
            return Ok(());
        };
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(pid, Signal::TERM);
        }
        child.wait().map_err(command_error)?;
        Ok(())
    }
}

fn command_error(error: std::io::Error) -> EngineError {
    EngineError::Command("the command".into(), error)
}
