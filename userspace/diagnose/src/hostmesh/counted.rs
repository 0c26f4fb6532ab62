//! A verdict on a NIC, and what its host counts meanwhile: problems #5 and #8 of Hostmesh, section 5, cannot be known from
//! probes alone.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_model::human::grouped;
use rocescope_model::{CounterRow, Text};

/// What a metric shows about a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It had no room for packets.
    Drops,
    /// It stopped the network.
    SentPauses,
    /// The network stopped it.
    ReceivedPauses,
    /// Its link is bad.
    LinkErrors,
}

const METRICS: [(&str, Kind); 17] = [
    ("rx_prio_discards", Kind::Drops),
    ("rx_discards_phy", Kind::Drops),
    ("out_of_buffer", Kind::Drops),
    ("tx_discards_phy", Kind::Drops),
    ("port_xmit_discards", Kind::Drops),
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

/// How much counters increased.
type Increases = Vec<(&'static str, u64)>;

/// A NIC while it had a problem.
#[derive(Debug, Clone, Copy)]
struct Nic<'a> {
    reads: &'a [Read],
    from_ns: i64,
    until_ns: i64,
}

impl<'a> Nic<'a> {
    fn parts(self) -> Vec<String> {
        let mut parts = Vec::new();
        let drops = self.increases(Kind::Drops);
        if let Some(drops) = named(drops.as_deref()) {
            parts.push(format!(
                "it dropped packets ({drops}): its buffers overflow, so PFC is off for this class or its headroom is too small"
            ));
        }
        let pcie = self.pcie();
        let sent = self.increases(Kind::SentPauses);
        let frames: u64 = sent.iter().flatten().map(|(_, increase)| increase).sum();
        match (frames, &pcie) {
            (1.., Some(Pcie::Below(link))) => parts.push(format!(
                "it sent {} pause frames, and its PCIe link runs at {link}: it cannot pass on what arrives",
                grouped(frames)
            )),
            (1.., Some(Pcie::Full)) => parts.push(format!(
                "it sent {} pause frames, and its PCIe link runs at its maximum: the host takes packets too slowly",
                grouped(frames)
            )),
            (1.., None) => parts.push(format!(
                "it sent {} pause frames, so it cannot pass on what arrives; the state of its PCIe link is unknown",
                grouped(frames)
            )),
            (0, Some(Pcie::Below(link))) => parts.push(format!("its PCIe link runs at {link}")),
            (0, _) => {}
        }
        let received = self.increases(Kind::ReceivedPauses);
        let frames: u64 = received.iter().flatten().map(|(_, increase)| increase).sum();
        if frames > 0 {
            parts.push(format!("the network paused it ({} frames)", grouped(frames)));
        }
        let errors = self.increases(Kind::LinkErrors);
        if let Some(errors) = named(errors.as_deref()) {
            parts.push(format!("its link has errors ({errors})"));
        }
        let kinds = [
            ("drops", drops),
            ("pause frames sent", sent),
            ("pause frames received", received),
            ("link errors", errors),
        ];
        let of = |is: fn(&Option<Increases>) -> bool| {
            let names = kinds.iter().filter(|(_, found)| is(found)).map(|(name, _)| *name);
            names.collect::<Vec<_>>().join(", ")
        };
        let none = of(|found| {
            found
                .as_ref()
                .is_some_and(|found| found.iter().all(|(_, increase)| *increase == 0))
        });
        if !none.is_empty() {
            parts.push(format!("none: {none}"));
        }
        let unknown = of(Option::is_none);
        if !unknown.is_empty() {
            parts.push(format!("not counted: {unknown}"));
        }
        parts
    }

    /// The increases of the metrics of a kind; none if none of these metrics is read.
    fn increases(self, kind: Kind) -> Option<Increases> {
        let of_kind = METRICS.iter().filter(|(_, of)| *of == kind).map(|(name, _)| *name);
        let known = of_kind.filter_map(|name| {
            let mut rows = self.of(name).peekable();
            rows.peek()?;
            // An increase is that of the time before its read.
            let within =
                rows.filter(|read| read.time_ns > self.from_ns && read.time_ns - read.interval_ns < self.until_ns);
            Some((name, within.map(|read| read.increase).sum()))
        });
        Some(known.collect::<Vec<_>>()).filter(|known| !known.is_empty())
    }

    fn pcie(self) -> Option<Pcie> {
        let before = |name| {
            let reads = self.of(name).filter(|read| read.time_ns <= self.until_ns);
            reads.max_by_key(|read| read.time_ns)?.value
        };
        let [speed, width, max_speed, max_width] = PCIE.map(before);
        let (speed, width, max_speed, max_width) = (speed?, width?, max_speed?, max_width?);
        Some(match speed < max_speed || width < max_width {
            true => Pcie::Below(format!(
                "{} GT/s x{width} of {} GT/s x{max_width}",
                speed / 1e3,
                max_speed / 1e3
            )),
            false => Pcie::Full,
        })
    }

    /// The reads of a metric that had a value.
    fn of(self, name: &str) -> impl Iterator<Item = &'a Read> {
        let reads = self.reads.iter().filter(move |read| read.metric.as_str() == name);
        reads.filter(|read| read.value.is_some())
    }
}

#[derive(Debug, PartialEq)]
enum Pcie {
    /// Below its maximum.
    Below(String),
    Full,
}

/// The counters that increased; none if none did.
fn named(increases: Option<&[(&'static str, u64)]>) -> Option<String> {
    let some = increases?.iter().filter(|(_, increase)| *increase > 0);
    let some: Vec<String> = some
        .map(|(name, increase)| format!("{name} +{}", grouped(*increase)))
        .collect();
    Some(some.join(", ")).filter(|some| !some.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Counted, METRICS, PCIE};
    use alloc::borrow::ToOwned;
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
    fn a_pcie_link_below_its_maximum_and_pause_frames_are_problem_8() {
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
            let text = behind(&[&pcie(8_000.0)[..], &paused].concat(), name).unwrap();
            assert!(
                text.contains(
                    "it sent 1,234 pause frames, and its PCIe link runs at 8 GT/s x16 of 16 GT/s x16: it cannot pass on what arrives"
                ),
                "{text}"
            );
            assert!(
                text.ends_with("; not counted: drops, pause frames received, link errors"),
                "{text}"
            );
        }
        let text = behind(&[&pcie(16_000.0)[..], &paused].concat(), "h3/eth2").unwrap();
        assert!(
            text.contains("runs at its maximum: the host takes packets too slowly"),
            "{text}"
        );
        let text = behind(&paused, "h3/eth2").unwrap();
        assert!(text.contains("the state of its PCIe link is unknown"), "{text}");
    }

    #[test]
    fn drops_are_problem_5_and_what_is_zero_is_said() {
        let rows = [
            row("rx_prio_discards", 30, 70.0, Some(7)),
            row("symbol_error", 1, 3.0, None),
            row("tx_pause_frames", 1, 5.0, None),
            row("rx_pause_frames", 1, 5.0, None),
        ];
        let text = behind(&rows, "h3/eth2").unwrap();
        assert_eq!(
            text,
            "counters of h3 eth2: it dropped packets (rx_prio_discards +7): its buffers overflow, so PFC is off for this class or \
             its headroom is too small; none: pause frames sent, pause frames received, link errors"
        );
        assert_eq!(behind(&rows, "h4/eth2"), None);
        assert_eq!(behind(&rows, "h3/eth3"), None);
    }
}
