//! The endpoint: one thread, one page.

use super::prometheus;
use crate::error::{Result, RuntimeError};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rocescope_host::privileges;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::AbortHandle;

/// Maximum number of connections; another one closes the oldest. A scrape takes milliseconds, so the oldest is idle.
const MAX_CONNECTIONS: usize = 16;
/// Time for a request and its answer.
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
    let refused = |error| RuntimeError::Metrics(address, error);
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
        Ok(Err(error)) => Err(RuntimeError::Capabilities(error)),
        _ => Ok(bound),
    }
}

async fn accept(listener: TcpListener, page: Page) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: wait until some are free.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MAX_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let page = Arc::clone(&page);
        let connection = tokio::spawn(async move {
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
        });
        open.push_back(connection.abort_handle());
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

#[cfg(test)]
mod tests {
    use super::serve;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::Arc;
    use std::time::Duration;

    /// 16 connections that send nothing delayed a scrape by 10 s.
    #[test]
    fn idle_connections_do_not_delay_a_scrape() {
        let address = serve(([127, 0, 0, 1], 0).into(), Arc::new(|| Ok("# EOF\n".into()))).unwrap();
        let connect = || TcpStream::connect(address).unwrap();
        let mut half = connect();
        half.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
        let idle: Vec<TcpStream> = (0..64).map(|_| connect()).collect();
        for _ in 0..3 {
            let mut scrape = connect();
            // One that waits for the others to time out waits longer.
            scrape.set_read_timeout(Some(Duration::from_secs(9))).unwrap();
            scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut answer = String::new();
            scrape.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        }
        drop((half, idle));
    }
}
