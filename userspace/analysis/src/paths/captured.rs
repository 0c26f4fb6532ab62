//! What captured flows carried, each counted once however many captures saw it.

use super::runs::{CapturedKey, captured_key};
use rocescope_model::FlowRow;
use rocescope_paths::Flow;
use std::collections::BTreeMap;

/// Within this time, what several captures saw of a flow is compared. Their windows may differ, and one capture may
/// take over from another.
const SPAN_NS: i64 = 60_000_000_000;

/// A flow of a queue pair; `None` if its row has several UDP source ports.
pub fn flow_of(row: &FlowRow) -> Option<Flow> {
    row.udp_src_port.map(|port| Flow {
        dst_qpn: Some(row.dst_qpn),
        ..Flow::roce(row.src, row.dst, port)
    })
}

/// Adds up the bytes of flows. Of a flow that several observers saw in a minute, the largest sum counts: each of them
/// saw the same packets, or fewer.
#[derive(Debug, Default)]
pub struct Captured {
    span: i64,
    /// Bytes in this minute, by flow and observer.
    seen: BTreeMap<Flow, BTreeMap<String, u64>>,
    before: BTreeMap<Flow, u64>,
}

impl Captured {
    /// Adds a row; rows come in the order of time.
    pub fn add(&mut self, flow: Flow, row: &FlowRow) {
        let span = row.window_start_ns.div_euclid(SPAN_NS);
        if span != self.span {
            self.close();
            self.span = span;
        }
        let observers = self.seen.entry(flow).or_default();
        match observers.get_mut(row.observer.as_str()) {
            Some(bytes) => *bytes += row.frame_bytes,
            None => {
                observers.insert(row.observer.to_string(), row.frame_bytes);
            }
        }
    }

    fn close(&mut self) {
        for (flow, observers) in std::mem::take(&mut self.seen) {
            *self.before.entry(flow).or_default() += observers.into_values().max().unwrap_or(0);
        }
    }

    /// The bytes of each flow.
    pub fn flows(mut self) -> BTreeMap<Flow, u64> {
        self.close();
        self.before
    }

    /// The bytes of each 5-tuple: several queue pairs may share one, and switches see one flow.
    pub fn five_tuples(self) -> BTreeMap<CapturedKey, u64> {
        let mut bytes = BTreeMap::new();
        for (flow, count) in self.flows() {
            *bytes.entry(captured_key(&flow)).or_default() += count;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{Captured, FlowRow, SPAN_NS, flow_of};
    use rocescope_model::Text;

    fn row(observer: &'static str, second: i64, qpn: u32, bytes: u64) -> FlowRow {
        FlowRow {
            observer: Text::from_static(observer),
            window_start_ns: second * 1_000_000_000,
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 2].into(),
            udp_src_port: Some(49_152),
            dst_qpn: qpn,
            frame_bytes: bytes,
            ..FlowRow::default()
        }
    }

    fn bytes(rows: &[FlowRow]) -> (Vec<u64>, Vec<u64>) {
        let added = || {
            let mut captured = Captured::default();
            rows.iter().for_each(|row| captured.add(flow_of(row).unwrap(), row));
            captured
        };
        let (flows, tuples) = (added().flows(), added().five_tuples());
        (flows.into_values().collect(), tuples.into_values().collect())
    }

    #[test]
    fn queue_pairs_add_up_and_observers_do_not() {
        let rows = [
            row("a", 0, 17, 100),
            row("b", 0, 17, 90),
            row("a", 1, 17, 100),
            row("b", 1, 17, 100),
            row("b", 1, 18, 7),
        ];
        assert_eq!(bytes(&rows), (vec![200, 7], vec![207]));
        // A row for each VLAN, for example.
        assert_eq!(bytes(&[row("a", 0, 17, 1), row("a", 0, 17, 2)]), (vec![3], vec![3]));
    }

    #[test]
    fn a_capture_may_take_over_from_another() {
        let minute = SPAN_NS / 1_000_000_000;
        let rows = [
            row("a", 0, 17, 100),
            row("b", minute, 17, 100),
            row("b", 2 * minute, 17, 100),
        ];
        assert_eq!(bytes(&rows).0, [300]);
    }
}
