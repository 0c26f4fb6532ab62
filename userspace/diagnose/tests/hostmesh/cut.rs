//! Traces that end at a switch.

use crate::hostmesh::run::{START, WINDOW, lines};
use core::net::{IpAddr, Ipv4Addr};
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_model::{PathRow, ProbeRow, Time};

/// A NIC of the only host.
fn nic(rail: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, rail, 1).into()
}

/// The port of the switch of a rail towards its NIC.
fn rail_switch(rail: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, rail, 254).into()
}

/// The port of a spine towards the switch of a rail.
fn spine(number: u8, rail: u8) -> IpAddr {
    Ipv4Addr::new(10, 1, number, rail).into()
}

/// The fault is older than the agents: the second spine has no route to the third rail, and over the link to it go no other
/// probes than those which it refuses. Their traces have crossed that link.
#[test]
fn a_link_that_traces_have_crossed_is_not_named_for_what_is_lost_behind_it() {
    let mut analyzer = Analyzer::new(Settings::default(), "diagnose").unwrap();
    for rail in 0..3 {
        analyzer.know(rail_switch(rail), &format!("r{rail}"));
        (0..2).for_each(|number| analyzer.know(spine(number, rail), &format!("s{number}")));
    }
    // From the first rail only one port of six takes the second spine; between the others both spines work.
    let by = |src: u8, dst: u8, port: u16| u8::from(if src == 0 { dst == 2 && port == 5 } else { port % 2 == 1 });
    let pairs = [(0, 1), (0, 2), (1, 0), (2, 0), (2, 1)];
    for (src, dst) in pairs {
        for port in 0..6 {
            let number = by(src, dst, port);
            let is_lost = (number, dst) == (1, 2);
            let mut hops = vec![Some(rail_switch(src)), Some(spine(number, src))];
            match is_lost {
                true => hops.push(None),
                false => hops.extend([Some(rail_switch(dst)), Some(nic(dst))]),
            }
            let whole = PathRow {
                observer: "h0".into(),
                time: Time(START),
                time_ns: START,
                src_nic: format!("rail{src}").into(),
                dst_nic: format!("rail{dst}").into(),
                src: nic(src),
                dst: nic(dst),
                udp_src_port: 50_000 + port,
                udp_dst_port: 4791,
                reason: if is_lost { "unreachable" } else { "start" }.into(),
                hops: u16::try_from(hops.len()).unwrap(),
                ..PathRow::default()
            };
            for (hop, address) in (1..).zip(hops) {
                analyzer.path(&PathRow {
                    hop,
                    address,
                    ..whole.clone()
                });
            }
            for probe in 0..30 {
                let time_ns = START + probe * WINDOW / 30;
                analyzer.probe(&ProbeRow {
                    observer: "h0".into(),
                    time: Time(time_ns),
                    time_ns,
                    src_nic: whole.src_nic.clone(),
                    dst_nic: whole.dst_nic.clone(),
                    src: whole.src,
                    dst: whole.dst,
                    udp_src_port: whole.udp_src_port,
                    udp_dst_port: 4791,
                    outcome: if is_lost { "timeout" } else { "received" }.into(),
                    ..ProbeRow::default()
                });
            }
        }
    }
    let found = analyzer.advance(Time(START + WINDOW)).remove(0);
    assert_eq!(lines(&found), ["link_down switch s1 or its next hops"]);
    assert_eq!((found.verdicts[0].probes, found.verdicts[0].anomalous), (30, 30));
}
