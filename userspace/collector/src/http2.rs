//! HTTP/2 under gRPC: the client that tonic calls, and failures in words.

use crate::tls;
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper::{Request, Response};
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tower_service::Service;

/// The message of a status.
pub(crate) fn message(status: &tonic::Status) -> String {
    match status.source() {
        Some(source) => cause(source),
        None => status.message().to_owned(),
    }
}

/// The innermost cause, which is the one that explains the failure.
pub(crate) fn cause(error: &(dyn StdError + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    tls::reason(&innermost)
}

/// HTTP/2 client with the interface that tonic expects.
#[derive(Clone)]
pub(crate) struct Http2(pub(crate) SendRequest<Body>);

impl Service<Request<Body>> for Http2 {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
