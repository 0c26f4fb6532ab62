//! SuperBench: `results-summary.jsonl` and baselines, with metrics such as `ib-loopback/ib_write_bw_8388608:3` in GB/s.

use super::{Measurement, Nic};
use alloc::string::ToString;
use alloc::vec::Vec;
use serde_json::Value;

const LEAD: &str = "ib-loopback/ib_write_bw_";

/// Adds the loopback metrics of an object; others are skipped.
pub(super) fn of_json(object: &Value, all: &mut Vec<Measurement>) {
    let host = object["node"].as_str().map(ToString::to_string);
    for (name, value) in object.as_object().into_iter().flatten() {
        if let Value::Object(_) = value {
            of_json(value, all);
        }
        let (Some(rest), Some(value)) = (name.strip_prefix(LEAD), value.as_f64()) else {
            continue;
        };
        let (size, index) = rest
            .split_once(':')
            .map_or((rest, None), |(size, index)| (size, Some(index)));
        let (Ok(size), true) = (size.parse(), value.is_finite() && value >= 0.0) else {
            continue;
        };
        all.push(Measurement {
            host: host.clone(),
            nic: index
                .and_then(|index| index.parse().ok())
                .map_or(Nic::Every, Nic::Index),
            size_bytes: Some(size),
            bandwidth_gbps: Some(value * 8.0),
            ..Measurement::default()
        });
    }
}
