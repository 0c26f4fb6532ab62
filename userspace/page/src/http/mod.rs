//! The server: connections, what every request must pass, and answers.
//!
//! | module | what it does |
//! |---|---|
//! | `accept` | connections, with limits |
//! | `answers` | the page, its parts and its files |
//! | `events` | names each new window to a viewer |
//! | `api` | the same as JSON and Parquet |

mod accept;
mod answers;
mod api;
mod events;

pub(crate) use accept::Server;

use crate::access::{Guard, Refusal};
use crate::board::Board;
use crate::render::Shown;
use crate::source::Feed;
use crate::view::{self, View};
use answers::plain;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use hyper::header::{HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, StatusCode};
use rocescope_model::Time;
use rocescope_model::hosts::Hosts;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a request waits for a view that no one looked at before.
const RENDERED: Duration = Duration::from_secs(120);
/// The longest address: it holds a filter.
const MAX_ADDRESS: usize = 8_000;

/// Sent with every answer: nothing from elsewhere is loaded, nothing inline runs, and no other page sees this one.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// What answers need.
pub(crate) struct Site {
    board: Arc<Board>,
    guard: Guard,
    title: String,
    names: Arc<Hosts>,
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
    feed: Feed,
    /// Connections that were refused because there were too many.
    refused: AtomicU64,
}

type Shared = Arc<Site>;

fn router(site: Shared) -> Router {
    Router::new()
        .route("/", get(answers::page))
        .route("/sections", get(answers::sections))
        .route("/fields", get(answers::fields))
        .route("/events", get(events::events))
        .route("/page.css", get(answers::style))
        .route("/page.js", get(answers::script))
        .route("/page.svg", get(answers::icon))
        .route("/api/openapi.json", get(api::description))
        .route("/api/status", get(api::status))
        .route("/api/{name}", get(api::rows))
        .fallback(answers::missing)
        .layer(from_fn_with_state(Arc::clone(&site), guarded))
        .with_state(site)
}

/// Answers only what may be asked, and adds the headers of all answers.
async fn guarded(State(site): State<Shared>, request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |address| address.as_str().len());
    let mut response = match site.guard.admit(request.headers()) {
        Err(Refusal::Host) => plain(
            StatusCode::MISDIRECTED_REQUEST,
            "this page is of this host alone: ask for it as 127.0.0.1 or localhost\n",
        ),
        Err(Refusal::Token) => unauthorized(),
        Ok(()) if !is_read => plain(StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here\n"),
        Ok(()) if length > MAX_ADDRESS => plain(StatusCode::URI_TOO_LONG, "the address is too long\n"),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn unauthorized() -> Response {
    let mut response = plain(
        StatusCode::UNAUTHORIZED,
        "the token is needed: as the password, or `Authorization: Bearer`\n",
    );
    let ask = HeaderValue::from_static("Basic realm=\"rocescope\", charset=\"UTF-8\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, ask);
    response
}

/// What a request asks for, and what is wrong with it.
struct Wanted {
    view: View,
    row: Option<String>,
    error: Option<String>,
}

impl Site {
    fn read(&self, query: Option<&str>) -> Wanted {
        let now = match self.board.has_new_rows() {
            true => (self.clock)(),
            // A dataset that ended long ago: times are relative to its end.
            false => self.board.end().unwrap_or_else(&*self.clock),
        };
        let (view, row, error) = view::read(query.unwrap_or_default(), &self.names, now, self.board.has_new_rows());
        Wanted { view, row, error }
    }

    fn watch(&self, view: &View) -> Option<watch::Receiver<Option<Arc<Shown>>>> {
        self.board.watch(view, Instant::now())
    }

    /// What a view shows now; waits until it is rendered.
    async fn shown(&self, view: &View) -> Result<Arc<Shown>, Response<Body>> {
        let Some(mut receiver) = self.watch(view) else {
            return Err(too_many());
        };
        self.feed.asked();
        let rendered = tokio::time::timeout(RENDERED, receiver.wait_for(Option::is_some)).await;
        let shown = match rendered {
            Ok(Ok(shown)) => shown.clone(),
            _ => None,
        };
        shown.ok_or_else(|| {
            plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "reading the rows takes too long: ask for a shorter time\n",
            )
        })
    }
}

fn too_many() -> Response {
    plain(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many different times and filters are looked at: try again in a minute\n",
    )
}
