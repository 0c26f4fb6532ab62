//! One connection to a collector: TCP, TLS, HTTP/2, and one Flight stream for each table.

use super::Settings;
use crate::http2::{Http2, cause, message};
use crate::label::{Answer, Label, Number};
use crate::{Error, MAX_IN_FLIGHT};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{Action, FlightData, FlightDescriptor, PutResult};
use bytes::Bytes;
use futures_util::stream;
use hyper::Uri;
use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rocescope_store::Parcel;
use rustls_pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tonic::codec::CompressionEncoding;
use tonic::{Code, Streaming};

/// Default port of a collector.
const PORT: u16 = 4792;
/// Bytes of an answer to an operator.
const MAX_ANSWER: usize = 256 << 20;
/// Flow-control window in bytes: answers are short.
const WINDOW: u32 = 16 << 10;

/// The collector to connect to, and the identity to show.
pub(crate) struct Target {
    uri: Uri,
    host: String,
    name: ServerName<'static>,
    connector: TlsConnector,
    agent: String,
}

impl Target {
    pub(super) fn new(settings: &Settings) -> Result<Self, Error> {
        Self::with(settings, settings.files.client()?)
    }

    /// The target of an operator.
    pub(crate) fn of_operator(settings: &Settings) -> Result<Self, Error> {
        Self::with(settings, settings.files.operator()?)
    }

    fn with(settings: &Settings, tls: Arc<ClientConfig>) -> Result<Self, Error> {
        let bad = |reason| Error::Url {
            url: settings.url.clone(),
            reason,
        };
        let uri: Uri = settings.url.parse().map_err(|_| bad("not a URL"))?;
        if uri.scheme_str() != Some("https") {
            return Err(bad("it must start with https://"));
        }
        let host = uri.host().ok_or_else(|| bad("it has no host"))?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host.clone()).map_err(|_| bad("its host is neither a name nor an address"))?;
        Ok(Self {
            uri,
            host,
            name,
            connector: TlsConnector::from(tls),
            agent: settings.agent.clone(),
        })
    }

    /// Connects; the collector may still refuse the agent.
    pub(crate) async fn connect(&self, patience: Duration) -> Result<Connection, String> {
        let port = self.uri.port_u16().unwrap_or(PORT);
        let tcp = TcpStream::connect((self.host.as_str(), port)).await;
        let tcp = tcp.map_err(|error| cause(&error))?;
        // Parcels go out one by one, and each waits for its answer.
        let _ = tcp.set_nodelay(true);
        let tls = self.connector.connect(self.name.clone(), tcp).await;
        let tls = tls.map_err(|error| cause(&error))?;
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .keep_alive_interval(patience / 2)
            .keep_alive_timeout(patience / 2)
            .keep_alive_while_idle(true);
        let made = builder.handshake(TokioIo::new(tls)).await;
        let (requests, driven) = made.map_err(|error| cause(&error))?;
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // An error here also ends the streams, which report it.
            let _ = driven.await;
        });
        // Gzip, since a compressor of zstd needs megabytes, and an agent has few.
        let client = FlightServiceClient::with_origin(Http2(requests), self.uri.clone())
            .send_compressed(CompressionEncoding::Gzip);
        let (answered, answers) = mpsc::channel(2 * MAX_IN_FLIGHT);
        Ok(Connection {
            client,
            agent: self.agent.clone(),
            streams: Vec::new(),
            answered,
            answers,
            tasks,
        })
    }
}

/// Messages to a controller, and from it.
type Exchange = (mpsc::Sender<FlightData>, mpsc::Receiver<Result<FlightData, String>>);

/// The answer to a parcel, or why the connection failed.
type AnswerResult = Result<Answer, String>;

/// A connection in use. Dropping it ends it.
pub(crate) struct Connection {
    client: FlightServiceClient<Http2>,
    agent: String,
    /// One stream for each schema: Flight sends the schema once, at the start.
    streams: Vec<(Bytes, mpsc::Sender<FlightData>)>,
    answered: mpsc::Sender<AnswerResult>,
    answers: mpsc::Receiver<AnswerResult>,
    tasks: JoinSet<()>,
}

impl Connection {
    /// Sends a parcel, all of `bytes`; the answer comes later.
    pub(super) async fn put(&mut self, number: Number, bytes: &Bytes, parcel: Parcel<'_>) -> Result<(), String> {
        let known = self.streams.iter().position(|(s, _)| *s == parcel.schema);
        let at = match known {
            Some(at) => at,
            None => self.open(parcel.schema).await?,
        };
        let label = Label {
            agent: self.agent.clone(),
            number,
        };
        let data = FlightData {
            data_header: bytes.slice_ref(parcel.header),
            app_metadata: label.to_string().into(),
            data_body: bytes.slice_ref(parcel.body),
            flight_descriptor: None,
        };
        let gone = || String::from("the connection was closed");
        let (_, stream) = self.streams.get(at).ok_or_else(gone)?;
        stream.send(data).await.map_err(|_| gone())
    }

    /// The next answer.
    pub(super) async fn answer(&mut self) -> AnswerResult {
        let next = self.answers.recv().await;
        next.unwrap_or_else(|| Err("the connection was closed".into()))
    }

    /// Does an operator's action; returns the answer, which comes in parts.
    pub(crate) async fn act(&mut self, action: Action) -> Result<Vec<u8>, String> {
        let parts = self.client.do_action(action).await;
        let mut parts = parts.map_err(|status| message(&status))?.into_inner();
        let mut answer = Vec::new();
        while let Some(part) = parts.message().await.map_err(|status| message(&status))? {
            if answer.len() + part.body.len() > MAX_ANSWER {
                return Err("the controller's answer is too long".into());
            }
            answer.extend_from_slice(&part.body);
        }
        match answer.is_empty() {
            true => Err("the controller sent no answer".into()),
            false => Ok(answer),
        }
    }

    /// Opens an exchange with a controller: what is sent, and what comes. `None` if the collector is none.
    pub(super) async fn exchange(&mut self) -> Result<Option<Exchange>, String> {
        let (send, waiting) = mpsc::channel(4);
        let messages = stream::unfold(waiting, |mut waiting: mpsc::Receiver<FlightData>| async {
            waiting.recv().await.map(|data| (data, waiting))
        });
        let mut messages = match self.client.do_exchange(messages).await {
            Ok(messages) => messages.into_inner(),
            Err(status) if status.code() == Code::Unimplemented => return Ok(None),
            Err(status) => return Err(message(&status)),
        };
        // A channel, because reading a message may not be interrupted.
        let (read, received) = mpsc::channel(4);
        self.tasks.spawn(async move {
            loop {
                let next = match messages.message().await {
                    Ok(Some(data)) => Ok(data),
                    Ok(None) => return,
                    Err(status) => Err(message(&status)),
                };
                let ends = next.is_err();
                if read.send(next).await.is_err() || ends {
                    return;
                }
            }
        });
        Ok(Some((send, received)))
    }

    /// Opens a stream for parcels of this schema.
    async fn open(&mut self, schema: &[u8]) -> Result<usize, String> {
        let schema = Bytes::copy_from_slice(schema);
        let (parcels, waiting) = mpsc::channel(MAX_IN_FLIGHT);
        let first = FlightData {
            flight_descriptor: Some(FlightDescriptor::new_path(vec![self.agent.clone()])),
            data_header: schema.clone(),
            ..FlightData::default()
        };
        let rest = stream::unfold(waiting, |mut waiting: mpsc::Receiver<_>| async {
            waiting.recv().await.map(|parcel| (parcel, waiting))
        });
        let all = stream::StreamExt::chain(stream::iter([first]), rest);
        let answers = self.client.do_put(all).await;
        let answers = answers.map_err(|status| message(&status))?;
        let answered = self.answered.clone();
        self.tasks.spawn(forward(answers.into_inner(), answered));
        self.streams.push((schema, parcels));
        Ok(self.streams.len() - 1)
    }
}

/// Forwards the answers of one stream.
async fn forward(mut answers: Streaming<PutResult>, answered: mpsc::Sender<AnswerResult>) {
    loop {
        let answer = match answers.message().await {
            Ok(Some(result)) => Answer::parse(&result.app_metadata)
                .ok_or_else(|| String::from("the collector sent an unreadable answer")),
            Ok(None) => Err("the collector ended the stream".into()),
            Err(status) => Err(message(&status)),
        };
        let ends = answer.is_err();
        if answered.send(answer).await.is_err() || ends {
            return;
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("uri", &self.uri).finish_non_exhaustive()
    }
}
