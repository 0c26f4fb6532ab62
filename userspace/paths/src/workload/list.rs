//! A list of flows: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, "10.0.0.1:49153>10.0.1.1:4791"]`.

use super::{RatedFlow, Workload};
use serde_json::Value;

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
    for (number, entry) in (1..).zip(entries) {
        let flow = match entry {
            Value::String(text) => {
                let flow = text
                    .parse()
                    .map_err(|()| format!("flow {number}: `{text}` is not `SRC:PORT>DST:PORT`"))?;
                RatedFlow { flow, bps: None }
            }
            other => serde_json::from_value(other).map_err(|error| format!("flow {number}: {error}"))?,
        };
        workload.flows.push(flow);
    }
    Ok(workload)
}
