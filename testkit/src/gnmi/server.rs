//! Connections and methods of a switch.

use super::Options;
use super::answers::notification;
use super::message::{
    CapabilityRequest, CapabilityResponse, Encoding, ListMode, Path, Request, SubscribeRequest, SubscribeResponse,
    SubscriptionList, Value,
};
use super::path::{is_below, path};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ServerConfig, version};
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::server::{Grpc, StreamingService, UnaryService};
use tonic::{Response, Status, Streaming};
use tonic_prost::ProstCodec;

/// A switch. It ends when it is dropped.
#[derive(Debug)]
pub struct Switch {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// `None` ends the server; another number cuts the connections.
    cut: watch::Sender<Option<u64>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    login: Option<(String, String)>,
    encodings: Vec<Encoding>,
    unserved: Vec<Path>,
    state: Mutex<State>,
    connections: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    values: Vec<(Path, Value)>,
    /// Where the value of a path is.
    places: HashMap<String, usize>,
    time_ns: i64,
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    path: Path,
    encoding: Encoding,
    send: mpsc::UnboundedSender<Result<SubscribeResponse, Status>>,
}

impl Switch {
    /// Starts at a free port of this host.
    pub fn start(options: &Options<'_>) -> Self {
        let tls = options.certificate.map(|signed| {
            let chain = CertificateDer::pem_file_iter(&signed.certificate).unwrap();
            let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
            let key = PrivateKeyDer::from_pem_file(&signed.key).unwrap();
            let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
                .with_protocol_versions(&[&version::TLS13])
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .unwrap();
            config.alpn_protocols = vec![b"h2".to_vec()];
            TlsAcceptor::from(Arc::new(config))
        });
        let shared = Arc::new(Shared {
            login: options
                .login
                .map(|(user, password)| (user.to_owned(), password.to_owned())),
            encodings: options.encodings.to_vec(),
            unserved: options.unserved.iter().map(|text| path(text)).collect(),
            state: Mutex::default(),
            connections: AtomicUsize::new(0),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, watched) = watch::channel(Some(0));
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            runtime.unwrap().block_on(accept(listener, tls, of_thread, watched));
        });
        Self {
            address,
            shared,
            cut,
            thread: Some(thread),
        }
    }

    /// Its address.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the value of a leaf, which is sent with the next sample.
    pub fn set(&self, leaf: &str, value: impl Into<Value>) {
        let state = &mut *self.shared.state.lock().unwrap();
        match state.places.get(leaf) {
            Some(place) => state.values[*place].1 = value.into(),
            None => {
                state.places.insert(leaf.to_owned(), state.values.len());
                state.values.push((path(leaf), value.into()));
            }
        }
    }

    /// Sets the time of the samples that follow.
    pub fn set_time(&self, time_ns: i64) {
        self.shared.state.lock().unwrap().time_ns = time_ns;
    }

    /// Sends all values to all subscribers, with this time.
    pub fn sample(&self, time_ns: i64) {
        let state = &mut *self.shared.state.lock().unwrap();
        state.time_ns = time_ns;
        state.subscribers.retain(|subscriber| !subscriber.send.is_closed());
        for subscriber in &state.subscribers {
            let sent = notification(&state.values, &subscriber.path, subscriber.encoding, time_ns);
            // One that has gone since gets nothing.
            let _ = subscriber.send.send(Ok(sent.into()));
        }
    }

    /// Streams that are open.
    pub fn subscribers(&self) -> usize {
        let subscribers = &self.shared.state.lock().unwrap().subscribers;
        subscribers
            .iter()
            .filter(|subscriber| !subscriber.send.is_closed())
            .count()
    }

    /// Connections that there were.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Ends all streams, after what was sent on them, for this reason.
    pub fn end(&self, why: &str) {
        self.end_with(&Status::unavailable(why));
    }

    /// Ends all subscriptions, because what they ask for is gone.
    pub fn remove(&self, why: &str) {
        self.end_with(&Status::not_found(why));
    }

    fn end_with(&self, status: &Status) {
        for subscriber in self.shared.state.lock().unwrap().subscribers.drain(..) {
            let _ = subscriber.send.send(Err(status.clone()));
        }
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        self.shared.state.lock().unwrap().subscribers.clear();
        self.cut.send_modify(|number| *number = number.map(|number| number + 1));
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.cut.send_replace(None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(
    listener: std::net::TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    mut cut: watch::Receiver<Option<u64>>,
) {
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let mut of_connection = cut.clone();
        tokio::select! {
            accepted = listener.accept() => {
                let (tcp, _) = accepted.unwrap();
                // What was cut before is no affair of this one.
                of_connection.mark_unchanged();
                let (tls, shared) = (tls.clone(), Arc::clone(&shared));
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, shared, of_connection).await,
                        // A client that refuses the certificate has gone.
                        Some(tls) => if let Ok(tls) = tls.accept(tcp).await {
                            serve(tls, shared, of_connection).await;
                        },
                    }
                });
            }
            changed = cut.changed() => if changed.is_err() || cut.borrow_and_update().is_none() {
                return;
            },
        }
    }
}

async fn serve<S>(stream: S, shared: Arc<Shared>, mut cut: watch::Receiver<Option<u64>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    shared.connections.fetch_add(1, Ordering::SeqCst);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(shared, request).await) }
    });
    let connection = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // How it ends is the client's affair.
        _ = connection => {}
        _ = cut.changed() => {}
    }
}

async fn answer(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> hyper::Response<Body> {
    match request.uri().path() {
        "/gnmi.gNMI/Capabilities" if !shared.encodings.is_empty() => {
            let codec = ProstCodec::<CapabilityResponse, CapabilityRequest>::default();
            Grpc::new(codec).unary(Capabilities(shared), request).await
        }
        "/gnmi.gNMI/Subscribe" => {
            let codec = ProstCodec::<SubscribeResponse, SubscribeRequest>::default();
            Grpc::new(codec).streaming(Subscribe(shared), request).await
        }
        other => Status::unimplemented(other.to_owned()).into_http(),
    }
}

impl Shared {
    fn check_login(&self, metadata: &MetadataMap) -> Result<(), Status> {
        let is_given = |name: &str, wanted: &str| metadata.get(name).is_some_and(|given| given == wanted);
        match &self.login {
            Some((user, password)) if !(is_given("username", user) && is_given("password", password)) => {
                Err(Status::unauthenticated("bad user or password"))
            }
            _ => Ok(()),
        }
    }

    /// Sends what the subscriber of a list gets first.
    fn subscribe(
        &self,
        list: &SubscriptionList,
        send: &mpsc::UnboundedSender<Result<SubscribeResponse, Status>>,
    ) -> Result<(), Status> {
        let encoding = Encoding::try_from(list.encoding).map_err(|_| Status::invalid_argument("encoding"))?;
        if !self.encodings.is_empty() && !self.encodings.contains(&encoding) {
            return Err(Status::unimplemented(format!("no encoding {encoding:?}")));
        }
        let mut state = self.state.lock().unwrap();
        for subscription in &list.subscription {
            let mut wanted = list.prefix.clone().unwrap_or_default();
            wanted
                .elem
                .extend(subscription.path.iter().flat_map(|path| path.elem.clone()));
            if self.unserved.iter().any(|unserved| is_below(&wanted, unserved)) {
                return Err(Status::invalid_argument("no such path"));
            }
            let first = notification(&state.values, &wanted, encoding, state.time_ns);
            // The receiver is the caller's.
            let _ = send.send(Ok(first.into()));
            if list.mode == ListMode::Stream as i32 {
                state.subscribers.push(Subscriber {
                    path: wanted,
                    encoding,
                    send: send.clone(),
                });
            }
        }
        let _ = send.send(Ok(SubscribeResponse::synchronized()));
        Ok(())
    }
}

struct Capabilities(Arc<Shared>);

impl UnaryService<CapabilityRequest> for Capabilities {
    type Response = CapabilityResponse;
    type Future = Ready<Result<Response<CapabilityResponse>, Status>>;

    fn call(&mut self, request: tonic::Request<CapabilityRequest>) -> Self::Future {
        let checked = self.0.check_login(request.metadata());
        ready(checked.map(|()| {
            Response::new(CapabilityResponse {
                supported_encodings: self.0.encodings.iter().map(|encoding| *encoding as i32).collect(),
                gnmi_version: "0.10.0".into(),
                ..CapabilityResponse::default()
            })
        }))
    }
}

struct Subscribe(Arc<Shared>);

type Answers = BoxStream<'static, Result<SubscribeResponse, Status>>;

impl StreamingService<SubscribeRequest> for Subscribe {
    type Response = SubscribeResponse;
    type ResponseStream = Answers;
    type Future = BoxFuture<'static, Result<Response<Answers>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<SubscribeRequest>>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            shared.check_login(request.metadata())?;
            let mut requests = request.into_inner();
            let first = requests.message().await?;
            let Some(Request::Subscribe(list)) = first.and_then(|first| first.request) else {
                return Err(Status::invalid_argument("the first message is no subscription"));
            };
            let (send, receive) = mpsc::unbounded_channel();
            shared.subscribe(&list, &send)?;
            // The client's end of the stream stays open as long as the answers.
            let state = (receive, requests);
            Ok(Response::new(
                Box::pin(stream::unfold(state, |(mut receive, requests)| async move {
                    let next = receive.recv().await?;
                    Some((next, (receive, requests)))
                })) as Answers,
            ))
        })
    }
}
