//! The limits of 10 % and of one minute, exact to the probe and the nanosecond.

use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_model::{ProbeRow, Time};
use std::net::IpAddr;

const SECOND: i64 = 1_000_000_000;
const WINDOW: i64 = 20 * SECOND;

fn address(nic: u8) -> IpAddr {
    [10, 0, 0, nic].into()
}

fn row(src: u8, dst: u8, time_ns: i64, received: bool) -> ProbeRow {
    ProbeRow {
        observer: "h0".into(),
        time: Time(time_ns),
        time_ns,
        src_nic: format!("rail{src}").into(),
        dst_nic: format!("rail{dst}").into(),
        src: address(src),
        dst: address(dst),
        udp_src_port: 0xC000,
        udp_dst_port: 4791,
        outcome: if received { "received" } else { "timeout" }.into(),
        ..ProbeRow::default()
    }
}

/// 200 probes to NIC 0 of which `lost` are lost, and 200 from it that arrive.
fn window(lost: i64, number: i64) -> Vec<ProbeRow> {
    let start = number * WINDOW;
    let both = (0..200).flat_map(move |i| {
        let at = start + i * SECOND / 10;
        [
            row(1 + (i % 3) as u8, 0, at, i >= lost),
            row(0, 1 + (i % 3) as u8, at, true),
        ]
    });
    both.collect()
}

fn analyse(analyzer: &mut Analyzer, rows: Vec<ProbeRow>, number: i64) -> WindowDiagnosis {
    for row in rows {
        analyzer.probe(&row);
    }
    analyzer.advance(Time((number + 1) * WINDOW)).remove(0)
}

fn analyzer() -> Analyzer {
    Analyzer::new(Settings::default(), "diagnose").unwrap()
}

#[test]
fn ten_percent_is_healthy_and_one_more_probe_is_not() {
    let healthy = analyse(&mut analyzer(), window(20, 0), 0);
    assert_eq!(healthy.anomalous_nics, [""; 0]);
    assert_eq!((healthy.sla.rnic_drops, healthy.sla.switch_drops), (0, 20));
    assert_eq!(healthy.sla.untraced_drops, 20);
    let anomalous = analyse(&mut analyzer(), window(21, 0), 0);
    assert_eq!(anomalous.anomalous_nics, ["h0/rail0"]);
    assert_eq!((anomalous.sla.rnic_drops, anomalous.sla.switch_drops), (21, 0));
    assert_eq!(anomalous.sla.rnic_drop_ratio, Some(21.0 / 400.0));
}

#[test]
fn a_nic_stays_anomalous_for_exactly_one_minute() {
    let mut analyzer = analyzer();
    analyse(&mut analyzer, window(21, 0), 0);
    // From then on one drop per window from NIC 0: the minute after the window ends at 80 s.
    for (number, rnic) in [(1, 1), (2, 1), (3, 1), (4, 0)] {
        let mut rows = window(0, number);
        rows.push(row(0, 1, number * WINDOW + 7 * SECOND, false));
        let found = analyse(&mut analyzer, rows, number);
        assert_eq!(found.anomalous_nics, [""; 0]);
        assert_eq!(
            (found.sla.rnic_drops, found.sla.switch_drops),
            (rnic, 1 - rnic),
            "{number}"
        );
    }
}

#[test]
fn a_minute_that_ends_within_a_window_ends_there() {
    let settings = Settings {
        sticky_ns: 50 * SECOND,
        ..Settings::default()
    };
    let mut analyzer = Analyzer::new(settings, "diagnose").unwrap();
    analyse(&mut analyzer, window(21, 0), 0);
    let mut rows = window(0, 3);
    // The previous window ended at 20 s.
    rows.push(row(2, 0, 70 * SECOND - 1_000, false));
    rows.push(row(2, 0, 70 * SECOND, false));
    let found = analyse(&mut analyzer, rows, 3);
    assert_eq!((found.sla.rnic_drops, found.sla.switch_drops), (1, 1));
}

#[test]
fn late_rows_are_counted_and_change_nothing() {
    let mut analyzer = analyzer();
    analyse(&mut analyzer, window(0, 0), 0);
    analyzer.probe(&row(1, 0, WINDOW - 1, false));
    analyzer.probe(&row(1, 0, WINDOW, false));
    let found = analyzer.finish().remove(0);
    assert_eq!((found.start_ns, found.sla.late, found.sla.probes), (WINDOW, 1, 1));
    assert_eq!(analyzer.unreadable(), 0);
    analyzer.probe(&ProbeRow {
        outcome: "strange".into(),
        ..row(1, 0, 3 * WINDOW, true)
    });
    assert_eq!(analyzer.unreadable(), 1);
}

#[test]
fn invalid_settings_are_refused() {
    for settings in [
        Settings {
            window_ns: 0,
            ..Settings::default()
        },
        Settings {
            nic_percent: 100,
            ..Settings::default()
        },
        Settings {
            background: 0.0,
            ..Settings::default()
        },
    ] {
        assert!(Analyzer::new(settings, "diagnose").is_err(), "{settings:?}");
    }
    let fast = Settings::default().scaled(20);
    assert_eq!((fast.window_ns, fast.sticky_ns), (SECOND, 3 * SECOND));
}
