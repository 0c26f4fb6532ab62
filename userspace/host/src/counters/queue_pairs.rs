//! Queue pairs from read to read: which are new, changed or gone. Pure.

use super::Moment;
use super::rdma::QueuePair;
use rocescope_model::{QueuePairRow, Text, Time};
use std::collections::BTreeMap;
use std::time::Duration;

/// The queue pairs of a host at the last read.
#[derive(Debug, Default)]
pub struct QueuePairs {
    seen: BTreeMap<(String, u32), Seen>,
}

#[derive(Debug)]
struct Seen {
    pair: QueuePair,
    first: Time,
    /// When its last row was made.
    written: Duration,
}

impl QueuePairs {
    /// Takes the queue pairs of a read, with their devices; returns a row for each that is new, changed or gone, and for
    /// each whose last row is at least as old as `refresh`.
    pub fn rows(
        &mut self,
        pairs: Vec<(String, QueuePair)>,
        moment: Moment,
        refresh: Duration,
        observer: &Text,
    ) -> Vec<QueuePairRow> {
        let mut rows = Vec::new();
        let mut before = std::mem::take(&mut self.seen);
        for (device, pair) in pairs {
            let key = (device, pair.local_qpn);
            // Of another process, it is another queue pair with the same number.
            let known = before.remove(&key);
            let (known, other) = match known {
                Some(known) if is_other(&known.pair, &pair) => (None, Some(known)),
                known => (known, None),
            };
            rows.extend(other.map(|other| row(&key.0, &other, moment, Some("gone"), observer)));
            let event = match &known {
                None => Some("first"),
                Some(known) if known.pair != pair => Some("changed"),
                Some(_) => None,
            };
            let is_due = known
                .as_ref()
                .is_some_and(|known| moment.clock.saturating_sub(known.written) >= refresh);
            let has_row = event.is_some() || is_due;
            let seen = Seen {
                pair,
                first: known.as_ref().map_or(moment.time, |known| known.first),
                written: match known {
                    Some(known) if !has_row => known.written,
                    _ => moment.clock,
                },
            };
            if has_row {
                rows.push(row(&key.0, &seen, moment, event, observer));
            }
            self.seen.insert(key, seen);
        }
        let gone = before
            .iter()
            .map(|((device, _), seen)| row(device, seen, moment, Some("gone"), observer));
        rows.extend(gone);
        rows
    }
}

/// Whether two queue pairs of one number are not the same.
fn is_other(before: &QueuePair, now: &QueuePair) -> bool {
    (before.pid, before.kind) != (now.pid, now.kind)
}

fn row(device: &str, seen: &Seen, moment: Moment, event: Option<&'static str>, observer: &Text) -> QueuePairRow {
    let pair = &seen.pair;
    QueuePairRow {
        observer: observer.clone(),
        time: moment.time,
        time_ns: moment.time.0,
        first_ns: seen.first.0,
        device: device.to_owned().into(),
        port: pair.port.and_then(|port| u16::try_from(port).ok()),
        local_qpn: pair.local_qpn,
        remote_qpn: pair.remote_qpn,
        qp_type: pair.kind.into(),
        state: pair.state.into(),
        pid: pair.pid,
        process: pair.process.clone().into(),
        event: event.map(Text::from_static),
        ended_ns: (event == Some("gone")).then_some(moment.time.0),
        source: "netlink".into(),
        ..QueuePairRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(local_qpn: u32, state: &'static str, pid: u32) -> (String, QueuePair) {
        let pair = QueuePair {
            port: Some(1),
            local_qpn,
            remote_qpn: Some(local_qpn + 1),
            kind: "RC",
            state,
            pid: Some(pid),
            process: "train".into(),
        };
        ("mlx5_0".into(), pair)
    }

    fn read(pairs: &mut QueuePairs, second: u64, now: Vec<(String, QueuePair)>) -> Vec<(u32, String, String, i64)> {
        let moment = Moment {
            time: Time(second as i64 * 1_000_000_000),
            clock: Duration::from_secs(second),
        };
        let rows = pairs.rows(now, moment, Duration::from_secs(300), &"h".into());
        let brief = |row: QueuePairRow| {
            let event = row.event.as_deref().unwrap_or("-").to_owned();
            assert_eq!(row.ended_ns, (event == "gone").then_some(row.time_ns));
            (
                row.local_qpn,
                row.state.to_string(),
                event,
                row.first_ns / 1_000_000_000,
            )
        };
        rows.into_iter().map(brief).collect()
    }

    #[test]
    fn rows_are_for_what_is_new_changed_gone_or_due() {
        let mut pairs = QueuePairs::default();
        let line = |qpn, state: &str, event: &str, first| (qpn, state.to_owned(), event.to_owned(), first);
        let found = read(&mut pairs, 1, vec![pair(17, "RTR", 9), pair(18, "RTS", 9)]);
        assert_eq!(found, [line(17, "RTR", "first", 1), line(18, "RTS", "first", 1)]);
        let found = read(&mut pairs, 2, vec![pair(17, "RTS", 9), pair(18, "RTS", 9)]);
        assert_eq!(found, [line(17, "RTS", "changed", 1)]);
        assert_eq!(read(&mut pairs, 3, vec![pair(17, "RTS", 9), pair(18, "RTS", 9)]), []);
        assert_eq!(
            read(&mut pairs, 4, vec![pair(18, "RTS", 9)]),
            [line(17, "RTS", "gone", 1)]
        );
        // The one that changed is due later than the one that did not.
        assert_eq!(
            read(&mut pairs, 301, vec![pair(18, "RTS", 9)]),
            [line(18, "RTS", "-", 1)]
        );
        assert_eq!(read(&mut pairs, 302, vec![pair(18, "RTS", 9)]), []);
    }

    /// Numbers are used again: the queue pair of another process has a begin of its own.
    #[test]
    fn a_number_that_another_process_got_is_another_queue_pair() {
        let mut pairs = QueuePairs::default();
        read(&mut pairs, 1, vec![pair(17, "RTS", 9)]);
        let found = read(&mut pairs, 2, vec![pair(17, "INIT", 10)]);
        let line = |state: &str, event: &str, first| (17, state.to_owned(), event.to_owned(), first);
        assert_eq!(found, [line("RTS", "gone", 1), line("INIT", "first", 2)]);
    }
}
