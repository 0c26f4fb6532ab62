//! The worst connections of a window as metrics: losses, retransmissions and round trips with both ends as labels. However
//! many connections there are, [`SHOWN`] have series.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_model::{ConnectionRow, Text};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Directions that have series.
pub const SHOWN: usize = 10;
/// Directions that an open window compares; beyond it, those that are not among the worst [`KEPT`] so far are forgotten.
const COMPARED: usize = 10_000;
const KEPT: usize = 1_000;

/// Source and destination, each with its queue pair. What has the same is one series.
type Ends = (IpAddr, Option<u32>, IpAddr, Option<u32>);

/// What happened to a direction in a window. Compared, the worst is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Trouble {
    fabric_lost_packets: u64,
    retransmitted_packets: u64,
    /// The slowest 1 % of the round trips since the first packet take longer.
    rtt_p99_ns: Option<u64>,
}

/// The worst directions of the last window: who reads rows adds them, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct WorstConnections(Arc<Mutex<Windows>>);

#[derive(Debug, Default)]
struct Windows {
    /// The open window, by ends and by the capture box that saw them.
    open: HashMap<(Ends, Text), Trouble>,
    /// The window before it, if one has ended.
    shown: Option<Vec<(Ends, Trouble)>>,
}

impl WorstConnections {
    /// Adds a row, and what it counts that the row before it has not.
    pub fn add(&self, row: &ConnectionRow, fabric_lost_packets: u64, retransmitted_packets: u64) {
        let mut windows = self.lock();
        let ends = (row.src, row.src_qpn, row.dst, row.dst_qpn);
        let trouble = windows.open.entry((ends, row.observer.clone())).or_default();
        trouble.fabric_lost_packets += fabric_lost_packets;
        trouble.retransmitted_packets += retransmitted_packets;
        trouble.rtt_p99_ns = trouble.rtt_p99_ns.max(row.rtt_p99_ns);
        if windows.open.len() > COMPARED {
            windows.forget();
        }
    }

    /// Ends the window: what it has is shown, and the next one begins.
    pub fn end(&self) {
        let mut windows = self.lock();
        let open = std::mem::take(&mut windows.open);
        // Packets that two capture boxes saw count once: as the box has it that counts most.
        let mut worst: BTreeMap<Ends, Trouble> = BTreeMap::new();
        for ((ends, _), trouble) in open {
            let known = worst.entry(ends).or_default();
            *known = (*known).max(trouble);
        }
        let mut worst: Vec<(Ends, Trouble)> = worst.into_iter().collect();
        worst.retain(|(_, trouble)| *trouble != Trouble::default());
        worst.sort_by_key(|(ends, trouble)| (Reverse(*trouble), *ends));
        worst.truncate(SHOWN);
        windows.shown = Some(worst);
    }

    /// Forgets the rows of the open window.
    pub fn clear(&self) {
        self.lock().open.clear();
    }

    /// Writes the metrics; none before the first window has ended.
    ///
    /// # Errors
    /// None is known, because the page is written to memory.
    pub fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let windows = self.lock();
        let Some(shown) = &windows.shown else {
            return Ok(());
        };
        let text = "Packets that the fabric lost of the ten worst connections of the last minute";
        family(encoder, "worst_fabric_lost_packets", text, shown, |trouble| {
            Some(trouble.fabric_lost_packets as f64)
        })?;
        let text = "Packets that the senders of the ten worst connections of the last minute retransmitted";
        family(encoder, "worst_retransmitted_packets", text, shown, |trouble| {
            Some(trouble.retransmitted_packets as f64)
        })?;
        let text =
            "99th percentile of the round trips of the ten worst connections, since their first packets, in seconds";
        family(encoder, "worst_rtt_p99_seconds", text, shown, |trouble| {
            trouble.rtt_p99_ns.map(|ns| ns as f64 / 1e9)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        // Each change is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Windows {
    fn forget(&mut self) {
        let mut all: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        all.sort_by_key(|((ends, _), trouble)| (Reverse(*trouble), *ends));
        all.truncate(KEPT);
        self.open = all.into_iter().collect();
    }
}

fn family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    text: &str,
    shown: &[(Ends, Trouble)],
    value: fn(&Trouble) -> Option<f64>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, text, None, MetricType::Gauge)?;
    let number = |qpn: Option<u32>| qpn.map_or_else(String::new, |qpn| qpn.to_string());
    for ((src, src_qpn, dst, dst_qpn), trouble) in shown {
        let labels = [
            ("src", src.to_string()),
            ("src_qpn", number(*src_qpn)),
            ("dst", dst.to_string()),
            ("dst_qpn", number(*dst_qpn)),
        ];
        if let Some(value) = value(trouble) {
            ConstGauge::new(value).encode(family.encode_family(&labels.as_slice())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{COMPARED, SHOWN, WorstConnections};
    use crate::metrics::page;
    use prometheus_client::collector::Collector;
    use prometheus_client::encoding::DescriptorEncoder;
    use rocescope_model::ConnectionRow;

    #[derive(Debug)]
    struct Page(WorstConnections);

    impl Collector for Page {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
            self.0.encode(&mut encoder)
        }
    }

    fn row(observer: &'static str, src_qpn: u32, rtt_p99_ns: Option<u64>) -> ConnectionRow {
        ConnectionRow {
            observer: observer.into(),
            src: [10, 0, 0, 1].into(),
            src_qpn: Some(src_qpn),
            dst: [10, 0, 0, 2].into(),
            rtt_p99_ns,
            ..ConnectionRow::default()
        }
    }

    /// The series of a metric: number of the queue pair, and value.
    fn series(worst: &WorstConnections, metric: &str) -> Vec<(u32, f64)> {
        let page = page::page("box", Box::new(Page(worst.clone()))).unwrap();
        let start = format!("rocescope_worst_{metric}{{observer=\"box\",src=\"10.0.0.1\",src_qpn=\"");
        let lines = page.lines().filter_map(|line| line.strip_prefix(start.as_str()));
        let lines = lines.map(|line| {
            let (qpn, rest) = line.split_once("\",dst=\"10.0.0.2\",dst_qpn=\"\"} ").unwrap();
            (qpn.parse().unwrap(), rest.parse().unwrap())
        });
        lines.collect()
    }

    #[test]
    fn loss_comes_before_retransmissions_and_these_before_round_trips() {
        let worst = WorstConnections::default();
        worst.add(&row("a", 1, Some(9_000_000)), 0, 0);
        worst.add(&row("a", 2, Some(2_000)), 0, 7);
        worst.add(&row("a", 3, None), 1, 0);
        worst.add(&row("a", 4, None), 0, 0);
        assert_eq!(series(&worst, "fabric_lost_packets"), [], "no window has ended");
        worst.end();
        assert_eq!(series(&worst, "fabric_lost_packets"), [(3, 1.0), (2, 0.0), (1, 0.0)]);
        assert_eq!(series(&worst, "retransmitted_packets"), [(3, 0.0), (2, 7.0), (1, 0.0)]);
        assert_eq!(series(&worst, "rtt_p99_seconds"), [(2, 2e-6), (1, 9e-3)]);
        // The next window has nothing.
        worst.end();
        assert_eq!(series(&worst, "fabric_lost_packets"), []);
    }

    #[test]
    fn rows_of_a_direction_add_up_and_two_boxes_do_not() {
        let worst = WorstConnections::default();
        for (observer, lost) in [("a", 2), ("a", 3), ("b", 4)] {
            worst.add(&row(observer, 1, None), lost, 0);
        }
        worst.end();
        assert_eq!(series(&worst, "fabric_lost_packets"), [(1, 5.0)]);
    }

    #[test]
    fn however_many_there_are_the_ten_worst_have_series() {
        let worst = WorstConnections::default();
        let many = 3 * COMPARED as u32;
        for qpn in 0..many {
            // The worst are neither first nor last.
            worst.add(
                &row("a", qpn, None),
                u64::from(if qpn % 2_000 == 1_000 { qpn } else { 1 }),
                0,
            );
        }
        worst.end();
        let shown = series(&worst, "fabric_lost_packets");
        assert_eq!(shown.len(), SHOWN);
        let expected = (0..SHOWN as u32).map(|at| many - 1_000 - 2_000 * at);
        assert_eq!(
            shown.iter().map(|(qpn, _)| *qpn).collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
    }
}
