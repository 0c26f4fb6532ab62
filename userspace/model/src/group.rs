//! Groups traffic by a column of its flows, or by opcode.

use crate::{FlowRow, GroupRow, OpcodeRow, Text, WindowRow};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

/// The name of what the listed flows do not contain.
pub const NOT_LISTED: &str = "(not listed)";

/// What traffic is grouped by; the names are words of the filter language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupBy {
    /// Source address.
    #[default]
    Src,
    /// Destination address.
    Dst,
    /// Destination address and queue pair.
    Qp,
    /// Opcode.
    Opcode,
}

/// What a flow belongs to.
type Key = (Option<IpAddr>, Option<u32>);

impl GroupBy {
    /// Every one, in order.
    pub const ALL: [Self; 4] = [Self::Src, Self::Dst, Self::Qp, Self::Opcode];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Src => "src",
            Self::Dst => "dst",
            Self::Qp => "qp",
            Self::Opcode => "opcode",
        }
    }

    /// The next one; the first after the last.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    const fn key(self, flow: &FlowRow) -> Key {
        match self {
            Self::Src => (Some(flow.src), None),
            Self::Dst => (Some(flow.dst), None),
            Self::Qp => (Some(flow.dst), Some(flow.dst_qpn)),
            Self::Opcode => (None, None),
        }
    }

    /// Groups the rows of a window, or of several merged into one: largest first, then [`NOT_LISTED`]. `total` is the row
    /// of `windows`, or their sum.
    #[must_use]
    pub fn rows(self, total: &WindowRow, flows: &[FlowRow], opcodes: &[OpcodeRow]) -> Vec<GroupRow> {
        let mut rows = match self {
            Self::Opcode => by_opcode(total, opcodes),
            _ => self.by_flow(total, flows),
        };
        for row in &mut rows {
            row.complete(total);
        }
        rows.sort_by(|a, b| {
            let rank = |row: &GroupRow| (&*row.group == NOT_LISTED, core::cmp::Reverse(row.frame_bytes));
            rank(a).cmp(&rank(b)).then_with(|| (*a.group).cmp(&*b.group))
        });
        rows
    }

    fn by_flow(self, total: &WindowRow, flows: &[FlowRow]) -> Vec<GroupRow> {
        let mut groups: BTreeMap<Key, GroupRow> = BTreeMap::new();
        let mut rest = GroupRow {
            group: Text::from_static(NOT_LISTED),
            flows: Some(total.flows),
            packets: total.roce_packets,
            frame_bytes: total.frame_bytes,
            payload_bytes: total.payload_bytes,
            messages: total.messages,
            ecn_ce_packets: Some(total.ecn_ce_packets),
            retransmitted_packets: total.retransmitted_packets,
            ..GroupRow::default()
        };
        for flow in flows {
            let key = self.key(flow);
            let group = groups.entry(key).or_insert_with(|| GroupRow {
                group: match key {
                    (Some(address), Some(qpn)) => format!("{address} QP {qpn}").into(),
                    (Some(address), None) => format!("{address}").into(),
                    (None, _) => Text::default(),
                },
                flows: Some(0),
                ecn_ce_packets: Some(0),
                ..GroupRow::default()
            });
            group.add(flow);
            rest.subtract(flow);
        }
        let mut rows: Vec<GroupRow> = groups.into_values().collect();
        if rest.packets > 0 {
            rows.push(rest);
        }
        rows
    }
}

fn by_opcode(total: &WindowRow, opcodes: &[OpcodeRow]) -> Vec<GroupRow> {
    let mut groups: BTreeMap<u8, GroupRow> = BTreeMap::new();
    let mut rest = GroupRow {
        group: Text::from_static(NOT_LISTED),
        packets: total.roce_packets,
        frame_bytes: total.frame_bytes,
        payload_bytes: total.payload_bytes,
        messages: total.messages,
        ..GroupRow::default()
    };
    for row in opcodes {
        let group = groups.entry(row.opcode_number).or_insert_with(|| GroupRow {
            group: row.opcode.clone(),
            ..GroupRow::default()
        });
        group.packets += row.packets;
        group.frame_bytes += row.frame_bytes;
        group.payload_bytes += row.payload_bytes;
        group.messages += row.messages;
        rest.packets = rest.packets.saturating_sub(row.packets);
        rest.frame_bytes = rest.frame_bytes.saturating_sub(row.frame_bytes);
        rest.payload_bytes = rest.payload_bytes.saturating_sub(row.payload_bytes);
        rest.messages = rest.messages.saturating_sub(row.messages);
    }
    let mut rows: Vec<GroupRow> = groups.into_values().collect();
    if rest.packets > 0 {
        // A segment of `opcodes` may be missing.
        rows.push(rest);
    }
    rows
}

impl GroupRow {
    fn add(&mut self, flow: &FlowRow) {
        let more = |sum: &mut Option<u64>, number: u64| *sum = Some(sum.unwrap_or(0) + number);
        more(&mut self.flows, 1);
        more(&mut self.ecn_ce_packets, flow.ecn_ce_packets);
        if let Some(again) = flow.retransmitted_packets {
            more(&mut self.retransmitted_packets, again);
        }
        self.packets += flow.packets;
        self.frame_bytes += flow.frame_bytes;
        self.payload_bytes += flow.payload_bytes;
        self.messages += flow.messages;
        self.error_packets += flow.error_packets;
        self.error_frame_bytes += flow.error_frame_bytes;
    }

    /// Bounds of flows may exceed what a window has.
    fn subtract(&mut self, flow: &FlowRow) {
        let less = |sum: &mut Option<u64>, number: u64| *sum = sum.map(|sum| sum.saturating_sub(number));
        less(&mut self.flows, 1);
        less(&mut self.ecn_ce_packets, flow.ecn_ce_packets);
        less(&mut self.retransmitted_packets, flow.retransmitted_packets.unwrap_or(0));
        self.packets = self.packets.saturating_sub(flow.packets);
        self.frame_bytes = self.frame_bytes.saturating_sub(flow.frame_bytes);
        self.payload_bytes = self.payload_bytes.saturating_sub(flow.payload_bytes);
        self.messages = self.messages.saturating_sub(flow.messages);
    }

    /// Sets what follows from the window.
    fn complete(&mut self, total: &WindowRow) {
        self.observer = total.observer.clone();
        (self.window_start, self.window_start_ns) = (total.window_start, total.window_start_ns);
        self.window_ns = total.window_ns;
        self.frame_bps = self.frame_bytes as f64 * 8e9 / total.window_ns.max(1) as f64;
        let whole = total.frame_bytes;
        self.frame_ratio = (whole > 0).then(|| self.frame_bytes as f64 / whole as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupBy, NOT_LISTED};
    use crate::{FlowRow, OpcodeRow, WindowRow};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn flow(src: &str, dst_qpn: u32, packets: u64) -> FlowRow {
        FlowRow {
            src: src.parse().unwrap(),
            dst: "10.0.0.9".parse().unwrap(),
            dst_qpn,
            packets,
            frame_bytes: 100 * packets,
            retransmitted_packets: Some(1),
            ..FlowRow::default()
        }
    }

    #[test]
    fn all_groups_sum_to_the_window() {
        let total = WindowRow {
            window_ns: 1_000_000_000,
            roce_packets: 20,
            frame_bytes: 2_000,
            flows: 5,
            retransmitted_packets: Some(4),
            ..WindowRow::default()
        };
        let flows = [flow("10.0.0.1", 7, 4), flow("10.0.0.2", 7, 9), flow("10.0.0.1", 8, 6)];
        let of = |by: GroupBy| -> Vec<(String, Option<u64>, u64)> {
            let rows = by.rows(&total, &flows, &[]);
            assert_eq!(rows.iter().map(|row| row.frame_bytes).sum::<u64>(), 2_000);
            assert_eq!(rows.iter().filter_map(|row| row.retransmitted_packets).sum::<u64>(), 4);
            let shares: f64 = rows.iter().filter_map(|row| row.frame_ratio).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{shares}");
            rows.iter()
                .map(|row| (row.group.to_string(), row.flows, row.packets))
                .collect()
        };
        let rest = (NOT_LISTED.into(), Some(2), 1);
        let by = |group: &str, flows, packets| (group.into(), Some(flows), packets);
        let groups = [by("10.0.0.1", 2, 10), by("10.0.0.2", 1, 9), rest.clone()];
        assert_eq!(of(GroupBy::Src), groups);
        assert_eq!(of(GroupBy::Dst), [by("10.0.0.9", 3, 19), rest.clone()]);
        assert_eq!(
            of(GroupBy::Qp),
            [by("10.0.0.9 QP 7", 2, 13), by("10.0.0.9 QP 8", 1, 6), rest]
        );
        let opcode = OpcodeRow {
            opcode: "RC_SEND_ONLY".into(),
            packets: 20,
            ..OpcodeRow::default()
        };
        let rows = GroupBy::Opcode.rows(&total, &flows, &[opcode]);
        assert_eq!(
            (&*rows[0].group, rows[0].packets, rows[0].flows),
            ("RC_SEND_ONLY", 20, None)
        );
    }
}
