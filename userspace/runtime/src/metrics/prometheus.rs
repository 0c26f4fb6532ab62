//! The page in the text format of Prometheus, for clients that do not accept `OpenMetrics`: older scrapers,
//! `promtool check metrics`, curl.
//!
//! The series are the same in both; in the text format the comments of a counter have the name of its series
//! (`_total`), and there is no end mark.
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>, "Text format details".

use std::collections::BTreeSet;

/// Converts an `OpenMetrics` page to the text format, version 0.0.4.
#[must_use]
pub fn page(open_metrics: &str) -> String {
    let counters: BTreeSet<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut page = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        let comment = line.strip_prefix("# ").and_then(|line| {
            let (keyword, rest) = line.split_once(' ')?;
            let (name, rest) = rest.split_once(' ')?;
            counters.contains(name).then_some((keyword, name, rest))
        });
        match comment {
            Some((keyword, name, rest)) => {
                page.extend(["# ", keyword, " ", name, "_total ", rest, "\n"]);
            }
            None => page.extend([line, "\n"]),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    #[test]
    fn comments_have_the_series_name_and_there_is_no_end_mark() {
        let open_metrics = "\
# HELP a Some counter
# TYPE a counter
a_total{observer=\"# TYPE x counter\"} 4
# HELP b a gauge
# TYPE b gauge
b 1.0
# EOF
";
        let expected = "\
# HELP a_total Some counter
# TYPE a_total counter
a_total{observer=\"# TYPE x counter\"} 4
# HELP b a gauge
# TYPE b gauge
b 1.0
";
        assert_eq!(super::page(open_metrics), expected);
    }
}
