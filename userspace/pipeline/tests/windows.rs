//! The invariants of the pipeline, over hand-made and random runs.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use bytemuck::Zeroable;
use proptest::prelude::*;
use rocescope_model::{EventRow, WindowRow, WindowRows};
use rocescope_pipeline::settings::{Jitter, LiveSource};
use rocescope_pipeline::{Pipeline, Settings, Summary};
use rocescope_record::{Counters, RunRecord};
use rocescope_wire::extension::Syndrome;
use rocescope_wire::tunnel::NO_VNI;
use rocescope_wire::{FlowKey, Opcode, Stream};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;
/// `RC_SEND_ONLY`.
const SEND_ONLY: u8 = 0x04;

fn key(flow: u32) -> FlowKey {
    FlowKey {
        src: [1; 16],
        dst: [2; 16],
        vni: NO_VNI,
        dst_qpn: flow,
        udp_src_port: 50_000,
        vlan: 0xffff,
        inner_vlan: 0xffff,
        reserved: 0,
    }
}

/// A run of `packets` SENDs of 100 bytes of payload in frames of 162.
fn sends(flow: u32, first_ns: u64, packets: u16) -> RunRecord {
    RunRecord {
        flow: key(flow),
        first_ns,
        packets,
        only: packets,
        frame_bytes: 162 * u32::from(packets),
        only_frame_bytes: 162 * u32::from(packets),
        only_payload_bytes: 100 * u32::from(packets),
        opcode: SEND_ONLY,
        stream: Stream::Request as u8,
        ..RunRecord::zeroed()
    }
}

fn settings() -> Settings {
    Settings {
        sketches: false,
        ..Settings::default()
    }
}

/// The rows and the summary of `runs` in their order, with the clock at each run's time.
fn play(settings: Settings, runs: &[RunRecord]) -> (WindowRows, Summary) {
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut counters = Counters::default();
    for run in runs {
        if !pipeline.is_current(run.first_ns) {
            pipeline.turn(run.first_ns, &counters);
        }
        counters.frames += u64::from(run.packets);
        counters.roce_packets += u64::from(run.packets);
        pipeline.ingest(run);
    }
    pipeline.finish(&counters);
    (std::mem::take(pipeline.rows()), pipeline.summary())
}

/// Mirror loss is reported once, also if a late frame takes some of it back.
#[test]
fn mirror_gaps_count_in_the_window_in_which_they_showed() {
    let mut pipeline = Pipeline::new(settings()).unwrap();
    let mut counters = Counters::default();
    for (second, mirrored, lost) in [(0, 0, 0), (1, 10, 3), (2, 20, 2), (3, 30, 5), (4, 30, 5)] {
        counters.frames = mirrored;
        counters.not_roce[0] = mirrored;
        (counters.mirrored_frames, counters.mirror_lost) = (mirrored, lost);
        pipeline.turn(second * SECOND, &counters);
        pipeline.ingest(&sends(1, second * SECOND, 1));
    }
    pipeline.finish(&counters);
    let gaps: Vec<_> = std::mem::take(pipeline.rows())
        .windows
        .iter()
        .map(|row| row.mirror_gap_frames)
        .collect();
    assert_eq!(gaps, [Some(3), Some(0), Some(2), None, None]);
}

fn starts(rows: &WindowRows) -> Vec<u64> {
    rows.windows
        .iter()
        .map(|row| row.window_start_ns as u64 / SECOND)
        .collect()
}

#[test]
fn a_run_counts_in_the_window_of_its_first_packet() {
    let (rows, summary) = play(
        settings(),
        &[sends(1, 0, 1), sends(1, SECOND - 1, 2), sends(1, SECOND, 4)],
    );
    assert_eq!(starts(&rows), [0, 1]);
    let packets: Vec<_> = rows.windows.iter().map(|row| (row.frames, row.roce_packets)).collect();
    assert_eq!(packets, [(3, 3), (4, 4)]);
    assert_eq!((summary.windows, summary.flows, summary.exact), (2, 1, true));
}

#[test]
fn two_hours_without_a_frame_make_no_window() {
    let (rows, _) = play(settings(), &[sends(1, 0, 1), sends(1, 7_200 * SECOND, 1)]);
    assert_eq!(starts(&rows), [0, 7_200]);
}

fn live_settings() -> Settings {
    Settings {
        live: Some(LiveSource {
            run_slack_ns: 4_000_000,
            drops_frames: true,
        }),
        ..settings()
    }
}

/// A live source turns the clock without frames: every window since its first turn is a row.
#[test]
fn a_live_source_has_a_row_for_every_window() {
    let mut pipeline = Pipeline::new(live_settings()).unwrap();
    let counters = Counters::default();
    for tenth in 100..=175 {
        if tenth == 125 {
            pipeline.ingest(&sends(1, 12 * SECOND, 3));
        }
        pipeline.turn(tenth * SECOND / 10, &counters);
    }
    let seen = |rows: &WindowRows| -> Vec<(i64, u64)> {
        let rows = rows.windows.iter();
        rows.map(|row| (row.window_start_ns / SECOND as i64, row.roce_packets))
            .collect()
    };
    // The lateness keeps the last two open.
    let before_end = [(10, 0), (11, 0), (12, 3), (13, 0), (14, 0), (15, 0)];
    assert_eq!(seen(pipeline.rows()), before_end);
    pipeline.finish(&counters);
    let whole = [&before_end[..], &[(16, 0), (17, 0)]].concat();
    assert_eq!(seen(pipeline.rows()), whole);
    assert_eq!(pipeline.summary().windows, 8);
}

/// A clock that jumps by more than an hour of windows was set, or the host slept: that is not idle time.
#[test]
fn a_jump_of_the_clock_makes_no_rows() {
    let mut pipeline = Pipeline::new(live_settings()).unwrap();
    let counters = Counters::default();
    for second in [10, 11, 1_000_000, 1_000_003] {
        pipeline.turn(second * SECOND, &counters);
    }
    pipeline.finish(&counters);
    let rows = std::mem::take(pipeline.rows());
    assert_eq!(starts(&rows), [999_999, 1_000_000, 1_000_001, 1_000_002, 1_000_003]);
}

/// Counters are read after the end of a window, so they include packets of the next one: the row is whole, and
/// states by how much frames that are not RoCEv2 may be too early.
#[test]
fn a_live_row_is_whole_and_states_its_slack() {
    let mut pipeline = Pipeline::new(live_settings()).unwrap();
    let mut counters = Counters::default();
    let mut keep = |_: &mut WindowRows| Ok::<(), std::convert::Infallible>(());
    pipeline.turn(10 * SECOND, &counters);
    pipeline.ingest(&sends(1, 10 * SECOND + 1, 5));
    pipeline.ingest(&sends(1, 11 * SECOND + 1, 7));
    // 3 of the 7 had come when the counters were read.
    (counters.frames, counters.roce_packets, counters.not_roce[0]) = (10, 8, 2);
    let Ok(()) = pipeline.turn_at_reading(11 * SECOND, 11 * SECOND + 9_000_000, &counters, &mut keep);
    (counters.frames, counters.roce_packets, counters.not_roce[0]) = (16, 12, 4);
    let Ok(()) = pipeline.turn_at_reading(12 * SECOND, 12 * SECOND + 1_000_000, &counters, &mut keep);
    pipeline.finish(&counters);
    let rows = std::mem::take(pipeline.rows());
    let seen: Vec<_> = rows
        .windows
        .iter()
        .map(|row| (row.frames, row.roce_packets, row.not_roce_frames, row.boundary_slack_ns))
        .collect();
    assert_eq!(seen, [(7, 5, 2, 9_000_000), (9, 7, 2, 9_000_000), (0, 0, 0, 4_000_000)]);
}

/// Drops of a packet socket count in the window in which they began, with an event, and are no frames of the window.
#[test]
fn dropped_frames_are_in_their_window() {
    let mut pipeline = Pipeline::new(live_settings()).unwrap();
    let counters = Counters::default();
    pipeline.turn(10 * SECOND, &counters);
    pipeline.capture_dropped(11 * SECOND, 13 * SECOND, 40);
    pipeline.capture_dropped(13 * SECOND, 14 * SECOND, 2);
    pipeline.capture_dropped(11 * SECOND + 5, 11 * SECOND + 9, 1);
    pipeline.turn(14 * SECOND, &counters);
    pipeline.finish(&counters);
    let rows = std::mem::take(pipeline.rows());
    let dropped: Vec<_> = rows
        .windows
        .iter()
        .map(|row| (row.frames, row.capture_dropped_frames))
        .collect();
    let none = (0, Some(0));
    assert_eq!(dropped, [none, (0, Some(41)), none, (0, Some(2)), none]);
    let events: Vec<_> = rows
        .events
        .iter()
        .map(|row| (&*row.kind, row.time_ns as u64 / SECOND, row.count, row.value))
        .collect();
    let expected = [("capture_loss", 11, 41, Some(2e9)), ("capture_loss", 13, 2, Some(1e9))];
    assert_eq!(events, expected);
}

#[test]
fn a_run_within_the_lateness_bound_finds_its_window_and_a_later_one_is_late() {
    let in_time = [
        sends(1, 0, 1),
        sends(1, SECOND + SECOND / 2, 1),
        sends(1, SECOND / 2, 1),
    ];
    let (rows, summary) = play(settings(), &in_time);
    assert_eq!(rows.windows[0].roce_packets, 2);
    assert_eq!(summary.totals.late_packets, 0);

    let late = [sends(1, 0, 1), sends(1, 5 * SECOND, 1), sends(1, SECOND / 2, 3)];
    let (rows, summary) = play(settings(), &late);
    assert_eq!(summary.totals.late_packets, 3);
    assert_eq!(summary.totals.all().packets, 5);
    // In the oldest window that may still be open: 4 s, one second behind the clock.
    assert_eq!(starts(&rows), [0, 4, 5]);
    assert_eq!(rows.windows[1].late_packets, 3);
}

#[test]
fn naks_and_cnps_become_one_event_per_flow_and_window() {
    let nak = |time, syndrome| RunRecord {
        opcode: Opcode::RC_ACKNOWLEDGE.0,
        stream: Stream::Acknowledge as u8,
        syndrome,
        ..sends(7, time, 1)
    };
    let cnp = RunRecord {
        opcode: Opcode::CNP.0,
        stream: Stream::Cnp as u8,
        ..sends(7, 30, 1)
    };
    let runs = [
        nak(20, 0x60),
        nak(10, 0x60),
        nak(40, Syndrome::rnr_nak(14).0),
        cnp,
        nak(50, 0),
    ];
    let (rows, summary) = play(settings(), &runs);
    let events: Vec<(&str, i64, u64)> = rows
        .events
        .iter()
        .map(|row| (row.kind.as_str(), row.time_ns, row.count))
        .collect();
    assert_eq!(events, [("nak", 10, 2), ("cnp_burst", 30, 1), ("rnr_nak", 40, 1)]);
    assert_eq!(rows.events[2].value, Some(1_280_000.0));
    assert_eq!((summary.totals.naks(), summary.totals.rnr_naks()), (2, 1));
    assert_eq!(rows.windows[0].cnp_packets, 1);
}

#[test]
fn an_elephant_that_changes_is_one_event() {
    // 1,000 frames of 162 bytes a second are 1.296 Mbit/s.
    let settings = Settings {
        elephant_bps: 1e6,
        jitter: Jitter {
            relative: Some(0.3),
            absolute_bps: Some(0.5e6),
        },
        // Its runs repeat their PSNs.
        connections: None,
        ..settings()
    };
    let packets = [1_000, 1_000, 2_000, 2_000, 2_000, 100, 100];
    let runs: Vec<_> = (0..)
        .zip(packets)
        .map(|(second, packets)| sends(1, second * SECOND, packets))
        .collect();
    let (rows, _) = play(settings, &runs);
    let kinds = |rows: &[EventRow]| -> Vec<(String, i64)> {
        rows.iter()
            .map(|row| (row.kind.to_string(), row.time_ns / SECOND as i64))
            .collect()
    };
    let expected = [("elephant", 0), ("jitter", 2), ("jitter", 5)].map(|(kind, at)| (kind.to_owned(), at));
    assert_eq!(kinds(&rows.events), expected);
}

#[test]
fn beyond_the_bound_totals_stay_exact_and_flows_are_bounded() {
    let bound = 100;
    let settings = Settings {
        exact_flows: bound,
        top: 20,
        ..settings()
    };
    // The heavy flows come last, when the table is full.
    let mut runs: Vec<RunRecord> = (0..2_000).map(|flow| sends(flow, u64::from(flow), 1)).collect();
    runs.extend((0..10).map(|flow| sends(10_000 + flow, 5_000, 1_000 + flow as u16)));
    let (rows, summary) = play(settings, &runs);
    assert!(!summary.exact && !rows.windows[0].flows_exact);
    let truth: u64 = runs.iter().map(|run| u64::from(run.packets)).sum();
    assert_eq!(summary.totals.all().packets, truth);
    let error = (summary.flows as f64 - 2_010.0).abs() / 2_010.0;
    assert!(error < 0.02, "{} flows", summary.flows);
    for (rank, top) in summary.top_flows.iter().take(10).enumerate() {
        let true_packets = 1_009 - rank as u64;
        let max = top.flow.counts.packets;
        assert_eq!(top.flow.key.dst_qpn, 10_009 - rank as u32);
        assert!(
            max >= true_packets && max - top.error_packets <= true_packets,
            "{top:?}"
        );
    }
}

#[test]
fn invalid_settings_are_refused() {
    for wrong in [
        Settings {
            window_ns: 0,
            ..settings()
        },
        Settings {
            window_ns: u64::MAX,
            ..settings()
        },
        Settings {
            window_ns: 999_999,
            ..settings()
        },
        Settings {
            window_ns: 1_000_000,
            lateness_ns: 11 * SECOND,
            ..settings()
        },
        Settings {
            exact_flows: 0,
            ..settings()
        },
    ] {
        assert!(Pipeline::new(wrong).is_err());
    }
}

proptest! {
    /// In any order of arrival, windows and summary add up to the input.
    #[test]
    fn every_packet_is_counted_once(
        runs in proptest::collection::vec((0..30u32, 0..20_000u64, 1..50u16), 1..300),
        window_ms in 1..3_000u64,
        lateness_ms in 0..3_000u64,
        exact_flows in 1..40usize,
    ) {
        let runs: Vec<_> = runs
            .into_iter()
            .map(|(flow, ms, packets)| sends(flow, ms * 1_000_000, packets))
            .collect();
        let settings = Settings {
            window_ns: window_ms * 1_000_000,
            lateness_ns: lateness_ms * 1_000_000,
            exact_flows,
            ..settings()
        };
        let (rows, summary) = play(settings, &runs);
        let packets: u64 = runs.iter().map(|run| u64::from(run.packets)).sum();
        let sum = |of: fn(&WindowRow) -> u64| rows.windows.iter().map(of).sum::<u64>();
        prop_assert_eq!(sum(|row| row.frames), packets);
        prop_assert_eq!(sum(|row| row.roce_packets), packets);
        prop_assert_eq!(sum(|row| row.frame_bytes), 162 * packets);
        prop_assert_eq!(rows.opcodes.iter().map(|row| row.payload_bytes).sum::<u64>(), 100 * packets);
        prop_assert_eq!(summary.totals.all().packets, packets);
        // One row for each window, in order.
        prop_assert!(rows.windows.windows(2).all(|two| two[0].window_start_ns < two[1].window_start_ns));

        let mut truth = BTreeMap::<u32, u64>::new();
        for run in &runs {
            *truth.entry(run.flow.dst_qpn).or_default() += u64::from(run.packets);
        }
        for top in &summary.top_flows {
            let packets = truth[&top.flow.key.dst_qpn];
            let max = top.flow.counts.packets;
            prop_assert!(max >= packets && max - top.error_packets <= packets);
            if summary.exact {
                prop_assert_eq!(max, packets);
            }
        }
        if summary.exact {
            prop_assert_eq!(summary.flows, truth.len() as u64);
        }
    }
}

/// A capture that falls behind gives up connections: windows and flows remain whole, and an event states what is missing.
#[test]
fn connections_yield_and_windows_do_not() {
    let mut pipeline = Pipeline::new(settings()).unwrap();
    let mut counters = Counters::default();
    let psns = |first: u32, at_ns| RunRecord {
        first_psn: first,
        last_psn: first + 9,
        ..sends(7, SECOND + at_ns, 10)
    };
    for (run, yields) in [(psns(0, 0), false), (psns(10, 100), true), (psns(20, 200), false)] {
        pipeline.yield_connections(yields);
        if !pipeline.is_current(run.first_ns) {
            pipeline.turn(run.first_ns, &counters);
        }
        counters.frames += u64::from(run.packets);
        counters.roce_packets += u64::from(run.packets);
        pipeline.ingest(&run);
    }
    pipeline.finish(&counters);
    let rows = std::mem::take(pipeline.rows());
    let seen: u64 = rows.windows.iter().map(|row| row.roce_packets).sum();
    let in_flows: u64 = rows.flows.iter().map(|row| row.packets).sum();
    assert_eq!((seen, in_flows), (30, 30));
    let lost: u64 = rows.windows.iter().filter_map(|row| row.fabric_lost_packets).sum();
    assert_eq!(lost, 0);
    let yielded: Vec<(u64, &str)> = rows
        .events
        .iter()
        .filter(|event| &*event.kind == "yielded")
        .map(|event| (event.count, &*event.detail))
        .collect();
    assert_eq!(
        yielded,
        [(
            10,
            "10 packets that connections left out, because the capture fell behind: their losses are unknown"
        )]
    );
}
