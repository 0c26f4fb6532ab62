//! How to collect.

use crate::control::versions::Versions;
use crate::tls::Files;
use rocescope_store::Options;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Receives status lines of the collector.
pub type StatusSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Called before rows are stored; an error leaves them with the agents.
pub type MakeRoom = Arc<dyn Fn() -> Result<(), rocescope_store::Error> + Send + Sync>;

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
    /// Handshakes at once: 256. Another one ends the oldest of the address that has the most.
    pub max_handshakes: usize,
    /// Handshakes at once from one address, of IPv6 from one /64: 32.
    pub max_handshakes_per_address: usize,
    /// Maximum bytes of parcels that wait to be written: 64 MiB.
    pub queue_bytes: usize,
    /// How long parcels are gathered before they are written together: 200 ms.
    pub gather: Duration,
    /// Time limit for the handshake, and for opening the first stream: 10 s.
    pub patience: Duration,
    /// A connection that answers no ping for this long is closed: 20 s.
    pub keep_alive: Duration,
    /// Rows dated further ahead of the collector's clock are refused: 5 minutes.
    pub max_ahead: Duration,
    /// Delay before the next attempt after the dataset could not be written: 5 s.
    pub retry: Duration,
    /// Frees the reserve of the file system, or refuses to store: nothing is reserved.
    pub make_room: MakeRoom,
    /// Receives status lines.
    pub status: StatusSink,
    /// The controller, if the collector is one: it is not.
    pub control: Option<ControlSettings>,
}

/// Settings of the controller.
#[derive(Debug, Clone)]
pub struct ControlSettings {
    /// Where it keeps the versions of its configuration, and the members that it knows.
    pub directory: PathBuf,
    /// The first version, if the directory has none.
    pub first: Option<String>,
}

/// The directory of the versions, in that of the controller.
pub(super) const VERSIONS: &str = "versions";

impl ControlSettings {
    /// Whether this directory has a version, so that no first one is needed.
    #[must_use]
    pub fn has_version(directory: &Path) -> bool {
        Versions::exist(&directory.join(VERSIONS))
    }
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
                tables: rocescope_model::AGENT_TABLES,
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
            max_ahead: Duration::from_secs(300),
            retry: Duration::from_secs(5),
            make_room: Arc::new(|| Ok(())),
            status: Arc::new(|_| {}),
            control: None,
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
