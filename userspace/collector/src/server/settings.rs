//! How to collect.

use crate::tls::Files;
use rocescope_store::Options;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Who listens to what the collector has to say, a line at a time.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How to collect.
#[derive(Clone)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What the collector shows and believes.
    pub files: Files,
    /// Root of the dataset.
    pub dataset: PathBuf,
    /// How it is written. The observer names the files: `collector` unless changed.
    pub options: Options,
    /// Whether rows are on the disk, not only in the kernel's hands, before they are acknowledged: yes.
    pub sync: bool,
    /// Agents at once: 1,024.
    pub most_agents: usize,
    /// Handshakes at once: 256, and 32 from one address.
    pub most_handshakes: usize,
    /// Handshakes at once from one address: 32.
    pub most_handshakes_of_one: usize,
    /// Most bytes of parcels that wait to be written: 64 MiB.
    pub waiting_bytes: usize,
    /// How long parcels are gathered before they are written together: 200 ms.
    pub gather: Duration,
    /// Who has not finished a handshake, or opened a stream, after this time is let go: 10 s.
    pub patience: Duration,
    /// A connection that does not answer a ping for this long is gone: 20 s.
    pub keep_alive: Duration,
    /// After the dataset could not be written it is tried again after this time: 5 s.
    pub retry: Duration,
    /// Told what happens, in lines.
    pub tell: Tell,
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
            most_agents: 1024,
            most_handshakes: 256,
            most_handshakes_of_one: 32,
            waiting_bytes: 64 << 20,
            gather: Duration::from_millis(200),
            patience: Duration::from_secs(10),
            keep_alive: Duration::from_secs(20),
            retry: Duration::from_secs(5),
            tell: Arc::new(|_| {}),
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
