//! The samples in an answer of the server.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Answer<'a> {
    status: Cow<'a, str>,
    error: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(rename = "resultType")]
    kind: Cow<'a, str>,
    /// Each is read when its turn comes: all of them together would take several times the memory of the answer.
    #[serde(borrow)]
    result: Vec<&'a RawValue>,
}

/// A series: its labels and samples.
#[derive(Deserialize)]
pub(super) struct Series<'a> {
    #[serde(borrow, rename = "metric")]
    pub(super) labels: HashMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(borrow, default)]
    values: Vec<(f64, Cow<'a, str>)>,
}

impl Series<'_> {
    /// A label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels
            .get(name)
            .map(|value| &**value)
            .filter(|value| !value.is_empty())
    }

    /// Time in nanoseconds, to the millisecond as the server keeps it, and value of each sample.
    pub(super) fn samples(&self) -> impl Iterator<Item = (i64, f64)> {
        let numbers = self
            .values
            .iter()
            .filter_map(|(s, text)| Some((*s, text.parse().ok()?)));
        numbers
            .filter(|(s, _)| s.is_finite())
            .map(|(s, value)| (milliseconds(s).saturating_mul(1_000_000), value))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "larger times saturate")]
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1e3).round() as i64
}

/// Passes on each series of an answer.
pub(super) fn series(answer: &[u8], mut each: impl FnMut(&Series<'_>)) -> Result<(), String> {
    let read: Answer<'_> =
        serde_json::from_slice(answer).map_err(|error| format!("no answer of Prometheus: {error}"))?;
    if read.status != "success" {
        return Err(read
            .error
            .map_or_else(|| format!("status {}", read.status), Cow::into_owned));
    }
    let data = read.data.ok_or("an answer without data")?;
    if data.kind != "matrix" {
        return Err(format!("an answer of kind {}, expected matrix", data.kind));
    }
    for one in data.result {
        let one: Series<'_> = serde_json::from_str(one.get()).map_err(|error| format!("no series: {error}"))?;
        each(&one);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn samples_have_their_times_to_the_millisecond() {
        let answer = br#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"m","ifName":"Eth\"1","empty":""},"values":[[1435781430.781,"1"],[1435781440.781,"1.5e+09"],[3,"NaN"],[4,"x"]]},
            {"metric":{},"histograms":[]}]}}"#;
        let mut found = Vec::new();
        series(answer, |one| {
            let samples: Vec<_> = one.samples().filter(|sample| !sample.1.is_nan()).collect();
            found.push((
                one.label("ifName").map(str::to_owned),
                one.label("empty").is_some(),
                samples,
            ));
        })
        .unwrap();
        let samples = vec![(1_435_781_430_781_000_000, 1.0), (1_435_781_440_781_000_000, 1.5e9)];
        assert_eq!(found, [(Some("Eth\"1".into()), false, samples), (None, false, vec![])]);
    }

    #[test]
    fn what_is_no_matrix_is_one_error() {
        for (answer, expected) in [
            ("<html>", "no answer of Prometheus"),
            (
                r#"{"status":"error","errorType":"bad_data","error":"parse error"}"#,
                "parse error",
            ),
            (r#"{"status":"success"}"#, "without data"),
            (
                r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#,
                "kind vector",
            ),
            (
                r#"{"status":"success","data":{"resultType":"matrix","result":[7]}}"#,
                "no series",
            ),
            (
                r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric""#,
                "no answer of Prometheus",
            ),
        ] {
            let error = series(answer.as_bytes(), |_| ()).unwrap_err();
            assert!(error.contains(expected), "{answer}: {error}");
        }
    }
}
