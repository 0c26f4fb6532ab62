//! Rows of made hosts.

use rocescope_diagnose::hosts::{Analyzer, HostVerdict, Settings};
use rocescope_model::{CounterRow, EventRow, FlowRow, Time};
use std::net::IpAddr;

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const WINDOW: i64 = 10 * SECOND;

pub(super) fn analyzer() -> Analyzer {
    Analyzer::new(Settings::default()).unwrap()
}

pub(super) fn ip(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

/// A counter of `gpu-HOST`, read at the end of a window.
pub(super) fn counter(host: u8, window: i64, metric: &str, increase: u64) -> CounterRow {
    CounterRow {
        observer: format!("gpu-{host}").into(),
        time: Time((window + 1) * WINDOW),
        time_ns: (window + 1) * WINDOW,
        device: "mlx5_0".into(),
        port: Some(1),
        driver: "mlx5".into(),
        name: metric.to_owned().into(),
        metric: Some(metric.to_owned().into()),
        kind: "counter".into(),
        raw_value: Some(1),
        value: Some(1.0),
        increase: Some(increase),
        ..CounterRow::default()
    }
}

/// A gauge of it.
pub(super) fn gauge(host: u8, window: i64, metric: &str, value: f64) -> CounterRow {
    CounterRow {
        kind: "gauge".into(),
        value: Some(value),
        increase: None,
        ..counter(host, window, metric, 0)
    }
}

/// Its addresses.
pub(super) fn addresses(host: u8, window: i64, text: &str) -> CounterRow {
    CounterRow {
        text: Some(text.to_owned().into()),
        ..gauge(host, window, "addresses", 1.0)
    }
}

/// Whether its device exists: `vanished` at the first read without it, `absent` if that is the first of all.
pub(super) fn present(host: u8, window: i64, event: Option<&'static str>) -> CounterRow {
    CounterRow {
        port: None,
        kind: "state".into(),
        event: event.map(Into::into),
        ..gauge(
            host,
            window,
            "present",
            f64::from(u8::from(!matches!(event, Some("vanished" | "absent")))),
        )
    }
}

/// The same row, read at this time, an interval after the read before.
pub(super) fn read_at(row: CounterRow, at_ns: i64, interval_ns: i64) -> CounterRow {
    CounterRow {
        time: Time(at_ns),
        time_ns: at_ns,
        interval_ns: Some(interval_ns),
        ..row
    }
}

/// The host reads its counters, and none changed.
pub(super) fn alive(host: u8, window: i64) -> CounterRow {
    CounterRow {
        device: "host".into(),
        port: None,
        ..counter(host, window, "cpu_busy", 1)
    }
}

pub(super) fn flow(src: u8, dst: u8, window: i64, packets: u64) -> FlowRow {
    FlowRow {
        observer: "box".into(),
        window_start_ns: window * WINDOW,
        window_ns: SECOND,
        src: ip(src),
        dst: ip(dst),
        dst_qpn: 17,
        service: "RC".into(),
        packets,
        frame_bytes: packets * 1_000,
        retransmitted_packets: Some(0),
        ..FlowRow::default()
    }
}

pub(super) fn event(src: u8, dst: u8, at_ns: i64, kind: &'static str, count: u64) -> EventRow {
    EventRow {
        observer: "box".into(),
        time_ns: at_ns,
        kind: kind.into(),
        src: Some(ip(src)),
        dst: Some(ip(dst)),
        dst_qpn: Some(17),
        count,
        ..EventRow::default()
    }
}

/// Each fault with its last state.
pub(super) fn finish(analyzer: &mut Analyzer) -> Vec<HostVerdict> {
    let mut all: Vec<HostVerdict> = Vec::new();
    while let Some(window) = analyzer.finish_one() {
        for verdict in window.changes {
            match all.iter_mut().rev().find(|known| verdict.continues(known)) {
                Some(known) => *known = verdict,
                None => all.push(verdict),
            }
        }
    }
    for verdict in analyzer.open_faults() {
        match all.iter_mut().rev().find(|known| verdict.continues(known)) {
            Some(known) => *known = verdict,
            None => all.push(verdict),
        }
    }
    all
}
