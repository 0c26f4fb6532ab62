//! Incidents of a collector: lines, rows, a metric and a hook.

use crate::collector::{Collector, SECOND, START, WINDOW, counted};
use rocescope_collector::metrics::page::{self, CollectorMetrics};
use rocescope_model::{ConnectionRow, EventRow, IncidentRow, QueuePairRow, Time};
use rocescope_store::scan;
use std::fs;
use std::net::IpAddr;

/// Runs windows in which the host has no buffers, or has them.
fn run(collector: &mut Collector, windows: std::ops::Range<i64>, errors: u64) {
    for window in windows {
        collector.store(&counted(1, window, errors));
        collector.advance_to(START + (window + 1) * WINDOW + 2 * SECOND);
        collector.due();
    }
}

fn series(collector: &Collector) -> String {
    let metrics = CollectorMetrics::default();
    let page = page::page(metrics, Some(&collector.diagnosed), "collector").unwrap();
    let lines = page.lines().filter(|line| line.starts_with("rocescope_incidents{"));
    lines.collect()
}

#[test]
fn an_incident_opens_once_goes_on_in_the_next_collector_and_closes() {
    let directory = tempfile::tempdir().unwrap();
    let (dataset, log) = (directory.path().join("dataset"), directory.path().join("log"));
    let hook = || Some(format!("cat >> {}", log.display()).parse().unwrap());
    let mut first = Collector::start(&dataset, START, hook());
    run(&mut first, 0..12, 0);
    assert_eq!(series(&first), "");
    run(&mut first, 12..20, 40);
    let open = series(&first);
    assert!(
        open.contains("class=\"slow_receiver\",place=\"gpu-1 mlx5_0/1\""),
        "{open}"
    );
    let said = first.lines.lock().unwrap().clone();
    assert_eq!(said.matches(" opened: slow_receiver").count(), 1, "{said}");
    first.stop();

    let mut next = Collector::start(&dataset, START + 20 * WINDOW + 2 * SECOND, hook());
    run(&mut next, 20..25, 40);
    assert_eq!(series(&next), open);
    run(&mut next, 25..60, 0);
    assert_eq!(series(&next), "");
    let said = next.lines.lock().unwrap().clone();
    assert_eq!(said.matches(" opened: ").count(), 0, "{said}");
    assert_eq!(said.matches(" closed: slow_receiver").count(), 1, "{said}");
    next.stop();

    let mut stored = scan(&dataset).unwrap().rows::<IncidentRow>().unwrap();
    stored.sort_by_key(|row| row.time_ns);
    let states: Vec<&str> = stored.iter().map(|row| &*row.state).collect();
    assert_eq!(
        states.first().zip(states.last()),
        Some((&"open", &"ended")),
        "{states:?}"
    );
    assert!(stored.iter().all(|row| row.id == stored[0].id), "{stored:#?}");
    let log = fs::read_to_string(log).unwrap();
    let changes: Vec<&str> = log.lines().filter_map(|line| line.split('"').nth(3)).collect();
    assert_eq!(
        changes.first().zip(changes.last()),
        Some((&"opened", &"closed")),
        "{log}"
    );
    assert_eq!(changes.len(), stored.len());
}

/// The event opens it, and the row of the connection, which comes up to a minute later, makes it certain.
#[test]
fn a_short_loss_that_a_capture_box_reports_late_opens_and_closes() {
    let directory = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&directory.path().join("dataset"), START, None);
    let (src, dst) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
    collector.store(&vec![EventRow {
        observer: "tap".into(),
        time: Time(START),
        time_ns: START,
        kind: "loss".into(),
        src: Some(src),
        dst: Some(dst),
        count: 7,
        ..EventRow::default()
    }]);
    let at = |seconds: i64| START + seconds * SECOND;
    collector.advance_to(at(30));
    collector.due();
    let first = series(&collector);
    assert!(
        first.contains("place=\"10.0.0.1 > 10.0.0.2\",certainty=\"likely\""),
        "{first}"
    );
    let row = |seconds: i64| ConnectionRow {
        observer: "tap".into(),
        time: Time(at(seconds)),
        time_ns: at(seconds),
        role: "a_to_b".into(),
        state: "active".into(),
        src,
        dst,
        dst_qpn: Some(7),
        packets: 10_000,
        fabric_lost_upstream_packets: 7,
        retransmitted_packets: 7,
        first_ns: Some(at(-100)),
        last_ns: at(seconds),
        other_direction_seen: Some(true),
        ..ConnectionRow::default()
    };
    collector.store(&vec![row(55)]);
    collector.advance_to(at(70));
    collector.due();
    let open = series(&collector);
    assert!(
        open.contains("place=\"10.0.0.1 > 10.0.0.2\",certainty=\"certain\""),
        "{open}"
    );
    for seconds in [115, 175] {
        collector.store(&vec![row(seconds)]);
        collector.advance_to(at(seconds + 5));
        collector.due();
    }
    assert_eq!(series(&collector), "");
    let said = collector.lines.lock().unwrap().clone();
    assert_eq!(said.matches(" opened: network_loss").count(), 1, "{said}");
    assert!(said.contains(" closed: network_loss"), "{said}");
}

/// The capture box has the queue pairs, and agents know whose they are: so does the next collector.
#[test]
fn an_incident_names_the_owners_of_its_victims() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let at = |seconds: i64| START + seconds * SECOND;
    let pair = |host: u8, rank: u32| QueuePairRow {
        observer: format!("gpu-{host}").into(),
        time: Time(at(-200)),
        time_ns: at(-200),
        first_ns: at(-200),
        device: "mlx5_0".into(),
        local_qpn: 7,
        remote_qpn: Some(7),
        pid: Some(42),
        job_id: Some("4711".into()),
        rank: Some(rank),
        port_addresses: Some(format!("10.0.0.{host}").into()),
        ..QueuePairRow::default()
    };
    let row = |seconds: i64| ConnectionRow {
        observer: "tap".into(),
        time: Time(at(seconds)),
        time_ns: at(seconds),
        role: "a_to_b".into(),
        state: "active".into(),
        src: [10, 0, 0, 1].into(),
        dst: [10, 0, 0, 2].into(),
        src_qpn: Some(7),
        dst_qpn: Some(7),
        packets: 10_000,
        fabric_lost_upstream_packets: 700,
        retransmitted_packets: 700,
        first_ns: Some(at(-100)),
        last_ns: at(seconds),
        other_direction_seen: Some(true),
        ..ConnectionRow::default()
    };
    let mut first = Collector::start(&dataset, START, None);
    first.store(&vec![pair(1, 3), pair(2, 7)]);
    first.stop();
    let mut next = Collector::start(&dataset, at(1), None);
    next.store(&vec![EventRow {
        observer: "tap".into(),
        time: Time(at(4)),
        time_ns: at(4),
        kind: "loss".into(),
        src: Some([10, 0, 0, 1].into()),
        dst: Some([10, 0, 0, 2].into()),
        count: 700,
        ..EventRow::default()
    }]);
    next.store(&vec![row(5)]);
    next.advance_to(at(20));
    next.due();
    next.stop();
    let stored = scan(&dataset).unwrap().rows::<IncidentRow>().unwrap();
    let owners: Vec<Option<&str>> = stored.iter().map(|row| row.owners.as_deref()).collect();
    // The event comes before the row of the connection, which has the numbers.
    assert_eq!(owners, [None, Some("job 4711, ranks 3 and 7")]);
}
