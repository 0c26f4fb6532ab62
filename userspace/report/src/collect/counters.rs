//! The counters of hosts: what each grew by.

use super::MAX_NAMES;
use rocescope_model::{CounterRow, Over, Row};
use std::collections::{BTreeMap, BTreeSet};

/// Counters that the sums follow; a host with eight NICs has about a thousand.
const FOLLOWED: usize = 200_000;

/// The counters of all hosts in the scope.
#[derive(Debug)]
pub struct CounterFigures {
    /// Hosts, sorted by name.
    pub hosts: BTreeSet<String>,
    /// Ports of their devices.
    pub ports: usize,
    /// Counters.
    pub counters: usize,
    /// Rows of further counters, which are not in the sums.
    pub unfollowed: u64,
    /// Counters of trouble that grew, each with its last value, its increase and its largest rate; largest first.
    pub grown: Vec<CounterRow>,
    /// Resets of counters.
    pub resets: u64,
    /// Devices that vanished, as `host device`.
    pub vanished: BTreeSet<String>,
}

type Key = (String, String, Option<u16>, String, String);

#[derive(Debug, Default)]
pub(super) struct Counters {
    hosts: BTreeSet<String>,
    ports: BTreeSet<(String, String, u16)>,
    sums: BTreeMap<Key, CounterRow>,
    unfollowed: u64,
    resets: u64,
    vanished: BTreeSet<String>,
}

impl Counters {
    /// Adds a row; those of a counter in the order of time.
    pub(super) fn add(&mut self, row: &CounterRow) {
        if self.hosts.len() < MAX_NAMES {
            self.hosts.insert(row.observer.to_string());
        }
        match row.event.as_deref() {
            Some("reset") => self.resets += 1,
            Some("vanished") if self.vanished.len() < MAX_NAMES => {
                self.vanished.insert(format!("{} {}", row.observer, row.device));
            }
            _ => {}
        }
        let key = (
            row.observer.to_string(),
            row.device.to_string(),
            row.port,
            row.source.to_string(),
            row.name.to_string(),
        );
        let is_full = self.sums.len() >= FOLLOWED;
        match self.sums.get_mut(&key) {
            Some(sum) => {
                let rate = sum.rate.into_iter().chain(row.rate).reduce(f64::max);
                sum.merge(row, Over::Time);
                sum.rate = rate;
            }
            None if !is_full => {
                if let Some(port) = row.port {
                    self.ports.insert((key.0.clone(), key.1.clone(), port));
                }
                self.sums.insert(key, row.clone());
            }
            None => self.unfollowed += 1,
        }
    }

    /// The figures; `None` without rows.
    pub(super) fn finish(self) -> Option<CounterFigures> {
        if self.sums.is_empty() {
            return None;
        }
        let counters = self.sums.len();
        let has_grown = |row: &CounterRow| row.increase.unwrap_or(0) > 0 && row.sign.as_deref() == Some("negative");
        let mut grown: Vec<CounterRow> = self.sums.into_values().filter(has_grown).collect();
        grown.sort_by_key(|row| std::cmp::Reverse(row.increase));
        Some(CounterFigures {
            hosts: self.hosts,
            ports: self.ports.len(),
            counters,
            unfollowed: self.unfollowed,
            grown,
            resets: self.resets,
            vanished: self.vanished,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;
    use rocescope_model::CounterRow;

    fn row(name: &'static str, sign: &'static str, increase: Option<u64>) -> CounterRow {
        CounterRow {
            observer: "h".into(),
            device: "mlx5_0".into(),
            port: Some(1),
            name: name.into(),
            sign: Some(sign.into()),
            rate: increase.map(|increase| increase as f64),
            increase,
            ..CounterRow::default()
        }
    }

    #[test]
    fn increases_add_up_and_only_trouble_is_listed() {
        let mut counters = Counters::default();
        for row in [
            row("out_of_sequence", "negative", None),
            row("port_rcv_data", "running", None),
            row("out_of_sequence", "negative", Some(3)),
            row("port_rcv_data", "running", Some(9_000)),
            row("out_of_sequence", "negative", Some(2)),
            row("rnr_nak_retry_err", "negative", Some(0)),
            CounterRow {
                event: Some("reset".into()),
                ..row("np_cnp_sent", "negative", None)
            },
        ] {
            counters.add(&row);
        }
        let figures = counters.finish().unwrap();
        assert_eq!((figures.counters, figures.ports, figures.resets), (4, 1, 1));
        assert_eq!(figures.grown.len(), 1);
        assert_eq!((figures.grown[0].increase, figures.grown[0].rate), (Some(5), Some(3.0)));
        assert!(Counters::default().finish().is_none());
    }
}
