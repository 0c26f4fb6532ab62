use super::*;
use crate::sample::{row, steps};
use crate::telemetry::Source;
use crate::telemetry::counters::Counters;
use crate::telemetry::marks::Marks;
use crate::telemetry::slow_paths::SlowPaths;
use alloc::string::ToString;
use rocescope_model::{CounterRow, EventRow, FlowRow, SmallFlowRow, StepProbeRow, StepRow};
use std::vec;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

fn address(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

/// A step from 10.0.0.1 to 10.0.0.2 from 10 to 10.05 s.
fn collective() -> Steps {
    steps(&[StepRow {
        src: Some(address(1)),
        dst: Some(address(2)),
        src_port: Some(49_200),
        ..row("a", 1, "b", None, 10 * S, 50 * MS)
    }])
}

fn counter(host: &str, metric: &'static str, priority: u8, time_ns: i64, increase: u64) -> CounterRow {
    CounterRow {
        observer: host.to_string().into(),
        device: Text::from_static("mlx5_0"),
        port: Some(1),
        netdev: Some(Text::from_static("eth0")),
        metric: Some(Text::from_static(metric)),
        priority: Some(priority),
        unit: Text::from_static(if metric.ends_with("duration") { "µs" } else { "frames" }),
        time_ns,
        increase: Some(increase),
        interval_ns: Some(5 * S),
        ..CounterRow::default()
    }
}

fn addresses(host: &str, text: &'static str) -> CounterRow {
    CounterRow {
        text: Some(Text::from_static(text)),
        increase: None,
        interval_ns: None,
        ..counter(host, "addresses", 0, 9 * S, 0)
    }
}

#[test]
fn pauses_of_its_hosts_while_it_ran_are_evidence_those_of_others_are_not() {
    let rows = [
        addresses("h2", "fe80::1 10.0.0.2"),
        addresses("h9", "10.0.0.9"),
        counter("h2", "tx_pause_duration", 3, 12 * S, 400),
        counter("h2", "tx_pause_duration", 4, 12 * S, 100),
        counter("h2", "tx_pause_frames", 3, 12 * S, 7),
        // The read before the collective began, and the one after it ended.
        counter("h2", "tx_pause_duration", 3, 7 * S, 9_000),
        counter("h2", "tx_pause_duration", 3, 17 * S, 9_000),
        counter("h9", "tx_pause_duration", 3, 12 * S, 9_000),
        // Its addresses are unknown.
        counter("h8", "rx_pause_frames", 3, 12 * S, 9),
    ];
    let found = evidence(&collective(), &Counters(&rows).telemetry());
    assert_eq!(
        found,
        [Evidence::Paused {
            host: Text::from_static("h2"),
            port: Text::from_static("eth0"),
            addresses: vec![address(2)],
            is_by_host: true,
            paused_ns: Some(500_000),
            frames: Some(7),
            counted_ns: 5 * S,
        }]
    );
}

#[test]
fn marks_of_its_flows_add_up_over_windows() {
    let window = |src_port: u16, start_ns: i64, packets: u64, marked: u64| FlowRow {
        observer: Text::from_static("tap"),
        src: address(1),
        dst: address(2),
        udp_src_port: Some(src_port),
        window_start_ns: start_ns,
        window_ns: 20 * MS,
        packets,
        ecn_ce_packets: marked,
        ..FlowRow::default()
    };
    let rows = [
        window(49_200, 10 * S, 100, 30),
        window(49_200, 10 * S + 20 * MS, 100, 12),
        // Without marks, of another flow, and before the collective.
        window(49_200, 10 * S + 40 * MS, 100, 0),
        window(49_201, 10 * S, 100, 99),
        window(49_200, 9 * S, 100, 99),
    ];
    let found = evidence(&collective(), &Marks(&rows).telemetry());
    let flow = FlowKey {
        src: address(1),
        dst: address(2),
        src_port: Some(49_200),
    };
    assert_eq!(
        found,
        [Evidence::Marked {
            flow,
            observer: Text::from_static("tap"),
            packets: 200,
            marked: 42,
        }]
    );
}

fn detection(time_ns: i64, round_trip_ns: i64) -> StepProbeRow {
    StepProbeRow {
        observer: "h1".into(),
        time_ns,
        event: Text::from_static(StepProbeRow::SLOW),
        host: "a".into(),
        dst_host: "b".into(),
        step: 1,
        src: address(1),
        dst: address(2),
        base_round_trip_ns: 20_000,
        round_trip_ns: Some(round_trip_ns),
        ..StepProbeRow::default()
    }
}

#[test]
fn slow_paths_of_its_steps_are_evidence_with_what_was_asked() {
    let other = StepProbeRow {
        host: "x".into(),
        src: address(8),
        ..detection(10 * S + MS, 9 * MS)
    };
    let end = StepProbeRow {
        event: Text::from_static(StepProbeRow::END),
        ..detection(10 * S + MS, 0)
    };
    let probes = [
        detection(10 * S + MS, 2 * MS),
        detection(10 * S + 2 * MS, 3 * MS),
        detection(11 * S, 9 * MS),
        other,
        end,
    ];
    let burst = SmallFlowRow {
        capture: "h1".into(),
        window_start_ns: 10 * S + MS,
        probes: 50,
        answered: 49,
        max_round_trip_ns: Some(4 * MS),
        ..SmallFlowRow::default()
    };
    let recording = EventRow {
        observer: "box".into(),
        kind: Text::from_static(EventRow::SLOW_STEP),
        src: Some(address(1)),
        dst: Some(address(2)),
        time_ns: 10 * S + 2 * MS,
        ..EventRow::default()
    };
    let telemetry = SlowPaths {
        probes: &probes,
        bursts: &[burst],
        recordings: &[recording],
    }
    .telemetry();
    let found = evidence(&collective(), &telemetry);
    let [slow] = &found[..] else { panic!("{found:?}") };
    let document = crate::document::EvidenceDocument::of(slow);
    assert_eq!(
        document.text,
        "Probes along the path of host a to b took up to 3.000 ms in step 1, instead of 0.020 ms; 2 detections. Of 50 probes \
         after it, 49 were answered, within 4.000 ms. Recorded by box."
    );
    assert_eq!((document.kind, &*document.observer), ("slow_path", "h1"));
}
