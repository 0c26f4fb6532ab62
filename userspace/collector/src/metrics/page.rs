//! Metrics of a collector as `OpenMetrics`: agents, batches, refusals, members of its controller, the state of the mesh,
//! and faults of hosts.

use super::controller::{self, ControllerMetrics};
use super::diagnosed::{Diagnosed, Sums};
use super::help::HELP;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_model::{Row, Rule, SlaRow};
use rocescope_runtime::metrics::page::{self, build, count, counter, gauge, help, number};
use std::fmt;

/// The state of a collector.
#[derive(Clone, Debug, Default)]
pub struct CollectorMetrics {
    /// Connected agents.
    pub agents: usize,
    /// Whether the dataset cannot be written, so that agents keep their rows.
    pub storing_stopped: bool,
    /// Counters: name, help, count.
    pub counts: Vec<(&'static str, &'static str, u64)>,
    /// Refused peers and batches, by every possible reason.
    pub refusals: Vec<(&'static str, u64)>,
    /// What its controller knows, if it is one.
    pub controller: Option<ControllerMetrics>,
}

/// The page that a scrape returns; without a diagnosis, only the metrics of the collector itself.
///
/// # Errors
/// None is known, because the page is written to memory.
pub fn page(collector: CollectorMetrics, diagnosed: Option<&Diagnosed>, observer: &str) -> Result<String, fmt::Error> {
    let values = Values {
        collector,
        diagnosed: diagnosed.cloned(),
    };
    page::page(observer, Box::new(values))
}

#[derive(Debug)]
struct Values {
    collector: CollectorMetrics,
    diagnosed: Option<Diagnosed>,
}

impl Collector for Values {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        collector(&self.collector, &mut encoder)?;
        if let Some(controller) = &self.collector.controller {
            controller::encode(controller, &mut encoder)?;
        }
        if let Some(diagnosed) = &self.diagnosed {
            let sums = diagnosed.lock();
            windows(&sums, &mut encoder)?;
            host_faults(&sums, &mut encoder)?;
            diagnosed.incidents().encode(&mut encoder)?;
            diagnosed.owners().encode(&mut encoder)?;
            diagnosed.worst().encode(&mut encoder)?;
        }
        build(&mut encoder)
    }
}

fn collector(values: &CollectorMetrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Connected agents";
    gauge(encoder, "collector_agents", help, values.agents as f64)?;
    page::storing_stopped(encoder, values.storing_stopped)?;
    for (name, help, count) in &values.counts {
        let help = help.trim_end_matches('.');
        counter(encoder, &format!("collector_{name}"), help, *count)?;
    }
    let help = "Refused peers and batches";
    let name = "collector_refusals";
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    // All reasons from the beginning, because a rate needs an earlier value of the series.
    for (reason, count) in &values.refusals {
        let labels = [("reason", *reason)];
        ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Every class from the beginning, because a rate needs an earlier value of the series.
fn host_faults(sums: &Sums, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let text = "Faults of hosts that began, by class";
    let mut family = encoder.encode_descriptor("host_faults", text, None, MetricType::Counter)?;
    for (class, faults) in &sums.host_faults {
        ConstCounter::new(faults.began).encode(family.encode_family(&[("class", *class)])?)?;
    }
    let text = "Faults of hosts that go on, by class";
    let mut family = encoder.encode_descriptor("host_faults_open", text, None, MetricType::Gauge)?;
    for (class, faults) in &sums.host_faults {
        ConstGauge::new(faults.open as f64).encode(family.encode_family(&[("class", *class)])?)?;
    }
    Ok(())
}

fn windows(sums: &Sums, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    counter(encoder, "sla_windows", "Analyzed windows of the mesh", sums.windows)?;
    let text = "Windows of the mesh that were analyzed again because rows came late";
    counter(encoder, "sla_revised_windows", text, sums.revised)?;
    for (at, column) in SlaRow::TABLE.columns.iter().enumerate() {
        let name = format!("sla_{}", column.name);
        match (column.aggregate.time, &sums.last) {
            (rule, _) if rule.is_sum() => {
                counter(encoder, &name, help(HELP, &name, column), count(&sums.total.value(at)))?;
            }
            // Columns that identify the window are excluded.
            (Rule::Max | Rule::Ratio { .. }, Some(last)) => {
                if let Some(value) = number(&last.value(at)) {
                    gauge(encoder, &name, help(HELP, &name, column), value)?;
                }
            }
            _ => {}
        }
    }
    let text = "Verdicts on windows of the mesh, by class and kind of place";
    let mut family = encoder.encode_descriptor("verdicts", text, None, MetricType::Counter)?;
    for ((class, place_kind), count) in &sums.verdicts {
        let labels = [("class", class.as_str()), ("place_kind", place_kind)];
        ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}
