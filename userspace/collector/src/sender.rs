//! The thread that empties a spool into a collector, and subscribes to the configuration if that is a controller.
//!
//! It connects, sends the oldest parcels with a few in flight, and removes those that are acknowledged.
//! After any failure it waits and starts again with the oldest parcel in the spool.

mod connection;
mod session;
mod subscription;

pub(crate) use connection::Target;

use crate::control::Member;
use crate::label::Number;
use crate::tls::Files;
use crate::{Error, REPLACED, Spool};
use rocescope_model::human::visible;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Where to send, and the time limits.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `https://HOST:PORT`; the host must be in the collector's certificate.
    pub url: String,
    /// Certificate and key of the agent, and the authority that it trusts.
    pub files: Files,
    /// Name of the agent: the observer of its rows, and the first DNS name of its certificate.
    pub agent: String,
    /// First and longest delay before the next attempt to connect; each attempt doubles it: 0.5 s and 5 s. The
    /// longest is below the lateness of a collector, which analyzes a window 10 s after its end.
    pub retry: (Duration, Duration),
    /// A collector that is silent for this long counts as dead: 30 s.
    pub patience: Duration,
}

impl Settings {
    /// The defaults, for this collector and agent.
    #[must_use]
    pub fn new(url: impl Into<String>, files: Files, agent: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            files,
            agent: agent.into(),
            retry: (Duration::from_millis(500), Duration::from_secs(5)),
            patience: Duration::from_secs(30),
        }
    }
}

/// What the sender is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether the collector has answered since the connection was made.
    pub connected: bool,
    /// Why the last connection failed.
    pub last_error: Option<String>,
    /// Whether the collector was reached on it.
    pub was_reached: bool,
    /// Why the collector refused the last parcel that it refused.
    pub last_refusal: Option<String>,
    /// Connections made.
    pub connections: u64,
    /// Whether the collector is a controller; `None` until it is known, or if no subscription is wanted.
    pub is_controlled: Option<bool>,
}

/// The running thread. Dropping it stops it immediately; unacknowledged parcels stay in the spool.
pub struct Sender {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// State that the thread and its owner share.
#[derive(Debug)]
struct Shared {
    status: Mutex<Status>,
    phase: watch::Sender<Phase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Send the rest of the spool, then end.
    Ending,
    /// End.
    Stopped,
}

impl Sender {
    /// Starts the thread that sends the rows of a spool.
    ///
    /// # Errors
    /// The URL or the certificates are invalid. An unreachable collector is no error.
    pub fn start(spool: Arc<Spool>, settings: Settings) -> Result<Self, Error> {
        Self::start_with(Some(spool), None, settings)
    }

    /// Starts the thread that sends the rows of a spool, if there is one, and subscribes for a member, if there is one.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_with(
        spool: Option<Arc<Spool>>,
        member: Option<Arc<Member>>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let target = Target::new(&settings)?;
        let failed = |cause| Error::io("start the sender to", Path::new(&settings.url), cause);
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed)?;
        let shared = Arc::new(Shared {
            status: Mutex::default(),
            phase: watch::channel(Phase::Running).0,
        });
        let theirs = Arc::clone(&shared);
        let url = settings.url.clone();
        let thread = std::thread::Builder::new()
            .name("sender".into())
            .spawn(move || runtime.block_on(run(Ends { spool, member }, &target, &settings, &theirs)))
            .map_err(|cause| Error::io("start the sender to", Path::new(&url), cause))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// The current status.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status().clone()
    }

    /// Sends the rest of the spool for at most `grace`, then ends.
    pub fn finish(mut self, grace: Duration) {
        self.shared.phase.send_replace(Phase::Ending);
        let until = std::time::Instant::now() + grace;
        let done = |thread: &Option<JoinHandle<()>>| thread.as_ref().is_none_or(JoinHandle::is_finished);
        while !done(&self.thread) && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.stop();
    }

    fn stop(&mut self) {
        self.shared.phase.send_replace(Phase::Stopped);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn status(&self) -> std::sync::MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection failed for this reason. Returns whether the collector had answered on it.
    fn lost(&self, reason: &str) -> bool {
        let mut status = self.status();
        // The collector's text may be part of it.
        status.last_error = Some(visible(reason));
        std::mem::take(&mut status.connected)
    }

    fn is(&self, phase: Phase) -> bool {
        *self.phase.borrow() == phase
    }

    /// Resolves when the owner stops the sender.
    async fn stopped(&self) {
        let mut phase = self.phase.subscribe();
        // A dropped owner means the same.
        let _ = phase.wait_for(|phase| *phase == Phase::Stopped).await;
    }
}

/// What a connection serves.
struct Ends {
    spool: Option<Arc<Spool>>,
    member: Option<Arc<Member>>,
}

impl Ends {
    /// Whether the spool is empty after this parcel.
    fn is_sent(&self, number: Option<Number>) -> bool {
        self.spool.as_ref().is_none_or(|spool| spool.after(number).is_none())
    }
}

async fn run(ends: Ends, target: &Target, settings: &Settings, shared: &Shared) {
    let (shortest, longest) = settings.retry;
    let mut pause = shortest;
    while !shared.is(Phase::Stopped) {
        // Nothing to send: no connection needed.
        if shared.is(Phase::Ending) && ends.is_sent(None) {
            return;
        }
        let session = async {
            let connection = timeout(settings.patience, target.connect(settings.patience));
            shared.status().was_reached = false;
            let connection = connection.await.unwrap_or_else(|_| Err("no answer".into()))?;
            shared.status().was_reached = true;
            session::run(&ends, connection, settings, shared).await
        };
        let ended = tokio::select! {
            ended = session => ended,
            () = shared.stopped() => return,
        };
        let Err(reason) = ended else { return };
        let was_answered = shared.lost(&reason);
        if reason.starts_with(REPLACED) {
            // Two agents with one certificate would end each other's connection again and again.
            pause = longest;
        } else if was_answered {
            pause = shortest;
        }
        // Spreads the reconnects of agents that lost the collector together.
        tokio::select! {
            () = sleep(pause.mul_f64(0.5 + fastrand::f64())) => {}
            () = shared.stopped() => return,
        }
        pause = (pause * 2).min(longest);
    }
}
