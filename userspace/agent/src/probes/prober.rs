//! The prober of a host: probes and traces until a signal or the end of its time, and passes the rows on.

use super::open::{self, Opening};
use super::operating::Operating;
use super::outputs::ProbeOutputs;
use super::settings::ProbeSettings;
use super::summary::Summary;
use super::window::Window;
use crate::error::Result;
use crate::part::Rows;
use crate::relay::Relay;
use rocescope_collector::control::Member;
use rocescope_probe::types::Presence;
use rocescope_probe::{Agent, Backend, Nanos, Nic, Settings, drive};
use rocescope_runtime::cost::Cost;
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two measurements of the own cost.
const TICK: Nanos = Nanos::SECOND;
/// Maximum interval between two writes of rows. Each write loads code of Parquet or TLS that is released in
/// between; a collector waits 10 s for the rows of a window.
const HAND_OVER: Duration = Duration::from_secs(5);

/// The longest interval between two calls of the hook.
const STEP: Nanos = Nanos(100_000_000);

/// Takes part in the loop.
pub trait LoopHook {
    /// Called at least every 100 ms.
    fn tick(&mut self, agent: &mut Agent, now: Nanos);
}

/// NICs, port and dataset, opened with privileges; nothing is sent yet.
pub struct Opened {
    backend: Box<dyn Backend>,
    settings: Settings,
    outputs: ProbeOutputs,
    nics: Vec<(Nic, u32)>,
}

impl Opened {
    /// Opens everything that may be refused. `flow_probes` is the budget of probes along paths of flows.
    ///
    /// # Errors
    /// What is refused.
    pub fn open(wanted: &ProbeSettings, flow_probes: u32) -> Result<Self> {
        let Opening {
            backend,
            settings,
            nics,
        } = open::open(wanted, flow_probes)?;
        let outputs = ProbeOutputs::open(wanted, &settings, &*backend)?;
        Ok(Self {
            backend,
            settings,
            outputs,
            nics,
        })
    }

    /// Name of the host in every row.
    #[must_use]
    pub fn observer(&self) -> &str {
        &self.settings.observer
    }

    /// Makes the agent: its first probe is due now. RDMA operations reach other agents as `member`.
    ///
    /// # Errors
    /// The thread of RDMA operations cannot be started, or has no `member` that it needs.
    pub fn start(self, wanted: &ProbeSettings, member: Option<&Arc<Member>>) -> Result<Prober> {
        let Self {
            backend,
            settings,
            outputs,
            nics,
        } = self;
        let operating = Operating::start(wanted.operations.as_ref(), &settings.observer, &nics, member)?;
        let now = backend.now();
        Ok(Prober {
            operating,
            agent: Agent::new(settings, backend.nics(), backend.clock(), now),
            window: Window::new(wanted.window, now),
            duration: wanted.duration,
            is_quiet: wanted.quiet,
            begun: Instant::now(),
            backend,
            outputs,
        })
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the NICs of {}", self.observer())
    }
}

/// An agent, its backend, and where its rows go.
pub struct Prober {
    agent: Agent,
    backend: Box<dyn Backend>,
    outputs: ProbeOutputs,
    operating: Option<Operating>,
    window: Window,
    duration: Option<Duration>,
    is_quiet: bool,
    begun: Instant,
}

impl fmt::Debug for Prober {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prober({:?})", self.agent)
    }
}

impl Prober {
    /// Probes until a signal or the end of the duration, then until no probe is in flight.
    ///
    /// # Errors
    /// A NIC, or the dataset.
    pub fn run(
        &mut self,
        signals: &Signals,
        mut relay: Option<&mut Relay>,
        cost: &mut Cost,
        mut hook: Option<&mut dyn LoopHook>,
    ) -> Result<()> {
        let sink = relay.as_deref().map(Relay::rows);
        let mut events = Vec::new();
        let mut service = Service::default();
        let mut tick = self.backend.now() + TICK;
        let mut handed_over = self.begun;
        let mut is_stopping = false;
        loop {
            service.alive(Instant::now());
            let mut until = tick;
            if let Some(hook) = &mut hook {
                let now = self.backend.now();
                hook.tick(&mut self.agent, now);
                until = until.min(now + STEP);
            }
            let is_done = drive(&mut self.agent, &mut *self.backend, until, &mut events)?;
            let is_over = self.duration.is_some_and(|time| self.begun.elapsed() >= time);
            if !is_stopping && (signals.ended() || is_over) {
                is_stopping = true;
                Service::stopping();
                self.agent.stop();
            }
            let now = self.backend.now();
            // The clock may have been set forwards or backwards.
            let is_due = now >= tick || now + TICK + TICK < tick;
            let is_wanted = || self.window.is_over(now) || handed_over.elapsed() >= HAND_OVER;
            if is_done && let Some(operating) = &mut self.operating {
                operating.end();
            }
            if is_done || (is_due && is_wanted()) {
                handed_over = Instant::now();
                self.hand_over(sink.as_ref())?;
            }
            if is_done {
                return Ok(());
            }
            if is_due {
                self.agent.update_throttle(cost.share());
                if self.agent.tracks_drops() {
                    self.agent.dropped(self.backend.dropped(), now);
                }
                cost.shrink()?;
                for (nic, presence) in self.agent.presences() {
                    status!("{}", presence_of(nic, presence));
                }
                if let Some(relay) = &mut relay {
                    relay.report_changes();
                }
                if let Some(line) = self.window.line(now, &self.agent)
                    && !self.is_quiet
                {
                    status!("{line}");
                }
                tick = if tick + TICK > now { tick + TICK } else { now + TICK };
                tick = tick.min(now + TICK);
            }
        }
    }

    /// Passes on the rows since the last call.
    fn hand_over(&mut self, sink: Option<&Rows>) -> Result<()> {
        let (probes, paths) = self.agent.rows();
        self.window.take(probes);
        self.outputs.append(probes, paths)?;
        if let Some(sink) = sink {
            // Paths first, as in the dataset.
            sink.append(paths);
            sink.append(probes);
        }
        probes.clear();
        paths.clear();
        let flows = self.agent.flow_rows();
        if let Some(sink) = sink {
            sink.append(flows);
        }
        flows.clear();
        if let Some(operating) = &mut self.operating {
            let rows = operating.rows();
            self.outputs.append_operations(&rows)?;
            if let Some(sink) = sink {
                sink.append(&rows);
            }
        }
        Ok(())
    }

    /// Seals the dataset; what was done.
    ///
    /// # Errors
    /// The dataset cannot be sealed.
    pub fn finish(&mut self) -> Result<Summary<'_>> {
        let dropped = self.backend.dropped();
        Ok(Summary {
            counters: self.agent.counters(),
            nics: self.backend.nics(),
            paths: self.agent.paths(),
            peers: self.agent.peer_counters(),
            peer_paths: self.agent.peer_paths(),
            answers: self.agent.answer_counters(),
            last_refusal: self.agent.last_refusal(),
            dropped,
            seconds: self.begun.elapsed().as_secs_f64(),
            operations: self.operating.iter().flat_map(Operating::tallies).collect(),
            store: self.outputs.finish()?,
        })
    }
}

fn presence_of(nic: &Nic, presence: Presence) -> String {
    match presence {
        Presence::Gone => format!(
            "{} disappeared: its probes count as unsent until an interface of that name exists",
            nic.name
        ),
        Presence::Back => format!("{} is back, at {}", nic.name, nic.address),
    }
}
