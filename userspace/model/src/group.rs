//! Groups traffic by columns of its flows, or by opcode.

use crate::{FlowRow, GroupRow, OpcodeRow, Text, WindowRow};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

/// The name of what the listed flows do not contain.
pub const NOT_LISTED: &str = "(not listed)";

/// Keys that traffic may be grouped by at once, at most.
const MAX_KEYS: usize = 4;

/// One key; the names are words of the filter language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupKey {
    /// Source address, or the network of this many bits around it.
    Src(Option<u8>),
    /// Destination address, or its network.
    Dst(Option<u8>),
    /// Destination address and queue pair.
    Qp,
    /// Opcode.
    Opcode,
}

/// What traffic is grouped by: one key or several, such as `src/24,dst/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupBy {
    keys: [Option<GroupKey>; MAX_KEYS],
}

/// What a flow belongs to under one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Address(IpAddr),
    Network(IpAddr, u8),
    QueuePair(IpAddr, u32),
}

/// What a flow belongs to.
type Key = [Option<Part>; MAX_KEYS];

impl GroupKey {
    fn part(self, flow: &FlowRow) -> Option<Part> {
        let address = |address, bits: Option<u8>| match bits {
            Some(bits) => network(address, bits),
            None => Part::Address(address),
        };
        match self {
            Self::Src(bits) => Some(address(flow.src, bits)),
            Self::Dst(bits) => Some(address(flow.dst, bits)),
            Self::Qp => Some(Part::QueuePair(flow.dst, flow.dst_qpn)),
            Self::Opcode => None,
        }
    }
}

/// The network of `bits` around an address; that of an IPv4 address has 32 at most.
fn network(address: IpAddr, bits: u8) -> Part {
    let bits = bits.min(if address.is_ipv4() { 32 } else { 128 });
    let base = match address {
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() & u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)).into()),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)).into()),
    };
    Part::Network(base, bits)
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "{address}"),
            Self::Network(address, bits) => write!(f, "{address}/{bits}"),
            Self::QueuePair(address, qpn) => write!(f, "{address} QP {qpn}"),
        }
    }
}

impl fmt::Display for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Src(None) => f.write_str("src"),
            Self::Dst(None) => f.write_str("dst"),
            Self::Src(Some(bits)) => write!(f, "src/{bits}"),
            Self::Dst(Some(bits)) => write!(f, "dst/{bits}"),
            Self::Qp => f.write_str("qp"),
            Self::Opcode => f.write_str("opcode"),
        }
    }
}

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().flatten().map(ToString::to_string).collect();
        f.write_str(&keys.join(","))
    }
}

impl FromStr for GroupKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, bits) = match text.split_once('/') {
            Some((name, bits)) => (name, Some(bits)),
            None => (text, None),
        };
        let parsed = bits.map(|bits| bits.parse().ok().filter(|bits: &u8| *bits <= 128));
        let bits = match parsed {
            Some(None) => return Err(format!("invalid prefix length in `{text}`: expected 0 to 128")),
            Some(bits) => bits,
            None => None,
        };
        match (name, bits) {
            ("src", bits) => Ok(Self::Src(bits)),
            ("dst", bits) => Ok(Self::Dst(bits)),
            ("qp", None) => Ok(Self::Qp),
            ("opcode", None) => Ok(Self::Opcode),
            ("qp" | "opcode", Some(_)) => Err(format!("only addresses have a prefix: write `{name}`")),
            _ => Err(format!(
                "unknown key `{text}`: expected src, dst, qp or opcode, or a prefix such as src/24"
            )),
        }
    }
}

impl FromStr for GroupBy {
    type Err = String;

    /// Parses keys with commas between them: `src`, `src,dst`, `src/24,dst/24`.
    ///
    /// # Errors
    /// A sentence: an unknown key, the same key twice, more than four, or `opcode` beside another: rows of opcodes have
    /// no addresses.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut keys = [None; MAX_KEYS];
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        if words.len() > MAX_KEYS {
            return Err(format!("more than {MAX_KEYS} keys"));
        }
        for (at, word) in words.iter().enumerate() {
            let key = word.parse()?;
            if keys.contains(&Some(key)) {
                return Err(format!("`{word}` occurs twice"));
            }
            keys[at] = Some(key);
        }
        if words.len() > 1 && keys.contains(&Some(GroupKey::Opcode)) {
            return Err("`opcode` cannot be joined with other keys: it is counted for all flows together".into());
        }
        Ok(Self { keys })
    }
}

impl Default for GroupBy {
    fn default() -> Self {
        Self::of(GroupKey::Src(None))
    }
}

impl GroupBy {
    /// The keys that [`next`](Self::next) turns through.
    const TURN: [GroupKey; 4] = [GroupKey::Src(None), GroupKey::Dst(None), GroupKey::Qp, GroupKey::Opcode];

    const fn of(key: GroupKey) -> Self {
        Self {
            keys: [Some(key), None, None, None],
        }
    }

    /// The next single key; the first after the last, and after several.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::TURN.iter().position(|key| Self::of(*key) == self);
        Self::of(Self::TURN[at.map_or(0, |at| at + 1) % Self::TURN.len()])
    }

    fn key(&self, flow: &FlowRow) -> Key {
        self.keys.map(|key| key.and_then(|key| key.part(flow)))
    }

    /// Groups the rows of a window, or of several merged into one: largest first, then [`NOT_LISTED`]. `total` is the row
    /// of `windows`, or their sum.
    #[must_use]
    pub fn rows(self, total: &WindowRow, flows: &[FlowRow], opcodes: &[OpcodeRow]) -> Vec<GroupRow> {
        let mut rows = match self.keys.contains(&Some(GroupKey::Opcode)) {
            true => by_opcode(total, opcodes),
            false => self.by_flow(total, flows),
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
                group: {
                    let parts: Vec<String> = key.iter().flatten().map(ToString::to_string).collect();
                    parts.join(", ").into()
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
    use super::{GroupBy, NOT_LISTED, network};
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
        let of = |by: &str| -> Vec<(String, Option<u64>, u64)> {
            let by: GroupBy = by.parse().unwrap();
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
        assert_eq!(of("src"), groups);
        assert_eq!(of("dst"), [by("10.0.0.9", 3, 19), rest.clone()]);
        assert_eq!(
            of("qp"),
            [by("10.0.0.9 QP 7", 2, 13), by("10.0.0.9 QP 8", 1, 6), rest.clone()]
        );
        assert_eq!(
            of("src,qp"),
            [
                by("10.0.0.2, 10.0.0.9 QP 7", 1, 9),
                by("10.0.0.1, 10.0.0.9 QP 8", 1, 6),
                by("10.0.0.1, 10.0.0.9 QP 7", 1, 4),
                rest.clone()
            ]
        );
        assert_eq!(of("src/24,dst/31"), [by("10.0.0.0/24, 10.0.0.8/31", 3, 19), rest]);
        let opcode = OpcodeRow {
            opcode: "RC_SEND_ONLY".into(),
            packets: 20,
            ..OpcodeRow::default()
        };
        let rows = "opcode".parse::<GroupBy>().unwrap().rows(&total, &flows, &[opcode]);
        assert_eq!(
            (&*rows[0].group, rows[0].packets, rows[0].flows),
            ("RC_SEND_ONLY", 20, None)
        );
    }

    #[test]
    fn keys_are_parsed_and_printed() {
        for text in ["src", "src,dst", "src/24,dst/24", "src/0,qp", "opcode"] {
            assert_eq!(text.parse::<GroupBy>().unwrap().to_string(), text);
        }
        for (text, expected) in [
            ("sources", "unknown key `sources`"),
            ("src/129", "invalid prefix length"),
            ("qp/24", "only addresses have a prefix"),
            ("src,src", "`src` occurs twice"),
            ("src,opcode", "`opcode` cannot be joined"),
            ("src,dst,qp,src/8,dst/8", "more than 4 keys"),
            ("", "unknown key"),
        ] {
            let error = text.parse::<GroupBy>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let mut by: GroupBy = "src/24,dst/24".parse().unwrap();
        let turn: Vec<String> = (0..5)
            .map(|_| {
                by = by.next();
                by.to_string()
            })
            .collect();
        assert_eq!(turn, ["src", "dst", "qp", "opcode", "src"]);
    }

    #[test]
    fn networks_of_both_families_are_cut_at_their_bits() {
        for (address, bits, expected) in [
            ("10.1.2.3", 24, "10.1.2.0/24"),
            ("10.1.2.3", 0, "0.0.0.0/0"),
            ("10.1.2.3", 64, "10.1.2.3/32"),
            ("fd00:1:2:3::4", 64, "fd00:1:2:3::/64"),
            ("fd00::4", 128, "fd00::4/128"),
        ] {
            assert_eq!(network(address.parse().unwrap(), bits).to_string(), expected);
        }
    }
}
