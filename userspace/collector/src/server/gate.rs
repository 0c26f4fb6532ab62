//! Who may come in: a handshake at most so long, a certificate, a name, a seat.

use super::agents::Seat;
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

/// What a stream may have on the way to us unread, and a connection.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;
/// Streams of a connection: a table has one.
const STREAMS: u32 = 4;
/// Most bytes of a request's headers.
const HEADER_BYTES: u32 = 8 << 10;
/// Agents get this long to hear that the collector ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// Accepts until it is to stop, and then until every connection has ended.
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
    let crowd = Arc::new(Crowd::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        while connections.try_join_next().is_some() {}
        let Ok((tcp, peer)) = accepted else {
            // Out of descriptors: some will be free again.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Some(place) = crowd.enter(peer.ip(), &shared) else {
            let why = "too many handshakes at once";
            shared.refusals.count(Refusal::Crowd, &peer, why);
            continue;
        };
        let gate = Gate {
            shared: Arc::clone(&shared),
            submit: submit.clone(),
            stop: stop.clone(),
            peer,
        };
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            if let Some((tls, seat)) = gate.shake_hands(tcp, &acceptor).await {
                drop(place);
                gate.shared.totals.connections.add(1);
                gate.serve(tls, &seat).await;
                gate.shared.agents.leave(&seat);
            }
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // That the owner has gone means the same.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// One peer on its way in.
struct Gate {
    shared: Arc<Shared>,
    submit: SyncSender<Parcel>,
    stop: watch::Receiver<bool>,
    peer: SocketAddr,
}

impl Gate {
    fn refuse(&self, refusal: Refusal, why: &str) {
        self.shared.refusals.count(refusal, &self.peer, why);
    }

    async fn shake_hands(
        &self,
        tcp: TcpStream,
        acceptor: &TlsAcceptor,
    ) -> Option<(TlsStream<TcpStream>, Arc<Seat>)> {
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
                self.refuse(Refusal::SlowHandshake, "its handshake takes too long");
                return None;
            }
        };
        let certificates = tls.get_ref().1.peer_certificates();
        let name = certificates.and_then(|chain| first_name(chain.first()?));
        let Some(name) = name else {
            self.refuse(Refusal::NoName, "its certificate has no DNS name");
            return None;
        };
        let Some(seat) = self.shared.agents.enter(name.clone(), self.peer) else {
            let most = self.shared.settings.most_agents;
            let why = format!("{name} would be one agent more than the {most} there may be");
            self.refuse(Refusal::TooManyAgents, &why);
            self.turn_away(tls, &why).await;
            return None;
        };
        Some((tls, seat))
    }

    /// Answers what the agent asks with why there is no seat for it: it will say so on its side.
    async fn turn_away(&self, tls: TlsStream<TcpStream>, why: &str) {
        let answer = || Status::resource_exhausted(why).into_http::<Body>();
        let service = service_fn(|_| std::future::ready(Ok::<_, Infallible>(answer())));
        let connection = self.http2().serve_connection(TokioIo::new(tls), service);
        let _ = timeout(FAREWELL, connection).await;
    }

    /// HTTP/2 within its bounds.
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

    async fn serve(&self, tls: TlsStream<TcpStream>, seat: &Arc<Seat>) {
        let settings = &self.shared.settings;
        let intake = Intake {
            shared: Arc::clone(&self.shared),
            seat: Arc::clone(seat),
            submit: self.submit.clone(),
        };
        let service = TowerToHyperService::new(service::flight(intake));
        let mut connection = pin!(self.http2().serve_connection(TokioIo::new(tls), service));
        let mut stop = self.stop.clone();
        let idle = async {
            sleep(settings.patience).await;
            if seat.active.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended
                    && !seat.active.load(Ordering::Relaxed)
                {
                    self.refuse(Refusal::Protocol, &format!("{}: {error}", seat.name));
                }
            }
            () = seat.replaced.notified() => {
                let why = format!("{} has a newer connection", seat.name);
                self.refuse(Refusal::Replaced, &why);
            }
            () = idle => {
                let why = format!("{} does not begin to send", seat.name);
                self.refuse(Refusal::Idle, &why);
            }
            () = stopped(&mut stop) => {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(FAREWELL, connection).await;
            }
        }
    }
}

/// What a failed handshake says of the peer.
fn classify(error: &io::Error) -> (Refusal, String) {
    let inner = error.get_ref();
    let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::NoCertificatesPresented) => {
            (Refusal::NoCertificate, "it shows no certificate".into())
        }
        Some(rustls::Error::InvalidCertificate(why)) => {
            let why = format!("its certificate is not of our authority, or not valid: {why:?}");
            (Refusal::WrongCertificate, why)
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            let why = format!("it does not believe our certificate, or gave up: {alert:?}");
            (Refusal::NoTls, why)
        }
        _ => (Refusal::NoTls, format!("no TLS handshake: {error}")),
    }
}

/// The handshakes that are under way, by address.
#[derive(Debug, Default)]
struct Crowd(Mutex<HashMap<IpAddr, usize>>);

/// A handshake's place in the crowd.
struct HandshakeSlot {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

impl Crowd {
    fn enter(self: &Arc<Self>, address: IpAddr, shared: &Shared) -> Option<HandshakeSlot> {
        let mut crowd = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = crowd.values().sum();
        let of_one = crowd.get(&address).copied().unwrap_or(0);
        let settings = &shared.settings;
        if all >= settings.most_handshakes || of_one >= settings.most_handshakes_of_one {
            return None;
        }
        crowd.insert(address, of_one + 1);
        Some(HandshakeSlot {
            crowd: Arc::clone(self),
            address,
        })
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        let mut crowd = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        match crowd.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                crowd.remove(&self.address);
            }
        }
    }
}
