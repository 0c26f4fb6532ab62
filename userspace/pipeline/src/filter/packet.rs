//! The part of a filter that the kernel applies to every packet.
//!
//! At most eight alternatives of tests that [`Alternative`] supports. Other tests and negations count as true: the
//! kernel then passes packets that the full filter drops.

use super::run::RunFilter;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use core::net::{IpAddr, Ipv6Addr};
use rocescope_model::filter::{Comparison, Expression, Literal, Test};
use rocescope_record::PacketFilter;
use rocescope_record::filter::{ALTERNATIVES, Alternative, Prefix};

/// The alternatives: a packet passes if one matches.
type Any = Vec<Alternative>;

impl RunFilter {
    /// The part that tests a single packet by its addresses, port and tags alone. It passes every packet of a run that
    /// [`wants`](Self::wants) selects, and every event that [`may_want`](Self::may_want) selects.
    #[must_use]
    pub fn packet_filter(&self) -> PacketFilter {
        let any = any_of(self.filter().expression());
        // An alternative that never matches is rare, and is left to the full filter.
        if any.contains(&Alternative::ANY) {
            return PacketFilter::NONE;
        }
        PacketFilter::new(&any).unwrap_or(PacketFilter::NONE)
    }
}

fn any_of(expression: &Expression) -> Any {
    match expression {
        Expression::Or(parts) => or(parts.iter().map(any_of)),
        Expression::And(parts) => parts.iter().map(any_of).fold(Any::from([Alternative::ANY]), both),
        Expression::Not(_) => Any::from([Alternative::ANY]),
        Expression::Term { tests, .. } => term(tests),
    }
}

fn or(parts: impl Iterator<Item = Any>) -> Any {
    let mut any = Any::new();
    for alternative in parts.flatten() {
        if !any.contains(&alternative) {
            any.push(alternative);
        }
    }
    if any.len() > ALTERNATIVES || any.contains(&Alternative::ANY) {
        return Any::from([Alternative::ANY]);
    }
    any
}

/// Matches if one of each side matches; if that needs too many alternatives, the shorter side.
fn both(left: Any, right: Any) -> Any {
    if left.contains(&Alternative::ANY) {
        return right;
    }
    if right.contains(&Alternative::ANY) {
        return left;
    }
    let pairs = left
        .iter()
        .flat_map(|left| right.iter().map(move |right| meet(left, right)));
    let any = or(pairs);
    if any.contains(&Alternative::ANY) {
        return if left.len() <= right.len() { left } else { right };
    }
    any
}

/// Matches if both match. Of two ports, VLANs or VNIs only the first is tested.
fn meet(left: &Alternative, right: &Alternative) -> Any {
    let mut one = *left;
    let (Some(src), Some(dst)) = (left.src.within(&right.src), left.dst.within(&right.dst)) else {
        return Any::new();
    };
    (one.src, one.dst) = (src, dst);
    if one.udp_src_port_mask == 0 {
        (one.udp_src_port, one.udp_src_port_mask) = (right.udp_src_port, right.udp_src_port_mask);
    }
    if one.vlan_mask == 0 {
        (one.vlan, one.vlan_mask) = (right.vlan, right.vlan_mask);
    }
    if one.vni_mask == 0 {
        (one.vni, one.vni_mask) = (right.vni, right.vni_mask);
    }
    match (left.either == Prefix::ANY, right.either == Prefix::ANY) {
        (_, true) => settled(one).into_iter().collect(),
        (true, false) => {
            one.either = right.either;
            settled(one).into_iter().collect()
        }
        (false, false) => match left.either.within(&right.either) {
            Some(within) => {
                one.either = within;
                settled(one).into_iter().collect()
            }
            // There is only one prefix for either end: the other becomes that of the source or of the destination.
            None => {
                one.either = right.either;
                let forth = one.src.within(&left.either);
                let forth = forth.and_then(|src| settled(Alternative { src, ..one }));
                let back = one.dst.within(&left.either);
                let back = back.and_then(|dst| settled(Alternative { dst, ..one }));
                forth.into_iter().chain(back).collect()
            }
        },
    }
}

/// The prefix of either end, moved to the only end it can match; `None` if it can match none.
fn settled(mut one: Alternative) -> Option<Alternative> {
    let Alternative { src, dst, either, .. } = one;
    match (src.within(&either), dst.within(&either)) {
        (None, None) => return None,
        (Some(within), None) => (one.src, one.either) = (within, Prefix::ANY),
        (None, Some(within)) => (one.dst, one.either) = (within, Prefix::ANY),
        (Some(a), Some(b)) if a == src || b == dst => one.either = Prefix::ANY,
        _ => {}
    }
    Some(one)
}

/// One of the tests matches.
fn term(tests: &[Test]) -> Any {
    if let [src, dst] = tests
        && (src.column.name, dst.column.name) == ("src", "dst")
        && src.literal == dst.literal
        && let (Some(either), Some(_)) = (prefix(src), prefix(dst))
    {
        return Any::from([Alternative {
            either,
            ..Alternative::ANY
        }]);
    }
    let said = |test| Any::from([said(test).unwrap_or(Alternative::ANY)]);
    or(tests.iter().map(said))
}

/// A test as an alternative, if it is supported.
fn said(test: &Test) -> Option<Alternative> {
    let any = Alternative::ANY;
    Some(match test.column.name {
        "src" => Alternative {
            src: prefix(test)?,
            ..any
        },
        "dst" => Alternative {
            dst: prefix(test)?,
            ..any
        },
        "udp_src_port" => Alternative {
            udp_src_port: number(test)?,
            udp_src_port_mask: u16::MAX,
            ..any
        },
        "vlan" | "inner_vlan" => Alternative {
            vlan: number(test)?,
            vlan_mask: u16::MAX,
            ..any
        },
        "vni" => Alternative {
            vni: number(test)?,
            vni_mask: u32::MAX,
            ..any
        },
        _ => return None,
    })
}

fn number<N: TryFrom<i64>>(test: &Test) -> Option<N> {
    match (&test.literal, test.comparison) {
        (Literal::Integer(number), Comparison::Equal) => N::try_from(*number).ok(),
        _ => None,
    }
}

fn prefix(test: &Test) -> Option<Prefix> {
    let (Literal::Network(network), Comparison::Equal) = (&test.literal, test.comparison) else {
        return None;
    };
    Some(match network.address {
        IpAddr::V4(address) => Prefix::new(address.to_ipv6_mapped().to_bits(), 96 + network.bits),
        IpAddr::V6(address) => Prefix::new(address.to_bits(), network.bits),
    })
}

/// The filter in the filter language; `None` if it passes everything.
#[must_use]
pub fn words(filter: &PacketFilter) -> Option<String> {
    let mut text = String::new();
    for (at, alternative) in filter.alternatives().iter().enumerate() {
        if at > 0 {
            text.push_str(" or ");
        }
        let begin = text.len();
        let mut part = |arguments: core::fmt::Arguments<'_>| {
            if text.len() > begin {
                text.push_str(" and ");
            }
            // Writing to a string does not fail.
            let _ = text.write_fmt(arguments);
        };
        let ends = [
            ("src ", &alternative.src),
            ("dst ", &alternative.dst),
            ("", &alternative.either),
        ];
        for (which, prefix) in ends {
            let address = Ipv6Addr::from(prefix.address);
            match (prefix.bits(), address.to_canonical()) {
                (0, _) => {}
                (128, address) => part(format_args!("{which}host {address}")),
                (bits, IpAddr::V4(address)) if bits >= 96 => {
                    part(format_args!("{which}net {address}/{}", bits - 96));
                }
                (bits, _) => part(format_args!("{which}net {address}/{bits}")),
            }
        }
        if alternative.udp_src_port_mask != 0 {
            part(format_args!("port {}", alternative.udp_src_port));
        }
        if alternative.vlan_mask != 0 {
            part(format_args!("vlan {}", alternative.vlan));
        }
        if alternative.vni_mask != 0 {
            part(format_args!("vni = {}", alternative.vni));
        }
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use proptest::prelude::*;
    use proptest::sample::select;
    use rocescope_model::filter::Filter;
    use rocescope_record::{ControlPacket, MadRecord};
    use rocescope_wire::link::NO_VLAN;
    use rocescope_wire::tunnel::NO_VNI;
    use rocescope_wire::{Bth, FlowKey, Opcode, Packet, Psn, Qpn};

    fn filter(text: &str) -> RunFilter {
        RunFilter::new(&text.parse::<Filter>().unwrap()).unwrap()
    }

    #[test]
    fn supported_tests_are_kept_and_all_others_pass() {
        for (text, expected) in [
            ("host 10.0.0.1", Some("host 10.0.0.1")),
            ("host 10.0.0.1 and not service cnp", Some("host 10.0.0.1")),
            (
                "host 10.0.0.1 and host 10.0.0.2",
                Some("src host 10.0.0.1 and dst host 10.0.0.2 or src host 10.0.0.2 and dst host 10.0.0.1"),
            ),
            (
                "src net 10.1.0.0/16 and dst net fe80::/10 and port 7",
                Some("src net 10.1.0.0/16 and dst net fe80::/10 and port 7"),
            ),
            ("(vlan 5 or vni = 9) and opcode *WRITE*", Some("vlan 5 or vni = 9")),
            ("net 10.0.0.0/8 and host 10.0.0.1", Some("host 10.0.0.1")),
            ("src host 1.2.3.4 and src host 1.2.3.5", None),
            ("host 10.0.0.1 or qp 17", None),
            ("not host 10.0.0.1", None),
            ("vlan = null or service rc", None),
            ("src = 10.*", None),
        ] {
            let said = words(&filter(text).packet_filter());
            assert_eq!(said.as_deref(), expected, "{text}");
        }
        // More than eight are left to the full filter, unless something else narrows them.
        let ports: Vec<_> = (1..=9).map(|port| format!("port {port}")).collect();
        let ports = ports.join(" or ");
        assert_eq!(filter(&ports).packet_filter(), PacketFilter::NONE);
        let narrowed = filter(&format!("({ports}) and vlan 3"));
        assert_eq!(words(&narrowed.packet_filter()).unwrap(), "vlan 3");
    }

    const ADDRESSES: [&str; 6] = ["10.0.0.1", "10.0.0.2", "10.1.0.1", "fe80::1", "fe80::2", "::1"];

    fn text() -> impl Strategy<Value = String> {
        let side = select(&["", "src ", "dst "][..]);
        let term = prop_oneof![
            4 => (side.clone(), select(&ADDRESSES[..])).prop_map(|(side, address)| format!("{side}host {address}")),
            3 => (side, select(&["10.0.0.0/16", "10.0.0.0/8", "0.0.0.0/0", "fe80::/64", "::/0"][..]))
                .prop_map(|(side, network)| format!("{side}net {network}")),
            1 => (1..4u16).prop_map(|port| format!("port {port}")),
            1 => (1..4u16).prop_map(|vlan| format!("vlan {vlan}")),
            1 => (1..4u16).prop_map(|vlan| format!("vlan = {vlan}")),
            1 => (1..4u16).prop_map(|vni| format!("vni = {vni}")),
            1 => select(&["vlan = null", "vlan != 2", "src != 10.0.0.1", "vni < 3"][..])
                .prop_map(ToString::to_string),
            1 => select(&["service rc", "opcode *SEND*", "qp 1", "ecn ce"][..]).prop_map(ToString::to_string),
        ];
        term.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                3 => proptest::collection::vec(inner.clone(), 1..4)
                    .prop_map(|parts| format!("({})", parts.join(" and "))),
                3 => proptest::collection::vec(inner.clone(), 1..4)
                    .prop_map(|parts| format!("({})", parts.join(" or "))),
                1 => inner.prop_map(|part| format!("not {part}")),
            ]
        })
    }

    fn flow() -> impl Strategy<Value = FlowKey> {
        let address = || {
            select(&ADDRESSES[..]).prop_map(|text| match text.parse().unwrap() {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            })
        };
        let tag = || prop_oneof![Just(NO_VLAN), 1..4u16];
        let vni = prop_oneof![Just(NO_VNI), 1..4u32];
        (address(), address(), 1..4u16, tag(), tag(), vni).prop_map(
            |(src, dst, udp_src_port, vlan, inner_vlan, vni)| FlowKey {
                src,
                dst,
                vni,
                dst_qpn: 1,
                udp_src_port,
                vlan,
                inner_vlan,
                reserved: 0,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The kernel's part passes all packets and events that the full filter selects.
        #[test]
        fn no_selected_packet_is_dropped(
            text in text(),
            flows in proptest::collection::vec(flow(), 40),
            opcode in select(&[0x04u8, 0x0a, 0x64][..]),
        ) {
            let whole = filter(&text);
            let part = whole.packet_filter();
            for flow in flows {
                let packet = Packet {
                    flow,
                    bth: Bth::new(Opcode(opcode), Qpn::new(0), Psn::new(0)).into(),
                    meaning: Opcode(opcode).meaning(),
                    ..Packet::zeroed()
                };
                prop_assert!(!whole.wants_packet(&packet) || part.wants(&flow), "{:?}", flow);
                let mad = MadRecord { flow, ..bytemuck::Zeroable::zeroed() };
                let event = ControlPacket::Mad(&mad);
                prop_assert!(!whole.may_want(&event) || part.may_want(&flow), "{:?}", flow);
            }
        }
    }
}
