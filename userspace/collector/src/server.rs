//! The collector receives rows of agents and writes one dataset.
//!
//! One thread accepts connections and reads (`admission`, `intake`); another writes (`commit`).
//! At most [`Settings::queue_bytes`] of parcels wait between them: when the disk is slow, agents wait.
//!
//! Memory is bounded: one message of at most [`MESSAGE_BYTES`](crate::MESSAGE_BYTES) for each stream, four streams
//! for each connection, one connection for each agent, and limits on agents and on handshakes.

mod admission;
mod agents;
mod commit;
mod intake;
pub mod refusal;
mod service;
mod totals;

pub use agents::AgentStatus;
pub use commit::{Analysis, Rows};
pub use refusal::{Refusal, Refusals};
pub use totals::Counts;

use crate::Error;
use crate::tls::Files;
use agents::Agents;
use rocescope_store::{Options, Summary};
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use totals::Totals;

/// Receives status lines of the collector.
pub type StatusSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings of a collector.
#[derive(Clone)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Certificate and key of the collector, and the authority that it trusts.
    pub files: Files,
    /// Root of the dataset.
    pub dataset: PathBuf,
    /// How it is written. The observer names the files: `collector` unless changed.
    pub options: Options,
    /// Whether rows are on the disk, not only in the kernel's hands, before they are acknowledged: yes.
    pub sync: bool,
    /// Agents at once: 1,024.
    pub max_agents: usize,
    /// Handshakes at once: 256, and 32 from one address.
    pub max_handshakes: usize,
    /// Handshakes at once from one address: 32.
    pub max_handshakes_per_address: usize,
    /// Maximum bytes of parcels that wait to be written: 64 MiB.
    pub queue_bytes: usize,
    /// How long parcels are gathered before they are written together: 200 ms.
    pub gather: Duration,
    /// Time limit for the handshake, and for opening the first stream: 10 s.
    pub patience: Duration,
    /// A connection that answers no ping for this long is closed: 20 s.
    pub keep_alive: Duration,
    /// Delay before the next attempt after the dataset could not be written: 5 s.
    pub retry: Duration,
    /// Receives status lines.
    pub status: StatusSink,
}

impl Settings {
    /// The defaults.
    #[must_use]
    pub fn new(listen: SocketAddr, files: Files, dataset: PathBuf) -> Self {
        Self {
            listen,
            files,
            dataset,
            options: Options {
                tables: rocescope_model::PROBE_TABLES,
                ..Options::new("collector")
            },
            sync: true,
            max_agents: 1024,
            max_handshakes: 256,
            max_handshakes_per_address: 32,
            queue_bytes: 64 << 20,
            gather: Duration::from_millis(200),
            patience: Duration::from_secs(10),
            keep_alive: Duration::from_secs(20),
            retry: Duration::from_secs(5),
            status: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("listen", &self.listen)
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}

/// What happened since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The agents that are connected, by name.
    pub agents: Vec<AgentStatus>,
    /// Rows and parcels received and stored.
    pub counts: Counts,
    /// Refused peers and parcels, by reason.
    pub refusals: Vec<(Refusal, u64)>,
}

/// The live state, which connections write and the status line reads.
pub(crate) struct Shared {
    agents: Agents,
    refusals: Refusals,
    totals: Totals,
    waiting: Arc<Semaphore>,
    settings: Settings,
}

/// A handle that reads the status of a running collector.
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

/// Minimum bytes that a parcel counts for in the queue: bounds the number of parcels.
const MIN_PARCEL_BYTES: usize = 16 << 10;

/// A running collector. Dropping it stops it and discards the result; [`stop`](Self::stop) returns it.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    gate: Option<JoinHandle<()>>,
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
        let theirs = Arc::clone(&shared);
        let gate = std::thread::Builder::new()
            .name("accept".into())
            .spawn(move || {
                runtime.block_on(admission::accept(listener, tls, theirs, submit, stopped));
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

    /// Disconnects every agent, writes what was received and seals the dataset.
    ///
    /// # Errors
    /// The dataset could not be sealed; its next writer seals it.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end().unwrap_or_else(|| Ok(Summary::default()))
    }

    fn end(&mut self) -> Option<Result<Summary, Error>> {
        self.stop.send_replace(true);
        // This drops the sending end of the channel, which ends the writing thread.
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
