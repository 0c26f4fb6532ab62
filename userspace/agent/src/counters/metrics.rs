//! The counters of a host as `OpenMetrics`, under the names of `node_exporter` and `rdma_exporter`.
//!
//! Only metrics of the catalogue are series: their number is bounded by the ports of the host, whatever its drivers
//! count. Names of one driver that belong to one metric are one series, their sum.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_model::CounterRow;
use rocescope_model::catalogue::{Kind, Metric};
use rocescope_runtime::metrics::page;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names of `node_exporter`, for the counters of the InfiniBand specification and the host.
/// Source: <https://github.com/prometheus/node_exporter>, collectors `infiniband` and `meminfo`.
const NODE: &[(&str, &str)] = &[
    ("VL15_dropped", "node_infiniband_vl15_dropped"),
    (
        "excessive_buffer_overrun_errors",
        "node_infiniband_excessive_buffer_overrun_errors",
    ),
    ("link_downed", "node_infiniband_link_downed"),
    ("link_error_recovery", "node_infiniband_link_error_recovery"),
    (
        "local_link_integrity_errors",
        "node_infiniband_local_link_integrity_errors",
    ),
    ("memory_available", "node_memory_MemAvailable_bytes"),
    ("memory_total", "node_memory_MemTotal_bytes"),
    ("multicast_rcv_packets", "node_infiniband_multicast_packets_received"),
    (
        "multicast_xmit_packets",
        "node_infiniband_multicast_packets_transmitted",
    ),
    ("phys_state", "node_infiniband_physical_state_id"),
    (
        "port_rcv_constraint_errors",
        "node_infiniband_port_constraint_errors_received",
    ),
    ("port_rcv_data", "node_infiniband_port_data_received_bytes"),
    ("port_rcv_discards", "node_infiniband_port_discards_received"),
    ("port_rcv_errors", "node_infiniband_port_errors_received"),
    ("port_rcv_packets", "node_infiniband_port_packets_received"),
    (
        "port_rcv_remote_physical_errors",
        "node_infiniband_port_receive_remote_physical_errors",
    ),
    (
        "port_rcv_switch_relay_errors",
        "node_infiniband_port_receive_switch_relay_errors",
    ),
    (
        "port_xmit_constraint_errors",
        "node_infiniband_port_constraint_errors_transmitted",
    ),
    ("port_xmit_data", "node_infiniband_port_data_transmitted_bytes"),
    ("port_xmit_discards", "node_infiniband_port_discards_transmitted"),
    ("port_xmit_packets", "node_infiniband_port_packets_transmitted"),
    ("port_xmit_wait", "node_infiniband_port_transmit_wait"),
    ("rate", "node_infiniband_rate_bytes_per_second"),
    ("state", "node_infiniband_state_id"),
    ("symbol_error", "node_infiniband_symbol_error"),
    ("unicast_rcv_packets", "node_infiniband_unicast_packets_received"),
    ("unicast_xmit_packets", "node_infiniband_unicast_packets_transmitted"),
];

/// Pause of priorities, as `rdma_exporter` names it: metric, name, direction.
const PAUSE: &[(&str, &str, &str)] = &[
    ("rx_pause_frames", "rdma_roce_pfc_pause_frames", "rx"),
    ("tx_pause_frames", "rdma_roce_pfc_pause_frames", "tx"),
    ("rx_pause_duration", "rdma_roce_pfc_pause_duration", "rx"),
    ("tx_pause_duration", "rdma_roce_pfc_pause_duration", "tx"),
    ("rx_pause_transitions", "rdma_roce_pfc_pause_transitions", "rx"),
];

/// The values of all counters: a reader updates them, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct CounterMetrics(Arc<Mutex<Values>>);

/// The values by series, then by the names that belong to it.
type Values = BTreeMap<Series, BTreeMap<String, f64>>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    metric: &'static str,
    device: String,
    port: Option<u16>,
    priority: Option<u8>,
    netdev: String,
}

impl CounterMetrics {
    /// Takes the rows of a read: those that changed suffice.
    pub fn update(&self, rows: &[CounterRow]) {
        let mut values = self.lock();
        for row in rows {
            if row.event.as_deref() == Some("vanished") {
                values.retain(|series, _| *series.device != *row.device);
            }
            let Some(metric) = row.metric.as_deref().and_then(Metric::named) else {
                continue;
            };
            let series = Series {
                metric: metric.name,
                device: row.device.to_string(),
                port: row.port,
                priority: row.priority,
                netdev: row.netdev.as_deref().unwrap_or_default().to_owned(),
            };
            let names = values.entry(series).or_default();
            // A driver that reports an error as -1: a counter is never negative.
            let is_counter = metric.kind == Kind::Counter;
            match row.value.filter(|value| !is_counter || *value >= 0.0) {
                Some(value) => names.insert(format!("{}/{}", row.source, row.name), value),
                // Unreadable: unknown, not its last value.
                None => names.remove(&format!("{}/{}", row.source, row.name)),
            };
        }
        values.retain(|_, names| !names.is_empty());
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        // Values are consistent after every update, even if a thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The page that a scrape returns.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn page(metrics: &CounterMetrics, observer: &str) -> Result<String, fmt::Error> {
    page::page_of_others(observer, Box::new(Page(metrics.clone())))
}

#[derive(Debug)]
struct Page(CounterMetrics);

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let values = self.0.lock();
        for metric in Metric::all() {
            let all = values
                .iter()
                .filter(|(series, _)| family(series.metric).0 == family(metric.name).0);
            // Metrics that share a family are written with the first of them.
            let is_first = Metric::all().find(|other| family(other.name).0 == family(metric.name).0) == Some(metric);
            let mut all = all.peekable();
            if !is_first || all.peek().is_none() {
                continue;
            }
            let (name, _) = family(metric.name);
            let kind = match metric.kind {
                Kind::Counter => MetricType::Counter,
                Kind::Gauge | Kind::State => MetricType::Gauge,
            };
            let help = metric.help.trim_end_matches('.');
            let mut family = encoder.encode_descriptor(&name, help, None, kind)?;
            for (series, names) in all {
                // The rate of a port is in bytes there.
                let factor = if series.metric == "rate" { 0.125 } else { 1.0 };
                let value = names.values().sum::<f64>() * factor;
                let labels = labels(series);
                let labels = labels.as_slice();
                let encoder = family.encode_family(&labels)?;
                match metric.kind {
                    Kind::Counter => ConstCounter::new(value).encode(encoder)?,
                    Kind::Gauge | Kind::State => ConstGauge::new(value).encode(encoder)?,
                }
            }
        }
        Ok(())
    }
}

/// The name of a metric's family, and the direction label if the family has one.
fn family(metric: &str) -> (String, Option<&'static str>) {
    if let Some((_, name)) = NODE.iter().find(|(known, _)| *known == metric) {
        return ((*name).to_owned(), None);
    }
    match PAUSE.iter().find(|(known, ..)| *known == metric) {
        Some((_, name, direction)) => ((*name).to_owned(), Some(direction)),
        None if metric.starts_with("rdma_") => (metric.to_owned(), None),
        None => (format!("rdma_{metric}"), None),
    }
}

fn labels(series: &Series) -> Vec<(&'static str, String)> {
    let mut labels = Vec::new();
    if series.device != "host" {
        labels.push(("device", series.device.clone()));
        labels.extend(series.port.map(|port| ("port", port.to_string())));
    }
    if let Some(priority) = series.priority {
        labels.push(("priority", priority.to_string()));
        labels.push(("netdev", series.netdev.clone()));
    }
    labels.extend(
        family(series.metric)
            .1
            .map(|direction| ("direction", direction.to_owned())),
    );
    labels
}

#[cfg(test)]
mod tests {
    use super::{CounterMetrics, NODE, PAUSE, page};
    use rocescope_model::CounterRow;
    use rocescope_model::catalogue::Metric;

    fn row(name: &'static str, metric: &'static str, value: Option<f64>) -> CounterRow {
        CounterRow {
            device: "mlx5_0".into(),
            port: Some(1),
            name: name.into(),
            metric: Some(metric.into()),
            value,
            ..CounterRow::default()
        }
    }

    #[test]
    fn every_named_metric_is_in_the_catalogue() {
        let pause = PAUSE.iter().map(|(metric, ..)| metric);
        for metric in NODE.iter().map(|(metric, _)| metric).chain(pause) {
            assert!(Metric::named(metric).is_some(), "{metric}");
        }
    }

    #[test]
    fn series_have_the_names_that_dashboards_know() {
        let metrics = CounterMetrics::default();
        let pause = CounterRow {
            priority: Some(3),
            netdev: Some("eth2".into()),
            ..row("tx_prio3_pause", "tx_pause_frames", Some(9.0))
        };
        metrics.update(&[
            row("port_rcv_data", "port_rcv_data", Some(4_000.0)),
            row("rate", "rate", Some(8e9)),
            row("np_cnp_sent", "np_cnp_sent", Some(5.0)),
            pause,
            CounterRow {
                metric: None,
                ..row("counter_of_a_ring", "", Some(1.0))
            },
        ]);
        let text = page(&metrics, "h").unwrap();
        let has = |line: &str| assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        has("node_infiniband_port_data_received_bytes_total{observer=\"h\",device=\"mlx5_0\",port=\"1\"} 4000.0");
        has("node_infiniband_rate_bytes_per_second{observer=\"h\",device=\"mlx5_0\",port=\"1\"} 1000000000.0");
        has("rdma_np_cnp_sent_total{observer=\"h\",device=\"mlx5_0\",port=\"1\"} 5.0");
        has(
            "rdma_roce_pfc_pause_frames_total{observer=\"h\",device=\"mlx5_0\",port=\"1\",priority=\"3\",\
             netdev=\"eth2\",direction=\"tx\"} 9.0",
        );
        assert!(!text.contains("ring"), "{text}");
    }

    #[test]
    fn names_of_one_metric_add_up_and_what_is_unknown_is_no_series() {
        let metrics = CounterMetrics::default();
        metrics.update(&[
            row("ip4InPkts", "port_rcv_packets", Some(3.0)),
            row("ip6InPkts", "port_rcv_packets", Some(4.0)),
            row("symbol_error", "symbol_error", Some(1.0)),
        ]);
        let value = |name: &str| {
            let text = page(&metrics, "h").unwrap();
            let line = text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
            line.and_then(|line| Some(line.rsplit_once(' ')?.1.to_owned()))
        };
        assert_eq!(value("node_infiniband_port_packets_received_total"), Some("7.0".into()));
        metrics.update(&[
            row("ip6InPkts", "port_rcv_packets", Some(6.0)),
            row("symbol_error", "symbol_error", None),
        ]);
        assert_eq!(value("node_infiniband_port_packets_received_total"), Some("9.0".into()));
        assert_eq!(value("node_infiniband_symbol_error_total"), None);
        metrics.update(&[
            row("symbol_error", "symbol_error", Some(-1.0)),
            row("rdma_recvs", "rdma_recvs", Some(4.0)),
        ]);
        assert_eq!(value("node_infiniband_symbol_error_total"), None);
        assert_eq!(value("rdma_recvs_total"), Some("4.0".into()));
        let vanished = CounterRow {
            event: Some("vanished".into()),
            port: None,
            ..row("present", "present", Some(0.0))
        };
        metrics.update(&[vanished]);
        assert_eq!(value("node_infiniband_port_packets_received_total"), None);
        assert_eq!(value("rdma_present{"), Some("0.0".into()));
    }
}
