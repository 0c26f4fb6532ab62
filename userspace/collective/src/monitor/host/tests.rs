use super::{Host, HostSettings, Turn};
use crate::monitor::Settings;
use crate::monitor::notice::StepNotice;
use crate::monitor::placement::Placement;
use crate::read::{Imported, Operation, Receive};
use alloc::vec::Vec;
use rocescope_model::UdpPath;
use rocescope_model::{StepProbeRow, StepRow};
use std::string::ToString;
use std::{format, vec};

const MS: i64 = 1_000_000;
const BASE: i64 = 20_000;

/// Ranks 0 to 2 on hosts h0 to h2, and rank 3 on h0 too.
fn host(detections: u32) -> Host {
    let placement = "0 h0 10.0.0.1\n1 h1 10.0.0.2\n2 h2 10.0.0.3\n3 h0 10.0.0.4\n";
    let settings = HostSettings {
        monitor: Settings {
            threshold_percent: 150,
            detections,
            settle_ns: 0,
        },
        min_delay_ns: 0,
        port: 50_000,
        paths: 4,
    };
    Host::new("h0", settings, Placement::parse(placement).unwrap())
}

fn step(rank: u32, number: u32, start_ms: i64, took_ms: Option<i64>) -> StepRow {
    StepRow {
        time_ns: start_ms * MS,
        collective: "c:AllReduce:1".into(),
        host: rank.to_string().into(),
        rank: Some(rank),
        channel: Some(0),
        step: number,
        dst_host: ((rank + 1) % 4).to_string().into(),
        bytes: Some(1_000),
        duration_ns: took_ms.map(|ms| ms * MS),
        ..StepRow::default()
    }
}

fn ended(steps: Vec<StepRow>) -> Imported {
    Imported {
        steps,
        ..Imported::default()
    }
}

fn operation(rank: u32) -> Operation {
    Operation {
        collective: "c:AllReduce:1".into(),
        rank,
        channel: 0,
    }
}

/// From rank `from` to rank `by`.
fn receive(by: u32, from: u32) -> Imported {
    Imported {
        receives: vec![Receive {
            by: operation(by),
            from,
        }],
        ..Imported::default()
    }
}

fn path() -> UdpPath {
    UdpPath {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        port: 50_000,
    }
}

/// A first step makes the path known, and probes its base.
fn warm(host: &mut Host) {
    host.take(&ended(vec![step(0, 1, 0, Some(10))]), &[], 10 * MS);
    for at in 1..=10 {
        host.probed(&path(), at * MS, BASE);
    }
    let _ = host.turn(10 * MS);
}

fn events(turn: &Turn) -> Vec<(&str, u32, bool)> {
    turn.rows.iter().map(|row| (&*row.event, row.step, row.asked)).collect()
}

#[test]
fn the_paths_of_steps_are_probed_and_those_of_unknown_ranks_named() {
    let mut host = host(1);
    assert_eq!(host.paths().count(), 0);
    warm(&mut host);
    assert_eq!(host.paths().collect::<Vec<_>>(), [path()]);
    let nowhere = StepRow {
        dst_host: "9".into(),
        ..step(0, 2, 20, None)
    };
    host.take(&Imported::default(), &[nowhere], 21 * MS);
    assert!(
        host.complaints.lines()[0].starts_with("rank 0 to 9: "),
        "{:?}",
        host.complaints
    );
}

#[test]
fn a_slow_round_trip_during_an_open_step_asks_once() {
    let mut host = host(1);
    warm(&mut host);
    host.take(&Imported::default(), &[step(0, 2, 20, None)], 21 * MS);
    host.probed(&path(), 22 * MS, BASE * 3 / 2);
    assert_eq!(events(&host.turn(22 * MS)), [("end", 1, false)], "at the threshold");
    host.probed(&path(), 23 * MS, BASE * 2);
    host.probed(&path(), 24 * MS, BASE * 4);
    let turn = host.turn(24 * MS);
    assert_eq!(events(&turn), [("slow", 2, true)]);
    let row = &turn.rows[0];
    assert_eq!((row.time_ns, row.round_trip_ns), (23 * MS, Some(2 * BASE)));
    assert_eq!((row.base_round_trip_ns, row.threshold_ns), (BASE, BASE * 3 / 2));
    // Its row has all of its round trips.
    host.take(&ended(vec![step(0, 2, 20, Some(10))]), &[], 31 * MS);
    host.probed(&path(), 40 * MS, BASE * 9);
    let turn = host.turn(200 * MS);
    assert_eq!(events(&turn), [("end", 2, false)]);
    let row = &turn.rows[0];
    assert_eq!(
        (row.answered, row.max_round_trip_ns, row.detections),
        (3, Some(4 * BASE), 1)
    );
    assert_eq!(row.time_ns, 30 * MS);
}

#[test]
fn a_step_that_is_read_late_gets_the_round_trips_of_its_time() {
    let mut host = host(1);
    warm(&mut host);
    host.probed(&path(), 25 * MS, BASE * 5);
    host.probed(&path(), 35 * MS, BASE);
    assert!(host.turn(40 * MS).rows.is_empty());
    // Both ended before they were read: the first was slow, the second was not.
    let steps = vec![step(0, 2, 20, Some(10)), step(0, 3, 30, Some(10))];
    host.take(&ended(steps), &[], 500 * MS);
    let turn = host.turn(500 * MS);
    assert_eq!(events(&turn), [("end", 1, false), ("slow", 2, true), ("end", 2, false)]);
    assert_eq!(turn.rows[1].time_ns, 25 * MS);
    // One that is read long after is not asked about.
    host.probed(&path(), 600 * MS, BASE * 5);
    host.take(&ended(vec![step(0, 4, 590, Some(20))]), &[], 10_700 * MS);
    assert_eq!(events(&host.turn(10_700 * MS)), [("end", 3, false), ("slow", 4, false)]);
}

#[test]
fn without_a_base_nothing_is_slow_and_timestamps_may_vary_by_the_least_delay() {
    let mut host = host(1);
    host.take(&Imported::default(), &[step(0, 1, 0, None)], MS);
    for at in 2..20 {
        host.probed(&path(), at * MS, BASE * at);
    }
    assert!(host.turn(20 * MS).rows.is_empty(), "it began before the base was known");
    let settings = HostSettings {
        min_delay_ns: 100_000,
        ..host.settings.clone()
    };
    host.reconfigure(settings);
    host.take(&Imported::default(), &[step(0, 2, 30, None)], 31 * MS);
    host.probed(&path(), 32 * MS, 2 * BASE + 100_000);
    assert_eq!(events(&host.turn(33 * MS)), [("end", 1, false)]);
    host.probed(&path(), 34 * MS, 2 * BASE + 100_001);
    assert_eq!(events(&host.turn(35 * MS)), [("slow", 2, true)]);
}

#[test]
fn a_path_without_answers_is_overdue() {
    let mut host = host(1);
    warm(&mut host);
    host.take(&Imported::default(), &[step(0, 2, 20, None)], 21 * MS);
    host.unanswered(&path(), 22 * MS, BASE);
    host.unanswered(&path(), 23 * MS, BASE * 100);
    assert_eq!(events(&host.turn(24 * MS))[1..], [("overdue", 2, true)]);
}

/// Steps take 10 ms: three detections are spaced by a third of it.
#[test]
fn detections_are_spaced_and_channels_of_a_path_ask_together() {
    let mut host = host(3);
    warm(&mut host);
    let other = StepRow {
        channel: Some(1),
        ..step(0, 2, 20, None)
    };
    host.take(&Imported::default(), &[step(0, 2, 20, None), other], 21 * MS);
    let _ = host.turn(21 * MS);
    for at in 21..40 {
        host.probed(&path(), at * MS, BASE * 9);
    }
    let turn = host.turn(40 * MS);
    let of = |channel| {
        let rows = turn.rows.iter().filter(move |row| row.channel == Some(channel));
        rows.map(|row| row.time_ns / MS).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [21, 25, 29]);
    // How long a step of channel 1 takes is unknown.
    assert_eq!(of(1), [21]);
    assert_eq!(turn.rows.iter().filter(|row| row.asked).count(), 1);
}

#[test]
fn what_is_left_goes_to_the_agent_whose_data_are_awaited() {
    let mut host = host(2);
    warm(&mut host);
    host.take(&receive(0, 2), &[], 15 * MS);
    host.take(&ended(vec![step(0, 2, 20, Some(10))]), &[], 31 * MS);
    host.probed(&path(), 31 * MS, BASE);
    assert!(host.turn(100 * MS).notices.is_empty(), "the next step may begin");
    let turn = host.turn(131 * MS);
    let expected = StepNotice {
        rank: 2,
        origin: 0,
        channel: 0,
        step: 2,
        detections: 2,
        collective: "c:AllReduce:1".into(),
    };
    assert_eq!(turn.notices, [("h2".into(), expected.clone())]);
    // It waits: what others pass on goes on, but not back to who began.
    let from = |origin| StepNotice {
        rank: 0,
        origin,
        detections: 1,
        ..expected.clone()
    };
    host.notified("h1", &from(1));
    host.notified("h1", &from(2));
    host.notified("h9", &from(1));
    let passed = host.turn(140 * MS).notices;
    assert_eq!(passed.len(), 1);
    assert_eq!((passed[0].1.origin, passed[0].1.detections), (1, 1));
    assert!(host.complaints.lines()[0].starts_with("h9: "));
}

#[test]
fn who_is_still_sending_takes_what_others_pass_on() {
    let mut host = host(1);
    warm(&mut host);
    host.take(&Imported::default(), &[step(0, 2, 20, None)], 21 * MS);
    let notice = StepNotice {
        rank: 0,
        origin: 1,
        channel: 0,
        step: 2,
        // No more than all ranks have.
        detections: 1_000,
        collective: "c:AllReduce:1".into(),
    };
    let other = StepNotice {
        collective: "c:AllReduce:2".into(),
        ..notice.clone()
    };
    host.notified("h1", &other);
    host.notified("h1", &notice);
    for at in 22..1_000 {
        host.probed(&path(), at * MS, BASE * 9);
    }
    let turn = host.turn(1_000 * MS);
    let slow = turn.rows.iter().filter(|row| &*row.event == StepProbeRow::SLOW);
    assert_eq!(slow.count(), 5);
    assert_eq!(turn.rows.last().unwrap().received, 4);
}

#[test]
fn ranks_of_one_host_pass_on_without_a_message() {
    let mut host = host(1);
    warm(&mut host);
    // Rank 3 receives from rank 0, which still sends.
    host.take(&receive(3, 0), &[step(0, 2, 20, None)], 21 * MS);
    host.take(&ended(vec![step(3, 2, 20, Some(5))]), &[], 26 * MS);
    let _ = host.turn(126 * MS);
    for at in 127..200 {
        host.probed(&path(), at * MS, BASE * 9);
    }
    let turn = host.turn(200 * MS);
    assert!(turn.notices.is_empty());
    assert_eq!(events(&turn), [("slow", 2, true), ("slow", 2, false)]);
    assert_eq!(turn.rows[1].received, 1);
}

#[test]
fn who_has_sent_everything_waits_for_nothing() {
    let mut host = host(1);
    warm(&mut host);
    host.take(&receive(0, 2), &[], 15 * MS);
    let last = Imported {
        steps: vec![step(0, 2, 20, Some(10))],
        finished: vec![operation(0)],
        ..Imported::default()
    };
    host.take(&last, &[], 31 * MS);
    assert!(host.turn(500 * MS).notices.is_empty());
    // Nothing is probed when no job has reported for long.
    let _ = host.turn(700_000 * MS);
    assert_eq!(host.paths().count(), 0);
}

#[test]
fn the_number_of_paths_and_of_notices_is_bounded() {
    let mut host = host(1);
    for rank in 0..8_u32 {
        let row = StepRow {
            src: Some(format!("10.1.0.{rank}").parse().unwrap()),
            dst: Some("10.1.1.1".parse().unwrap()),
            ..step(rank, 1, 0, None)
        };
        host.take(&Imported::default(), &[row], MS);
    }
    assert_eq!(host.paths().count(), 4);
    assert!(!host.complaints.is_empty());
}
