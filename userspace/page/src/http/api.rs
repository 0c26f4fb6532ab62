//! The documents and rows of the page as JSON, and rows as Parquet.

use super::answers::{JSON, answer, plain};
use super::{Shared, Wanted};
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use rocescope_diagnose::incidents::Document;
use rocescope_model::json::{self, Rows};
use rocescope_report::Report;
use rocescope_report::tables::{self, Table};
use rocescope_store::parquet;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// The documents, with what they are.
const DOCUMENTS: [(&str, &str); 2] = [
    ("report", "What `rocescope report -o json` prints of the same time"),
    (
        "incidents",
        "What is wrong, where, since when, who suffers and what to do",
    ),
];

/// What all of them take.
const PARAMETERS: [(&str, &str); 6] = [
    ("last", "The time up to the newest row, such as 1m, 1h or all"),
    (
        "from",
        "The start of the time: 2026-11-21T02:30:09Z, 12:00 (today), -1h; in UTC",
    ),
    ("to", "The end of the time, as from"),
    (
        "q",
        "Only flows, connections and events that match this filter: docs/filter.md",
    ),
    (
        "by",
        "What traffic is grouped by: src, dst, qp, opcode, job, host or process",
    ),
    ("observer", "Only rows of this observer"),
];

pub(super) async fn rows(State(site): State<Shared>, Path(name): Path<String>, RawQuery(query): RawQuery) -> Response {
    let table = Table::ALL
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, table)| *table);
    if table.is_none() && !DOCUMENTS.iter().any(|(known, _)| *known == name) {
        let known = DOCUMENTS
            .iter()
            .map(|(name, _)| *name)
            .chain(Table::ALL.iter().map(|(name, _)| *name));
        let known: Vec<&str> = known.collect();
        return plain(
            StatusCode::NOT_FOUND,
            format!("there is no {name}: there are {}\n", known.join(", ")),
        );
    }
    let Wanted { view, error, .. } = site.read(query.as_deref());
    if let Some(error) = error {
        return plain(StatusCode::BAD_REQUEST, error + "\n");
    }
    let format = query.as_deref().and_then(|query| {
        let mut parts = form_urlencoded::parse(query.as_bytes());
        parts
            .find(|(name, _)| name == "format")
            .map(|(_, format)| format.into_owned())
    });
    let shown = match site.shown(&view).await {
        Ok(shown) => shown,
        Err(refusal) => return refusal,
    };
    let Some(report) = &shown.report else {
        let error = shown.error.clone().unwrap_or_default();
        return plain(StatusCode::SERVICE_UNAVAILABLE, error + "\n");
    };
    let text = match (table, format.as_deref()) {
        (Some(table), Some("parquet")) => return packed(report, table, &name),
        (Some(table), None | Some("json")) => tables::table(report, table, |cells| {
            json::pretty(&Rows(cells, json::no_sketch)) + "\n"
        }),
        (None, None | Some("json")) if name == "incidents" => {
            report.incidents.as_ref().map_or_else(|| "{}\n".into(), Document::json)
        }
        (None, None | Some("json")) => rocescope_report::json::document(report),
        (None, Some("parquet")) => {
            return plain(
                StatusCode::BAD_REQUEST,
                format!("{name} is a document, not a table: it has no rows\n"),
            );
        }
        (_, Some(other)) => {
            return plain(
                StatusCode::BAD_REQUEST,
                format!("unknown format {other}: expected json or parquet\n"),
            );
        }
    };
    answer(StatusCode::OK, JSON, report.origin.hosts.json(&text))
}

/// The rows of a table as a Parquet file.
fn packed(report: &Report, table: Table, name: &str) -> Response {
    let file = RefCell::new(None);
    let _ = tables::table(report, table, |cells| {
        *file.borrow_mut() = Some(parquet(cells));
        String::new()
    });
    match file.into_inner() {
        Some(Ok(file)) => {
            let mut response = answer(StatusCode::OK, "application/vnd.apache.parquet", file);
            if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.parquet\"")) {
                response.headers_mut().insert(CONTENT_DISPOSITION, name);
            }
            response
        }
        Some(Err(error)) => plain(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        None => plain(StatusCode::INTERNAL_SERVER_ERROR, "the table has no rows\n"),
    }
}

/// What the page itself does: views, viewers, and what was refused or missed.
pub(super) async fn status(State(site): State<Shared>) -> Response {
    let (views, viewers, refused_views) = site.board.counts();
    let status = json!({
        "views": views,
        "viewers": viewers,
        "refused_views": refused_views,
        "refused_connections": site.refused.load(Ordering::Relaxed),
        "missed_windows": site.feed.dropped(),
        "unread_batches": site.board.unread.load(Ordering::Relaxed),
        "rows_until": site.board.end().map(|end| end.to_string()),
    });
    answer(StatusCode::OK, JSON, json::pretty(&status) + "\n")
}

/// A description of all of these (`OpenAPI` 3.1).
pub(super) async fn description() -> Response {
    let parameters: Vec<Value> = PARAMETERS
        .iter()
        .map(|(name, what)| json!({"name": name, "in": "query", "description": what, "schema": {"type": "string"}}))
        .collect();
    let mut paths = serde_json::Map::new();
    let json_only = || json!({"200": {"description": "The document", "content": {"application/json": {}}}});
    for (name, what) in DOCUMENTS {
        let get = json!({"summary": what, "parameters": parameters, "responses": json_only()});
        paths.insert(format!("/api/{name}"), json!({ "get": get }));
    }
    let formats = json!({"name": "format", "in": "query", "schema": {"type": "string", "enum": ["json", "parquet"]}});
    let of_rows: Vec<Value> = parameters.iter().cloned().chain([formats]).collect();
    for (name, table) in Table::ALL {
        let content = json!({"application/json": {}, "application/vnd.apache.parquet": {}});
        let get = json!({
            "summary": table.meaning(),
            "parameters": of_rows,
            "responses": {"200": {"description": "The rows", "content": content}},
        });
        paths.insert(format!("/api/{name}"), json!({ "get": get }));
    }
    let get = json!({"summary": "What the page itself does", "responses": json_only()});
    paths.insert("/api/status".into(), json!({ "get": get }));
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "rocescope", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
    });
    answer(StatusCode::OK, JSON, json::pretty(&document) + "\n")
}
