//! The page: the sections of a report in the browser, kept up to date, from a dataset that grows or from a
//! capture that runs.
//!
//! ```text
//! rows -> kept (the last minutes) -> live    -> board: each view once -> http -> viewers
//!         dataset                 -> history ->
//! ```
//!
//! A *view* is what a viewer asked for: a time, a filter. It is rendered once for each window, however many look at it,
//! and viewers fetch it when they can: a slow one misses windows, and delays no one. A thread that renders rests nine
//! times as long as it worked, so the page takes a tenth of a core at most, beside the first view of each viewer.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@access`] | who may look: this host, or others with TLS and a token or a certificate |
//! | `view` | what an address asks for |
//! | `kept` | the rows of the last minutes, in bounded memory |
//! | `source` | where rows come from: a capture, or a dataset that is followed |
//! | `board` | views, their viewers and what they show |
//! | `render` | a report as the content of the page |
//! | `live`, `history` | the threads that render: from memory, and from the dataset |
//! | `http` | the server: pages, events, and the same as JSON and Parquet |

pub mod access;
mod board;
mod error;
mod history;
mod http;
mod kept;
mod live;
mod pace;
mod render;
mod source;
mod view;

pub use access::Access;
pub use error::Error;
pub use source::Feed;

use board::Board;
use rocescope_host::privileges;
use rocescope_model::Time;
use rocescope_model::hosts::Hosts;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// What a page is of, and who may see it.
pub struct Settings {
    /// Where it listens; port 0 selects a free one.
    pub address: SocketAddr,
    /// Who may look.
    pub access: Access,
    /// What the reader calls its source.
    pub title: String,
    /// The dataset; none for a capture that writes none.
    pub dataset: Option<PathBuf>,
    /// Whether rows come from [`Page::feed`]: then the dataset is not followed.
    pub is_fed: bool,
    /// Names of addresses.
    pub names: Arc<Hosts>,
    /// The number of packets for each that the mirror delivers, if it samples.
    pub mirror_sampling: Option<u64>,
    /// The clock of all times that are relative to now.
    pub clock: Arc<dyn Fn() -> Time + Send + Sync>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, dataset) = (&self.address, &self.dataset);
        f.debug_struct("Settings")
            .field("address", address)
            .field("dataset", dataset)
            .finish_non_exhaustive()
    }
}

/// A page that is served until the process ends.
#[derive(Debug)]
pub struct Page {
    address: SocketAddr,
    scheme: &'static str,
    feed: Feed,
}

impl Page {
    /// Serves the page from threads of its own.
    ///
    /// # Errors
    /// The address cannot be used or needs TLS, files of the access cannot be read, or the dataset cannot.
    pub fn start(settings: &Settings) -> Result<Self, Error> {
        let guard = settings.access.guard(settings.address)?;
        if let Some(root) = settings.dataset.as_ref().filter(|_| !settings.is_fed) {
            rocescope_store::Query::default().tables(&[]).open(root)?;
        }
        let scheme = guard.scheme();
        let (feed, rows) = source::feed();
        let board = Arc::new(Board::default());
        let server = http::Server::bind(settings.address, guard, settings, Arc::clone(&board), feed.clone())?;
        let address = server.address();
        let live = live::Live::new(settings, Arc::clone(&board), rows)?;
        if let Some(history) = history::History::new(settings, Arc::clone(&board)) {
            bare_thread("page history", move || history.run())?;
        }
        bare_thread("page rows", move || live.run())?;
        bare_thread("page", move || server.run())?;
        Ok(Self { address, scheme, feed })
    }

    /// Where a browser finds it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}/", self.scheme, self.address)
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the rows of a capture.
    #[must_use]
    pub fn feed(&self) -> Feed {
        self.feed.clone()
    }
}

/// Runs a thread without privileges: capabilities belong to a thread, and its creator may keep some.
fn bare_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let (ready, begun): (Sender<_>, _) = channel();
    let spawned = thread::Builder::new().name(name.into()).spawn(move || {
        let dropped = privileges::drop_all();
        let is_bare = dropped.is_ok();
        // The creator waits for it.
        let _ = ready.send(dropped);
        if is_bare {
            run();
        }
    });
    spawned.map_err(Error::Thread)?;
    match begun.recv() {
        Ok(Err(error)) => Err(Error::Capabilities(error.to_string())),
        _ => Ok(()),
    }
}
