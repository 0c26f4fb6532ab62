//! The page, its parts and its files.

use super::{Shared, Wanted};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use rocescope_report::html::page;

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
/// Rows of now are of now only.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const ICON: &str = include_str!("page.svg");

pub(super) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

pub(super) fn plain(status: StatusCode, text: impl Into<String>) -> Response {
    answer(status, "text/plain; charset=utf-8", text.into())
}

pub(super) async fn missing() -> Response {
    plain(
        StatusCode::NOT_FOUND,
        "there is no such page: / is the page, /api/openapi.json lists the rest\n",
    )
}

pub(super) async fn page(State(site): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let Wanted { view, row, error } = site.read(query.as_deref());
    let shown = match site.shown(&view).await {
        Ok(shown) => shown,
        Err(refusal) => return refusal,
    };
    let row = row.map(|row| page::fields(&shown.sections, &row).unwrap_or_else(page::no_fields));
    let bar = page::Bar {
        is_live: !matches!(view.span, crate::view::Span::Fixed(..)),
        error,
    };
    let content = String::from_utf8_lossy(&shown.content);
    let text = page::document(&site.title, &view.asked, &bar, &shown.version, &content, row.as_deref());
    answer(StatusCode::OK, HTML, text)
}

/// What changes with each window, compressed for those who take it.
pub(super) async fn sections(State(site): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let Wanted { view, .. } = site.read(query.as_deref());
    let shown = match site.shown(&view).await {
        Ok(shown) => shown,
        Err(refusal) => return refusal,
    };
    if headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known == shown.version.as_str())
    {
        return answer(StatusCode::NOT_MODIFIED, HTML, Body::empty());
    }
    let takes = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_packed = takes.is_some_and(|takes| takes.split(',').any(|one| one.trim().starts_with("gzip")));
    let body: Bytes = if is_packed {
        shown.packed.clone()
    } else {
        shown.content.clone()
    };
    let mut response = answer(StatusCode::OK, HTML, body);
    let headers = response.headers_mut();
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(version) = HeaderValue::from_str(&shown.version) {
        headers.insert(ETAG, version);
    }
    response
}

pub(super) async fn fields(State(site): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let Wanted { view, row, .. } = site.read(query.as_deref());
    let shown = match site.shown(&view).await {
        Ok(shown) => shown,
        Err(refusal) => return refusal,
    };
    match row.and_then(|row| page::fields(&shown.sections, &row)) {
        Some(fields) => answer(StatusCode::OK, HTML, fields),
        None => answer(StatusCode::NOT_FOUND, HTML, page::no_fields()),
    }
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let mut response = answer(StatusCode::OK, kind, text);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", page::STYLE)
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", page::SCRIPT)
}

pub(super) async fn icon() -> Response {
    file("image/svg+xml", ICON)
}
