//! Metrics of a controller as `OpenMetrics`: where its members stand with the configuration in force.
//!
//! Series are bounded: members are counted by group, and groups beyond [`MAX_GROUPS`] count as `others`.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_runtime::metrics::page::gauge;
use std::collections::BTreeMap;
use std::fmt;

/// Groups that have series of their own.
pub const MAX_GROUPS: usize = 64;
/// The group of members that are in none.
const NO_GROUP: &str = "-";
const OTHERS: &str = "others";

/// What a controller knows.
#[derive(Clone, Debug, Default)]
pub struct ControllerMetrics {
    version: u64,
    standings: Vec<&'static str>,
    groups: BTreeMap<String, Group>,
    dropped: Vec<(&'static str, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    /// Members by where they stand.
    members: BTreeMap<&'static str, u64>,
    /// The lowest version that a connected member runs.
    oldest: Option<u64>,
}

impl ControllerMetrics {
    /// A controller with a version in force, the standings that a member may have with it, and the rows that agents
    /// dropped, by reason.
    #[must_use]
    pub fn new(
        version: u64,
        standings: impl IntoIterator<Item = &'static str>,
        dropped: impl IntoIterator<Item = (&'static str, u64)>,
    ) -> Self {
        Self {
            version,
            standings: standings.into_iter().collect(),
            groups: BTreeMap::new(),
            dropped: dropped.into_iter().collect(),
        }
    }

    /// Adds a member: its group, what it does with the version, and the version that it runs if it is connected.
    pub fn add(&mut self, group: Option<&str>, standing: &'static str, running: Option<u64>) {
        let group = group.unwrap_or(NO_GROUP);
        let is_known = self.groups.contains_key(group) || self.groups.len() < MAX_GROUPS;
        let group = if is_known { group } else { OTHERS };
        let group = self.groups.entry(group.to_owned()).or_default();
        *group.members.entry(standing).or_default() += 1;
        group.oldest = match (group.oldest, running) {
            (Some(oldest), Some(running)) => Some(oldest.min(running)),
            (oldest, running) => oldest.or(running),
        };
    }
}

pub(super) fn encode(controller: &ControllerMetrics, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let text = "Version of the configuration in force";
    gauge(encoder, "controller_version", text, controller.version as f64)?;
    let text = "Members, by group and by where they stand with the version in force";
    let mut family = encoder.encode_descriptor("controller_members", text, None, MetricType::Gauge)?;
    for (name, group) in &controller.groups {
        for standing in &controller.standings {
            let count = group.members.get(standing).copied().unwrap_or_default();
            let labels = [("group", name.as_str()), ("state", standing)];
            ConstGauge::new(count as f64).encode(family.encode_family(&labels)?)?;
        }
    }
    let text = "Lowest version that a connected member of the group runs; 0: its own configuration";
    let mut family = encoder.encode_descriptor("controller_oldest_version", text, None, MetricType::Gauge)?;
    for (name, group) in &controller.groups {
        if let Some(oldest) = group.oldest {
            ConstGauge::new(oldest as f64).encode(family.encode_family(&[("group", name.as_str())])?)?;
        }
    }
    let text = "Rows that agents dropped before the collector had them, by reason";
    let mut family = encoder.encode_descriptor("controller_agent_dropped_rows", text, None, MetricType::Counter)?;
    for (reason, rows) in &controller.dropped {
        ConstCounter::new(*rows).encode(family.encode_family(&[("reason", *reason)])?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ControllerMetrics, MAX_GROUPS};
    use crate::metrics::collector::{CollectorMetrics, page};

    #[test]
    fn groups_beyond_the_bound_are_counted_together() {
        let mut metrics = ControllerMetrics::new(9, ["current", "behind"], []);
        for group in 0..MAX_GROUPS + 3 {
            metrics.add(Some(&format!("g{group:03}")), "behind", Some(group as u64));
        }
        metrics.add(None, "current", None);
        let collector = CollectorMetrics {
            controller: Some(metrics),
            ..CollectorMetrics::default()
        };
        let page = page(collector, None, "c").unwrap();
        let of = |name: &str| page.lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(of("rocescope_controller_members{"), 2 * (MAX_GROUPS + 1));
        let has = |line: &str| assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        has("rocescope_controller_members{observer=\"c\",group=\"others\",state=\"behind\"} 3.0");
        has("rocescope_controller_members{observer=\"c\",group=\"others\",state=\"current\"} 1.0");
        has("rocescope_controller_oldest_version{observer=\"c\",group=\"others\"} 64.0");
        has("rocescope_controller_version{observer=\"c\"} 9.0");
    }
}
