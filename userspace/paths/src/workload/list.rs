//! A list of flows: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, "10.0.0.1:49153>10.0.1.1:4791"]`.

use super::{RatedFlow, Workload};
use serde_json::Value;
use std::collections::BTreeSet;

/// Reads a list, or an object whose member `flows` is one, as `rocescope paths flows -o json` prints it.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(text: &str) -> Result<Workload, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let entries = match document {
        Value::Array(entries) => entries,
        Value::Object(mut object) => match object.remove("flows") {
            Some(Value::Array(entries)) => entries,
            _ => return Err("no array `flows`: expected a list of flows".into()),
        },
        _ => return Err("expected a list of flows".into()),
    };
    let mut workload = Workload::default();
    let mut seen = BTreeSet::new();
    for (number, entry) in (1..).zip(entries) {
        let flow: RatedFlow = match entry {
            Value::String(text) => {
                let flow = text
                    .parse()
                    .map_err(|()| format!("flow {number}: `{text}` is not `SRC:PORT>DST:PORT`"))?;
                RatedFlow { flow, bps: None }
            }
            other => serde_json::from_value(other).map_err(|error| format!("flow {number}: {error}"))?,
        };
        if flow.bps.is_some_and(|bps| bps < 0.0) {
            return Err(format!("flow {number}: `bps` is no rate"));
        }
        if flow.flow.src.is_ipv4() != flow.flow.dst.is_ipv4() {
            return Err(format!("flow {number}: one address is IPv4, the other IPv6"));
        }
        if !seen.insert(flow.flow) {
            workload.skip("listed_again");
        }
        // Both, if only one has a rate: they become one flow.
        workload.flows.push(flow);
    }
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn flows_that_cannot_be_are_refused() {
        for (flow, reason) in [
            (
                r#"{"src": "10.0.0.1", "dst": "10.0.0.2", "src_port": 5, "bps": -4}"#,
                "flow 1: `bps` is no rate",
            ),
            (
                r#"{"src": "10.0.0.1", "dst": "fd00::2", "src_port": 5}"#,
                "flow 1: one address is IPv4, the other IPv6",
            ),
        ] {
            assert_eq!(parse(&format!("[{flow}]")).unwrap_err(), reason);
        }
    }

    #[test]
    fn a_flow_that_is_listed_again_is_counted() {
        let text = r#"["10.0.0.1:5>10.0.0.2:4791", {"src": "10.0.0.1", "dst": "10.0.0.2", "src_port": 5, "bps": 1.0}]"#;
        let mut read = parse(text).unwrap();
        read.settle();
        assert_eq!((read.flows.len(), read.skipped["listed_again"]), (1, 1));
        assert_eq!(read.flows[0].bps, Some(1.0));
    }
}
