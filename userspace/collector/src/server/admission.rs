//! Admission of agents: handshake within its time limit, certificate, name, slot.

use super::agents::{Agents, Slot};
use super::commit::Parcel;
use super::intake::Intake;
use super::refusal::Refusal;
use super::service;
use super::settings::Settings;
use super::shared::Shared;
use crate::tls::{Identity, OPERATOR};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
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
/// Streams of a connection: one for each table, and the subscription.
const STREAMS: u32 = 8;
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
        // A listener of IPv6 sees IPv4 as `::ffff:192.0.2.1`.
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let Some(permit) = handshakes.enter(peer.ip(), &shared.settings) else {
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
            let shaken = admission.shake_hands(tcp, &acceptor, &permit.cancel).await;
            drop(permit);
            if let Some((tls, slot)) = shaken {
                admission.admit(tls, &slot).await;
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

    async fn admit(&self, tls: TlsStream<TcpStream>, slot: &Arc<Slot>) {
        if !is_operator(&tls) {
            self.shared.totals.connections.add(1);
            self.serve(tls, slot, false).await;
            self.shared.agents.leave(slot);
            return;
        }
        let controller = self.shared.controller.as_ref();
        let is_named = controller.is_some_and(|controller| controller.is_operator(&slot.name));
        match self.shared.seats.take(&slot.name, is_named) {
            Ok(_seat) => self.serve(tls, slot, true).await,
            Err(why) => {
                self.refuse(Refusal::TooManyOperators, &format!("{}: {why}", slot.name));
                self.reject(tls, why).await;
            }
        }
    }

    async fn shake_hands(
        &self,
        tcp: TcpStream,
        acceptor: &TlsAcceptor,
        cancel: &Notify,
    ) -> Option<(TlsStream<TcpStream>, Arc<Slot>)> {
        let patience = self.shared.settings.patience;
        let mut stop = self.stop.clone();
        let shaken = tokio::select! {
            shaken = timeout(patience, acceptor.accept(tcp)) => shaken,
            () = stopped(&mut stop) => return None,
            () = cancel.notified() => {
                self.refuse(Refusal::TooManyHandshakes, "its handshake was the oldest of too many");
                return None;
            }
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
        let identity = certificates.and_then(|chain| Identity::of(chain.first()?));
        let Some(identity) = identity else {
            self.refuse(Refusal::NoName, "the certificate has no DNS name");
            return None;
        };
        if is_operator(&tls) {
            return Some((tls, Agents::guest(identity, self.peer)));
        }
        let name = identity.name.clone();
        let Some(slot) = self.shared.agents.enter(identity, self.peer) else {
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

    async fn serve(&self, tls: TlsStream<TcpStream>, slot: &Arc<Slot>, is_operator: bool) {
        let settings = &self.shared.settings;
        let intake = Intake {
            shared: Arc::clone(&self.shared),
            slot: Arc::clone(slot),
            submit: self.submit.clone(),
            is_operator,
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
            by = slot.replaced() => {
                let why = format!(
                    "{} connected again, from {by}, which ends this older connection; if this repeats, two agents use the \
                     certificate of {0}: sign one for each",
                    slot.name
                );
                self.refuse(Refusal::Replaced, &why);
                // The streams end with the reason, which the agent reports.
                connection.as_mut().graceful_shutdown();
                let _ = timeout(SHUTDOWN_GRACE, connection).await;
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

/// Whether the peer chose the protocol of operators.
fn is_operator(tls: &TlsStream<TcpStream>) -> bool {
    tls.get_ref().1.alpn_protocol() == Some(OPERATOR)
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
        _ => (
            Refusal::NoTls,
            format!("TLS handshake failed: {}", crate::tls::reason(error)),
        ),
    }
}

/// Current handshakes in the order of their arrival.
#[derive(Debug, Default)]
struct Handshakes(Mutex<VecDeque<Handshake>>);

#[derive(Debug, Clone)]
struct Handshake {
    owner: IpAddr,
    cancel: Arc<Notify>,
}

/// Counts one handshake until it is dropped.
struct HandshakeSlot {
    handshakes: Arc<Handshakes>,
    cancel: Arc<Notify>,
}

impl Handshakes {
    /// Takes a slot; `None` if the address has too many. If all slots are taken, the oldest handshake of the address
    /// with the most ends: agents take milliseconds, so one that waits is not one of theirs.
    fn enter(self: &Arc<Self>, address: IpAddr, settings: &Settings) -> Option<HandshakeSlot> {
        let owner = owner(address);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for handshake in all.iter() {
            *counts.entry(handshake.owner).or_default() += 1;
        }
        if counts
            .get(&owner)
            .is_some_and(|count| *count >= settings.max_handshakes_per_address)
        {
            return None;
        }
        if all.len() >= settings.max_handshakes {
            let most = counts.values().copied().max();
            let at = all.iter().position(|one| counts.get(&one.owner).copied() == most);
            if let Some(oldest) = at.and_then(|at| all.remove(at)) {
                oldest.cancel.notify_one();
            }
        }
        let cancel = Arc::new(Notify::new());
        all.push_back(Handshake {
            owner,
            cancel: Arc::clone(&cancel),
        });
        Some(HandshakeSlot {
            handshakes: Arc::clone(self),
            cancel,
        })
    }
}

/// What one peer can choose addresses from: an IPv4 address, or a /64 of IPv6.
fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        let mut all = self.handshakes.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !Arc::ptr_eq(&one.cancel, &self.cancel));
    }
}

#[cfg(test)]
mod tests {
    use super::{Handshakes, owner};
    use crate::server::Settings;
    use crate::tls::Files;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    fn settings() -> Settings {
        let files = Files {
            certificate: "c".into(),
            key: "k".into(),
            authority: "a".into(),
        };
        Settings {
            max_handshakes: 6,
            max_handshakes_per_address: 3,
            ..Settings::new(([127, 0, 0, 1], 0).into(), files, "d".into())
        }
    }

    /// Eight addresses with 32 half-open handshakes each took all 256 slots, and new agents waited.
    #[test]
    fn a_new_address_takes_the_slot_of_the_oldest_handshake_of_the_one_with_the_most() {
        let (all, settings) = (Arc::new(Handshakes::default()), settings());
        let from = |last: u8| all.enter(IpAddr::from(Ipv4Addr::new(10, 0, 0, last)), &settings);
        let held: Vec<_> = [1, 2, 2, 1, 2, 1].map(|last| from(last).unwrap()).into();
        assert!(from(1).is_none(), "one address has a limit of its own");
        let third = from(3).unwrap();
        let owners = |all: &Handshakes| {
            let all = all.0.lock().unwrap();
            all.iter().map(|one| one.owner.to_string()).collect::<Vec<_>>()
        };
        let [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
        assert_eq!(owners(&all), [b, b, a, b, a, c]);
        let _fourth = from(4).unwrap();
        assert_eq!(owners(&all)[..4], [b, a, b, a]);
        drop(third);
        drop(held);
        assert_eq!(owners(&all), ["10.0.0.4"]);
    }

    #[test]
    fn a_peer_is_an_ipv4_address_or_a_64_of_ipv6() {
        let of = |text: &str| owner(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(
            (of("::ffff:192.0.2.1"), of("192.0.2.1")),
            ("192.0.2.1".into(), "192.0.2.1".into())
        );
    }
}
