//! When a fault begins and ends, and what is a fault at all.

use super::rows::{SECOND, WINDOW, addresses, alive, analyzer, counter, event, finish, flow, gauge};
use rocescope_diagnose::hosts::{Analyzer, Change, Class, Settings};
use rocescope_model::{CounterRow, Text, Time};

/// RNR NAKs in these windows, of twelve.
fn not_ready(windows: &[i64]) -> Vec<rocescope_diagnose::hosts::HostVerdict> {
    let mut analyzer = analyzer();
    for window in 0..12 {
        analyzer.counter(&alive(1, window));
        let count = if windows.contains(&window) { 40 } else { 0 };
        analyzer.counter(&counter(1, window, "out_of_buffer", count));
    }
    finish(&mut analyzer)
}

#[test]
fn a_fault_with_a_gap_is_one_verdict_with_its_start_and_end() {
    let verdicts = not_ready(&[2, 3, 5, 6]);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!((verdict.class, verdict.state), (Class::SlowReceiver, Change::Ended));
    assert_eq!((verdict.since_ns, verdict.until_ns), (2 * WINDOW, 7 * WINDOW));
    assert_eq!(verdict.windows, 4);
    assert_eq!(
        (verdict.host.as_deref(), verdict.device.as_deref(), verdict.port),
        (Some("gpu-1"), Some("mlx5_0"), Some(1))
    );
    assert_eq!(verdict.evidence_text(), "out_of_buffer +160 packets (gpu-1 mlx5_0/1)");
}

#[test]
fn a_burst_is_no_fault_and_two_faults_far_apart_are_two() {
    assert!(not_ready(&[4]).is_empty());
    assert!(not_ready(&[1, 4, 7, 10]).is_empty());
    let verdicts = not_ready(&[1, 2, 10, 11]);
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[0].state, Change::Ended);
    assert_eq!((verdicts[1].state, verdicts[1].since_ns), (Change::Open, 10 * WINDOW));
}

#[test]
fn live_windows_close_with_the_watermark_and_later_rows_are_counted() {
    let mut analyzer = analyzer();
    for window in 0..3 {
        analyzer.counter(&counter(1, window, "out_of_buffer", 40));
    }
    assert!(analyzer.advance_one(Time(WINDOW - 1)).is_none());
    let first = analyzer.advance_one(Time(2 * WINDOW)).unwrap();
    assert!(first.changes.is_empty());
    let second = analyzer.advance_one(Time(2 * WINDOW)).unwrap();
    assert_eq!((second.start_ns, second.changes.len()), (WINDOW, 1));
    assert_eq!(second.changes[0].state, Change::Began);
    let row = second.changes[0].row(&Text::from("box"), second.end_ns);
    assert_eq!(
        (&*row.class, &*row.state, row.time_ns),
        ("slow_receiver", "began", 2 * WINDOW)
    );
    assert!(analyzer.advance_one(Time(2 * WINDOW)).is_none());
    analyzer.counter(&counter(1, 0, "out_of_buffer", 40));
    assert_eq!(analyzer.counts().late_rows, 1);
    assert_eq!(analyzer.open_faults().len(), 1);
}

/// The paper's scenario 1, without a capture: the queue pairs that vanished tell the receiver.
#[test]
fn a_sender_that_gave_up_finds_the_receiver_that_lost_queue_pairs() {
    let rows = |died: bool, link_failed: bool| {
        let mut analyzer = analyzer();
        for window in 0..6 {
            for host in 1..=3 {
                analyzer.counter(&alive(host, window));
                analyzer.counter(&gauge(host, window, "state", 4.0));
                analyzer.counter(&addresses(host, window, &format!("10.0.0.{host}")));
                analyzer.counter(&counter(
                    host,
                    window,
                    "link_downed",
                    u64::from(link_failed && host == 2),
                ));
                let pairs = if died && host == 2 && window >= 3 { 3.0 } else { 4.0 };
                analyzer.counter(&gauge(host, window, "queue_pairs", pairs));
            }
            let count = u64::from(window == 3);
            for (metric, count) in [
                ("local_ack_timeout_err", 7 * count),
                ("req_cqe_error", count),
                ("req_cqe_flush_error", 8 * count),
                ("rnr_nak_retry_err", 0),
                ("rp_cnp_handled", 0),
            ] {
                analyzer.counter(&counter(1, window, metric, count));
            }
        }
        finish(&mut analyzer)
    };
    let verdicts = rows(true, false);
    assert_eq!((verdicts.len(), verdicts[0].class), (1, Class::ReceiverDied));
    assert_eq!(verdicts[0].host.as_deref(), Some("gpu-2"));
    assert!(
        verdicts[0].confidence.starts_with("likely"),
        "{}",
        verdicts[0].confidence
    );
    // Nothing names the receiver: unknown beats a guess.
    let verdicts = rows(false, false);
    assert_eq!(
        (verdicts[0].host.as_deref(), &*verdicts[0].place),
        (None, "peer of gpu-1 mlx5_0/1")
    );
    assert!(
        verdicts[0].unknown[0].starts_with("which receiver"),
        "{:?}",
        verdicts[0].unknown
    );
    // A link that fails at the same time explains it.
    assert!(
        rows(true, true)
            .iter()
            .all(|verdict| verdict.class != Class::ReceiverDied)
    );
}

#[test]
fn jitter_needs_changes_of_a_flow_that_goes_on() {
    let verdicts = |low: f64| {
        let mut analyzer = analyzer();
        for window in 0..4 {
            analyzer.flow(&flow(1, 2, window, 100));
        }
        for (step, (before, now)) in (0..).zip([(6e9, low), (low, 6e9), (6e9, low)]) {
            let mut change = event(1, 2, WINDOW + step * 3 * SECOND, "jitter", 1);
            (change.previous, change.value) = (Some(before), Some(now));
            analyzer.event(&change);
        }
        finish(&mut analyzer)
    };
    let found = verdicts(3e9);
    assert_eq!(
        (found.len(), found[0].class, found[0].since_ns),
        (1, Class::Jitter, WINDOW)
    );
    assert_eq!(found[0].place, "10.0.0.1>10.0.0.2 QP 17");
    assert!(
        found[0].unknown[0].contains("no row of counters"),
        "{:?}",
        found[0].unknown
    );
    // A program that computes and communicates by turns.
    assert!(verdicts(0.0).is_empty());
}

#[test]
fn a_slower_slot_is_a_fault_only_if_the_port_needs_more_and_lost_lanes_always() {
    let verdicts = |speed: f64, lanes: f64, rate: Option<f64>| {
        let mut analyzer = analyzer();
        for window in 0..3 {
            let device = |metric: &str, value| CounterRow {
                port: None,
                ..gauge(1, window, metric, value)
            };
            analyzer.counter(&device("pcie_link_speed", speed));
            analyzer.counter(&device("pcie_max_link_speed", 16_000.0));
            analyzer.counter(&device("pcie_link_width", lanes));
            analyzer.counter(&device("pcie_max_link_width", 16.0));
            analyzer.counter(&gauge(1, window, "state", 4.0));
            if let Some(rate) = rate {
                analyzer.counter(&gauge(1, window, "rate", rate));
            }
        }
        finish(&mut analyzer)
    };
    assert!(verdicts(16_000.0, 16.0, Some(200e9)).is_empty());
    assert!(verdicts(8_000.0, 16.0, Some(100e9)).is_empty());
    assert!(verdicts(8_000.0, 16.0, None).is_empty());
    let found = verdicts(8_000.0, 16.0, Some(200e9));
    assert_eq!((found.len(), found[0].class), (1, Class::PcieDegraded));
    assert!(
        found[0].sentence.contains("113 of the port's 200 Gbit/s"),
        "{}",
        found[0].sentence
    );
    assert_eq!(verdicts(16_000.0, 8.0, Some(100e9)).len(), 1);
}

#[test]
fn settings_out_of_range_are_refused() {
    let error = |settings: Settings| {
        rocescope_diagnose::hosts::Analyzer::new(settings)
            .unwrap_err()
            .to_string()
    };
    let window_ns = SECOND / 2;
    let short = Settings {
        window_ns,
        ..Settings::default()
    };
    assert_eq!(error(short), "the window must be 1 s to 10 minutes long");
    let never = Settings {
        windows_to_begin: 4,
        ..Settings::default()
    };
    assert_eq!(error(never), "a fault begins after 1 to 3 windows");
}

/// Its first window has it ACTIVE, and then DOWN.
#[test]
fn a_port_that_fails_in_the_first_window_was_up() {
    let mut analyzer = analyzer();
    let mut up = gauge(1, 0, "state", 4.0);
    up.time_ns -= 5 * SECOND;
    up.time = Time(up.time_ns);
    analyzer.counter(&up);
    analyzer.counter(&gauge(1, 0, "state", 1.0));
    for window in 0..6 {
        analyzer.counter(&alive(1, window));
    }
    let verdicts = finish(&mut analyzer);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!(verdict.class, Class::LinkDown);
}

/// A black hole: no counters, and the receiver sends nothing.
#[test]
fn a_receiver_that_nothing_is_known_of_may_be_gone_as_a_whole() {
    let mut analyzer = analyzer();
    for window in 0..3 {
        analyzer.flow(&flow(1, 2, window, 100));
    }
    analyzer.event(&event(1, 2, 15 * SECOND, "retry_exhausted", 1));
    let verdicts = finish(&mut analyzer);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!(verdict.class, Class::ReceiverDied);
    assert_eq!(
        verdict.sentence,
        "10.0.0.2: it no longer answers its senders: the application, the host, its link or the way there is gone"
    );
}

/// A port's PCIe link with half of its lanes, read once: a gauge that does not change has no further row.
fn half_a_link(analyzer: &mut Analyzer) {
    for (metric, value) in [
        ("pcie_link_speed", 16_000.0),
        ("pcie_max_link_speed", 16_000.0),
        ("pcie_link_width", 8.0),
        ("pcie_max_link_width", 16.0),
        ("state", 4.0),
    ] {
        analyzer.counter(&gauge(1, 0, metric, value));
    }
}

#[test]
fn a_state_holds_while_its_host_is_read_although_nothing_changes() {
    let mut analyzer = analyzer();
    half_a_link(&mut analyzer);
    for window in 0..12 {
        analyzer.counter(&alive(1, window));
    }
    let verdicts = finish(&mut analyzer);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!((verdict.class, verdict.state), (Class::PcieDegraded, Change::Open));
    assert_eq!((verdict.since_ns, verdict.until_ns), (0, 12 * WINDOW));
    assert!(verdict.unknown.is_empty(), "{:?}", verdict.unknown);
}

#[test]
fn a_host_that_is_no_longer_read_resolves_nothing() {
    let mut analyzer = analyzer();
    half_a_link(&mut analyzer);
    for window in 0..20 {
        analyzer.counter(&alive(2, window));
        if window < 4 {
            analyzer.counter(&alive(1, window));
        }
    }
    let verdicts = finish(&mut analyzer);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!((verdict.state, verdict.until_ns), (Change::Open, 4 * WINDOW));
    assert_eq!(
        verdict.unknown,
        ["whether it goes on: gpu-1 has no rows of counters since 1970-01-01T00:00:40Z"]
    );
    let silent = analyzer.unknowns();
    let silent = silent.iter().find(|unknown| unknown.what.starts_with("hosts since"));
    assert_eq!(silent.unwrap().places, ["gpu-1 (1970-01-01T00:00:40Z)"]);
}

/// Between two reads of a host the states that it read hold, although a capture has rows in every window.
#[test]
fn a_host_that_is_read_more_seldom_than_a_window_is_judged_and_named() {
    let mut analyzer = analyzer();
    half_a_link(&mut analyzer);
    for window in 0..12 {
        analyzer.flow(&flow(1, 2, window, 100));
        if window % 3 == 0 {
            analyzer.counter(&CounterRow {
                interval_ns: Some(3 * WINDOW),
                ..alive(1, window)
            });
        }
    }
    let verdicts = finish(&mut analyzer);
    assert_eq!((verdicts.len(), verdicts[0].windows), (1, 12));
    let unknowns = analyzer.unknowns();
    let seldom = unknowns.iter().find(|unknown| unknown.what.starts_with("how fast"));
    let seldom = seldom.unwrap();
    assert!(
        seldom.reason.contains("every 30 s") && seldom.reason.contains("--window 30s"),
        "{seldom:?}"
    );
}

#[test]
fn signs_that_are_too_few_for_a_verdict_are_unknown() {
    let mut analyzer = analyzer();
    half_a_link(&mut analyzer);
    analyzer.counter(&alive(1, 0));
    assert!(finish(&mut analyzer).is_empty());
    let unknowns = analyzer.unknowns();
    let sign = unknowns
        .iter()
        .find(|unknown| unknown.what == "pcie_degraded" && unknown.reason.starts_with("the last window has signs"));
    assert_eq!(sign.unwrap().places, ["gpu-1 mlx5_0/1"]);
}
