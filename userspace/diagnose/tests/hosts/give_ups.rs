//! Senders give up: the application, the NIC or the port of their receiver is gone.

use super::rows::{SECOND, WINDOW, addresses, alive, analyzer, counter, event, finish, flow, gauge, present, read_at};
use rocescope_diagnose::hosts::{Analyzer, Change, Class, HostVerdict};
use rocescope_model::{CounterRow, Time};

/// Hosts that read their counters in a window: ports that are up, with an address.
pub(crate) fn hosts(analyzer: &mut Analyzer, hosts: &[u8], window: i64) {
    for host in hosts {
        analyzer.counter(&alive(*host, window));
        analyzer.counter(&counter(*host, window, "link_downed", 0));
        if window == 0 {
            analyzer.counter(&gauge(*host, window, "state", 4.0));
            analyzer.counter(&addresses(*host, window, &format!("10.0.0.{host}")));
        }
    }
}

/// What a sender counts that gives up in window 3.
fn gives_up(analyzer: &mut Analyzer, host: u8, window: i64) {
    for (metric, count) in [("local_ack_timeout_err", 8), ("req_transport_retries_exceeded", 1)] {
        analyzer.counter(&counter(host, window, metric, if window == 3 { count } else { 0 }));
    }
}

pub(crate) fn classes(verdicts: &[HostVerdict]) -> Vec<(Class, &str)> {
    verdicts
        .iter()
        .map(|verdict| (verdict.class, &*verdict.place))
        .collect()
}

/// The NIC of `gpu-2` vanishes in window 3 and `gpu-1` gives up, with or without a capture.
fn without_its_nic(is_captured: bool, returns: Option<i64>) -> Vec<HostVerdict> {
    let mut analyzer = analyzer();
    for window in 0..8 {
        let is_away = window >= 3 && returns.is_none_or(|returns| window < returns);
        hosts(&mut analyzer, if is_away { &[1] } else { &[1, 2] }, window);
        analyzer.counter(&alive(2, window));
        gives_up(&mut analyzer, 1, window);
        if window == 3 {
            analyzer.counter(&read_at(present(2, 3, Some("vanished")), 35 * SECOND, SECOND));
        }
        if returns == Some(window) {
            analyzer.counter(&present(2, window, Some("returned")));
        }
        if is_captured {
            analyzer.flow(&flow(1, 2, window, if is_away { 2 } else { 100 }));
        }
    }
    if is_captured {
        analyzer.event(&event(1, 2, 37 * SECOND, "retry_exhausted", 1));
    }
    finish(&mut analyzer)
}

#[test]
fn a_nic_that_vanished_is_at_fault_and_no_application() {
    for is_captured in [true, false] {
        let verdicts = without_its_nic(is_captured, None);
        let [verdict] = &verdicts[..] else {
            panic!("{is_captured}: {verdicts:#?}")
        };
        assert_eq!((verdict.class, verdict.state), (Class::NicVanished, Change::Open));
        assert_eq!((verdict.place_kind, &*verdict.place), ("device", "gpu-2 mlx5_0"));
        assert_eq!((verdict.host.as_deref(), verdict.port), (Some("gpu-2"), None));
        assert_eq!(verdict.since_ns, 35 * SECOND);
        assert!(
            verdict.sentence.contains("the NIC vanished from its host"),
            "{}",
            verdict.sentence
        );
        let evidence = verdict.evidence_text();
        for row in [
            "present 0 state (gpu-2 mlx5_0)",
            "state before 4 state (gpu-2 mlx5_0/1)",
            "local_ack_timeout_err 8 events (gpu-1 mlx5_0/1)",
        ] {
            assert!(evidence.contains(row), "{row}: {evidence}");
        }
        assert_eq!(is_captured, evidence.contains("retry_exhausted 1 events"), "{evidence}");
    }
}

/// Between two reads, perhaps: the connections are lost all the same.
#[test]
fn a_nic_that_returned_at_once_is_at_fault_if_senders_gave_up() {
    for returns in [3, 4] {
        let verdicts = without_its_nic(true, Some(returns));
        let [verdict] = &verdicts[..] else {
            panic!("{verdicts:#?}")
        };
        assert_eq!((verdict.class, verdict.state), (Class::NicVanished, Change::Ended));
    }
    // A driver was loaded again, and no one noticed.
    let mut analyzer = analyzer();
    for window in 0..8 {
        hosts(&mut analyzer, &[1, 2], window);
    }
    analyzer.counter(&present(2, 3, Some("returned")));
    assert!(finish(&mut analyzer).is_empty());
}

/// What it counted and was before proves nothing about now: neither that its link is up nor that its counters stand still.
#[test]
fn of_a_nic_that_is_gone_nothing_else_is_concluded() {
    let mut analyzer = analyzer();
    for window in 0..10 {
        analyzer.counter(&alive(1, window));
        if window < 4 {
            analyzer.counter(&gauge(1, window, "state", 4.0));
            analyzer.counter(&counter(1, window, "symbol_error", 20));
        }
    }
    analyzer.counter(&present(1, 4, Some("vanished")));
    let verdicts = finish(&mut analyzer);
    assert_eq!(
        classes(&verdicts),
        [
            (Class::SickCable, "gpu-1 mlx5_0/1"),
            (Class::NicVanished, "gpu-1 mlx5_0")
        ]
    );
    assert_eq!((verdicts[0].state, verdicts[0].until_ns), (Change::Open, 4 * WINDOW));
    assert_eq!(verdicts[0].unknown, ["whether it goes on: its device has vanished"]);
}

/// A NIC that was never up, and the interface of a NIC: neither is a fault of its own.
#[test]
fn a_nic_is_one_fault_with_its_interface_and_none_if_it_was_not_used() {
    let verdicts = |state: f64| {
        let mut analyzer = analyzer();
        for window in 0..6 {
            analyzer.counter(&alive(1, window));
        }
        let mut port = gauge(1, 0, "state", state);
        port.netdev = Some("eth2".into());
        analyzer.counter(&port);
        analyzer.counter(&present(1, 2, Some("vanished")));
        let mut interface = present(1, 2, Some("vanished"));
        interface.device = "eth2".into();
        analyzer.counter(&interface);
        finish(&mut analyzer)
            .iter()
            .map(|verdict| verdict.place.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(verdicts(4.0), ["gpu-1 mlx5_0"]);
    assert!(verdicts(1.0).is_empty());
}

/// Rows of `gpu-1` and `gpu-2`, whose NIC may vanish in window 3; `mlx5_1` has its address from the window `moved` on.
fn with_an_address_that_moves(windows: i64, is_gone: bool, moved: i64) -> Analyzer {
    let mut analyzer = analyzer();
    for window in 0..windows {
        hosts(
            &mut analyzer,
            if is_gone && window >= 3 { &[1] } else { &[1, 2] },
            window,
        );
        analyzer.counter(&alive(2, window));
        analyzer.flow(&flow(1, 2, window, 100));
        if is_gone && window == 3 {
            analyzer.counter(&present(2, 3, Some("vanished")));
        }
        if window >= moved {
            let mut other = counter(2, window, "link_downed", 0);
            other.device = "mlx5_1".into();
            analyzer.counter(&other);
            analyzer.counter(&CounterRow {
                device: "mlx5_1".into(),
                ..gauge(2, window, "state", 4.0)
            });
            analyzer.counter(&CounterRow {
                device: "mlx5_1".into(),
                ..addresses(2, window, "10.0.0.2")
            });
        }
    }
    analyzer
}

/// While two ports have an address, a slow receiver is named by it. When the NIC of one is gone, the other has it, whether
/// it stated that before or after: that its application is slow is no effect of the NIC.
#[test]
fn an_address_of_two_ports_names_neither_and_belongs_to_the_other_when_the_nic_of_one_is_gone() {
    let found = |is_gone: bool, moved: i64| -> Vec<String> {
        let mut analyzer = with_an_address_that_moves(12, is_gone, moved);
        for window in 6..12 {
            analyzer.event(&event(2, 1, window * WINDOW, "rnr_nak", 30));
            analyzer.event(&event(2, 1, window * WINDOW + 9 * SECOND, "rnr_nak", 30));
        }
        let verdicts = finish(&mut analyzer);
        let line = |verdict: &HostVerdict| format!("{:?} {}", verdict.class, verdict.place);
        verdicts.iter().map(line).collect()
    };
    for moved in [1, 3, 5] {
        assert_eq!(
            found(true, moved),
            ["NicVanished gpu-2 mlx5_0", "SlowReceiver gpu-2 mlx5_1/1"],
            "{moved}"
        );
        assert_eq!(found(false, moved), ["SlowReceiver 10.0.0.2"], "{moved}");
    }
}

/// The connections that a NIC had are lost with it, although its address lives on. Later ones are not its own.
#[test]
fn a_give_up_at_an_address_that_moved_is_the_fault_of_the_nic_until_all_timers_have_expired() {
    for (window, expected) in [
        (4, &["NicVanished gpu-2 mlx5_0"][..]),
        (70, &["NicVanished gpu-2 mlx5_0", "ReceiverDied gpu-2 mlx5_1/1"]),
    ] {
        let mut analyzer = with_an_address_that_moves(80, true, 3);
        for read in 0..80 {
            let (timeouts, exceeded) = if read == window { (8, 1) } else { (0, 0) };
            analyzer.counter(&counter(1, read, "local_ack_timeout_err", timeouts));
            analyzer.counter(&counter(1, read, "req_transport_retries_exceeded", exceeded));
        }
        analyzer.event(&event(1, 2, window * WINDOW + 5 * SECOND, "retry_exhausted", 1));
        let verdicts = finish(&mut analyzer);
        let lines: Vec<String> = verdicts
            .iter()
            .map(|verdict| format!("{:?} {}", verdict.class, verdict.place))
            .collect();
        assert_eq!(lines, expected);
        let is_evidence = verdicts[0].evidence_text().contains("retry_exhausted 1 events");
        assert_eq!(is_evidence, window == 4, "{}", verdicts[0].evidence_text());
    }
}

/// The receiver's port is down, as its host reads only after the sender gave up.
#[test]
fn a_give_up_waits_for_the_next_read_of_its_ends() {
    let verdicts = |is_down: bool, windows: i64| {
        let mut analyzer = analyzer();
        for window in 0..windows {
            analyzer.flow(&flow(1, 2, window, 100));
            hosts(&mut analyzer, &[1], window);
            analyzer.counter(&counter(
                1,
                window,
                "local_ack_timeout_err",
                if window == 3 { 8 } else { 0 },
            ));
            // Two seconds before the end of each window.
            let at = (window + 1) * WINDOW - 2 * SECOND;
            analyzer.counter(&read_at(alive(2, window), at, WINDOW));
            let state = if is_down && window > 3 { 1.0 } else { 4.0 };
            analyzer.counter(&read_at(gauge(2, window, "state", state), at, WINDOW));
            if window == 0 {
                analyzer.counter(&read_at(addresses(2, window, "10.0.0.2"), at, WINDOW));
            }
        }
        analyzer.event(&event(1, 2, 39 * SECOND, "retry_exhausted", 1));
        let verdicts = finish(&mut analyzer);
        let unknowns = analyzer.unknowns();
        let is_pending = unknowns
            .iter()
            .any(|unknown| unknown.reason.contains("analyze a longer time"));
        let classes: Vec<Class> = verdicts.iter().map(|verdict| verdict.class).collect();
        (classes, is_pending)
    };
    assert_eq!(verdicts(true, 8).0, [Class::LinkDown]);
    assert_eq!(verdicts(false, 8).0, [Class::ReceiverDied]);
    assert_eq!(verdicts(false, 4), (Vec::new(), true));
}

/// Counters alone, read for the first time in the window before: what grew since is known.
#[test]
fn one_event_that_four_senders_count_is_one_verdict_with_evidence() {
    for begins in [0, 3] {
        let mut analyzer = analyzer();
        for window in begins..8 {
            hosts(&mut analyzer, &[1, 2, 3, 4, 5], window);
            for host in 1..=4 {
                let mut first = counter(host, window, "local_ack_timeout_err", 0);
                if window == begins {
                    (first.event, first.increase) = (Some("first".into()), None);
                    analyzer.counter(&read_at(first, begins * WINDOW + SECOND, SECOND));
                }
                gives_up(&mut analyzer, host, window);
            }
        }
        let verdicts = finish(&mut analyzer);
        let [verdict] = &verdicts[..] else {
            panic!("{verdicts:#?}")
        };
        assert_eq!((verdict.class, verdict.place_kind), (Class::ReceiverDied, "peer"));
        assert_eq!(
            verdict.place,
            "peer of gpu-1 mlx5_0/1, gpu-2 mlx5_0/1, gpu-3 mlx5_0/1, gpu-4 mlx5_0/1"
        );
        assert_eq!((verdict.host.as_deref(), verdict.since_ns), (None, 3 * WINDOW));
        let evidence = verdict.evidence_text();
        for host in 1..=4 {
            let row = format!("local_ack_timeout_err 8 events (gpu-{host} mlx5_0/1)");
            assert!(evidence.contains(&row), "{evidence}");
        }
    }
}

/// Someone set the port of the receiver down: no fault of the link, but not nothing either.
#[test]
fn a_disabled_port_whose_senders_gave_up_is_named() {
    let verdicts = |gives_up_too: bool, is_captured: bool| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            hosts(&mut analyzer, &[1, 2], window);
            let port = if window >= 3 { (1.0, 3.0) } else { (4.0, 5.0) };
            analyzer.counter(&gauge(2, window, "state", port.0));
            analyzer.counter(&gauge(2, window, "phys_state", port.1));
            if gives_up_too {
                gives_up(&mut analyzer, 1, window);
            }
            if is_captured {
                analyzer.flow(&flow(1, 2, window, 100));
            }
        }
        if gives_up_too && is_captured {
            analyzer.event(&event(1, 2, 35 * SECOND, "retry_exhausted", 1));
        }
        finish(&mut analyzer)
    };
    for is_captured in [true, false] {
        let found = verdicts(true, is_captured);
        assert_eq!(classes(&found), [(Class::LinkDown, "gpu-2 mlx5_0/1")], "{is_captured}");
        assert!(
            found[0].sentence.contains("someone set the port down"),
            "{}",
            found[0].sentence
        );
        let evidence = found[0].evidence_text();
        assert!(evidence.contains("phys_state 3 state (gpu-2 mlx5_0/1)"), "{evidence}");
        assert!(evidence.contains("req_transport_retries_exceeded 1"), "{evidence}");
        assert!(verdicts(false, is_captured).is_empty());
    }
}

/// A port that has long been down, of an unrelated host, explains nothing.
#[test]
fn a_port_that_is_down_for_long_hides_no_give_up() {
    let mut analyzer = analyzer();
    for window in 0..100 {
        hosts(&mut analyzer, &[1, 2], window);
        let state = if window < 3 { 4.0 } else { 1.0 };
        analyzer.counter(&gauge(2, window, "state", state));
        analyzer.counter(&counter(
            1,
            window,
            "local_ack_timeout_err",
            if window == 90 { 8 } else { 0 },
        ));
        analyzer.counter(&counter(
            1,
            window,
            "req_transport_retries_exceeded",
            u64::from(window == 90),
        ));
    }
    let verdicts = finish(&mut analyzer);
    assert_eq!(
        classes(&verdicts),
        [
            (Class::LinkDown, "gpu-2 mlx5_0/1"),
            (Class::ReceiverDied, "peer of gpu-1 mlx5_0/1")
        ]
    );
}

/// One failure of the link is a maintenance, unless it lasted longer than the senders waited.
#[test]
fn a_link_that_came_back_too_late_is_named() {
    let mut analyzer = analyzer();
    for window in 0..8 {
        hosts(&mut analyzer, &[1, 2], window);
        analyzer.counter(&counter(2, window, "link_downed", u64::from(window == 3)));
        analyzer.flow(&flow(1, 2, window, 100));
    }
    analyzer.event(&event(1, 2, 35 * SECOND, "retry_exhausted", 1));
    let verdicts = finish(&mut analyzer);
    assert_eq!(classes(&verdicts), [(Class::LinkDown, "gpu-2 mlx5_0/1")]);
    assert!(
        verdicts[0].sentence.contains("the link failed and came back"),
        "{}",
        verdicts[0].sentence
    );
    assert_eq!(Time(verdicts[0].since_ns), Time(3 * WINDOW));
}

/// Its failure may have been counted long ago, or not at all: that it was down until now is enough.
#[test]
fn a_sender_whose_port_was_down_until_it_gave_up_accuses_no_receiver() {
    for (down, is_captured) in [(3..9, true), (8..9, true), (3..9, false), (8..9, false)] {
        let mut analyzer = analyzer();
        for window in 0..14 {
            hosts(&mut analyzer, &[1, 2, 3], window);
            let state = if down.contains(&window) { 1.0 } else { 4.0 };
            analyzer.counter(&gauge(1, window, "state", state));
            for (metric, count) in [("local_ack_timeout_err", 8), ("req_transport_retries_exceeded", 1)] {
                analyzer.counter(&counter(1, window, metric, if window == 9 { count } else { 0 }));
            }
            if is_captured {
                analyzer.flow(&flow(1, 2, window, if down.contains(&window) { 1 } else { 100 }));
                analyzer.flow(&flow(3, 2, window, 100));
                analyzer.flow(&flow(2, 3, window, 100));
            }
        }
        if is_captured {
            analyzer.event(&event(1, 2, 98 * SECOND, "retry_exhausted", 1));
        }
        let found = finish(&mut analyzer);
        assert_eq!(
            classes(&found),
            [(Class::LinkDown, "gpu-1 mlx5_0/1")],
            "{down:?} {is_captured}"
        );
    }
}
