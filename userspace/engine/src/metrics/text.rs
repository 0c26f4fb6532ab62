//! Metrics of a capture as `OpenMetrics`.

use super::gauge::{Metrics, Values};
use super::help::HELP;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_model::{EventRow, FlowRow, OpcodeRow, Row, Table, Type, Unit, Value, WindowRow};
use rocescope_runtime::metrics::page::{self, build, count, counter, gauge, help, number};
use std::fmt;

/// The labels that identify a flow.
const FLOW_LABELS: [&str; 6] = ["src", "dst", "udp_src_port", "dst_qpn", "vlan", "service"];

/// The page that a scrape returns.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn page(metrics: &Metrics, observer: &str) -> Result<String, fmt::Error> {
    page::page(observer, Box::new(Page(metrics.clone())))
}

#[derive(Debug)]
struct Page(Metrics);

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let values = self.0.lock();
        windows(&values, &mut encoder)?;
        opcodes(&values, &mut encoder)?;
        events(&values, &mut encoder)?;
        drops(&values, &mut encoder)?;
        not_stored(&values, &mut encoder)?;
        if let Some(incidents) = &values.incidents {
            incidents.encode(&mut encoder)?;
        }
        flows(&values, &mut encoder)?;
        round_trips(&values, &mut encoder)?;
        if let Some(worst) = &values.worst {
            worst.connections.encode(&mut encoder)?;
        }
        build(&mut encoder)
    }
}

fn windows(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    counter(encoder, "windows", "Closed windows of event time", values.windows)?;
    for (at, column) in WindowRow::TABLE.columns.iter().enumerate() {
        // What the capture does not measure is unknown, not 0.
        let value = values.total.value(at);
        if column.aggregate.time.is_sum() && value != Value::Null {
            counter(encoder, column.name, help(HELP, column.name, column), count(&value))?;
        }
    }
    let Some(last) = &values.last else {
        return Ok(());
    };
    for (at, column) in WindowRow::TABLE.columns.iter().enumerate() {
        let shown = matches!(column.unit, Unit::Flows | Unit::Ratio) && matches!(column.kind, Type::I64 | Type::F64);
        if let (true, Some(value)) = (shown, number(&last.value(at))) {
            gauge(encoder, column.name, help(HELP, column.name, column), value)?;
        }
    }
    let per_second = |count: u64| count as f64 * 1e9 / (last.window_ns.max(1)) as f64;
    let text = "Rate of RoCEv2 frames in the last window, in bits per second";
    gauge(encoder, "frame_bps", text, per_second(last.frame_bytes) * 8.0)?;
    let text = "Rate of RoCEv2 packets in the last window, in packets per second";
    gauge(encoder, "packets_pps", text, per_second(last.roce_packets))?;
    let text = "Start of the last window, in seconds since 1970 UTC";
    gauge(encoder, "window_start_seconds", text, last.window_start_ns as f64 / 1e9)
}

fn opcodes(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    for (at, name) in ["packets", "frame_bytes", "payload_bytes"].iter().enumerate() {
        let metric = format!("opcode_{name}");
        let (_, text) = of(OpcodeRow::TABLE, name, &metric);
        let mut family = encoder.encode_descriptor(&metric, text, None, MetricType::Counter)?;
        for (opcode, sums) in &values.opcodes {
            let labels = [("opcode", opcode.as_str())];
            let sum = ConstCounter::new(sums.get(at).copied().unwrap_or(0));
            sum.encode(family.encode_family(&labels)?)?;
        }
    }
    Ok(())
}

fn events(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let (_, text) = of(EventRow::TABLE, "count", "events");
    let mut family = encoder.encode_descriptor("events", text, None, MetricType::Counter)?;
    for (kind, count) in &values.events {
        let labels = [("kind", kind.as_str())];
        ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Round trips, if connections are tracked.
fn round_trips(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let Some(trips) = &values.round_trips else {
        return Ok(());
    };
    let text = "Round trips from request to acknowledgement at the tap, in seconds, counted within a minute";
    trips.encode(encoder.encode_descriptor("rtt_seconds", text, None, trips.metric_type())?)
}

/// Frames dropped before this program saw them; no window includes them.
fn drops(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let Some(drops) = &values.drops else {
        return Ok(());
    };
    if let Some(frames) = drops.interface_frames() {
        let text = "Capture loss: frames that the interfaces dropped since the capture began";
        counter(encoder, "interface_dropped_frames", text, frames)?;
    }
    let text = "Capture loss: frames dropped by a full packet socket since the capture began";
    counter(encoder, "socket_dropped_frames", text, drops.socket_frames())
}

/// What the dataset lacks.
fn not_stored(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let Some(not_stored) = &values.not_stored else {
        return Ok(());
    };
    let text = "Windows that are not in the dataset, because its disk was full or failed, or its directory vanished";
    counter(encoder, "not_stored_windows", text, not_stored.count())?;
    page::storing_stopped(encoder, not_stored.is_stopped())
}

/// The largest flows of the last window: gauges, because the flows change with the window.
fn flows(values: &Values, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    for name in ["frame_bps", "packets", "messages", "ecn_ce_packets"] {
        let metric = format!("flow_{name}");
        let (column, text) = of(FlowRow::TABLE, name, &metric);
        let mut family = encoder.encode_descriptor(&metric, text, None, MetricType::Gauge)?;
        for flow in &values.flows {
            let labels: Vec<(&str, String)> = FLOW_LABELS
                .iter()
                .map(|label| {
                    (
                        *label,
                        words(&flow.value(FlowRow::TABLE.position(label).unwrap_or(usize::MAX))),
                    )
                })
                .collect();
            let value = number(&flow.value(column)).unwrap_or(0.0);
            ConstGauge::new(value).encode(family.encode_family(&labels.as_slice())?)?;
        }
    }
    Ok(())
}

/// A column's position, and the help of its metric.
fn of(table: &'static Table, name: &str, metric: &str) -> (usize, &'static str) {
    let at = table.position(name).unwrap_or(usize::MAX);
    (
        at,
        table.columns.get(at).map_or("", |column| help(HELP, metric, column)),
    )
}

fn words(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::I64(number) => number.to_string(),
        _ => String::new(),
    }
}
