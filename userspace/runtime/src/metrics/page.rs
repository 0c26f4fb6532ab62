//! The page of a scrape: metrics of the program, and those of its process.

use crate::resources;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use rocescope_model::Value;
use std::fmt;

/// Prefix of every name.
const PREFIX: &str = "rocescope";

/// A page of these metrics, each with the observer as label.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn page(observer: &str, values: Box<dyn Collector>) -> Result<String, fmt::Error> {
    let labels = [("observer".into(), observer.to_owned().into())].into_iter();
    let mut registry = Registry::with_prefix_and_labels(PREFIX, labels);
    registry.register_collector(values);
    whole(observer, &registry)
}

/// A page of metrics whose names other exporters have made known, without the prefix.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn page_of_others(observer: &str, values: Box<dyn Collector>) -> Result<String, fmt::Error> {
    let labels = [("observer".into(), observer.to_owned().into())].into_iter();
    let mut registry = Registry::with_labels(labels);
    registry.register_collector(values);
    whole(observer, &registry)
}

/// The page of a registry, and the metrics of this process.
fn whole(observer: &str, registry: &Registry) -> Result<String, fmt::Error> {
    // Prometheus and its dashboards know these names without a prefix.
    let mut process = Registry::with_labels([("observer".into(), observer.to_owned().into())].into_iter());
    process.register_collector(Box::new(Process));
    let mut page = String::new();
    text::encode_registry(&mut page, registry)?;
    text::encode_registry(&mut page, &process)?;
    text::encode_eof(&mut page)?;
    Ok(page)
}

/// The version of this program.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn build(encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let labels = [("version", env!("CARGO_PKG_VERSION"))];
    let help = "Version of rocescope; the value is always 1";
    let mut build = encoder.encode_descriptor("build_info", help, None, MetricType::Gauge)?;
    ConstGauge::new(1_i64).encode(build.encode_family(&labels)?)
}

/// The resources of this process.
/// Source: <https://prometheus.io/docs/instrumenting/writing_clientlibs/>, "Process metrics".
#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Total user and system CPU time spent in seconds";
        let spent = ConstCounter::new(resources::processor_seconds());
        let name = "process_cpu_seconds";
        spent.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        let memory = resources::memory();
        let gauges = [
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                memory.map(|memory| memory.resident_bytes as f64),
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes",
                memory.map(|memory| memory.virtual_bytes as f64),
            ),
            (
                "process_open_fds",
                "Number of open file descriptors",
                resources::open_files().map(|files| files as f64),
            ),
            (
                "process_max_fds",
                "Maximum number of open file descriptors",
                resources::max_files().map(|files| files as f64),
            ),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds",
                resources::start_seconds(),
            ),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                gauge(&mut encoder, name, help, value)?;
            }
        }
        Ok(())
    }
}

/// The number in a cell; `None` for null and text.
#[must_use]
pub fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    }
}

/// The sum in a cell; 0 for null.
#[must_use]
pub fn count(value: &Value<'_>) -> u64 {
    match value {
        Value::I64(number) => number.unsigned_abs(),
        _ => 0,
    }
}

/// Writes a counter.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, count: u64) -> fmt::Result {
    let counter = ConstCounter::new(count);
    counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

/// Whether the dataset is not written at the moment.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn storing_stopped(encoder: &mut DescriptorEncoder<'_>, is_stopped: bool) -> fmt::Result {
    let text = "1 while no row is stored: the disk is full, or the dataset cannot be written for another reason";
    gauge(encoder, "storing_stopped", text, f64::from(u8::from(is_stopped)))
}

/// Writes a gauge.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> fmt::Result {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}
