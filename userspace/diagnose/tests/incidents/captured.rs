//! A capture as its rows come.

use rocescope_diagnose::incidents::Captured;
use rocescope_model::{EventRow, FlowRow, WindowRow, WindowRows};
use std::net::IpAddr;
use std::vec::Vec;

const SECOND: i64 = 1_000_000_000;

fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

/// A second of traffic from four senders to one receiver, one packet in five marked, and CNPs back.
fn incast(second: i64, cnps: u64) -> WindowRows {
    let flow = |src: u8, dst: u8, service: &'static str, packets: u64, marked: u64| FlowRow {
        observer: "tap".into(),
        window_start_ns: second * SECOND,
        window_ns: SECOND,
        src: address(src),
        dst: address(dst),
        dst_qpn: u32::from(src) * 256 + u32::from(dst),
        service: service.into(),
        packets,
        frame_bytes: packets * 1_000,
        ecn_ce_packets: marked,
        retransmitted_packets: Some(0),
        ..FlowRow::default()
    };
    let data = (1..=4).map(|src| flow(src, 9, "RC", 1_000, 200));
    let back = (1..=4).map(|dst| flow(9, dst, "CNP", cnps, 0));
    WindowRows {
        windows: Vec::from([WindowRow {
            observer: "tap".into(),
            window_start_ns: second * SECOND,
            window_ns: SECOND,
            roce_packets: 4_000 + 4 * cnps,
            ..WindowRow::default()
        }]),
        flows: data.chain(back).collect(),
        ..WindowRows::default()
    }
}

/// The sum of an evidence of the only incident.
fn evidence(seconds: impl Iterator<Item = WindowRows>, name: &str) -> f64 {
    let mut captured = Captured::default();
    seconds.for_each(|rows| captured.rows(&rows));
    let incidents = captured.document().incidents;
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    let congestion = &incidents[0];
    assert_eq!(
        (&*congestion.class, &*congestion.place.name),
        ("congestion", "10.0.0.9")
    );
    let rows = congestion.evidence.iter().filter(|row| row.name == name);
    rows.map(|row| row.value).sum()
}

/// Each window added the CNPs of the last three: 1,277 of 624.
#[test]
fn evidence_counts_each_packet_once() {
    let rows = || (0..12).map(|second| incast(second, 10));
    let cnps = evidence(rows(), "CNPs on the wire");
    let marked = evidence(rows(), "ecn_ce_packets");
    assert!((360.0..=480.0).contains(&cnps), "{cnps} of 480");
    assert!((7_200.0..=9_600.0).contains(&marked), "{marked} of 9,600");
}

/// Acknowledgements share a row of `flows` with CNPs that begin it: they were counted as CNPs, 1,276 of 1,207.
#[test]
fn acknowledgements_in_a_row_of_cnps_are_none() {
    let mixed = |second| {
        let mut rows = incast(second, 10);
        let back = rows.flows.iter_mut().filter(|flow| &*flow.service == "CNP");
        for flow in back {
            flow.packets += 3;
            rows.events.push(EventRow {
                observer: "tap".into(),
                time_ns: second * SECOND,
                kind: "cnp_burst".into(),
                src: Some(flow.src),
                dst: Some(flow.dst),
                dst_qpn: Some(flow.dst_qpn),
                count: 10,
                ..EventRow::default()
            });
        }
        rows
    };
    let cnps = evidence((0..12).map(mixed), "CNPs on the wire");
    let alone = evidence((0..12).map(|second| incast(second, 10)), "CNPs on the wire");
    assert_eq!(cnps, alone);
}

/// What has no fault is judged all the same.
#[test]
fn quiet_traffic_has_no_incident() {
    let mut captured = Captured::default();
    for second in 0..12 {
        let mut rows = incast(second, 0);
        rows.flows.iter_mut().for_each(|flow| flow.ecn_ce_packets = 0);
        captured.rows(&rows);
    }
    let document = captured.document();
    assert!(document.incidents.is_empty(), "{:#?}", document.incidents);
    // It has no connections.
    assert_eq!(document.headline(), "no incidents in what could be judged");
    assert!(
        document.notes[0].starts_with("fabric loss is unknown"),
        "{:?}",
        document.notes
    );
    assert!(
        document.judged[0].starts_with("48,000 captured packets"),
        "{:?}",
        document.judged
    );
    assert_eq!(Captured::default().document().headline(), "nothing could be judged");
}

/// A reader of a dataset has the rows of minutes at its start.
#[test]
fn rows_of_many_windows_at_once_are_judged_as_one_after_the_other() {
    let seconds = || (0..120).map(|second| incast(second, if second < 60 { 10 } else { 0 }));
    let mut each = Captured::default();
    seconds().for_each(|rows| each.rows(&rows));
    let mut together = WindowRows::default();
    for rows in seconds() {
        together.windows.extend(rows.windows);
        together.flows.extend(rows.flows);
    }
    let mut all = Captured::default();
    all.rows(&together);
    // Before the end too: those that are over are closed.
    assert_eq!(all.current().incidents, each.current().incidents);
    assert_eq!(all.document().incidents, each.document().incidents);
    assert!(!all.document().incidents.is_empty());
}
