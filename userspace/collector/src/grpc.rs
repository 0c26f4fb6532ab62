//! Follows what many gRPC servers stream, and connects again when a connection ends.
//!
//! It knows bytes and no messages: what is asked, and what answers mean, is the caller's (see `Conversation`). On one
//! connection, a question is answered first, and then one stream is opened for each request, so that a server which does
//! not know one of them still serves the others.
//!
//! | module | what it does |
//! |---|---|
//! | `codec` | messages as they are |
//! | `connection` | a connection to a server: TCP, TLS or none, HTTP/2 |
//! | `failure` | why a connection ended, by reason and in words |
//! | `follow` | the task of one server |
//!
//! All tasks run while [`Streams::next`] waits, on the thread that calls it: a caller that is slow makes servers wait, and
//! loses nothing.

mod codec;
mod connection;
mod failure;
mod follow;

pub use failure::{Failure, Reason};

use crate::{Error, tls};
use connection::Target;
use follow::{Shared, follow};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tonic::metadata::{Ascii, MetadataValue};

/// Events that wait for the caller, at most.
const WAITING: usize = 256;

/// How servers are reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether connections are encrypted; without, what is sent can be read on the way.
    pub security: Security,
    /// What each call carries, such as a user and a password.
    pub metadata: Vec<(&'static str, String)>,
    /// Time for a connection and for the answer to the question.
    pub timeout: Duration,
    /// A server that sends nothing for this long is connected again.
    pub silence: Duration,
    /// The longest wait before a server is connected again; the first is a second.
    pub longest_wait: Duration,
    /// Whether the streams end by themselves, and servers are asked once.
    pub is_once: bool,
}

/// Whether connections are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Security {
    /// TLS 1.3. The certificate of the server must be signed by an authority of this file, otherwise of the system.
    Tls(Option<PathBuf>),
    /// They are not.
    Plain,
}

/// What is said on each connection.
pub struct Conversation {
    /// The method of the question, and its message.
    pub question: (&'static str, Vec<u8>),
    /// The method whose answers are followed.
    pub method: &'static str,
    /// Its requests, as the answer to the question has it; `None` if the server does not know the question.
    pub requests: Requests,
}

/// Requests, as an answer has them.
pub type Requests = Box<dyn Fn(Option<&[u8]>) -> Result<Vec<Vec<u8>>, String> + Send + Sync>;

/// What happened with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It answered the question.
    Connected,
    /// It sent a message in answer to the request with this number.
    Message(usize, Vec<u8>),
    /// It does not serve the request with this number.
    Refused(usize, String),
    /// The connection ended, or there was none.
    Failed {
        /// Why.
        failure: Failure,
        /// When it is connected again.
        again: Option<Duration>,
    },
    /// All its streams ended by themselves, as expected.
    Ended,
}

/// Streams of servers.
pub struct Streams {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    events: mpsc::Receiver<(usize, Event)>,
    /// Servers that may still send.
    left: usize,
}

impl Streams {
    /// Follows these servers, each a host and a port. Events name them by their place in the list.
    ///
    /// # Errors
    /// The file of authorities cannot be read, metadata cannot be sent, or the operating system refuses.
    pub fn start(servers: &[(String, u16)], settings: &Settings, conversation: Conversation) -> Result<Self, Error> {
        let tls = match &settings.security {
            Security::Plain => None,
            Security::Tls(authorities) => Some(tls::public_grpc(authorities.as_deref())?),
        };
        let metadata = settings.metadata.iter().map(|(name, value)| -> Result<_, Error> {
            let mut value: MetadataValue<Ascii> = value.parse().map_err(|_| Error::Metadata { name })?;
            // It may be a password.
            value.set_sensitive(true);
            Ok((*name, value))
        });
        let shared = Arc::new(Shared {
            metadata: metadata.collect::<Result<_, Error>>()?,
            settings: settings.clone(),
            conversation,
        });
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|cause| Error::at("start", "a runtime".into(), cause))?;
        let (send, events) = mpsc::channel(WAITING);
        for (at, (host, port)) in servers.iter().enumerate() {
            let target = Target::new(host, *port, tls.clone());
            runtime.spawn(follow(at, target, Arc::clone(&shared), send.clone()));
        }
        Ok(Self {
            runtime: Some(runtime),
            events,
            left: servers.len(),
        })
    }

    /// The next event, and the place of its server; `None` if there is none for this long.
    pub fn next(&mut self, wait: Duration) -> Option<(usize, Event)> {
        let event = match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(_) => {
                let events = &mut self.events;
                let next = self
                    .runtime
                    .as_ref()?
                    .block_on(async { timeout(wait, events.recv()).await });
                next.ok().flatten()
            }
        };
        if let Some((_, Event::Ended | Event::Failed { again: None, .. })) = &event {
            self.left -= 1;
        }
        event
    }

    /// Whether no server will send anything more.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.left == 0
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // A name that is still looked up must not delay the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
