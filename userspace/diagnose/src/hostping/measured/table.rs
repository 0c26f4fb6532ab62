//! Matrices as text, as on Hostping's slides:
//!
//! ```text
//! Bandwidth matrices (Gbps)
//! ************ loopback ************
//!          mem0    mem1    GPU0
//! mlx5_0 197.928 195.544 194.636
//! ```
//!
//! A title with a unit in parentheses states what the numbers are; without one they are Gbit/s. `-` is not measured.

use super::matrix::Quantity;
use super::{Measurement, Nic, figure};
use crate::hostping::refusal::{Refusal, line_number};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What the numbers of a table are, and their factor to Gbit/s or microseconds.
#[derive(Clone, Copy)]
struct Unit {
    quantity: Quantity,
    factor: f64,
}

const GBPS: Unit = Unit {
    quantity: Quantity::Bandwidth,
    factor: 1.0,
};

pub(super) fn read(text: &str) -> Result<Vec<Measurement>, Refusal> {
    let mut all: Vec<Measurement> = Vec::new();
    let mut unit = GBPS;
    let mut columns: Vec<String> = Vec::new();
    // With the rows of a table, so that a NIC is in it once.
    let mut rows: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_rule = |word: &&str| word.contains("**");
        let Some(first) = words.first().filter(|first| !first.starts_with('#')) else {
            continue;
        };
        if words.iter().any(is_rule) {
            continue;
        }
        if let Some(title) = unit_of(line) {
            unit = title;
            columns.clear();
        } else if is_endpoint(first) {
            if let Some(word) = words.iter().find(|word| !is_endpoint(word)) {
                let message = format!("`{word}`: expected endpoints, such as mem0 or GPU3");
                return Err(Refusal::at(line_number(at), message));
            }
            columns = words.iter().map(ToString::to_string).collect();
            let mut sorted = columns.clone();
            sorted.sort();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Refusal::at(
                    line_number(at),
                    format!("the column {} is there twice", pair[0]),
                ));
            }
            rows.clear();
        } else if columns.is_empty() {
            // A title without a unit, or text around the table.
            if words.len() > 1 && words[1..].iter().all(|word| value(word).is_some()) {
                let message = "numbers without a heading: expected a line with the endpoints, such as `mem0 GPU0`";
                return Err(Refusal::at(line_number(at), message));
            }
        } else {
            if rows.iter().any(|row| row == first) {
                return Err(Refusal::at(line_number(at), format!("the row {first} is there twice")));
            }
            rows.push(first.to_string());
            row(&words, &columns, unit, &mut all).map_err(|why| Refusal::at(line_number(at), why))?;
        }
    }
    Ok(all)
}

/// Adds the values of a row.
fn row(words: &[&str], columns: &[String], unit: Unit, all: &mut Vec<Measurement>) -> Result<(), String> {
    let (nic, values) = words.split_first().ok_or("an empty row")?;
    if values.len() != columns.len() {
        return Err(format!(
            "{} values of {nic}: expected {}, one for each endpoint",
            values.len(),
            columns.len()
        ));
    }
    for (word, column) in values.iter().zip(columns) {
        let number = value(word).ok_or_else(|| format!("`{word}` at {column}: expected a number or `-`"))?;
        let Some(number) = number.map(|number| number * unit.factor) else {
            continue;
        };
        let same = |other: &&mut Measurement| {
            other.nic == Nic::Name(nic.to_string()) && other.endpoint.as_deref() == Some(column.as_str())
        };
        // The bandwidth and the latency of a pair are one measurement.
        let place = match all.iter_mut().find(same) {
            Some(place) => place,
            None => {
                all.push(Measurement {
                    nic: Nic::Name(nic.to_string()),
                    endpoint: Some(column.clone()),
                    ..Measurement::default()
                });
                let Some(last) = all.last_mut() else {
                    continue;
                };
                last
            }
        };
        let slot = match unit.quantity {
            Quantity::Bandwidth => &mut place.bandwidth_gbps,
            Quantity::Latency => &mut place.latency_us,
        };
        *slot = Some(number);
    }
    Ok(())
}

/// A value; the inner none is not measured.
fn value(word: &str) -> Option<Option<f64>> {
    match word {
        "-" | "N/A" | "n/a" => Some(None),
        _ => figure(word).map(Some),
    }
}

fn is_endpoint(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let digits = ["mem", "gpu", "numa"].iter().find_map(|lead| lower.strip_prefix(lead));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The unit in the parentheses of a title.
fn unit_of(line: &str) -> Option<Unit> {
    let inside = line.rsplit_once('(')?.1.split_once(')')?.0.trim();
    let latency = |factor| Unit {
        quantity: Quantity::Latency,
        factor,
    };
    match inside {
        "Gbps" | "Gb/s" | "Gbit/s" | "Gb/sec" => Some(GBPS),
        "GB/s" | "GBps" => Some(Unit { factor: 8.0, ..GBPS }),
        "us" | "µs" | "μs" | "usec" => Some(latency(1.0)),
        "ns" => Some(latency(1e-3)),
        _ => None,
    }
}
