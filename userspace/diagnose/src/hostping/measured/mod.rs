//! What loopback tests measured, in the formats of those who measured it.
//!
//! | module | contents |
//! |---|---|
//! | `table` | matrices as text: a row for each NIC, a column for each endpoint |
//! | `perftest` | the text and JSON of `ib_write_bw` and `ib_write_lat` |
//! | `superbench` | the JSON of SuperBench's `ib-loopback` |
//! | [`matrix`] | measurements as a [`Matrix`] of NICs and endpoints, and its text |
//! | [`mod@fit`] | latency as a function of size |

pub mod fit;
pub mod matrix;
mod perftest;
mod superbench;
mod table;

pub use fit::{Fit, fit};
pub use matrix::{Matrix, Quantity};

use super::refusal::{Refusal, line_number};
use alloc::string::String;
use alloc::vec::Vec;

/// One test: a NIC wrote to an endpoint of its own host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurement {
    /// The host, if the source names it.
    pub host: Option<String>,
    /// The NIC.
    pub nic: Nic,
    /// The endpoint; none if the source does not name it: memory of the NIC's own NUMA node.
    pub endpoint: Option<String>,
    /// Size of a message in bytes.
    pub size_bytes: Option<u64>,
    /// Bandwidth in Gbit/s.
    pub bandwidth_gbps: Option<f64>,
    /// Latency of one operation, in microseconds.
    pub latency_us: Option<f64>,
}

/// How a source names a NIC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Nic {
    /// By its name.
    Name(String),
    /// By its place among the NICs of the host.
    Index(usize),
    /// Not at all: a figure for every NIC.
    #[default]
    Every,
}

/// Reads measurements in any of the formats.
///
/// # Errors
/// The line, and what is wrong there.
pub fn read(text: &str) -> Result<Vec<Measurement>, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let all = if text.trim_start().starts_with(['{', '[']) {
        json(text)?
    } else if text.contains("#bytes") {
        perftest::read(text)?
    } else {
        table::read(text)?
    };
    let end = line_number(text.lines().count().saturating_sub(1));
    if all.is_empty() {
        return Err(Refusal::at(
            end,
            "no measurement: expected a matrix, or the output of perftest or SuperBench",
        ));
    }
    Ok(all)
}

/// JSON: one object, or one on each line.
fn json(text: &str) -> Result<Vec<Measurement>, Refusal> {
    let mut all = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>() {
        let value = value.map_err(|error| {
            let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
            let error = alloc::format!("{error}");
            // The parser ends with its own line and column.
            let why = error.split(" at line ").next().unwrap_or(&error);
            Refusal::within(text, line, alloc::format!("no JSON: {why}"))
        })?;
        let objects = match value {
            serde_json::Value::Array(values) => values,
            value => alloc::vec![value],
        };
        for object in &objects {
            if object.get("results").is_some() {
                all.push(perftest::of_json(object)?);
            } else {
                superbench::of_json(object, &mut all);
            }
        }
    }
    Ok(all)
}

/// A finite number that is not negative.
fn figure(word: &str) -> Option<f64> {
    let number: f64 = word.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}
