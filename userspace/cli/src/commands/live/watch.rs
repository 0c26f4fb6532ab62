//! What ends a capture: signals, time, a command, the last interface.

use super::plan::{self, Decided};
use super::port::Port;
use super::reload::Standing;
use crate::arguments::{CaptureArguments, LiveArguments, Verdict};
use crate::drops::Drops;
use crate::say;
use crate::service::Service;
use crate::signals::Signals;
use anyhow::{Context, Result};
use rocescope_host::interface::{Interface, State};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the slow questions are asked: interfaces, the command.
const LOOK: Duration = Duration::from_millis(100);

/// What may end a capture.
pub(super) struct Watch {
    signals: Signals,
    service: Service,
    arguments: CaptureArguments,
    standing: Standing,
    deadline: Option<Instant>,
    command: Option<Child>,
    interfaces: Vec<(Interface, State)>,
    port: Port,
    looked: Instant,
}

/// What a running capture takes over.
pub(super) struct Reloaded {
    pub(super) settings: Settings,
    pub(super) config: Config,
    /// What becomes of frames behind XDP.
    pub(super) verdict: Decided,
    /// Whether somebody wants them dropped, whoever uses the interface.
    pub(super) is_to_drop: bool,
}

impl Watch {
    /// Starts the command, where there is one.
    pub(super) fn begin(
        signals: Signals,
        interfaces: &[Interface],
        drops: Arc<Drops>,
        arguments: &CaptureArguments,
        standing: Standing,
    ) -> Result<Self> {
        let LiveArguments {
            duration, command, ..
        } = &arguments.live;
        let port = Port::begin(interfaces, drops);
        let interfaces = interfaces
            .iter()
            .cloned()
            .map(|interface| {
                let state = interface.state();
                if state == State::Down {
                    say!(
                        "{} is down: no frame will come before it is up",
                        interface.name
                    );
                }
                (interface, state)
            })
            .collect();
        let command = match command.as_slice() {
            [] => None,
            [program, arguments @ ..] => {
                let child = Command::new(program).args(arguments).spawn();
                Some(child.with_context(|| program.to_string_lossy().into_owned())?)
            }
        };
        let now = Instant::now();
        Ok(Self {
            signals,
            service: Service::default(),
            arguments: arguments.clone(),
            standing,
            deadline: duration.and_then(|duration| now.checked_add(duration)),
            command,
            interfaces,
            port,
            looked: now,
        })
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
    pub(super) fn reloaded(&mut self) -> Option<Reloaded> {
        if !self.signals.reload() {
            return None;
        }
        match self.standing.read_again(&self.arguments) {
            Ok((arguments, settings, config)) => {
                say!("the configuration was read again");
                let interfaces = self.interfaces.iter().map(|(interface, _)| interface);
                let verdict = arguments.live.verdict;
                self.arguments = arguments;
                Some(Reloaded {
                    settings,
                    config,
                    is_to_drop: verdict == Verdict::Drop,
                    verdict: plan::decide(verdict, interfaces),
                })
            }
            Err(error) => {
                say!("the configuration stays as it is: {error:#}");
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
            Some(child) => child.try_wait().context("the command")?,
            None => None,
        };
        if let Some(status) = ended {
            self.command = None;
            if !status.success() {
                say!("the command has ended with {status}");
            }
            return Ok(true);
        }
        self.look();
        Ok(self
            .interfaces
            .iter()
            .all(|(_, state)| *state == State::Gone))
    }

    /// Says what has become of the interfaces.
    fn look(&mut self) {
        for (interface, before) in &mut self.interfaces {
            if *before == State::Gone {
                continue;
            }
            let now = interface.state();
            if now != *before {
                let name = &interface.name;
                match now {
                    State::Up => say!("{name} is up"),
                    State::Down => say!("{name} is down: no frame will come before it is up"),
                    State::Gone => say!("{name} was removed: nothing more comes from it"),
                }
                *before = now;
            }
            if let Some(name) = interface.current_name()
                && name != interface.name
            {
                eprintln!("{} is called {name} now, and goes on", interface.name);
                interface.name = name;
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
        child.wait().context("the command")?;
        Ok(())
    }
}
