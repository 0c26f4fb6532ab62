//! A report as the content of the page.

use crate::view::View;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rocescope_model::Time;
use rocescope_report::Report;
use rocescope_report::html::page::{self, Times};
use rocescope_report::sections::Section;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a view shows.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Names the content, as in an `ETag`: it differs from that of any other content, also of an earlier process.
    pub(crate) version: String,
    pub(crate) content: Bytes,
    /// The same, compressed once for all viewers.
    pub(crate) packed: Bytes,
    /// The end of the time shown.
    pub(crate) until: Option<Time>,
    pub(crate) sections: Vec<Section>,
    /// The data, for programs; `None` if there is none because of the error.
    pub(crate) report: Option<Report>,
    /// Why there is nothing to show.
    pub(crate) error: Option<String>,
}

/// Renders the report of a view. `until` is the end of its time, if it is known.
pub(crate) fn shown(view: &View, report: Report, until: Option<Time>, error: Option<String>) -> Shown {
    let times = times(view, &report, until);
    let sections = page::sections(&report);
    let content = page::content(&report, &sections, &view.asked, &times, error.as_deref());
    of_content(content, sections, Some(report), until, error)
}

/// Shows why there is nothing else to show.
pub(crate) fn failed(error: String) -> Shown {
    of_content(page::failure(&error), Vec::new(), None, None, Some(error))
}

fn of_content(
    content: String,
    sections: Vec<Section>,
    report: Option<Report>,
    until: Option<Time>,
    error: Option<String>,
) -> Shown {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 4), Compression::fast());
    // Memory takes every byte.
    let packed = encoder.write_all(content.as_bytes()).and_then(|()| encoder.finish());
    Shown {
        version: version(),
        content: content.into(),
        packed: packed.unwrap_or_default().into(),
        until,
        sections,
        report,
        error,
    }
}

fn version() -> String {
    static BEGUN: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let begun = BEGUN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or(0)
    });
    format!("\"{begun:x}-{:x}\"", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The times before, of and after what a view shows.
fn times(view: &View, report: &Report, until: Option<Time>) -> Times {
    let shown = match view.span {
        crate::view::Span::Fixed(Some(from), Some(to)) => Some((from.0, to.0)),
        crate::view::Span::Last(length_ns) => until.map(|to| (to.0.saturating_sub(length_ns), to.0)),
        crate::view::Span::Fixed(..) => report.span_ns(),
    };
    let Some((from, to)) = shown else {
        return Times::default();
    };
    let length = to.saturating_sub(from);
    let pair = |from: i64, to: i64| Some((Time(from).to_string(), Time(to).to_string()));
    Times {
        before: pair(from.saturating_sub(length), from),
        shown: pair(from, to),
        after: pair(to, to.saturating_add(length)),
    }
}
