//! Connections, with limits: each has a bound of time and memory, and their number has one.

use super::{Shared, Site, router};
use crate::access::Guard;
use crate::board::Board;
use crate::source::Feed;
use crate::{Error, Settings};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// Connections at a time: a viewer has two. More are closed at once.
const MAX_CONNECTIONS: usize = 512;
/// Time for a handshake, for the head of a request, and between two requests.
const PATIENCE: Duration = Duration::from_secs(10);
/// A viewer that takes no bytes for this long is gone.
const UNREAD: Duration = Duration::from_secs(30);
/// The head of a request, and what is buffered of an answer.
const BUFFER: usize = 32 << 10;

/// A server whose address is bound.
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    site: Shared,
}

impl Server {
    pub(crate) fn bind(
        address: SocketAddr,
        guard: Guard,
        settings: &Settings,
        board: Arc<Board>,
        feed: Feed,
    ) -> Result<Self, Error> {
        let refused = |error| Error::Listen(address, error);
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        Ok(Self {
            listener,
            address,
            runtime: runtime.map_err(refused)?,
            site: Arc::new(Site {
                board,
                guard,
                title: settings.title.clone(),
                names: Arc::clone(&settings.names),
                clock: Arc::clone(&settings.clock),
                feed,
                refused: AtomicU64::new(0),
            }),
        })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn run(self) {
        self.runtime.block_on(accept(self.listener, self.site));
    }
}

async fn accept(listener: TcpListener, site: Shared) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let tls = site.guard.tls.clone().map(TlsAcceptor::from);
    let router = router(Arc::clone(&site));
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: wait until some are free.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            site.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (router, tls) = (router.clone(), tls.clone());
        tokio::spawn(async move {
            let _place = place;
            // A connection without it is slower, or ends later.
            let _ = stream.set_nodelay(true);
            let unread = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
            let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, unread);
            match tls {
                Some(tls) => secured(stream, &tls, router).await,
                None => serve(stream, router).await,
            }
        });
    }
}

async fn secured(stream: TcpStream, tls: &TlsAcceptor, router: Router) {
    if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, tls.accept(stream)).await {
        serve(stream, router).await;
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, router: Router) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // The viewer has gone: there is no one to report an error to.
    let _ = connection.await;
}
