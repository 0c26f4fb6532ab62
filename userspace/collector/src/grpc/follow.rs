//! The task of one server: connects, asks, follows, and begins again after a failure.

use super::codec::Plain;
use super::connection::{Calls, Target};
use super::failure::{Failure, Reason, is_unsupported, said};
use super::{Conversation, Event, Settings};
use crate::http2::cause;
use futures_util::stream::{self, StreamExt};
use hyper::http::uri::PathAndQuery;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::{Code, Request, Status};

/// The first wait before a server is connected again; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Messages of a connection that wait for the task of its server, at most.
const WAITING: usize = 16;

/// What the tasks share.
pub(super) struct Shared {
    pub(super) metadata: Vec<(&'static str, MetadataValue<Ascii>)>,
    pub(super) settings: Settings,
    pub(super) conversation: Conversation,
}

/// Passes events on.
struct Out {
    at: usize,
    events: mpsc::Sender<(usize, Event)>,
    /// Whether the connection had a message.
    has_message: bool,
}

/// No one takes events any more.
struct Closed;

/// Why an attempt ended.
enum End {
    Failed(Failure),
    Closed,
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Closed> for End {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl Out {
    async fn send(&self, event: Event) -> Result<(), Closed> {
        self.events.send((self.at, event)).await.map_err(|_| Closed)
    }
}

/// Follows a server until no one takes its events, or, if it is asked once, until it has answered.
pub(super) async fn follow(at: usize, target: Target, shared: Arc<Shared>, events: mpsc::Sender<(usize, Event)>) {
    let settings = &shared.settings;
    let mut out = Out {
        at,
        events,
        has_message: false,
    };
    let mut wait = FIRST_WAIT;
    loop {
        out.has_message = false;
        let failure = match attempt(&target, &shared, &mut out).await {
            Ok(()) => {
                // Without a receiver there is no one to report to.
                let _ = out.send(Event::Ended).await;
                return;
            }
            Err(End::Closed) => return,
            Err(End::Failed(failure)) => failure,
        };
        if out.has_message {
            wait = FIRST_WAIT;
        }
        // Accounts may be locked after some wrong passwords.
        if failure.reason == Reason::Login {
            wait = settings.longest_wait;
        }
        wait = wait.min(settings.longest_wait);
        let again = (!settings.is_once).then_some(wait);
        if out.send(Event::Failed { failure, again }).await.is_err() || again.is_none() {
            return;
        }
        sleep(wait).await;
        wait = wait.saturating_mul(2);
    }
}

/// A message of a stream, or its end.
enum Heard {
    Message(usize, Vec<u8>),
    End(usize, Result<(), Status>),
}

/// Connects once; returns when all streams have ended as expected.
async fn attempt(target: &Target, shared: &Shared, out: &mut Out) -> Result<(), End> {
    let settings = &shared.settings;
    // They end with the attempt.
    let mut tasks = JoinSet::new();
    let connected = in_time(settings.timeout, target.connect(settings.timeout, &mut tasks)).await?;
    let mut calls = connected?;
    let answer = in_time(settings.timeout, ask(&mut calls, shared)).await??;
    let requests = (shared.conversation.requests)(answer.as_deref());
    let requests = requests.map_err(|why| Failure::new(Reason::Unsupported, why))?;
    out.send(Event::Connected).await?;
    let mut open = requests.len();
    let mut answered = 0;
    // Which requests had a message: what is served once is asked for again when it ends, whatever the reason.
    let mut served = vec![false; open];
    let (send, mut heard) = mpsc::channel(WAITING);
    for (at, message) in requests.into_iter().enumerate() {
        tasks.spawn(answers(at, calls.clone(), shared.call(message)?, send.clone()));
    }
    drop(send);
    while open > 0 {
        // Only the server is timed: the caller may take events as slowly as it has to.
        let Ok(next) = timeout(settings.silence, heard.recv()).await else {
            return Err(silent(settings.silence).into());
        };
        match next {
            Some(Heard::Message(at, message)) => {
                out.has_message = true;
                if let Some(served) = served.get_mut(at) {
                    *served = true;
                }
                out.send(Event::Message(at, message)).await?;
            }
            Some(Heard::End(_, Ok(()))) if settings.is_once => {
                open -= 1;
                answered += 1;
            }
            Some(Heard::End(at, Err(status))) if is_unsupported(&status) && served.get(at) == Some(&false) => {
                open -= 1;
                let why = format!("{:?}{}", status.code(), said(&status));
                out.send(Event::Refused(at, why)).await?;
            }
            Some(Heard::End(_, Err(status))) => return Err(Failure::of(&status).into()),
            Some(Heard::End(_, Ok(()))) | None => {
                return Err(Failure::new(Reason::Cut, "the server ended a stream").into());
            }
        }
    }
    match answered {
        0 => Err(Failure::new(Reason::Unsupported, "the server serves nothing of what was asked for").into()),
        _ => Ok(()),
    }
}

/// A request that carries the metadata, and the path of its method.
struct Call {
    path: PathAndQuery,
    message: Vec<u8>,
    metadata: Vec<(&'static str, MetadataValue<Ascii>)>,
}

impl Call {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        for (name, value) in &self.metadata {
            request.metadata_mut().insert(*name, value.clone());
        }
        request
    }
}

impl Shared {
    fn call(&self, message: Vec<u8>) -> Result<Call, Failure> {
        self.call_of(self.conversation.method, message)
    }

    fn call_of(&self, method: &'static str, message: Vec<u8>) -> Result<Call, Failure> {
        Ok(Call {
            path: PathAndQuery::from_maybe_shared(method)
                .map_err(|error| Failure::new(Reason::Unsupported, format!("{method}: {error}")))?,
            message,
            metadata: self.metadata.clone(),
        })
    }
}

/// The answer to the question; `None` if the server does not know it.
async fn ask(calls: &mut Calls, shared: &Shared) -> Result<Option<Vec<u8>>, Failure> {
    let question = &shared.conversation.question;
    let call = shared.call_of(question.0, question.1.clone())?;
    ready(calls).await?;
    let answer = calls.unary(call.request(call.message.clone()), call.path, Plain).await;
    match answer {
        Ok(answer) => Ok(Some(answer.into_inner())),
        Err(status) if status.code() == Code::Unimplemented => Ok(None),
        Err(status) => Err(Failure::of(&status)),
    }
}

async fn ready(calls: &mut Calls) -> Result<(), Failure> {
    let ready = calls.ready().await;
    ready.map_err(|error| Failure::new(Reason::Cut, format!("the connection ended: {}", cause(&error))))
}

/// Passes on what a server answers to one request.
async fn answers(at: usize, mut calls: Calls, call: Call, heard: mpsc::Sender<Heard>) {
    let end = read(at, &mut calls, call, &heard).await;
    // Without a receiver the attempt has ended.
    let _ = heard.send(Heard::End(at, end)).await;
}

async fn read(at: usize, calls: &mut Calls, call: Call, heard: &mpsc::Sender<Heard>) -> Result<(), Status> {
    if let Err(failure) = ready(calls).await {
        return Err(Status::unavailable(failure.why));
    }
    // Servers take the end of the requests as the end of the interest.
    let requests = stream::iter([call.message.clone()]).chain(stream::pending());
    let answers = calls.streaming(call.request(requests), call.path, Plain).await?;
    let mut answers = answers.into_inner();
    while let Some(message) = answers.message().await? {
        if heard.send(Heard::Message(at, message)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// What a future gives, or a failure if it takes longer.
async fn in_time<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Failure> {
    timeout(limit, future).await.map_err(|_| silent(limit))
}

fn silent(limit: Duration) -> Failure {
    Failure::new(Reason::Silent, format!("no answer within {} s", limit.as_secs_f64()))
}
