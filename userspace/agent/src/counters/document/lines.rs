//! A line for each port and read, as `vmstat` prints them.

use rocescope_model::catalogue::{Measure, Sign};
use rocescope_model::{CounterRow, Text, human};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of lines between two headings.
const HEADING_EVERY: usize = 20;
/// Maximum number of growing errors that a line names.
const NAMED: usize = 3;
/// Negative metrics with a column of their own.
const CONGESTION: [&str; 5] = [
    "np_cnp_sent",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "rx_pause_duration",
    "tx_pause_duration",
];

/// The metrics with a column, in the order of the columns: what a second of one is in the unit of its column, and the
/// digits behind the point.
const COLUMNS: [(&str, f64, usize); 7] = [
    ("port_xmit_data", 8.0 / 1e9, 3),
    ("port_rcv_data", 8.0 / 1e9, 3),
    ("np_cnp_sent", 1.0, 0),
    ("rp_cnp_handled", 1.0, 0),
    ("np_ecn_marked_roce_packets", 1.0, 0),
    // Microseconds in a second.
    ("rx_pause_duration", 1e-4, 1),
    ("tx_pause_duration", 1e-4, 1),
];
/// The widths of the columns.
const WIDTHS: [usize; 7] = [11, 15, 11, 14, 10, 8, 9];

/// What the lines of earlier reads leave behind.
#[derive(Debug, Default)]
pub struct Lines {
    /// State of each port, which a row shows only when it changes.
    states: BTreeMap<Port, String>,
    /// Which columns the driver of each port counts: a counter that does not change has no row.
    counted: BTreeMap<Port, [bool; COLUMNS.len()]>,
    memory: BTreeMap<String, f64>,
    printed: usize,
}

type Port = (String, Option<u16>);

/// One port in one read.
#[derive(Default)]
struct Sums {
    /// By column; `None` where it is not counted, or its growth is unknown.
    columns: [Option<f64>; COLUMNS.len()],
    events: Vec<String>,
    errors: Vec<(Text, u64)>,
}

impl Lines {
    /// The lines of a read, from the rows that changed.
    #[must_use]
    pub fn text(&mut self, rows: &[CounterRow]) -> String {
        let still = |counted: &[bool; COLUMNS.len()]| Sums {
            columns: counted.map(|counted| counted.then_some(0.0)),
            ..Sums::default()
        };
        let ports = self.states.keys().map(|port| {
            let counted = self.counted.get(port).copied().unwrap_or_default();
            (port.clone(), still(&counted))
        });
        let mut ports: BTreeMap<Port, Sums> = ports.collect();
        let mut processors: (f64, f64) = (0.0, 0.0);
        for row in rows {
            if &*row.device == "host" {
                self.host(row, &mut processors);
                continue;
            }
            let port = (row.device.to_string(), row.port);
            if &*row.name == "state" && row.port.is_some() {
                let text = row.text.as_deref().unwrap_or("unknown");
                let state = text.split_once(": ").map_or(text, |(_, name)| name);
                self.states.insert(port.clone(), state.to_owned());
            }
            // Counters of the whole device, and interfaces without ports.
            let known = self.states.keys().find(|(device, _)| *device == port.0).cloned();
            let port = match (port.1, known) {
                (None, Some(known)) => known,
                _ => port,
            };
            if let Some(column) = column(row) {
                self.counted.entry(port.clone()).or_default()[column] = row.value.is_some();
            }
            ports.entry(port).or_default().add(row);
        }
        // Rows of a whole device, of which a port is known by now.
        ports.retain(|(device, port), _| port.is_some() || !self.states.keys().any(|(known, _)| known == device));
        let mut text = String::new();
        for (port, sums) in &ports {
            if self.printed.is_multiple_of(HEADING_EVERY) {
                text.push_str(HEADING);
            }
            self.printed += 1;
            let state = self.states.get(port).map_or("-", |state| state);
            let _ = writeln!(text, "{}", sums.line(port, state));
        }
        if processors.0 + processors.1 > 0.0 {
            let busy = processors.0 / (processors.0 + processors.1);
            let memory = |name: &str| self.memory.get(name).copied().unwrap_or(0.0);
            let used = 1.0 - memory("memory_available") / memory("memory_total").max(1.0);
            let _ = writeln!(
                text,
                "{:<18} processors {:.1} % busy, memory {:.1} % used",
                "host",
                busy * 100.0,
                used * 100.0
            );
        }
        text
    }

    fn host(&mut self, row: &CounterRow, processors: &mut (f64, f64)) {
        let Some(metric) = row.metric.as_deref() else {
            return;
        };
        match (metric, row.rate, row.value) {
            ("cpu_busy", Some(rate), _) => processors.0 = rate,
            ("cpu_idle", Some(rate), _) => processors.1 = rate,
            ("memory_total" | "memory_available", _, Some(value)) => {
                self.memory.insert(metric.to_owned(), value);
            }
            _ => {}
        }
    }
}

const HEADING: &str = "Port               State     Sent Gbit/s  Received Gbit/s  CNPs sent/s  CNPs handled/s  \
                       CE marks/s  Paused %  Pausing %  Errors\n";

/// The column of a row's metric.
fn column(row: &CounterRow) -> Option<usize> {
    let metric = row.metric.as_deref()?;
    COLUMNS.iter().position(|(name, ..)| *name == metric)
}

impl Sums {
    fn add(&mut self, row: &CounterRow) {
        if let Some(column) = column(row) {
            let (metric, factor, _) = COLUMNS[column];
            let before = self.columns[column].unwrap_or(0.0);
            self.columns[column] = row.rate.map(|rate| match metric {
                // Of several priorities, the one that waited longest.
                "rx_pause_duration" | "tx_pause_duration" => before.max(rate * factor),
                _ => before + rate * factor,
            });
        }
        let is_error = row.sign.as_deref() == Some(Sign::Negative.name());
        let metric = row.metric.as_deref().unwrap_or_default();
        match row.increase {
            Some(increase) if increase > 0 && is_error && !CONGESTION.contains(&metric) => {
                self.errors.push((row.name.clone(), increase));
            }
            _ => {}
        }
        match row.event.as_deref() {
            Some(event @ ("vanished" | "returned")) => self.events.push(event.to_owned()),
            Some(event @ ("reset" | "stopped")) if is_error || &*row.unit != Measure::Unknown.name() => {
                self.events.push(format!("{} {event}", row.name));
            }
            _ => {}
        }
    }

    fn line(&self, (device, port): &Port, state: &str) -> String {
        let name = port.map_or_else(|| device.clone(), |port| format!("{device}/{port}"));
        let mut errors = self.errors.clone();
        errors.sort_by_key(|(_, increase)| std::cmp::Reverse(*increase));
        let mut words: Vec<String> = errors
            .iter()
            .take(NAMED)
            .map(|(name, increase)| format!("{name} +{increase}"))
            .collect();
        if errors.len() > NAMED {
            words.push(format!("and {} more", errors.len() - NAMED));
        }
        words.extend(self.events.iter().take(NAMED).cloned());
        let mut line = format!("{:<18} {state:<9}", human::visible(&name));
        for ((value, (_, _, digits)), width) in self.columns.iter().zip(COLUMNS).zip(WIDTHS) {
            let text = value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"));
            let _ = write!(line, " {text:>width$} ");
        }
        line.push(' ');
        line.push_str(&words.join(", "));
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use rocescope_model::CounterRow;

    fn row(name: &'static str, metric: &'static str, rate: f64, sign: &'static str) -> CounterRow {
        CounterRow {
            device: "mlx5_0".into(),
            port: Some(1),
            name: name.into(),
            metric: Some(metric.into()),
            sign: Some(sign.into()),
            value: Some(rate),
            rate: Some(rate),
            increase: Some(rate as u64),
            ..CounterRow::default()
        }
    }

    #[test]
    fn a_line_has_rates_and_the_errors_that_grew() {
        let state = CounterRow {
            text: Some("4: ACTIVE".into()),
            ..row("state", "state", 0.0, "running")
        };
        let rows = [
            state,
            row("port_xmit_data", "port_xmit_data", 1.25e9, "running"),
            row("rp_cnp_handled", "rp_cnp_handled", 700.0, "negative"),
            row("rx_prio3_pause_duration", "rx_pause_duration", 250_000.0, "negative"),
            row("out_of_sequence", "out_of_sequence", 2.0, "negative"),
            row("local_ack_timeout_err", "local_ack_timeout_err", 3.0, "negative"),
        ];
        let mut lines = Lines::default();
        let text = lines.text(&rows);
        let all: Vec<&str> = text.lines().collect();
        assert!(all[0].starts_with("Port "), "{text}");
        let words: Vec<&str> = all[1].split_whitespace().collect();
        let expected = [
            "mlx5_0/1",
            "ACTIVE",
            "10.000",
            "-",
            "-",
            "700",
            "-",
            "25.0",
            "-",
            "local_ack_timeout_err",
            "+3,",
            "out_of_sequence",
            "+2",
        ];
        assert_eq!(words, expected);
        // A port that changes nothing keeps its line and its state; what it does not count stays unknown.
        let quiet = lines.text(&[]);
        let words: Vec<&str> = quiet.split_whitespace().collect();
        assert_eq!(words, ["mlx5_0/1", "ACTIVE", "0.000", "-", "-", "0", "-", "0.0", "-"]);
    }

    #[test]
    fn the_first_read_has_no_rates_and_a_device_no_line_beside_its_port() {
        let first = |name| CounterRow {
            rate: None,
            increase: None,
            ..row(name, name, 5.0, "running")
        };
        let device = CounterRow {
            port: None,
            ..first("present")
        };
        let state = CounterRow {
            text: Some("4: ACTIVE".into()),
            ..first("state")
        };
        let text = Lines::default().text(&[device, state, first("port_xmit_data")]);
        let all: Vec<&str> = text.lines().collect();
        assert_eq!(all.len(), 2, "{text}");
        let words: Vec<&str> = all[1].split_whitespace().collect();
        assert_eq!(words, ["mlx5_0/1", "ACTIVE", "-", "-", "-", "-", "-", "-", "-"]);
    }
}
