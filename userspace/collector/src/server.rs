//! The collector receives rows of agents and writes one dataset.
//!
//! One thread accepts connections and reads (`admission`, `intake`); another writes (`commit`).
//! At most [`Settings::queue_bytes`] of parcels wait between them: when the disk is slow, agents wait.
//!
//! Memory is bounded: one message of at most [`MESSAGE_BYTES`](crate::MESSAGE_BYTES) for each stream, eight
//! streams for each connection, one connection for each agent, and limits on agents and on handshakes.

mod admission;
mod agents;
mod commit;
mod controller;
mod intake;
mod operations;
mod order;
pub mod refusal;
mod seats;
mod service;
mod settings;
mod shared;
mod subscription;
mod totals;

pub use agents::AgentStatus;
pub use commit::{Analysis, Rows};
pub use controller::pinglists::{Agent, Roster};
pub use refusal::{Refusal, Refusals};
pub use settings::{ControlSettings, MakeRoom, Settings, StatusSink};
pub use totals::Counts;

use crate::Error;
use crate::control::message::ControllerStatus;
use agents::Agents;
use controller::Controller;
use rocescope_diagnose::pinglist::{Coverage, Pinglist};
use rocescope_store::Summary;
use shared::{MIN_PARCEL_BYTES, Shared};
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use totals::Totals;

/// What happened since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The agents that are connected, by name.
    pub agents: Vec<AgentStatus>,
    /// Rows and parcels received and stored.
    pub counts: Counts,
    /// Refused peers and parcels, by reason.
    pub refusals: Vec<(Refusal, u64)>,
    /// Whether the dataset cannot be written, so that agents keep their rows.
    pub storing_stopped: bool,
}

/// A handle that reads the status of a running collector.
#[derive(Clone)]
pub struct Monitor(Arc<Shared>);

impl Monitor {
    /// What the controller knows, if the collector is one.
    #[must_use]
    pub fn controller(&self) -> Option<ControllerStatus> {
        self.0.controller.as_ref().map(|controller| controller.status())
    }

    /// The agents of the controller, if the collector is one.
    #[must_use]
    pub fn roster(&self) -> Option<Roster> {
        self.0.controller.as_ref().map(|controller| controller.roster())
    }

    /// Sends an agent its pinglist over this connection; returns whether it could.
    #[must_use]
    pub fn hand_out(&self, agent: &str, connection: u64, pinglist: &Pinglist) -> bool {
        let controller = self.0.controller.as_ref();
        controller.is_some_and(|controller| controller.hand_out(agent, connection, pinglist))
    }

    /// States in the controller's status what the pinglists cover.
    pub fn covers(&self, coverage: Option<Coverage>) {
        if let Some(controller) = &self.0.controller {
            controller.covers(coverage);
        }
    }

    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            agents: self.0.agents.status(),
            counts: self.0.totals.counts(),
            refusals: self.0.refusals.counts(),
            storing_stopped: self.0.storing_stopped.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Monitor").finish_non_exhaustive()
    }
}

/// A running collector. Dropping it stops it and discards the result; [`stop`](Self::stop) returns it.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    admission: Option<JoinHandle<()>>,
    commit: Option<JoinHandle<Result<Summary, Error>>>,
}

impl Server {
    /// Opens the dataset, listens, and starts the threads. `analysis` receives every stored row.
    ///
    /// # Errors
    /// The certificates, the address or the dataset are unusable.
    pub fn start(settings: Settings, analysis: Option<Box<dyn Analysis>>) -> Result<Self, Error> {
        let tls = settings.files.server()?;
        let failed = |action| {
            let address = settings.listen.to_string();
            move |cause| Error::at(action, address, cause)
        };
        let listener = TcpListener::bind(settings.listen).map_err(failed("listen at"))?;
        let nonblocking = listener.set_nonblocking(true);
        nonblocking.map_err(failed("listen at"))?;
        let address = listener.local_addr().map_err(failed("listen at"))?;
        let control = settings.control.as_ref();
        let controller = control.map(|control| Controller::open(control, Arc::clone(&settings.status)).map(Arc::new));
        let controller = controller.transpose()?;
        let writer = rocescope_store::Writer::create(&settings.dataset, settings.options.clone())?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed("serve"))?;
        let max_queued = settings.queue_bytes.max(crate::MESSAGE_BYTES);
        let shared = Arc::new(Shared {
            agents: Agents::new(settings.max_agents),
            refusals: Refusals::new(Arc::clone(&settings.status)),
            totals: Totals::default(),
            waiting: Arc::new(Semaphore::new(max_queued)),
            storing_stopped: AtomicBool::new(false),
            controller: controller.clone(),
            seats: Arc::default(),
            settings,
        });
        let (submit, submitted) = sync_channel(max_queued / MIN_PARCEL_BYTES);
        let committing = commit::Commit::new(Arc::clone(&shared), writer, analysis);
        let failed = |cause| Error::at("start threads at", address.to_string(), cause);
        let commit = std::thread::Builder::new()
            .name("commit".into())
            .spawn(move || committing.run(&submitted))
            .map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        if let Some(controller) = &controller {
            controller::keep_saving(controller).map_err(failed)?;
        }
        let theirs = Arc::clone(&shared);
        let admission = std::thread::Builder::new()
            .name("accept".into())
            .spawn(move || {
                runtime.block_on(admission::accept(listener, tls, theirs, submit, stopped));
            })
            .map_err(failed)?;
        Ok(Self {
            address,
            shared,
            stop,
            admission: Some(admission),
            commit: Some(commit),
        })
    }

    /// The address it listens on. Port 0 in the settings lets the system choose one.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> Status {
        self.monitor().status()
    }

    /// A handle for reading the status elsewhere.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor(Arc::clone(&self.shared))
    }

    /// Whether one of its threads has ended although it was not stopped: no more rows are stored. [`stop`](Self::stop)
    /// returns why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let ended = |ended: Option<bool>| ended.unwrap_or(true);
        ended(self.admission.as_ref().map(JoinHandle::is_finished))
            || ended(self.commit.as_ref().map(JoinHandle::is_finished))
    }

    /// Disconnects every agent, writes what was received and seals the dataset.
    ///
    /// # Errors
    /// The dataset could not be sealed, or a thread failed; the next writer of the dataset seals it.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Summary, Error> {
        self.stop.send_replace(true);
        // This drops the sending end of the channel, which ends the writing thread.
        let admitted = self.admission.take().map_or(Ok(()), JoinHandle::join);
        let committed = self
            .commit
            .take()
            .map_or_else(|| Ok(Ok(Summary::default())), JoinHandle::join);
        let summary = committed.unwrap_or(Err(Error::Failed { thread: "commit" }))?;
        admitted.map_err(|_| Error::Failed { thread: "accept" })?;
        if let Some(controller) = &self.shared.controller {
            controller.save();
        }
        Ok(summary)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
