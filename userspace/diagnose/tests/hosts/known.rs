//! What is known of a counter whose increase is unknown in part, and how long something certainly lasted.

use super::rows::{SECOND, WINDOW, addresses, alive, analyzer, counter, event, finish, flow, gauge, present, read_at};
use rocescope_diagnose::hosts::{Analyzer, Class, HostVerdict, Settings, Unknown};
use rocescope_model::CounterRow;

/// Reads of a counter each second, with what happened at some of them.
fn each_second(seconds: i64, read: impl Fn(i64) -> (u64, Option<&'static str>)) -> (Vec<HostVerdict>, Vec<Unknown>) {
    let mut analyzer = analyzer();
    for second in 1..=seconds {
        let (count, event) = read(second);
        let row = CounterRow {
            event: event.map(Into::into),
            increase: event.is_none().then_some(count),
            ..counter(1, 0, "symbol_error", count)
        };
        let at = second * SECOND;
        analyzer.counter(&read_at(row, at, SECOND));
        analyzer.counter(&read_at(alive(1, 0), at, SECOND));
    }
    let verdicts = finish(&mut analyzer);
    (verdicts, analyzer.unknowns())
}

fn burst(second: i64, from: i64, until: i64) -> u64 {
    if (from..until).contains(&second) { 4 } else { 0 }
}

/// 84 errors in 21 s, then 30 s without, from soon after the first read on.
#[test]
fn errors_that_stopped_are_a_sick_cable_although_the_first_window_is_unknown() {
    for from in [2, 8, 15] {
        let first = |second| (second == 1).then_some("first");
        let (verdicts, _) = each_second(from + 51, |second| (burst(second, from, from + 21), first(second)));
        let [verdict] = &verdicts[..] else {
            panic!("from {from}: {verdicts:#?}")
        };
        assert_eq!(verdict.class, Class::SickCable);
        assert_eq!(verdict.evidence_text(), "symbol_error +84 events (gpu-1 mlx5_0/1)");
    }
}

#[test]
fn counters_that_are_cleared_in_every_window_hide_no_errors() {
    let clear = |second: i64| match second {
        1 => Some("first"),
        _ => (second % 10 == 4).then_some("reset"),
    };
    let (verdicts, _) = each_second(60, |second| (burst(second, 1, 60), clear(second)));
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!(verdict.class, Class::SickCable);
    let without = each_second(60, |second| (0, clear(second)));
    assert!(without.0.is_empty());
}

/// A longer time shows no more of errors that have stopped.
#[test]
fn signs_that_stopped_want_a_shorter_window_and_new_ones_a_longer_time() {
    let reasons = |seconds: i64| {
        let (verdicts, unknowns) = each_second(seconds, |second| (burst(second, 22, 28), None));
        assert!(verdicts.is_empty(), "{verdicts:#?}");
        let of_cable = unknowns.into_iter().filter(|unknown| unknown.what == "sick_cable");
        of_cable.map(|unknown| unknown.reason).next().unwrap()
    };
    assert!(reasons(30).contains("analyze a longer time"), "{}", reasons(30));
    assert!(reasons(50).contains("a shorter --window"), "{}", reasons(50));
}

/// RNR NAKs from 10.0.0.2 in these seconds, on the wire or as the NIC counts them.
fn not_ready(from: i64, until: i64, interval: i64, is_captured: bool) -> Vec<HostVerdict> {
    let mut analyzer = analyzer();
    analyzer.counter(&addresses(2, 0, "10.0.0.2"));
    for second in 1..=90 {
        let at = second * SECOND;
        if second % interval == 0 {
            let during = (second - interval..second).filter(|second| (from..until).contains(second));
            let row = counter(2, 0, "out_of_buffer", 8 * during.count() as u64);
            analyzer.counter(&read_at(row, at, interval * SECOND));
            analyzer.counter(&read_at(alive(2, 0), at, interval * SECOND));
        }
        if is_captured {
            analyzer.flow(&flow(1, 2, second / 10, 100));
            if (from..until).contains(&second) {
                analyzer.event(&event(2, 1, at + SECOND / 2, "rnr_nak", 8));
            }
        }
    }
    finish(&mut analyzer)
}

/// A job starts before its receivers have posted their buffers.
#[test]
fn a_burst_over_the_edge_of_two_windows_is_no_slow_receiver() {
    for (interval, is_captured) in [(1, true), (1, false), (2, true), (5, false), (10, false)] {
        let found = not_ready(27, 33, interval, is_captured);
        assert!(found.is_empty(), "{interval} {is_captured}: {found:#?}");
        let found = not_ready(27, 60, interval, is_captured);
        let [verdict] = &found[..] else {
            panic!("{interval} {is_captured}: {found:#?}")
        };
        assert_eq!(
            (verdict.class, verdict.host.as_deref()),
            (Class::SlowReceiver, Some("gpu-2"))
        );
        assert_eq!(verdict.since_ns, 2 * WINDOW);
    }
}

/// Longer windows ask for no longer fault.
#[test]
fn a_minute_of_a_window_is_not_what_a_slow_receiver_must_last() {
    let mut analyzer = Analyzer::new(Settings {
        window_ns: 60 * SECOND,
        ..Settings::default()
    })
    .unwrap();
    for second in 1..=300 {
        let at = second * SECOND;
        let is_slow = (100..150).contains(&second);
        analyzer.counter(&read_at(
            counter(2, 0, "out_of_buffer", if is_slow { 8 } else { 0 }),
            at,
            SECOND,
        ));
        analyzer.counter(&read_at(alive(2, 0), at, SECOND));
    }
    let verdicts = finish(&mut analyzer);
    let classes: Vec<Class> = verdicts.iter().map(|verdict| verdict.class).collect();
    assert_eq!(classes, [Class::SlowReceiver]);
}

/// The mirror copies packets from the first window on, in which the counters are read for the first time, too.
#[test]
fn losses_in_the_first_windows_wait_for_the_counters_of_both_ends() {
    let verdicts = |counted: u64| {
        let mut analyzer = analyzer();
        for window in 0..10 {
            let mut row = flow(1, 2, window, 1_000);
            row.retransmitted_packets = Some(60);
            analyzer.flow(&row);
            analyzer.event(&event(1, 2, window * WINDOW + SECOND, "loss", 20));
            for host in [1, 2] {
                analyzer.counter(&alive(host, window));
                analyzer.counter(&addresses(host, window, &format!("10.0.0.{host}")));
                for metric in ["local_ack_timeout_err", "packet_seq_err", "out_of_sequence"] {
                    let row = counter(host, window, metric, counted);
                    if window == 0 {
                        let first = CounterRow {
                            event: Some("first".into()),
                            increase: None,
                            ..row.clone()
                        };
                        analyzer.counter(&read_at(first, SECOND, SECOND));
                    }
                    analyzer.counter(&row);
                }
            }
        }
        finish(&mut analyzer)
    };
    let classes = |found: &[HostVerdict]| found.iter().map(|verdict| verdict.class).collect::<Vec<_>>();
    assert_eq!(classes(&verdicts(0)), [Class::MirrorRepeats]);
    // Losses that the ends count are losses, from the first window on.
    let found = verdicts(20);
    assert_eq!((classes(&found), found[0].since_ns), (vec![Class::NetworkLoss], 0));
}

/// A counter that cannot rise any more shows no fault, and no health either.
#[test]
fn a_counter_at_its_largest_value_is_unknown_until_it_counts_again() {
    let listed = |is_reset: bool| {
        let mut analyzer = analyzer();
        for window in 0..6 {
            analyzer.counter(&alive(1, window));
            let mut row = counter(1, window, "symbol_error", 0);
            if window >= 2 && !(is_reset && window == 5) {
                (row.event, row.increase) = (Some("stopped".into()), None);
            }
            analyzer.counter(&row);
        }
        finish(&mut analyzer);
        let all = analyzer.unknowns();
        let of = all.into_iter().filter(|unknown| unknown.what == "symbol_error");
        of.collect::<Vec<_>>()
    };
    let stopped = listed(false);
    assert_eq!(stopped.len(), 1);
    assert_eq!(stopped[0].places, ["gpu-1 mlx5_0/1"]);
    assert!(
        stopped[0].reason.contains("at its largest value"),
        "{}",
        stopped[0].reason
    );
    assert!(listed(true).is_empty());
}

/// The configuration of a host names a NIC that was gone before its agent started.
#[test]
fn a_nic_that_was_never_there_is_a_fault_with_its_own_words() {
    let mut analyzer = analyzer();
    for window in 0..5 {
        analyzer.counter(&alive(1, window));
        if window == 0 {
            analyzer.counter(&present(1, window, Some("absent")));
        }
    }
    let verdicts = finish(&mut analyzer);
    assert_eq!((verdicts.len(), verdicts[0].class), (1, Class::NicVanished));
    assert!(
        verdicts[0]
            .sentence
            .contains("not there, although the configuration of its host names it"),
        "{}",
        verdicts[0].sentence
    );
}

/// Both ends are loaded (the paper's scenario 2): a sender that transmits nothing congests no one, and what no one counts
/// is unknown.
#[test]
fn congestion_needs_load_at_both_ends_as_far_as_it_is_counted() {
    let verdicts = |sent: Option<u64>| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            for host in [1, 2] {
                analyzer.counter(&alive(host, window));
                analyzer.counter(&addresses(host, window, &format!("10.0.0.{host}")));
            }
            let is_congested = window >= 4;
            for (host, metric, count) in [
                (2, "np_ecn_marked_roce_packets", 400),
                (2, "np_cnp_sent", 300),
                (1, "rp_cnp_handled", 300),
            ] {
                analyzer.counter(&counter(host, window, metric, if is_congested { count } else { 0 }));
            }
            analyzer.counter(&counter(2, window, "port_rcv_packets", 10_000));
            analyzer.counter(&counter(2, window, "port_rcv_data", 10_000_000));
            if let Some(sent) = sent {
                analyzer.counter(&counter(1, window, "port_xmit_data", sent));
            }
            let latency = if is_congested { 14_000.0 } else { 10_000.0 };
            let mut latency = gauge(1, window, "rdma_operation_latency", latency);
            latency.source = "operation".into();
            analyzer.counter(&latency);
        }
        let mut verdicts = finish(&mut analyzer);
        verdicts.retain(|verdict| verdict.class == Class::Congestion);
        verdicts
    };
    let loaded = verdicts(Some(10_000_000));
    assert_eq!(loaded.len(), 1);
    assert!(loaded[0].confidence.starts_with("certain"), "{}", loaded[0].confidence);
    assert!(verdicts(Some(0)).is_empty());
    let unknown = verdicts(None);
    assert_eq!(unknown.len(), 1);
    assert!(
        unknown[0].confidence.starts_with("possible"),
        "{}",
        unknown[0].confidence
    );
    assert!(
        unknown[0]
            .unknown
            .iter()
            .any(|line| line.starts_with("whether both ends are loaded")),
        "{:?}",
        unknown[0].unknown
    );
}
