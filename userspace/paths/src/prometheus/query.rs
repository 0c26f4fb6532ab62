//! The paths that are asked for: `/api/v1/query`, an instant query.
//!
//! Source: Prometheus, *HTTP API*, "Instant queries", and *Querying basics*, "Range Vector Selectors".

use super::mapping::Metric;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;

/// What needs no escape in a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of the samples of a metric after `from_ns` up to `to_ns`, in milliseconds as the server keeps them.
/// `selection` is further matchers, such as `job="leafs"`.
pub(super) fn path(
    name: &str,
    labels: &BTreeMap<String, String>,
    selection: Option<&str>,
    from_ns: i64,
    to_ns: i64,
) -> String {
    let (from_ms, to_ms) = (from_ns.div_euclid(1_000_000), to_ns.div_euclid(1_000_000));
    let range_ms = (to_ms - from_ms).max(1);
    let mut matchers: Vec<String> = Vec::new();
    let metric = match name.strip_prefix('*') {
        None => name,
        Some(end) => {
            matchers.push(format!("__name__=~\".*{end}\""));
            ""
        }
    };
    matchers.extend(labels.iter().map(|(label, value)| format!("{label}={}", quoted(value))));
    matchers.extend(selection.map(str::to_owned));
    let query = format!("{metric}{{{}}}[{range_ms}ms]", matchers.join(","));
    let query = utf8_percent_encode(&query, ESCAPED);
    format!(
        "/api/v1/query?query={query}&time={}.{:03}",
        to_ms.div_euclid(1_000),
        to_ms.rem_euclid(1_000)
    )
}

/// A text in quotation marks, as the query language reads it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

impl Metric {
    pub(super) fn path(&self, selection: Option<&str>, from_ns: i64, to_ns: i64) -> String {
        path(&self.name, &self.labels, selection, from_ns, to_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::path;
    use percent_encoding::percent_decode_str;

    #[test]
    fn a_query_selects_a_range_with_all_matchers() {
        let labels = [("type".to_owned(), "a \"b\"\\".to_owned())].into();
        let asked = path(
            "*_in_octets",
            &labels,
            Some("job=\"leafs\""),
            1_000_000_000,
            31_500_000_000,
        );
        let asked = percent_decode_str(&asked).decode_utf8().unwrap();
        assert_eq!(
            asked,
            r#"/api/v1/query?query={__name__=~".*_in_octets",type="a \"b\"\\",job="leafs"}[30500ms]&time=31.500"#
        );
        assert!(
            path("up", &[].into(), None, 0, 1_000_000).starts_with("/api/v1/query?query=up%7B%7D%5B1ms%5D&time=0.001")
        );
    }
}
