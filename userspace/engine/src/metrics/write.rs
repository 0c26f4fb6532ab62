//! Writes a metric.

use crate::resources;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use rocescope_model::{Column, Value};
use std::fmt;

/// Prefix of every name.
const PREFIX: &str = "rocescope";

/// A page of these metrics, each with the observer as label.
pub(super) fn page(observer: &str, values: Box<dyn Collector>) -> Result<String, fmt::Error> {
    let labels = [("observer".into(), observer.to_owned().into())];
    let mut registry = Registry::with_prefix_and_labels(PREFIX, labels.into_iter());
    registry.register_collector(values);
    let mut page = String::new();
    text::encode(&mut page, &registry)?;
    Ok(page)
}

/// The resources of this process.
pub(super) fn own(encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let labels = [("version", env!("CARGO_PKG_VERSION"))];
    let mut build = encoder.encode_descriptor("build", "Version of rocescope", None, MetricType::Gauge)?;
    ConstGauge::new(1_i64).encode(build.encode_family(&labels)?)?;
    let help = "Processor time of this process, in seconds";
    let spent = ConstCounter::new(resources::processor_seconds());
    let name = "process_processor_seconds";
    spent.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
    let help = "Resident memory of this process, in bytes";
    let resident = resources::resident_bytes().unwrap_or(0) as f64;
    gauge(encoder, "process_resident_bytes", help, resident)
}

/// The help of a column as a phrase, like that of the other metrics.
pub(super) fn sentence(column: &Column) -> &'static str {
    column.help.trim_end_matches('.')
}

pub(super) fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    }
}

/// The sum in a cell; 0 for null.
pub(super) fn count(value: &Value<'_>) -> u64 {
    match value {
        Value::I64(number) => number.unsigned_abs(),
        _ => 0,
    }
}

pub(super) fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, count: u64) -> fmt::Result {
    let counter = ConstCounter::new(count);
    counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

pub(super) fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> fmt::Result {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}
