//! The output of perftest: `ib_write_bw` and `ib_write_lat`, as text or with `--out_json`.

use super::{Measurement, Nic, figure};
use crate::hostping::refusal::{Refusal, line_number};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// What the columns of a table are.
#[derive(Clone, Copy)]
struct Columns {
    /// Number of values in a line: the size is the first.
    count: usize,
    /// Average bandwidth, and its factor to Gbit/s.
    bandwidth: Option<(usize, f64)>,
    /// Typical latency, in microseconds.
    latency: Option<usize>,
}

/// perftest counts 2^20 bytes as one MB.
const MIB_TO_GBIT: f64 = 1_048_576.0 * 8.0 / 1e9;

pub(super) fn read(text: &str) -> Result<Vec<Measurement>, Refusal> {
    let mut all: Vec<Measurement> = Vec::new();
    let mut device: Option<String> = None;
    let mut gpu: Option<String> = None;
    let mut columns: Option<Columns> = None;
    for (at, line) in text.lines().enumerate() {
        if let Some((_, rest)) = line.split_once("Device         :") {
            device = rest.split_whitespace().next().map(ToString::to_string);
        } else if let Some(number) = line.trim().strip_prefix("Picking device No. ") {
            gpu = Some(format!("GPU{}", number.trim()));
        } else if line.trim_start().starts_with("#bytes") {
            columns = Some(heading(line).map_err(|why| Refusal::at(line_number(at), why))?);
        } else if let Some(columns) = columns
            && line.trim_start().starts_with(|first: char| first.is_ascii_digit())
        {
            let values: Option<Vec<f64>> = line.split_whitespace().map(figure).collect();
            // The server prints a line of its own, without what only the client knows.
            let Some(values) = values.filter(|values| values.len() >= columns.count) else {
                let message = format!("expected {} numbers, as the heading names them", columns.count);
                return Err(Refusal::at(line_number(at), message));
            };
            let new = Measurement {
                nic: device.clone().map_or(Nic::Every, Nic::Name),
                endpoint: gpu.clone(),
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a size of a message, which is not negative"
                )]
                size_bytes: Some(values[0] as u64),
                bandwidth_gbps: columns.bandwidth.map(|(at, factor)| values[at] * factor),
                latency_us: columns.latency.map(|at| values[at]),
                ..Measurement::default()
            };
            // A loopback test prints the lines of both its ends.
            if !all.contains(&new) {
                all.push(new);
            }
        }
    }
    Ok(all)
}

fn heading(line: &str) -> Result<Columns, String> {
    // Names of columns hold spaces; units close with a bracket.
    let rest = line.replace("BW peak", "BW_peak").replace("BW average", "BW_average");
    let names: Vec<&str> = rest.split_whitespace().collect();
    let place = |lead: &str| names.iter().position(|name| name.starts_with(lead));
    let bandwidth = match place("BW_average") {
        None => None,
        Some(at) if names[at].contains("[Gb/sec]") => Some((at, 1.0)),
        Some(at) if names[at].contains("[MB/sec]") => Some((at, MIB_TO_GBIT)),
        Some(at) => return Err(format!("`{}`: expected a unit of Gb/sec or MB/sec", names[at])),
    };
    let latency = place("t_typical").or_else(|| place("t_avg"));
    if bandwidth.is_none() && latency.is_none() {
        return Err("neither `BW average` nor `t_typical`: expected the heading of perftest".into());
    }
    Ok(Columns {
        count: bandwidth.map_or(0, |(at, _)| at).max(latency.unwrap_or_default()) + 1,
        bandwidth,
        latency,
    })
}

/// One object of `--out_json`. It has no unit, so that the bandwidth comes from the rate of messages.
pub(super) fn of_json(object: &Value) -> Result<Measurement, Refusal> {
    let results = &object["results"];
    let refuse = |what: &str| Refusal::at(1, format!("perftest's JSON has no {what} in `results`"));
    let size = results["MsgSize"].as_u64().ok_or_else(|| refuse("`MsgSize`"))?;
    let latency_us = results["t_typical"].as_f64().or_else(|| results["t_avg"].as_f64());
    let rate = results["MsgRate"].as_f64();
    if rate.is_none() && latency_us.is_none() {
        return Err(refuse("`MsgRate` or `t_typical`"));
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes of messages are below 2^53")]
    let bytes = size as f64;
    let device = object["test_info"]["Device"].as_str();
    Ok(Measurement {
        nic: device.map_or(Nic::Every, |device| Nic::Name(device.to_string())),
        size_bytes: Some(size),
        bandwidth_gbps: rate.map(|millions| millions * bytes * 8.0 / 1e3),
        latency_us,
        ..Measurement::default()
    })
}
