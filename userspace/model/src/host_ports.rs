//! The ports of hosts in a window, from their counters.

use crate::catalogue::{Place, Sign};
use crate::{CounterRow, HostPortRow, Text, Time};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How long errors are shown.
pub const RECENT_NS: i64 = 60_000_000_000;
/// How long before a window counters must be known: what did not change is written again after five minutes.
pub const KNOWN_NS: i64 = 310_000_000_000;
/// How long after a window counters must be known: a read has the increase since the read before it.
pub const READ_NS: i64 = 60_000_000_000;
/// Negative metrics of congestion: they have columns of their own, and grow on healthy hosts.
pub const CONGESTION: [&str; 5] = [
    "np_cnp_sent",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "rx_pause_duration",
    "tx_pause_duration",
];
/// The maximum number of counters that `detail` names.
const NAMED: usize = 6;

/// Whether a row is an error that grew.
#[must_use]
pub fn is_error(row: &CounterRow) -> bool {
    let is_negative = row.sign.as_deref() == Some(Sign::Negative.name());
    let is_congestion = row.metric.as_deref().is_some_and(|metric| CONGESTION.contains(&metric));
    is_negative && !is_congestion && row.increase.unwrap_or(0) > 0
}

/// Returns a row for each port, by host and device. `counters` has the rows from [`KNOWN_NS`] before the window to
/// [`READ_NS`] after it, in any order.
///
/// An increase counts for the time between its two reads: the part of that time in the window has that part of it.
#[must_use]
pub fn host_ports(counters: &[CounterRow], start_ns: i64, window_ns: i64) -> Vec<HostPortRow> {
    // That a host was read is no port of it.
    let is_counted = |row: &&CounterRow| &*row.source != Place::Reader.name();
    let mut rows: Vec<&CounterRow> = counters.iter().filter(is_counted).collect();
    rows.sort_by_key(|row| row.time_ns);
    let mut of_device: BTreeMap<(&str, &str), BTreeSet<Option<u16>>> = BTreeMap::new();
    for row in &rows {
        let ports = of_device.entry((&row.observer, &row.device)).or_default();
        ports.insert(row.port);
    }
    for ports in of_device.values_mut() {
        // Counters of the whole device belong to its ports.
        if ports.len() > 1 {
            ports.remove(&None);
        }
    }
    let window = Window { start_ns, window_ns };
    let mut sums: BTreeMap<(&str, &str, Option<u16>), Sums> = BTreeMap::new();
    for row in rows {
        let Some(ports) = of_device.get(&(&*row.observer, &*row.device)) else {
            continue;
        };
        for (at, port) in ports.iter().enumerate() {
            if row.port.is_some() && row.port != *port {
                continue;
            }
            let sums = sums.entry((&row.observer, &row.device, *port)).or_default();
            sums.take_state(row, window);
            // What the device counts, counts once.
            if row.port.is_some() || at == 0 {
                sums.take_increase(row, window);
            }
        }
    }
    sums.into_iter()
        .filter(|(_, sums)| sums.is_known)
        .map(|((observer, device, port), sums)| sums.row(observer, device, port, window))
        .collect()
}

#[derive(Clone, Copy)]
struct Window {
    start_ns: i64,
    window_ns: i64,
}

impl Window {
    const fn end_ns(self) -> i64 {
        self.start_ns.saturating_add(self.window_ns)
    }

    fn contains(self, row: &CounterRow) -> bool {
        (self.start_ns..self.end_ns()).contains(&row.time_ns)
    }

    /// The part of a row's increase in the window.
    fn part(self, row: &CounterRow) -> f64 {
        let interval = row.interval_ns.unwrap_or(0).max(1);
        let begin = row.time_ns.saturating_sub(interval).max(self.start_ns);
        let overlap = row.time_ns.min(self.end_ns()).saturating_sub(begin).max(0);
        row.increase.unwrap_or(0) as f64 * overlap as f64 / interval as f64
    }
}

/// The counters of a port.
#[derive(Default)]
struct Sums {
    /// A row was read before the end of the window.
    is_known: bool,
    netdev: Option<Text>,
    driver: Text,
    is_gone: bool,
    states: BTreeMap<&'static str, (Option<f64>, Option<Text>)>,
    /// Increase in the window by metric; by priority, because priorities pause at the same time.
    increases: BTreeMap<(&'static str, Option<u8>), f64>,
    errors: BTreeMap<String, u64>,
    new_errors: u64,
    events: Vec<String>,
}

const STATES: [&str; 9] = [
    "state",
    "phys_state",
    "rate",
    "pcie_link_speed",
    "pcie_link_width",
    "pcie_max_link_speed",
    "pcie_max_link_width",
    "memory_total",
    "memory_available",
];
const INCREASES: [&str; 9] = [
    "port_xmit_data",
    "port_rcv_data",
    "np_cnp_sent",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "rx_pause_duration",
    "tx_pause_duration",
    "cpu_busy",
    "cpu_idle",
];

impl Sums {
    fn take_state(&mut self, row: &CounterRow, window: Window) {
        if row.time_ns >= window.end_ns() {
            return;
        }
        self.is_known = true;
        self.driver = row.driver.clone();
        if row.netdev.is_some() {
            self.netdev.clone_from(&row.netdev);
        }
        let metric = row.metric.as_deref().unwrap_or_default();
        if metric == "present" {
            self.is_gone = row.value == Some(0.0);
        }
        if let Some(name) = STATES.iter().find(|name| **name == metric) {
            self.states.insert(name, (row.value, row.text.clone()));
        }
    }

    fn take_increase(&mut self, row: &CounterRow, window: Window) {
        let metric = row.metric.as_deref().unwrap_or_default();
        if let Some(name) = INCREASES.iter().find(|name| **name == metric) {
            *self.increases.entry((name, row.priority)).or_default() += window.part(row);
        }
        let is_recent = (window.end_ns().saturating_sub(RECENT_NS)..window.end_ns()).contains(&row.time_ns);
        if !is_recent {
            return;
        }
        if is_error(row) {
            let increase = row.increase.unwrap_or(0);
            *self.errors.entry(row.name.to_string()).or_default() += increase;
            if window.contains(row) {
                self.new_errors = self.new_errors.saturating_add(increase);
            }
        }
        match row.event.as_deref() {
            Some(event @ ("vanished" | "returned")) => self.events.push(event.to_string()),
            Some("reset") if row.metric.is_some() => self.events.push(format!("{} reset", row.name)),
            _ => {}
        }
    }

    fn row(self, observer: &str, device: &str, port: Option<u16>, window: Window) -> HostPortRow {
        let seconds = window.window_ns.max(1) as f64 / 1e9;
        let value = |name: &str| self.states.get(name).and_then(|(value, _)| *value);
        let text = |name: &str| {
            let text = self.states.get(name).and_then(|(_, text)| text.as_deref())?;
            Some(Text::from(
                text.split_once(": ").map_or(text, |(_, name)| name).to_string(),
            ))
        };
        let of = |name: &str, fold: fn(f64, f64) -> f64| {
            let all = self.increases.iter().filter(|((metric, _), _)| *metric == name);
            all.map(|(_, increase)| *increase).reduce(fold)
        };
        let rate = |name: &str| of(name, |a, b| a + b).map(|sum| sum / seconds);
        // Microseconds of a window.
        let paused = |name: &str| Some((of(name, f64::max)? / 1e6 / seconds).min(1.0));
        let (busy, idle) = (rate("cpu_busy"), rate("cpu_idle"));
        let cpu = busy.zip(idle).filter(|(busy, idle)| busy + idle > 0.0);
        let memory = value("memory_total").zip(value("memory_available"));
        let mut row = HostPortRow {
            observer: observer.to_string().into(),
            window_start: Time(window.start_ns),
            window_start_ns: window.start_ns,
            window_ns: window.window_ns,
            device: device.to_string().into(),
            port,
            netdev: self.netdev.clone(),
            driver: self.driver.clone(),
            state: match self.is_gone {
                true => Some("vanished".into()),
                false => text("state"),
            },
            phys_state: text("phys_state"),
            link_bps: value("rate"),
            sent_bps: rate("port_xmit_data").map(|bytes| bytes * 8.0),
            received_bps: rate("port_rcv_data").map(|bytes| bytes * 8.0),
            paused_ratio: paused("rx_pause_duration"),
            pausing_ratio: paused("tx_pause_duration"),
            cnp_sent_pps: rate("np_cnp_sent"),
            cnp_handled_pps: rate("rp_cnp_handled"),
            ecn_marked_pps: rate("np_ecn_marked_roce_packets"),
            errors: self.errors.values().sum(),
            new_errors: self.new_errors,
            pcie: None,
            cpu_ratio: cpu.map(|(busy, idle)| busy / (busy + idle)),
            memory_ratio: memory.map(|(total, available)| 1.0 - available / total.max(1.0)),
            detail: Text::default(),
        };
        let link = |speed: &str, width: &str| Some((value(speed)?, value(width)?));
        let shown = |(speed, lanes): (f64, f64)| format!("{:.1} GT/s x{lanes}", speed / 1e3);
        let mut words = Vec::new();
        if let Some(now) = link("pcie_link_speed", "pcie_link_width") {
            let max = link("pcie_max_link_speed", "pcie_max_link_width");
            let below = max.filter(|max| now.0 < max.0 || now.1 < max.1);
            let pcie = match below {
                Some(max) => format!("{} of {}", shown(now), shown(max)),
                None => shown(now),
            };
            words.extend(below.map(|_| format!("PCIe {pcie}")));
            row.pcie = Some(pcie.into());
        }
        let mut errors: Vec<(&String, u64)> = self.errors.iter().map(|(name, increase)| (name, *increase)).collect();
        errors.sort_by_key(|(_, increase)| core::cmp::Reverse(*increase));
        let more = errors.len().saturating_sub(NAMED);
        let errors = errors.into_iter().take(NAMED);
        let mut all: Vec<String> = errors.map(|(name, increase)| format!("{name} +{increase}")).collect();
        if more > 0 {
            all.push(format!("and {more} more"));
        }
        all.extend(self.events.iter().take(NAMED).cloned());
        all.extend(words);
        if let (Some(cpu), Some(memory)) = (row.cpu_ratio, row.memory_ratio) {
            let (cpu, memory) = (cpu * 100.0, memory * 100.0);
            all.push(format!("processors {cpu:.1} % busy, memory {memory:.1} % used"));
        }
        row.detail = all.join(", ").into();
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND_NS;
    use std::vec;

    fn row(second: i64, metric: &'static str, increase: u64) -> CounterRow {
        CounterRow {
            observer: "h1".into(),
            device: "mlx5_0".into(),
            port: Some(1),
            time_ns: second * SECOND_NS,
            name: metric.into(),
            metric: Some(metric.into()),
            sign: Some("running".into()),
            increase: Some(increase),
            interval_ns: Some(SECOND_NS),
            ..CounterRow::default()
        }
    }

    fn state(second: i64, name: &'static str, value: f64, text: Option<&'static str>) -> CounterRow {
        CounterRow {
            value: Some(value),
            text: text.map(Text::from),
            increase: None,
            ..row(second, name, 0)
        }
    }

    fn negative(row: CounterRow) -> CounterRow {
        CounterRow {
            sign: Some("negative".into()),
            ..row
        }
    }

    fn at(rows: &[CounterRow], second: i64) -> HostPortRow {
        host_ports(rows, second * SECOND_NS, SECOND_NS).remove(0)
    }

    #[test]
    fn a_port_has_its_state_rates_and_errors() {
        let pause = |priority, increase| CounterRow {
            priority: Some(priority),
            ..negative(row(101, "rx_pause_duration", increase))
        };
        let rows = vec![
            state(10, "state", 4.0, Some("4: ACTIVE")),
            state(10, "rate", 4e11, Some("400 Gb/sec (4X NDR)")),
            row(101, "port_xmit_data", 1_250_000_000),
            pause(3, 250_000),
            pause(4, 100_000),
            negative(row(101, "rp_cnp_handled", 700)),
            negative(row(60, "out_of_sequence", 5)),
            negative(row(101, "local_ack_timeout_err", 3)),
            negative(row(30, "too_old", 9)),
        ];
        let found = at(&rows, 100);
        assert_eq!((found.state.as_deref(), found.link_bps), (Some("ACTIVE"), Some(4e11)));
        assert_eq!(
            (found.sent_bps, found.received_bps),
            (Some(1e10), None),
            "not counted: unknown"
        );
        assert_eq!((found.paused_ratio, found.pausing_ratio), (Some(0.25), None));
        assert_eq!(found.cnp_handled_pps, Some(700.0));
        assert_eq!(found.errors, 5, "the read at second 101 is after the window");
        let found = at(&rows, 101);
        assert_eq!((found.errors, found.new_errors), (8, 3));
        assert_eq!(&*found.detail, "out_of_sequence +5, local_ack_timeout_err +3");
        assert_eq!(found.sent_bps, Some(0.0), "counted, and nothing was sent");
    }

    /// A read every ten seconds has the increase of ten windows.
    #[test]
    fn an_increase_belongs_to_the_time_between_two_reads() {
        let slow = CounterRow {
            interval_ns: Some(10 * SECOND_NS),
            ..row(110, "port_rcv_data", 1_000)
        };
        let rows = vec![state(100, "state", 4.0, None), slow];
        assert_eq!(at(&rows, 104).received_bps, Some(800.0));
        assert_eq!(at(&rows, 110).received_bps, Some(0.0));
        let merged = host_ports(&rows, 95 * SECOND_NS, 10 * SECOND_NS);
        assert_eq!(merged[0].received_bps, Some(400.0), "half of the window is before it");
    }

    #[test]
    fn what_a_device_counts_counts_once_and_its_link_is_that_of_every_port() {
        let of_port = |port, row: CounterRow| CounterRow { port, ..row };
        let rows = vec![
            of_port(Some(1), state(100, "state", 4.0, Some("4: ACTIVE"))),
            of_port(Some(2), state(100, "state", 1.0, Some("1: DOWN"))),
            of_port(None, state(100, "pcie_link_speed", 8_000.0, None)),
            of_port(None, state(100, "pcie_link_width", 4.0, None)),
            of_port(None, state(100, "pcie_max_link_speed", 16_000.0, None)),
            of_port(None, state(100, "pcie_max_link_width", 16.0, None)),
            of_port(None, negative(row(100, "req_cqe_error", 2))),
        ];
        let found = host_ports(&rows, 100 * SECOND_NS, SECOND_NS);
        let brief: Vec<_> = found
            .iter()
            .map(|row| (row.port, row.state.as_deref(), row.errors))
            .collect();
        assert_eq!(brief, [(Some(1), Some("ACTIVE"), 2), (Some(2), Some("DOWN"), 0)]);
        for row in &found {
            assert_eq!(row.pcie.as_deref(), Some("8.0 GT/s x4 of 16.0 GT/s x16"));
            assert!(row.detail.contains("PCIe 8.0 GT/s x4 of 16.0 GT/s x16"));
        }
    }

    #[test]
    fn a_device_that_is_gone_says_so_and_a_later_one_is_not_there_yet() {
        let gone = CounterRow {
            port: None,
            event: Some("vanished".into()),
            ..state(100, "present", 0.0, None)
        };
        let rows = vec![state(90, "state", 4.0, Some("4: ACTIVE")), gone];
        let found = at(&rows, 100);
        assert_eq!((found.state.as_deref(), &*found.detail), (Some("vanished"), "vanished"));
        assert_eq!(at(&rows, 95).state.as_deref(), Some("ACTIVE"));
        assert!(host_ports(&rows, 10 * SECOND_NS, SECOND_NS).is_empty());
    }

    #[test]
    fn a_host_has_processors_and_memory() {
        let of_host = |row: CounterRow| CounterRow {
            device: "host".into(),
            port: None,
            ..row
        };
        let rows = vec![
            of_host(row(101, "cpu_busy", 250)),
            of_host(row(101, "cpu_idle", 750)),
            of_host(state(99, "memory_total", 1_000.0, None)),
            of_host(state(99, "memory_available", 600.0, None)),
        ];
        let found = at(&rows, 100);
        assert_eq!((found.cpu_ratio, found.memory_ratio), (Some(0.25), Some(0.4)));
        assert_eq!(&*found.detail, "processors 25.0 % busy, memory 40.0 % used");
    }
}
