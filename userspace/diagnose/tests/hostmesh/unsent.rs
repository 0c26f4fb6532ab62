//! Probes that could not be sent: a cold start gives no verdict, and a port that is down is the only one named.

use crate::hostmesh::run::lines;
use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_model::{PathRow, ProbeRow, Time};
use std::net::IpAddr;

const SECOND: i64 = 1_000_000_000;
const WINDOW: i64 = 20 * SECOND;

/// What happened to a probe.
#[derive(Clone, Copy)]
enum Fate {
    Received,
    Lost,
    /// Not sent, for this reason.
    Unsent(Option<&'static str>),
}
use Fate::{Lost, Received, Unsent};

/// One window of a host: each NIC probes the others in turn, ten times a second, from `from_ns` in the window on.
fn window(nics: u8, number: i64, from_ns: i64, fate: impl Fn(u8, u8, i64) -> Fate) -> Vec<ProbeRow> {
    let mut rows = Vec::new();
    for step in 0..200 {
        let offset_ns = step * SECOND / 10;
        if offset_ns < from_ns {
            continue;
        }
        for src in 0..nics {
            let dst = (src + 1 + (step % i64::from(nics - 1)) as u8) % nics;
            let time_ns = number * WINDOW + offset_ns;
            let address = |nic: u8| IpAddr::from([10, 0, 0, nic]);
            let (outcome, unsent_reason) = match fate(src, dst, offset_ns) {
                Received => ("received", None),
                Lost => ("timeout", None),
                Unsent(reason) => ("unsent", reason),
            };
            rows.push(ProbeRow {
                observer: "h0".into(),
                time: Time(time_ns),
                time_ns,
                src_nic: format!("rail{src}").into(),
                dst_nic: format!("rail{dst}").into(),
                src: address(src),
                dst: address(dst),
                udp_src_port: 0xC000,
                udp_dst_port: 4791,
                outcome: outcome.into(),
                unsent_reason: unsent_reason.map(Into::into),
                ..ProbeRow::default()
            });
        }
    }
    rows
}

/// A path without a switch.
fn straight(probe: &ProbeRow) -> PathRow {
    PathRow {
        observer: probe.observer.clone(),
        src_nic: probe.src_nic.clone(),
        dst_nic: probe.dst_nic.clone(),
        src: probe.src,
        dst: probe.dst,
        udp_src_port: probe.udp_src_port,
        udp_dst_port: probe.udp_dst_port,
        hops: 1,
        hop: 1,
        address: Some(probe.dst),
        ..PathRow::default()
    }
}

fn analyzer() -> Analyzer {
    Analyzer::new(Settings::default(), "diagnose").unwrap()
}

fn analyse(analyzer: &mut Analyzer, rows: &[ProbeRow], number: i64) -> WindowDiagnosis {
    rows.iter().for_each(|row| analyzer.probe(row));
    analyzer.advance(Time((number + 1) * WINDOW)).remove(0)
}

/// The fault of 2026-11-22: three verdicts of loss beside "not one probe was dropped".
#[test]
fn a_cold_start_gives_no_verdict() {
    for reason in [
        None,
        Some("resolving"),
        Some("no_next_hop"),
        Some("queue_full"),
        Some("other"),
    ] {
        // The next hops of a third of the pairs are found after six seconds.
        let cold = |src, dst, at| match (src + dst) % 3 == 0 && at < 6 * SECOND {
            true => Unsent(reason),
            false => Received,
        };
        let found = analyse(&mut analyzer(), &window(4, 0, 0, cold), 0);
        assert_eq!(lines(&found), [""; 0], "{reason:?}");
        assert!(found.sla.unsent > 50, "{}", found.sla.unsent);
        let why = format!("{} unsent probes are no evidence", found.sla.unsent);
        assert!(found.sla.unjudged.contains(&why), "{}", found.sla.unjudged);
    }
    // An agent that starts in the middle of a window is still resolving next hops, however few pairs are left.
    let mut analyzer = analyzer();
    let starting = window(4, 0, 8 * SECOND, |_, _, _| Unsent(Some("no_next_hop")));
    assert_eq!(lines(&analyse(&mut analyzer, &starting, 0)), [""; 0]);
    let found = analyse(&mut analyzer, &window(4, 1, 0, |_, _, _| Received), 1);
    assert_eq!(lines(&found), [""; 0]);
}

/// On one subnet the neighbours of a port that is down cannot send to it: only the port is named.
#[test]
fn a_port_that_is_down_is_named_and_its_peers_are_not() {
    let down = [
        // Its own interface is down, or only its port at the switch.
        ("no_route", "no_next_hop"),
        ("nic_down", "no_next_hop"),
        ("no_next_hop", "no_next_hop"),
    ];
    for nics in [3, 4, 8] {
        for (from, to) in down {
            let fate = |src, dst, _| match (src, dst) {
                (2, _) => Unsent(Some(from)),
                (_, 2) => Unsent(Some(to)),
                _ => Received,
            };
            let found = analyse(&mut analyzer(), &window(nics, 0, 0, fate), 0);
            assert_eq!(lines(&found), ["link_down nic h0/rail2"], "{nics} {from}");
            let verdict = &found.verdicts[0];
            assert_eq!(
                (&*verdict.symptom, verdict.direction.as_deref()),
                ("unsent", Some("both"))
            );
            assert!(verdict.sentence.contains("could not be sent:"), "{}", verdict.sentence);
            assert!(!verdict.sentence.contains("lost"), "{}", verdict.sentence);
            assert_eq!((found.sla.timeouts, found.sla.unjudged.contains("unsent")), (0, false));
        }
    }
}

/// Behind routers, probes to the port are lost, and probes from it cannot be sent.
#[test]
fn a_port_that_is_down_behind_routers_is_one_problem() {
    let fate = |src, dst, _| match (src, dst) {
        (2, _) => Unsent(Some("no_next_hop")),
        (_, 2) => Lost,
        _ => Received,
    };
    let found = analyse(&mut analyzer(), &window(4, 0, 0, fate), 0);
    assert_eq!(lines(&found), ["link_down nic h0/rail2"]);
    let verdict = &found.verdicts[0];
    assert_eq!(
        (&*verdict.symptom, verdict.anomalous, verdict.probes),
        ("loss", 400, 400)
    );
    assert!(
        verdict
            .sentence
            .contains("400 of 400 probes to and from it did not arrive (200 could not be sent)"),
        "{}",
        verdict.sentence
    );
}

/// One pair of a host that works otherwise: no packet was dropped, so no access list dropped any.
#[test]
fn a_pair_without_a_next_hop_is_not_an_access_list() {
    let fate = |src, dst, _| match (src, dst) {
        (1, 3) => Unsent(Some("no_next_hop")),
        _ => Received,
    };
    let found = analyse(&mut analyzer(), &window(8, 0, 0, fate), 0);
    assert_eq!(lines(&found), ["unsent pair h0/rail1 to h0/rail3"]);
    assert!(
        found.verdicts[0].action.contains("ip neigh"),
        "{}",
        found.verdicts[0].action
    );
}

/// A route that disappears for part of a window is the sender's problem.
#[test]
fn a_route_that_comes_and_goes_is_no_loss() {
    let fate = |src, _, at: i64| match src == 1 && at / SECOND % 2 == 0 && at % SECOND < SECOND / 2 {
        true => Unsent(Some("no_route")),
        false => Received,
    };
    let mut analyzer = analyzer();
    let rows = window(4, 0, 0, fate);
    for row in &rows {
        analyzer.path(&straight(row));
    }
    let found = analyse(&mut analyzer, &rows, 0);
    let [verdict] = &found.verdicts[..] else {
        panic!("{:?}", lines(&found));
    };
    assert_eq!((&*verdict.symptom, &*verdict.place), ("unsent", "h0/rail1"));
    assert!(matches!(&*verdict.class, "unsent" | "flapping"), "{}", verdict.class);
}
