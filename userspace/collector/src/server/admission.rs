//! Admission of agents: handshake within its time limit, certificate, name, slot.

use super::agents::Slot;
use super::commit::Parcel;
use super::intake::Intake;
use super::refusal::Refusal;
use super::service;
use super::shared::Shared;
use crate::tls::first_name;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;
use tonic::Status;
use tonic::body::Body;

/// Flow-control windows of a stream and of a connection, in bytes.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;
/// Streams of a connection: one for each table.
const STREAMS: u32 = 4;
/// Maximum bytes of a request's headers.
const HEADER_BYTES: u32 = 8 << 10;
/// Time that agents get to learn that the collector stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Accepts connections until it is stopped, then waits for every connection to end.
pub(super) async fn accept(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    shared: Arc<Shared>,
    submit: SyncSender<Parcel>,
    mut stop: watch::Receiver<bool>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let acceptor = TlsAcceptor::from(tls);
    let handshakes = Arc::new(Handshakes::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        while connections.try_join_next().is_some() {}
        let Ok((tcp, peer)) = accepted else {
            // Out of file descriptors: retry when some are free.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Some(permit) = handshakes.enter(peer.ip(), &shared) else {
            let why = "too many simultaneous handshakes";
            shared.refusals.count(Refusal::TooManyHandshakes, &peer, why);
            continue;
        };
        let admission = Admission {
            shared: Arc::clone(&shared),
            submit: submit.clone(),
            stop: stop.clone(),
            peer,
        };
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            if let Some((tls, slot)) = admission.shake_hands(tcp, &acceptor).await {
                drop(permit);
                admission.shared.totals.connections.add(1);
                admission.serve(tls, &slot).await;
                admission.shared.agents.leave(&slot);
            }
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A dropped owner means the same.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// One peer that is being admitted.
struct Admission {
    shared: Arc<Shared>,
    submit: SyncSender<Parcel>,
    stop: watch::Receiver<bool>,
    peer: SocketAddr,
}

impl Admission {
    fn refuse(&self, refusal: Refusal, why: &str) {
        self.shared.refusals.count(refusal, &self.peer, why);
    }

    async fn shake_hands(&self, tcp: TcpStream, acceptor: &TlsAcceptor) -> Option<(TlsStream<TcpStream>, Arc<Slot>)> {
        let patience = self.shared.settings.patience;
        let mut stop = self.stop.clone();
        let shaken = tokio::select! {
            shaken = timeout(patience, acceptor.accept(tcp)) => shaken,
            () = stopped(&mut stop) => return None,
        };
        let tls = match shaken {
            Ok(Ok(tls)) => tls,
            Ok(Err(error)) => {
                let (refusal, why) = classify(&error);
                self.refuse(refusal, &why);
                return None;
            }
            Err(_) => {
                self.refuse(Refusal::SlowHandshake, "the handshake took too long");
                return None;
            }
        };
        let certificates = tls.get_ref().1.peer_certificates();
        let name = certificates.and_then(|chain| first_name(chain.first()?));
        let Some(name) = name else {
            self.refuse(Refusal::NoName, "the certificate has no DNS name");
            return None;
        };
        let Some(slot) = self.shared.agents.enter(name.clone(), self.peer) else {
            let most = self.shared.settings.max_agents;
            let why = format!("{name} exceeds the limit of {most} agents");
            self.refuse(Refusal::TooManyAgents, &why);
            self.reject(tls, &why).await;
            return None;
        };
        Some((tls, slot))
    }

    /// Answers the agent's request with the reason, which the agent then reports.
    async fn reject(&self, tls: TlsStream<TcpStream>, why: &str) {
        let answer = || Status::resource_exhausted(why).into_http::<Body>();
        let service = service_fn(|_| std::future::ready(Ok::<_, Infallible>(answer())));
        let connection = self.http2().serve_connection(TokioIo::new(tls), service);
        let _ = timeout(SHUTDOWN_GRACE, connection).await;
    }

    /// HTTP/2 with our limits.
    fn http2(&self) -> Builder<TokioExecutor> {
        let keep_alive = self.shared.settings.keep_alive;
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_BYTES)
            .keep_alive_interval(keep_alive / 2)
            .keep_alive_timeout(keep_alive / 2);
        builder
    }

    async fn serve(&self, tls: TlsStream<TcpStream>, slot: &Arc<Slot>) {
        let settings = &self.shared.settings;
        let intake = Intake {
            shared: Arc::clone(&self.shared),
            slot: Arc::clone(slot),
            submit: self.submit.clone(),
        };
        let service = TowerToHyperService::new(service::flight(intake));
        let mut connection = pin!(self.http2().serve_connection(TokioIo::new(tls), service));
        let mut stop = self.stop.clone();
        let idle = async {
            sleep(settings.patience).await;
            if slot.active.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended
                    && !slot.active.load(Ordering::Relaxed)
                {
                    self.refuse(Refusal::Protocol, &format!("{}: {error}", slot.name));
                }
            }
            () = slot.replaced.notified() => {
                let why = format!("a newer connection of {} replaced this one", slot.name);
                self.refuse(Refusal::Replaced, &why);
            }
            () = idle => {
                let why = format!("{} does not begin to send", slot.name);
                self.refuse(Refusal::Idle, &why);
            }
            () = stopped(&mut stop) => {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(SHUTDOWN_GRACE, connection).await;
            }
        }
    }
}

/// Why a handshake failed.
fn classify(error: &io::Error) -> (Refusal, String) {
    let inner = error.get_ref();
    let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::NoCertificatesPresented) => (Refusal::NoCertificate, "no certificate".into()),
        Some(rustls::Error::InvalidCertificate(why)) => {
            let why = format!("invalid certificate, or not signed by our authority: {why:?}");
            (Refusal::WrongCertificate, why)
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            let why = format!("the peer rejected our certificate or gave up: {alert:?}");
            (Refusal::NoTls, why)
        }
        _ => (Refusal::NoTls, format!("TLS handshake failed: {error}")),
    }
}

/// Current handshakes by address.
#[derive(Debug, Default)]
struct Handshakes(Mutex<HashMap<IpAddr, usize>>);

/// Counts one handshake until it is dropped.
struct HandshakeSlot {
    handshakes: Arc<Handshakes>,
    address: IpAddr,
}

impl Handshakes {
    fn enter(self: &Arc<Self>, address: IpAddr, shared: &Shared) -> Option<HandshakeSlot> {
        let mut handshakes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = handshakes.values().sum();
        let of_one = handshakes.get(&address).copied().unwrap_or(0);
        let settings = &shared.settings;
        if all >= settings.max_handshakes || of_one >= settings.max_handshakes_per_address {
            return None;
        }
        handshakes.insert(address, of_one + 1);
        Some(HandshakeSlot {
            handshakes: Arc::clone(self),
            address,
        })
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        let mut handshakes = self.handshakes.0.lock().unwrap_or_else(PoisonError::into_inner);
        match handshakes.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                handshakes.remove(&self.address);
            }
        }
    }
}
