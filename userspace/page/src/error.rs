//! Why a page cannot be served.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be used.
    #[error("the page cannot listen at {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// Others than this host could read the page.
    #[error(
        "{0} is not only this host: a page at it needs --page-cert, --page-key, and --page-token or --page-client-ca; 127.0.0.1 needs \
         none of them"
    )]
    Open(SocketAddr),
    /// A certificate without its key, or the other way round; or who may look without TLS.
    #[error("{0}")]
    Access(&'static str),
    /// The file of the token.
    #[error("the token in {}: {reason}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates.
    #[error(transparent)]
    Certificates(#[from] rocescope_collector::Error),
    /// The dataset cannot be read.
    #[error(transparent)]
    Dataset(#[from] rocescope_store::Error),
    /// A thread cannot be started.
    #[error("no thread for the page: {0}")]
    Thread(#[source] io::Error),
    /// A thread cannot give up its capabilities.
    #[error("the threads of the page keep capabilities: {0}")]
    Capabilities(String),
}
