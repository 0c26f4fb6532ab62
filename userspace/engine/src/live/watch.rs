//! What ends a capture: signals, time, a command, the last interface.

use super::plan;
use super::port::Port;
use super::report::VerdictReason;
use crate::drops::Drops;
use crate::error::{EngineError, Result};
use crate::notice::{Notice, Notices};
use crate::request::{CaptureRequest, IntakeRequest, VerdictPolicy};
use rocescope_host::interface::{Interface, State};
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rustix::process::{Pid, Signal, kill_process};
use std::error::Error;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two checks of the interfaces and the command.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The conditions that end a capture.
pub(super) struct Watch {
    signals: Signals,
    service: Service,
    notices: Notices,
    reload: Reload,
    deadline: Option<Instant>,
    command: Option<Child>,
    /// The status of the command, once it has ended.
    status: Option<ExitStatus>,
    interfaces: Vec<(Interface, State)>,
    port: Port,
    checked: Instant,
}

/// Reads the configuration again, and makes a new request.
pub type Reload = Box<dyn FnMut() -> Result<Reloaded, Box<dyn Error + Send + Sync>>>;

/// A reloaded configuration.
#[derive(Debug)]
pub struct Reloaded {
    /// The new request. A running capture applies filter, ports, verdict and thresholds.
    pub request: CaptureRequest,
    /// Changed options that require a restart.
    pub held_back: Vec<String>,
}

/// The changes for a running capture.
pub(super) struct Change {
    pub(super) intake: IntakeRequest,
    /// What happens to frames after XDP.
    pub(super) verdict: VerdictReason,
    /// Whether to drop them even if the interface is in use.
    pub(super) is_to_drop: bool,
}

impl Watch {
    /// Starts the command, if there is one.
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
            deadline: request.duration.and_then(|duration| now.checked_add(duration)),
            command,
            status: None,
            interfaces,
            port,
            checked: now,
        })
    }

    /// The destination of notices.
    pub(super) const fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Whether the counts were requested.
    pub(super) fn counts_requested(&self) -> bool {
        self.signals.counts_requested()
    }

    /// Frames that the interfaces dropped since the capture began.
    pub(super) const fn port(&self) -> &Port {
        &self.port
    }

    /// The same, to settle.
    pub(super) const fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    /// The new settings, if a reload was requested and the configuration is valid.
    pub(super) fn reloaded(&mut self) -> Option<Change> {
        if !self.signals.reload_requested() {
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

    /// Whether to end the capture.
    pub(super) fn over(&mut self) -> Result<bool> {
        let now = Instant::now();
        if self.signals.ended() || self.deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(true);
        }
        if now.duration_since(self.checked) < CHECK_INTERVAL {
            return Ok(false);
        }
        self.checked = now;
        self.service.alive(now);
        let ended = match &mut self.command {
            Some(child) => child.try_wait().map_err(command_error)?,
            None => None,
        };
        if let Some(status) = ended {
            self.command = None;
            self.status = Some(status);
            if !status.success() {
                self.notices.send(Notice::CommandEnded(status));
            }
            return Ok(true);
        }
        self.check_interfaces();
        Ok(self.removed().is_some())
    }

    /// The names of the interfaces, if all of them were removed.
    pub(super) fn removed(&self) -> Option<String> {
        let is_left = self.interfaces.iter().any(|(_, state)| *state != State::Gone);
        let names = self.interfaces.iter().map(|(interface, _)| interface.name.as_str());
        (!is_left).then(|| names.collect::<Vec<_>>().join(", "))
    }

    /// The status of the command, if it has ended by itself.
    pub(super) const fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Reports changes of the interfaces.
    fn check_interfaces(&mut self) {
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

    /// Ends the command if it is still running.
    pub(super) fn end(&mut self) -> Result<()> {
        Service::stopping();
        let Some(mut child) = self.command.take() else {
            return Ok(());
        };
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have exited in the meantime.
            let _ = kill_process(pid, Signal::TERM);
        }
        child.wait().map_err(command_error)?;
        Ok(())
    }
}

fn command_error(error: std::io::Error) -> EngineError {
    EngineError::Command("the command".into(), error)
}
