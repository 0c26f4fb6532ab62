//! A connection to a server: TCP, TLS or none, HTTP/2.

use super::failure::{Failure, Reason};
use crate::http2::{Http2, cause};
use crate::tls;
use hyper::Uri;
use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls_pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding;

/// Bytes of a message, at most: all counters of a switch as one JSON document have a few MB.
const MAX_MESSAGE: usize = 64 << 20;

/// The calls of a connection.
pub(super) type Calls = Grpc<Http2>;

/// A server.
pub(super) struct Target {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

impl Target {
    pub(super) fn new(host: &str, port: u16, tls: Option<Arc<ClientConfig>>) -> Self {
        Self {
            host: host.to_owned(),
            port,
            tls,
        }
    }

    /// Connects; `tasks` gets what drives the connection.
    pub(super) async fn connect(&self, patience: Duration, tasks: &mut JoinSet<()>) -> Result<Calls, Failure> {
        let unreachable =
            |error: std::io::Error| Failure::new(Reason::Unreachable, format!("no connection: {}", cause(&error)));
        let tcp = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(unreachable)?;
        let Some(config) = &self.tls else {
            return self.http2("http", tcp, patience, tasks).await;
        };
        let bad = |why: String| Failure::new(Reason::Certificate, format!("no TLS connection: {why}"));
        let name = ServerName::try_from(self.host.clone()).map_err(|error| bad(error.to_string()))?;
        let tls = TlsConnector::from(Arc::clone(config)).connect(name, tcp).await;
        let tls = tls.map_err(|error| bad(tls::reason(&error)))?;
        self.http2("https", tls, patience, tasks).await
    }

    async fn http2<S>(
        &self,
        scheme: &str,
        stream: S,
        patience: Duration,
        tasks: &mut JoinSet<()>,
    ) -> Result<Calls, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let cut = |why: String| Failure::new(Reason::Unreachable, format!("no HTTP/2 connection: {why}"));
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let origin: Uri = format!("{scheme}://{host}:{}", self.port)
            .parse()
            .map_err(|_| cut(format!("{host} is no name of a host")))?;
        let mut builder = Builder::new(TokioExecutor::new());
        // A switch that has lost its power sends nothing, not even the end of the connection.
        builder
            .timer(TokioTimer::new())
            .keep_alive_interval(patience)
            .keep_alive_timeout(patience)
            .keep_alive_while_idle(true);
        let made = builder.handshake(TokioIo::new(stream)).await;
        let (requests, driven) = made.map_err(|error| cut(cause(&error)))?;
        tasks.spawn(async move {
            // An error here also ends the streams, which report it.
            let _ = driven.await;
        });
        Ok(Grpc::with_origin(Http2(requests), origin)
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(MAX_MESSAGE))
    }
}
