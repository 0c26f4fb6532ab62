//! The endpoint: one thread, one page.

use super::prometheus;
use crate::error::{EngineError, Result};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rocescope_host::privileges;
use std::convert::Infallible;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

/// Maximum number of concurrent scrapes; more wait.
const MAX_CONNECTIONS: usize = 16;
/// Connections without a request after this time are closed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes the page that a scrape returns, as `OpenMetrics`.
pub type Page = Arc<dyn Fn() -> Result<String, fmt::Error> + Send + Sync>;

/// Serves the page at `address` on its own thread until the process ends. Returns the bound address: port 0
/// selects a free port.
///
/// # Errors
/// The address cannot be used.
pub fn serve(address: SocketAddr, page: Page) -> Result<SocketAddr> {
    let refused = |error| EngineError::Metrics(address, error);
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(refused)?;
    let (ready, begun) = channel();
    std::thread::Builder::new()
        .name("metrics".into())
        .spawn(move || {
            // Capabilities belong to a thread, and this thread is exposed to the network. Its creator may keep some.
            let dropped = privileges::drop_all();
            let is_bare = dropped.is_ok();
            // The creator waits for it.
            let _ = ready.send(dropped);
            if is_bare {
                runtime.block_on(accept(listener, page));
            }
        })
        .map_err(refused)?;
    match begun.recv() {
        Ok(Err(error)) => Err(EngineError::Capabilities(error)),
        _ => Ok(bound),
    }
}

async fn accept(listener: TcpListener, page: Page) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: wait until some are free.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let page = Arc::clone(&page);
        tokio::spawn(async move {
            let answer = |request| {
                let answer = respond(&request, &page);
                async { Ok::<_, Infallible>(answer) }
            };
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIMEOUT)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service_fn(answer));
            // The client has disconnected: there is no one to report an error to.
            let _ = tokio::time::timeout(REQUEST_TIMEOUT, connection).await;
            drop(place);
        });
    }
}

fn respond(request: &Request<Incoming>, page: &Page) -> Response<Full<Bytes>> {
    let (status, kind, body) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/metrics") => match page() {
            Ok(page) if takes_open_metrics(request) => (StatusCode::OK, OPEN_METRICS, page),
            Ok(page) => (StatusCode::OK, PROMETHEUS, prometheus::page(&page)),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, "text/plain", error.to_string()),
        },
        (&Method::GET, "/") => {
            let hint = "rocescope: see /metrics\n".to_owned();
            (StatusCode::OK, "text/plain", hint)
        }
        _ => (StatusCode::NOT_FOUND, "text/plain", "not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Whether the scraper accepts `OpenMetrics`; its preference is irrelevant, because it then reads both.
fn takes_open_metrics(request: &Request<Incoming>) -> bool {
    let accepted = request.headers().get_all(ACCEPT).into_iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("application/openmetrics-text"))
}
