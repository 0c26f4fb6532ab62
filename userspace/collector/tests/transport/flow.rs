//! What goes well.

use crate::rig::{Rig, probes};
use rocescope_collector::server::{Analysis, Rows};
use rocescope_collector::{Server, Spool};
use rocescope_model::{Cells, ConnectionRow, EventRow, FlowRow, PathRow, QueuePairRow, Text, Time, WindowRow};
use rocescope_store::{Batch, scan};
use rocescope_testkit::until;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn rows_of_two_tables_and_two_agents_arrive_once() {
    let rig = Rig::new();
    let server = rig.server();
    let port = server.address().port();
    let agents = ["h0", "h1"].map(|agent| {
        let spool = rig.spool(agent);
        let sender = rig.sender(agent, port, &spool);
        (agent, spool, sender)
    });
    for n in 0..20 {
        for (agent, spool, _) in &agents {
            spool.append(&probes(agent, n * 50..n * 50 + 50)).unwrap();
            let path = PathRow {
                observer: (*agent).to_owned().into(),
                ..PathRow::default()
            };
            spool.append(&vec![path]).unwrap();
        }
    }
    until("all is acknowledged", || {
        let waiting = agents.iter().map(|(_, spool, _)| spool.counts().parcels);
        waiting.sum::<u64>() == 0
    });
    let status = server.status();
    assert_eq!(status.counts.rows, 2 * 20 * 51);
    assert_eq!(status.counts.known_parcels, 0);
    assert_eq!(status.refusals, []);
    let names: Vec<&str> = status.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["h0", "h1"]);
    assert_eq!(status.agents[0].rows, 20 * 51);
    for (_, spool, sender) in agents {
        assert_eq!(spool.counts().acknowledged_rows, 20 * 51);
        assert!(sender.status().connected);
        sender.finish(Duration::from_secs(5));
    }
    server.stop().unwrap();
    for agent in ["h0", "h1"] {
        assert_eq!(rig.stored(agent), (0..1000).collect::<Vec<u64>>());
    }
    assert_eq!(scan(&rig.path("dataset")).unwrap().row_count("paths"), 40);
}

#[test]
fn what_waits_is_sent_before_an_agent_ends() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..5000)).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    sender.finish(Duration::from_secs(30));
    assert_eq!(spool.counts().acknowledged_rows, 5000);
    server.stop().unwrap();
    assert_eq!(rig.stored("h0").len(), 5000);
}

#[test]
fn without_a_collector_rows_wait_and_the_end_does_not() {
    let rig = Rig::new();
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    let sender = rig.sender("h0", 1, &spool);
    until("it has tried", || sender.status().last_error.is_some());
    let error = sender.status().last_error.unwrap();
    assert!(error.contains("refused"), "{error}");
    sender.finish(Duration::from_millis(200));
    assert_eq!(spool.counts().rows, 10);
}

/// Sees every row once, and has one of its own stored.
struct Counted(Arc<AtomicU64>);

impl Analysis for Counted {
    fn stored(&mut self, rows: &Batch) {
        self.0.fetch_add(rows.rows() as u64, Ordering::Relaxed);
    }

    fn due(&mut self) -> Vec<Rows> {
        Vec::new()
    }

    fn finish(&mut self) -> Vec<Rows> {
        vec![Box::new(vec![PathRow::default()])]
    }
}

#[test]
fn the_analysis_sees_each_row_once_and_its_rows_are_stored() {
    let rig = Rig::new();
    let seen = Arc::new(AtomicU64::new(0));
    let analysis = Box::new(Counted(Arc::clone(&seen)));
    let server = Server::start(rig.settings(0), Some(analysis)).unwrap();
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..3000)).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    sender.finish(Duration::from_secs(30));
    server.stop().unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 3000);
    assert_eq!(scan(&rig.path("dataset")).unwrap().row_count("paths"), 1);
}

/// A full disk, as far as a test can make one: the dataset becomes a file for a while.
#[test]
fn while_the_dataset_cannot_be_written_nothing_is_acknowledged_and_nothing_lost() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.options.max_age = Duration::ZERO;
    let server = Server::start(settings, None).unwrap();
    let dataset = rig.path("dataset");
    std::fs::remove_dir_all(&dataset).unwrap();
    std::fs::write(&dataset, "in the way").unwrap();
    let spool = rig.spool("h0");
    let sender = rig.sender("h0", server.address().port(), &spool);
    spool.append(&probes("h0", 0..10)).unwrap();
    until("it has failed", || server.status().counts.failed_parcels > 0);
    until("the agent learns why", || {
        let error = sender.status().last_error;
        error.is_some_and(|error| error.contains("dataset"))
    });
    assert_eq!(spool.counts().acknowledged_rows, 0);
    std::fs::remove_file(&dataset).unwrap();
    until("it is stored", || spool.counts().acknowledged_rows == 10);
    drop(sender);
    server.stop().unwrap();
    assert_eq!(rig.stored("h0"), (0..10).collect::<Vec<u64>>());
}

#[test]
fn a_spool_that_was_full_sends_what_is_left() {
    let rig = Rig::new();
    let spool = Arc::new(Spool::open(&rig.path("small"), 60_000).unwrap());
    for n in 0..100 {
        spool.append(&probes("h0", n * 10..n * 10 + 10)).unwrap();
    }
    let counts = spool.counts();
    assert!(counts.dropped_full_rows > 0 && counts.rows > 0);
    let server = rig.server();
    let sender = rig.sender("h0", server.address().port(), &spool);
    sender.finish(Duration::from_secs(30));
    server.stop().unwrap();
    let newest: Vec<u64> = (counts.dropped_full_rows..1000).collect();
    assert_eq!(rig.stored("h0"), newest);
}

#[test]
fn tables_of_agents_and_capture_boxes_are_stored_and_others_refused() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("box");
    let sender = rig.sender("box", server.address().port(), &spool);
    let observer = Text::from("box");
    spool
        .append(&vec![QueuePairRow {
            observer: observer.clone(),
            ..QueuePairRow::default()
        }])
        .unwrap();
    spool
        .append(&vec![FlowRow {
            observer: observer.clone(),
            ..FlowRow::default()
        }])
        .unwrap();
    spool
        .append(&vec![EventRow {
            observer: observer.clone(),
            ..EventRow::default()
        }])
        .unwrap();
    spool
        .append(&vec![ConnectionRow {
            observer: observer.clone(),
            ..ConnectionRow::default()
        }])
        .unwrap();
    spool
        .append(&vec![WindowRow {
            observer,
            ..WindowRow::default()
        }])
        .unwrap();
    until("all is answered", || spool.counts().parcels == 0);
    assert_eq!((spool.counts().acknowledged_rows, spool.counts().refused_rows), (4, 1));
    let why = sender.status().last_refusal.unwrap();
    assert_eq!(why, "neither agents nor capture boxes send the table windows");
    sender.finish(Duration::from_secs(5));
    server.stop().unwrap();
    let found = scan(&rig.path("dataset")).unwrap();
    for table in ["queue_pairs", "flows", "events", "connections"] {
        assert_eq!(found.row_count(table), 1, "{table}");
    }
}

/// A flow of a window that is dated ahead would keep that window of the analysis open.
#[test]
fn flows_of_a_window_that_is_dated_ahead_are_refused() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.max_ahead = Duration::from_secs(300);
    let server = Server::start(settings, None).unwrap();
    let spool = rig.spool("box");
    let _sender = rig.sender("box", server.address().port(), &spool);
    let ahead = std::time::SystemTime::now() + Duration::from_secs(7_200);
    let ahead = ahead.duration_since(std::time::UNIX_EPOCH).unwrap();
    let start_ns = i64::try_from(ahead.as_nanos()).unwrap();
    let row = FlowRow {
        observer: "box".into(),
        window_start: Time(start_ns),
        window_start_ns: start_ns,
        ..FlowRow::default()
    };
    spool.append(&vec![row]).unwrap();
    until("it is answered", || spool.counts().parcels == 0);
    assert_eq!(spool.counts().refused_rows, 1);
}
