//! A verdict on a NIC, and what its host counts meanwhile: problems #5 and #8 of Hostmesh, section 5, cannot be known from
//! probes alone.

use crate::pcie::of_maximum;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_model::human::grouped;
use rocescope_model::{CounterRow, Text};

/// What a metric shows about a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It had no buffer for packets that arrived.
    NoBuffer,
    /// It discarded packets instead of sending them.
    NotSent,
    /// It stopped the network.
    SentPauses,
    /// The network stopped it.
    ReceivedPauses,
    /// Its link is bad.
    LinkErrors,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::NoBuffer,
        Self::NotSent,
        Self::SentPauses,
        Self::ReceivedPauses,
        Self::LinkErrors,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::NoBuffer => "drops for lack of buffers",
            Self::NotSent => "discards instead of sending",
            Self::SentPauses => "pause frames sent",
            Self::ReceivedPauses => "pause frames received",
            Self::LinkErrors => "link errors",
        }
    }

    /// What an increase means, as far as it is certain.
    const fn meaning(self) -> &'static str {
        match self {
            Self::NoBuffer => "it dropped packets for lack of buffers, which PFC prevents in a lossless class",
            Self::NotSent => "it discarded packets instead of sending them",
            Self::SentPauses => "it sent pause frames: it could not pass on what arrived",
            Self::ReceivedPauses => "the network paused it",
            Self::LinkErrors => "its link has errors",
        }
    }
}

const METRICS: [(&str, Kind); 16] = [
    ("rx_prio_discards", Kind::NoBuffer),
    ("rx_discards_phy", Kind::NoBuffer),
    ("tx_discards_phy", Kind::NotSent),
    ("port_xmit_discards", Kind::NotSent),
    ("tx_pause_frames", Kind::SentPauses),
    ("tx_global_pause_frames", Kind::SentPauses),
    ("rx_pause_frames", Kind::ReceivedPauses),
    ("rx_global_pause_frames", Kind::ReceivedPauses),
    ("symbol_error", Kind::LinkErrors),
    ("link_error_recovery", Kind::LinkErrors),
    ("link_downed", Kind::LinkErrors),
    ("local_link_integrity_errors", Kind::LinkErrors),
    ("excessive_buffer_overrun_errors", Kind::LinkErrors),
    ("port_rcv_errors", Kind::LinkErrors),
    ("rx_crc_errors_phy", Kind::LinkErrors),
    ("rx_symbol_err_phy", Kind::LinkErrors),
];
/// Speed and width of the PCIe link, and the maximum of each.
const PCIE: [&str; 4] = [
    "pcie_link_speed",
    "pcie_link_width",
    "pcie_max_link_speed",
    "pcie_max_link_width",
];

/// The counters of some NICs.
#[derive(Debug, Clone, Default)]
pub struct Counted(HashMap<(Text, Text), Vec<Read>>);

#[derive(Debug, Clone)]
struct Read {
    metric: Text,
    time_ns: i64,
    interval_ns: i64,
    value: Option<f64>,
    increase: u64,
}

impl Counted {
    /// Those of these NICs, `host/nic`; rows of others are not kept.
    pub fn new<'a>(nics: impl Iterator<Item = &'a str>) -> Self {
        Self(nics.filter_map(|nic| Some((key(nic)?, Vec::new()))).collect())
    }

    /// Whether no rows are needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the join reads rows of a metric.
    fn wants(metric: &str) -> bool {
        PCIE.contains(&metric) || METRICS.iter().any(|(name, _)| *name == metric)
    }

    /// Adds a row of `counters`.
    pub fn add(&mut self, row: &CounterRow) {
        let Some(metric) = row.metric.clone().filter(|metric| Self::wants(metric)) else {
            return;
        };
        // Probes name a NIC by its interface, or by its RDMA device.
        let names = [
            Some(&row.device),
            row.netdev.as_ref().filter(|name| **name != row.device),
        ];
        for name in names.into_iter().flatten() {
            let Some(reads) = self.0.get_mut(&(row.observer.clone(), name.clone())) else {
                continue;
            };
            reads.push(Read {
                metric: metric.clone(),
                time_ns: row.time_ns,
                interval_ns: row.interval_ns.unwrap_or(0),
                value: row.value,
                increase: row.increase.unwrap_or(0),
            });
        }
    }

    /// What the host of a NIC, `host/nic`, counted between two times in nanoseconds since 1970; none without rows of
    /// that NIC.
    #[must_use]
    pub fn behind(&self, nic: &str, from_ns: i64, until_ns: i64) -> Option<String> {
        let (host, name) = key(nic)?;
        let reads = self
            .0
            .get(&(host.clone(), name.clone()))
            .filter(|reads| !reads.is_empty())?;
        let nic = Nic {
            reads,
            from_ns,
            until_ns,
        };
        Some(format!(
            "counters of {} {}: {}",
            host.as_str(),
            name.as_str(),
            nic.parts().join("; ")
        ))
    }
}

/// Host and name of `host/nic`.
fn key(nic: &str) -> Option<(Text, Text)> {
    let (host, name) = nic.rsplit_once('/')?;
    Some((String::from(host).into(), String::from(name).into()))
}

/// A NIC while it had a problem.
#[derive(Debug, Clone, Copy)]
struct Nic<'a> {
    reads: &'a [Read],
    from_ns: i64,
    until_ns: i64,
}

impl<'a> Nic<'a> {
    fn parts(self) -> Vec<String> {
        let (mut parts, mut none, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for kind in Kind::ALL {
            match self.increases(kind) {
                None => unknown.push(kind.name()),
                Some(increases) if increases.is_empty() => none.push(kind.name()),
                Some(increases) => parts.push(format!("{} ({})", kind.meaning(), increases.join(", "))),
            }
        }
        parts.extend(self.pcie());
        for (lead, names) in [("none", none), ("not counted", unknown)] {
            if !names.is_empty() {
                parts.push(format!("{lead}: {}", names.join(", ")));
            }
        }
        parts
    }

    /// The metrics of a kind that increased, with how much; none if none of these metrics is read.
    fn increases(self, kind: Kind) -> Option<Vec<String>> {
        let mut is_read = false;
        let mut increases = Vec::new();
        for (name, _) in METRICS.iter().filter(|(_, of)| *of == kind) {
            let mut rows = self.of(name).peekable();
            is_read |= rows.peek().is_some();
            // An increase is that of the time before its read.
            let within =
                rows.filter(|read| read.time_ns > self.from_ns && read.time_ns - read.interval_ns < self.until_ns);
            let increase: u64 = within.map(|read| read.increase).sum();
            if increase > 0 {
                increases.push(format!("{name} +{}", grouped(increase)));
            }
        }
        is_read.then_some(increases)
    }

    /// Its PCIe link beside the maximum; none if that is unknown.
    fn pcie(self) -> Option<String> {
        let before = |name| {
            let reads = self.of(name).filter(|read| read.time_ns <= self.until_ns);
            reads.max_by_key(|read| read.time_ns)?.value
        };
        let [speed, lanes, max_speed, max_lanes] = PCIE.map(before);
        let link = [speed?, lanes?, max_speed?, max_lanes?];
        Some(format!("its PCIe link runs at {}", of_maximum(link)))
    }

    /// The reads of a metric that had a value.
    fn of(self, name: &str) -> impl Iterator<Item = &'a Read> {
        let reads = self.reads.iter().filter(move |read| read.metric.as_str() == name);
        reads.filter(|read| read.value.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, METRICS, PCIE};
    use alloc::borrow::ToOwned;
    use alloc::format;
    use alloc::string::String;
    use rocescope_model::CounterRow;
    use rocescope_model::catalogue::Metric;

    fn row(metric: &str, time_s: i64, value: f64, increase: Option<u64>) -> CounterRow {
        CounterRow {
            observer: "h3".into(),
            device: "mlx5_2".into(),
            netdev: Some("eth2".into()),
            metric: Some(metric.to_owned().into()),
            time_ns: time_s * 1_000_000_000,
            interval_ns: Some(1_000_000_000),
            value: Some(value),
            increase,
            ..CounterRow::default()
        }
    }

    fn counted(rows: &[CounterRow]) -> Counted {
        let mut counted = Counted::new(["h3/eth2", "h3/mlx5_2", "h4/eth2"].into_iter());
        rows.iter().for_each(|row| counted.add(row));
        counted
    }

    /// From second 20 to second 40.
    fn behind(rows: &[CounterRow], nic: &str) -> Option<String> {
        counted(rows).behind(nic, 20_000_000_000, 40_000_000_000)
    }

    #[test]
    fn every_metric_is_one_of_the_catalogue() {
        for name in METRICS.map(|(name, _)| name).into_iter().chain(PCIE) {
            assert!(Metric::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn pause_frames_and_the_pcie_link_are_shown_for_problem_8() {
        let pcie = |speed| {
            [
                ("pcie_link_speed", speed),
                ("pcie_link_width", 16.0),
                ("pcie_max_link_speed", 16_000.0),
                ("pcie_max_link_width", 16.0),
            ]
            .map(|(name, value)| row(name, 1, value, None))
        };
        let paused = [
            row("tx_pause_frames", 1, 5.0, None),
            row("tx_pause_frames", 20, 905.0, Some(900)),
            row("tx_pause_frames", 30, 2_139.0, Some(1_234)),
            row("tx_pause_frames", 50, 2_200.0, Some(61)),
        ];
        for name in ["h3/eth2", "h3/mlx5_2"] {
            assert_eq!(
                behind(&[&pcie(8_000.0)[..], &paused].concat(), name).unwrap(),
                format!(
                    "counters of {}: it sent pause frames: it could not pass on what arrived (tx_pause_frames +1,234); its PCIe link runs \
                     at 8 GT/s x16 of 16 GT/s x16; not counted: drops for lack of buffers, discards instead of sending, pause frames \
                     received, link errors",
                    name.replace('/', " ")
                )
            );
        }
        let text = behind(&paused, "h3/eth2").unwrap();
        assert!(!text.contains("PCIe"), "{text}");
    }

    #[test]
    fn drops_are_shown_for_problem_5_and_so_is_what_did_not_increase() {
        let rows = [
            row("rx_prio_discards", 30, 70.0, Some(7)),
            row("symbol_error", 1, 3.0, None),
            row("tx_pause_frames", 1, 5.0, None),
            row("rx_pause_frames", 1, 5.0, None),
        ];
        let text = behind(&rows, "h3/eth2").unwrap();
        assert_eq!(
            text,
            "counters of h3 eth2: it dropped packets for lack of buffers, which PFC prevents in a lossless class (rx_prio_discards +7); \
             none: pause frames sent, pause frames received, link errors; not counted: discards instead of sending"
        );
        assert_eq!(behind(&rows, "h4/eth2"), None);
        assert_eq!(behind(&rows, "h3/eth3"), None);
    }
}
