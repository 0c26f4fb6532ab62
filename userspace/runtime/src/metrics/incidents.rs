//! The open incidents as a metric, and what happened to the messages about them.

use crate::hook::counts::Counts;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Series that name a place. Further incidents count at the place [`OTHER`]: one series for each class and certainty.
pub const MAX_PLACES: usize = 100;
/// The place of incidents beyond [`MAX_PLACES`] series.
pub const OTHER: &str = "other";

/// Class, place and certainty.
type Labels = (String, String, &'static str);

/// What is open now: the judge sets it, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct OpenIncidents(Arc<Mutex<Values>>);

#[derive(Debug, Default)]
struct Values {
    open: BTreeMap<Labels, u64>,
    messages: Option<Arc<Counts>>,
}

impl OpenIncidents {
    /// Sets what is open: class, place and certainty of each.
    pub fn set<'a>(&self, open: impl Iterator<Item = (&'a str, String, &'static str)>) {
        let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
        let mut named = 0;
        for (class, place, certainty) in open {
            let place = match named < MAX_PLACES {
                true => place,
                false => OTHER.to_owned(),
            };
            let count = counts.entry((class.to_owned(), place, certainty)).or_default();
            *count += 1;
            named += usize::from(*count == 1);
        }
        self.lock().open = counts;
    }

    /// Shows what happens to the messages about incidents.
    pub fn show(&self, messages: Arc<Counts>) {
        self.lock().messages = Some(messages);
    }

    /// Writes the metrics.
    ///
    /// # Errors
    /// None is known, because the page is written to memory.
    pub fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let values = self.lock();
        let text = "Open incidents, by class, place and certainty";
        let mut family = encoder.encode_descriptor("incidents", text, None, MetricType::Gauge)?;
        for ((class, place, certainty), count) in &values.open {
            let labels = [
                ("class", class.as_str()),
                ("place", place.as_str()),
                ("certainty", certainty),
            ];
            ConstGauge::new(*count as f64).encode(family.encode_family(&labels)?)?;
        }
        let Some(messages) = &values.messages else {
            return Ok(());
        };
        let text = "Messages about incidents, by what happened to them";
        let mut family = encoder.encode_descriptor("incident_messages", text, None, MetricType::Counter)?;
        for (outcome, count) in messages.named() {
            ConstCounter::new(count).encode(family.encode_family(&[("outcome", outcome)])?)?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        // Each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PLACES, OpenIncidents};
    use crate::metrics::page;
    use prometheus_client::collector::Collector;
    use prometheus_client::encoding::DescriptorEncoder;

    #[derive(Debug)]
    struct Page(OpenIncidents);

    impl Collector for Page {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
            self.0.encode(&mut encoder)
        }
    }

    #[test]
    fn a_fabric_that_burns_has_as_many_series_as_are_allowed_and_counts_all() {
        let open = OpenIncidents::default();
        let places = || (0..1000).map(|at| ("network_loss", format!("nic {at}"), "certain"));
        open.set(places().chain([("loss", "a".into(), "likely")]));
        let page = page::page("box", Box::new(Page(open.clone()))).unwrap();
        let series: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("rocescope_incidents{"))
            .collect();
        assert_eq!(series.len(), MAX_PLACES + 2);
        let sum: f64 = series
            .iter()
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
            .sum();
        assert!((sum - 1001.0).abs() < 0.5);
        assert!(
            page.contains("class=\"network_loss\",place=\"other\",certainty=\"certain\"} 900"),
            "{page}"
        );
        open.set(std::iter::empty());
        let page = page::page("box", Box::new(Page(open))).unwrap();
        assert!(!page.contains("rocescope_incidents{"));
    }
}
