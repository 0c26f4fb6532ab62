//! Names each new window to a viewer: its version, and the time up to which it is. The viewer fetches it when it
//! can, and one that is slow misses windows; nothing waits for it.

use super::{Shared, Wanted, too_many};
use crate::render::Shown;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::StatusCode;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// An empty line, so that proxies do not close a connection without windows.
const ALIVE: Duration = Duration::from_secs(15);
/// A viewer whose connection ended tries again after this many milliseconds.
const RETRY: &str = "retry: 1000\n\n";

type Receiver = watch::Receiver<Option<Arc<Shown>>>;

pub(super) async fn events(State(site): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let Wanted { view, .. } = site.read(query.as_deref());
    let Some(mut receiver) = site.watch(&view) else {
        return too_many();
    };
    site.feed.asked();
    // The viewer has asked for the page, which may be of an earlier process.
    receiver.mark_changed();
    let events = stream::unfold((receiver, true), |(receiver, is_first)| async move {
        match is_first {
            true => Some((
                Ok::<_, Infallible>(Bytes::from_static(RETRY.as_bytes())),
                (receiver, false),
            )),
            false => next(receiver)
                .await
                .map(|(event, receiver)| (Ok(event), (receiver, false))),
        }
    });
    super::answers::answer(StatusCode::OK, "text/event-stream", Body::from_stream(events))
}

/// The next event; `None` when the view is gone.
async fn next(mut receiver: Receiver) -> Option<(Bytes, Receiver)> {
    let event = match tokio::time::timeout(ALIVE, receiver.changed()).await {
        Ok(changed) => {
            changed.ok()?;
            let shown = receiver.borrow_and_update().clone();
            shown.map_or_else(|| Bytes::from_static(b":\n\n"), |shown| event(&shown))
        }
        Err(_) => Bytes::from_static(b":\n\n"),
    };
    Some((event, receiver))
}

fn event(shown: &Shown) -> Bytes {
    let until = shown.until.map(|until| format!(" {until:.0}")).unwrap_or_default();
    format!("event: window\ndata: {}{until}\n\n", shown.version).into()
}
