//! The collector: agents in, one dataset out.
//!
//! One thread accepts, shakes hands and reads (`gate`, `intake`); another writes (`commit`).
//! Between them lie at most [`Settings::waiting_bytes`] of parcels: when the disk is slow, agents wait.
//!
//! Memory is bounded by what may be there at once: a message of at most [`MESSAGE_BYTES`](crate::MESSAGE_BYTES)
//! a stream, four streams a connection, one connection an agent, so many agents, so many handshakes.

mod agents;
mod commit;
mod gate;
mod intake;
pub mod refusal;
mod service;
mod settings;
mod shared;
mod totals;

pub use agents::AgentStatus;
pub use commit::{Analysis, Rows};
pub use refusal::{Refusal, Refusals};
pub use settings::{Settings, Tell};
pub use totals::Counts;

use crate::Error;
use agents::Agents;
use rocescope_store::Summary;
use shared::{LEAST_BYTES, Shared};
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
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
    /// What was taken and stored.
    pub counts: Counts,
    /// Who and what was refused, by reason.
    pub refusals: Vec<(Refusal, u64)>,
}

/// Looks at a running collector from anywhere, for as long as it likes.
#[derive(Clone)]
pub struct Monitor(Arc<Shared>);

impl Monitor {
    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            agents: self.0.agents.status(),
            counts: self.0.totals.counts(),
            refusals: self.0.refusals.counts(),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Monitor").finish_non_exhaustive()
    }
}

/// A running collector. Dropping it stops it and tells nobody how that went; [`stop`](Self::stop) tells.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    gate: Option<JoinHandle<()>>,
    commit: Option<JoinHandle<Result<Summary, Error>>>,
}

impl Server {
    /// Opens the dataset, listens, and starts the threads. `analysis` sees every row that is stored.
    ///
    /// # Errors
    /// The certificates, the address or the dataset are not what they should be.
    pub fn start(settings: Settings, analysis: Option<Box<dyn Analysis>>) -> Result<Self, Error> {
        let tls = settings.files.server()?;
        let failed = |action| {
            let place = settings.listen.to_string();
            move |cause| Error::at(action, place, cause)
        };
        let listener = TcpListener::bind(settings.listen).map_err(failed("listen at"))?;
        let nonblocking = listener.set_nonblocking(true);
        nonblocking.map_err(failed("listen at"))?;
        let address = listener.local_addr().map_err(failed("listen at"))?;
        let writer = rocescope_store::Writer::create(&settings.dataset, settings.options.clone())?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed("serve"))?;
        let most_waiting = settings.waiting_bytes.max(crate::MESSAGE_BYTES);
        let shared = Arc::new(Shared {
            agents: Agents::new(settings.most_agents),
            refusals: Refusals::new(Arc::clone(&settings.tell)),
            totals: Totals::default(),
            waiting: Arc::new(Semaphore::new(most_waiting)),
            settings,
        });
        let (submit, submitted) = sync_channel(most_waiting / LEAST_BYTES);
        let committing = commit::Commit::new(Arc::clone(&shared), writer, analysis);
        let failed = |cause| Error::at("start threads at", address.to_string(), cause);
        let commit = std::thread::Builder::new()
            .name("commit".into())
            .spawn(move || committing.run(&submitted))
            .map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let theirs = Arc::clone(&shared);
        let gate = std::thread::Builder::new()
            .name("gate".into())
            .spawn(move || {
                runtime.block_on(gate::accept(listener, tls, theirs, submit, stopped));
            })
            .map_err(failed)?;
        Ok(Self {
            address,
            shared,
            stop,
            gate: Some(gate),
            commit: Some(commit),
        })
    }

    /// Where it listens: the port is chosen where that of the settings is 0.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> Status {
        self.monitor().status()
    }

    /// What looks at it from elsewhere.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor(Arc::clone(&self.shared))
    }

    /// Lets every agent go, writes what was taken and seals the dataset.
    ///
    /// # Errors
    /// The dataset could not be sealed: its next writer will.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end().unwrap_or_else(|| Ok(Summary::default()))
    }

    fn end(&mut self) -> Option<Result<Summary, Error>> {
        self.stop.send_replace(true);
        // The gate's end of the channel goes with it, and then the other thread ends.
        let _ = self.gate.take()?.join();
        self.commit.take()?.join().ok()
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
