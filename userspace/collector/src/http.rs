//! A client of HTTP and HTTPS: posts JSON, and reads what a server answers.
//!
//! The certificate of an HTTPS server must be signed by an authority of a given file, otherwise of the system: of the file
//! that `SSL_CERT_FILE` names, or of the bundle of the distribution. TLS 1.3 is required, as for a collector.

use crate::{Error, tls};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use http_body_util::{BodyExt, Collected, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;

/// Time for the connection, the request and the answer, unless a client has another.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of the answer of a server that refuses: it goes into a line.
const MAX_REFUSAL: usize = 4_096;
const SHOWN: usize = 200;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    uri: Uri,
    host: String,
    port: u16,
    is_tls: bool,
}

impl Url {
    /// Reads `http://HOST[:PORT][/PATH]`, or the same with `https`.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?}: expected http://HOST[:PORT][/PATH], or https://");
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(expected()),
        };
        let authority = uri.authority().ok_or_else(expected)?;
        if authority.as_str().contains('@') {
            return Err("a URL with a user and a password: put a token into its path, or use a command".into());
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(expected());
        }
        Ok(Self {
            uri,
            host,
            port,
            is_tls,
        })
    }

    /// Its path with its query.
    fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The address of a path below this one.
    ///
    /// # Errors
    /// It is no valid address.
    pub fn join(&self, path: &str) -> Result<Self, String> {
        let text = self.uri.to_string();
        Self::parse(&format!("{}{path}", text.trim_end_matches('/')))
    }
}

impl fmt::Display for Url {
    /// Without the path, which may have a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// How a server is reached, and what it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// A file with the authorities that sign its certificate, in place of those of the system.
    pub authorities: Option<PathBuf>,
    /// Time for the connection, the request and the answer; ten seconds if it is not set.
    pub timeout: Option<Duration>,
}

impl Access {
    /// The value of `Authorization` for a user with a password (RFC 7617).
    #[must_use]
    pub fn basic(user: &str, password: &str) -> String {
        format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
    }
}

/// A client of one server. The thread that asks waits for the answer.
#[derive(Debug)]
pub struct Client {
    url: Url,
    access: Access,
    /// Started with the first request.
    runtime: Option<Runtime>,
}

/// A request: what it does, its path with its query, and its body.
struct Asked {
    method: Method,
    path: String,
    json: Option<String>,
    /// Bytes of the answer that are read, at most.
    max_answer: usize,
}

impl Client {
    /// A client of the server at this address.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self::with(url, Access::default())
    }

    /// A client that reaches the server so.
    #[must_use]
    pub const fn with(url: Url, access: Access) -> Self {
        Self {
            url,
            access,
            runtime: None,
        }
    }

    /// The address.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Posts a document. A status of 200 to 299 is success; redirections are not followed.
    ///
    /// # Errors
    /// Why it failed, in words: no connection, no answer in time, or another status.
    pub fn post(&mut self, json: String) -> Result<(), String> {
        let path = self.url.path().to_owned();
        self.ask(Asked {
            method: Method::POST,
            path,
            json: Some(json),
            max_answer: 0,
        })
        .map(drop)
    }

    /// Reads what is below the address: `path` begins with a slash and may have a query.
    ///
    /// # Errors
    /// As [`post`](Self::post), and if the answer has more than `max` bytes.
    pub fn get(&mut self, path: &str, max: usize) -> Result<Vec<u8>, String> {
        let path = format!("{}{path}", self.url.path().trim_end_matches('/'));
        self.ask(Asked {
            method: Method::GET,
            path,
            json: None,
            max_answer: max,
        })
    }

    fn ask(&mut self, asked: Asked) -> Result<Vec<u8>, String> {
        let Self { url, access, runtime } = self;
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => runtime.insert(
                Builder::new_current_thread()
                    .enable_io()
                    .enable_time()
                    .build()
                    .map_err(|error| error.to_string())?,
            ),
        };
        let timeout = access.timeout.unwrap_or(TIMEOUT);
        let answer = runtime.block_on(async { tokio::time::timeout(timeout, connect(url, access, asked)).await });
        match answer {
            Ok(answer) => answer.map_err(|why| format!("{url}: {why}")),
            Err(_) => Err(format!("{url}: no answer within {} s", timeout.as_secs())),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A name that is still looked up must not delay the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn connect(url: &Url, access: &Access, asked: Asked) -> Result<Vec<u8>, String> {
    let address = (url.host.as_str(), url.port);
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    if !url.is_tls {
        return exchange(stream, url, access, asked).await;
    }
    let config: Arc<ClientConfig> =
        tls::public(access.authorities.as_deref()).map_err(|error: Error| error.to_string())?;
    let name = ServerName::try_from(url.host.clone()).map_err(|error| error.to_string())?;
    let stream = TlsConnector::from(config).connect(name, stream).await;
    exchange(stream.map_err(|error| tls::reason(&error))?, url, access, asked).await
}

async fn exchange<S>(stream: S, url: &Url, access: &Access, asked: Asked) -> Result<Vec<u8>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let authority = url
        .uri
        .authority()
        .map_or(url.host.as_str(), hyper::http::uri::Authority::as_str);
    let mut request = Request::builder()
        .method(asked.method)
        .uri(asked.path)
        .header(HOST, authority)
        .header(USER_AGENT, concat!("rocescope/", env!("CARGO_PKG_VERSION")));
    if let Some(authorization) = &access.authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    if asked.json.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    let request = request
        .body(Full::new(Bytes::from(asked.json.unwrap_or_default())))
        .map_err(|error| error.to_string())?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        if status.is_success() {
            if asked.max_answer == 0 {
                return Ok(Vec::new());
            }
            let body = Limited::new(answer.into_body(), asked.max_answer).collect().await;
            return body
                .map(|body| body.to_bytes().into())
                .map_err(|error| error.to_string());
        }
        let body = Limited::new(answer.into_body(), MAX_REFUSAL).collect().await;
        let body = body.map(Collected::to_bytes).unwrap_or_default();
        let said: String = String::from_utf8_lossy(&body).trim().chars().take(SHOWN).collect();
        Err(match said.is_empty() {
            true => format!("answers {status}"),
            false => format!("answers {status}: {said}"),
        })
    };
    let connection = async {
        // Its error is the request's, too.
        let _ = connection.await;
    };
    tokio::pin!(answer);
    tokio::select! {
        answer = &mut answer => answer,
        () = connection => answer.await,
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn an_address_has_a_scheme_a_host_and_no_password() {
        for good in ["http://a", "https://alerts.example:8443/hook?x=1", "http://[::1]:9093/"] {
            assert!(Url::parse(good).is_ok(), "{good}");
        }
        for bad in ["a", "ftp://a", "http://", "http://user:secret@a/", "http:///x"] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
        let url = Url::parse("https://a/secret/").unwrap();
        assert_eq!(url.to_string(), "https://a:443");
        assert_eq!(url.join("/api").unwrap(), Url::parse("https://a/secret/api").unwrap());
        let error = Url::parse("http://user:secret@a/").unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}
