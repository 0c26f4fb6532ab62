//! Paths as JSON: `[{"flow": …, "hops": [["leaf1", "eth5"], …], "bps": 1e9}]`.
//!
//! A hop is a node and the port by which the flow leaves it. A flow is an object with addresses and ports, or any text.

use crate::Flow;
use rocescope_diagnose::paths::Hop;
use serde::Deserialize;
use serde_json::Value;

/// The outcome of a path that reaches its destination.
pub const COMPLETE: &str = "complete";

/// The path of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPath {
    /// Name of the flow: `10.0.0.1:49152>10.0.0.2:4791`, or the text of the file.
    pub name: String,
    /// The flow, if the file has its addresses and ports.
    pub flow: Option<Flow>,
    /// The egress port of each node, in order. Empty unless the path is complete: where it goes on is unknown, and a part of
    /// it would look like an uneven load.
    pub hops: Vec<Hop>,
    /// Its rate in bit/s.
    pub bps: Option<f64>,
}

#[derive(Deserialize)]
struct Entry {
    flow: Value,
    hops: Vec<Value>,
    /// How the discovery ended; absent in other files.
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    bps: Option<f64>,
}

/// Reads paths: an array, or an object whose member `paths` is that array, as `rocescope paths discover -o json`
/// prints it.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(text: &str) -> Result<Vec<KnownPath>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let entries = match document {
        Value::Array(entries) => entries,
        Value::Object(mut object) => match object.remove("paths") {
            Some(Value::Array(entries)) => entries,
            _ => return Err("no array `paths`: expected an array of paths".into()),
        },
        _ => return Err("expected an array of paths".into()),
    };
    let entries = (1..).zip(entries);
    entries
        .map(|(number, entry)| known(entry).map_err(|error| format!("path {number}: {error}")))
        .collect()
}

fn known(entry: Value) -> Result<KnownPath, String> {
    let entry: Entry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let (name, flow) = match entry.flow {
        Value::String(text) => {
            let flow: Option<Flow> = text.parse().ok();
            (text, flow)
        }
        Value::Object(object) => {
            let name = Value::Object(object.clone()).to_string();
            let flow: Option<Flow> = serde_json::from_value(Value::Object(object)).ok();
            (flow.map_or(name, |flow| flow.to_string()), flow)
        }
        other => (other.to_string(), None),
    };
    if entry.bps.is_some_and(|bps| !bps.is_finite() || bps < 0.0) {
        return Err(format!("`bps` of {name} is no rate"));
    }
    let is_complete = entry.outcome.is_none_or(|outcome| outcome == COMPLETE);
    let hops: Result<Vec<Hop>, String> = (1..).zip(entry.hops).map(hop).collect();
    let hops = if is_complete { hops? } else { Vec::new() };
    Ok(KnownPath {
        name,
        flow,
        hops,
        bps: entry.bps,
    })
}

fn hop((number, hop): (usize, Value)) -> Result<Hop, String> {
    let (node, port) = serde_json::from_value(hop.clone())
        .map_err(|_| format!("hop {number} is `{hop}`: expected the node and its port, `[\"leaf1\", \"eth5\"]`"))?;
    Ok(Hop(node, port))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_path_that_is_not_complete_has_no_hops() {
        let paths = parse(
            r#"[{"flow": "a", "outcome": "unreachable", "hops": [["leaf1", "eth5"]]},
                {"flow": "b", "outcome": "complete", "hops": [["leaf1", "eth5"]]}]"#,
        );
        let hops: Vec<usize> = paths.unwrap().iter().map(|path| path.hops.len()).collect();
        assert_eq!(hops, [0, 1]);
    }

    #[test]
    fn flows_are_texts_or_objects() {
        let paths = parse(
            r#"[{"flow": "a", "hops": [["leaf1", "eth5"]], "bps": 1e9},
                {"flow": {"src": "10.0.0.1", "dst": "10.0.0.2", "src_port": 49152}, "hops": []},
                {"flow": 3, "hops": []}]"#,
        );
        let paths = paths.unwrap();
        let names: Vec<&str> = paths.iter().map(|path| &*path.name).collect();
        assert_eq!(names, ["a", "10.0.0.1:49152>10.0.0.2:4791", "3"]);
        assert_eq!((paths[0].bps, &*paths[0].hops[0].1), (Some(1e9), "eth5"));
        assert!(paths[1].flow.is_some() && paths[2].flow.is_none());
        let error = parse(r#"{"paths": [{"flow": "a", "hops": [["leaf1"]]}]}"#).unwrap_err();
        assert!(error.starts_with("path 1: hop 1 is `[\"leaf1\"]`: expected"), "{error}");
    }
}
