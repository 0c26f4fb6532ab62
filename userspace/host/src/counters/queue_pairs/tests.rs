use super::event::{Attributes, Event, Flow, Identity, Owner, What};
use super::*;

fn pair(local_qpn: u32, state: &'static str, pid: u32) -> (String, QueuePair) {
    let pair = QueuePair {
        port: Some(1),
        local_qpn,
        remote_qpn: Some(local_qpn + 1),
        kind: "RC",
        state,
        pid: Some(pid),
        process: "train".into(),
    };
    ("mlx5_0".into(), pair)
}

fn read(pairs: &mut QueuePairs, second: u64, now: Vec<(String, QueuePair)>) -> Vec<(u32, String, String, i64)> {
    let moment = Moment {
        time: Time(second as i64 * 1_000_000_000),
        clock: Duration::from_secs(second),
    };
    let rows = pairs.read(now, moment, Duration::from_secs(300), &"h".into());
    let brief = |row: QueuePairRow| {
        let event = row.event.as_deref().unwrap_or("-").to_owned();
        assert_eq!(row.ended_ns, (event == "gone").then_some(row.time_ns));
        (
            row.local_qpn,
            row.state.to_string(),
            event,
            row.first_ns / 1_000_000_000,
        )
    };
    rows.into_iter().map(brief).collect()
}

#[test]
fn rows_are_for_what_is_new_changed_gone_or_due() {
    let mut pairs = QueuePairs::default();
    let line = |qpn, state: &str, event: &str, first| (qpn, state.to_owned(), event.to_owned(), first);
    let found = read(&mut pairs, 1, vec![pair(17, "RTR", 9), pair(18, "RTS", 9)]);
    assert_eq!(found, [line(17, "RTR", "first", 1), line(18, "RTS", "first", 1)]);
    let found = read(&mut pairs, 2, vec![pair(17, "RTS", 9), pair(18, "RTS", 9)]);
    assert_eq!(found, [line(17, "RTS", "changed", 1)]);
    assert_eq!(read(&mut pairs, 3, vec![pair(17, "RTS", 9), pair(18, "RTS", 9)]), []);
    assert_eq!(
        read(&mut pairs, 4, vec![pair(18, "RTS", 9)]),
        [line(17, "RTS", "gone", 1)]
    );
    // The one that changed is due later than the one that did not.
    assert_eq!(
        read(&mut pairs, 301, vec![pair(18, "RTS", 9)]),
        [line(18, "RTS", "-", 1)]
    );
    assert_eq!(read(&mut pairs, 302, vec![pair(18, "RTS", 9)]), []);
}

/// Numbers are used again: the queue pair of another process has a begin of its own.
#[test]
fn a_number_that_another_process_got_is_another_queue_pair() {
    let mut pairs = QueuePairs::default();
    read(&mut pairs, 1, vec![pair(17, "RTS", 9)]);
    let found = read(&mut pairs, 2, vec![pair(17, "INIT", 10)]);
    let line = |state: &str, event: &str, first| (17, state.to_owned(), event.to_owned(), first);
    assert_eq!(found, [line("RTS", "gone", 1), line("INIT", "first", 2)]);
}

/// The kernel no longer names the owner then.
#[test]
fn a_queue_pair_outlives_the_thread_that_created_it() {
    let mut pairs = QueuePairs::default();
    read(&mut pairs, 1, vec![pair(17, "INIT", 9)]);
    let forgotten = |state| {
        let (device, mut pair) = pair(17, state, 9);
        (pair.pid, pair.process) = (None, String::new());
        (device, pair)
    };
    let found = read(&mut pairs, 2, vec![forgotten("RTS")]);
    assert_eq!(found, [(17, "RTS".to_owned(), "changed".to_owned(), 1)]);
    assert_eq!(read(&mut pairs, 3, vec![forgotten("RTS")]), []);
    // The kernel has one with that number now.
    let (device, of_kernel) = forgotten("RTS");
    let of_kernel = QueuePair {
        process: "ib_core".into(),
        ..of_kernel
    };
    let events: Vec<String> = read(&mut pairs, 4, vec![(device, of_kernel)])
        .into_iter()
        .map(|(_, _, event, _)| event)
        .collect();
    assert_eq!(events, ["gone", "first"]);
}

/// The queue pairs, and rows of their events in short.
#[derive(Default)]
struct Host {
    pairs: QueuePairs,
    rows: Vec<QueuePairRow>,
}

fn at(ms: u64) -> Moment {
    Moment {
        time: Time(ms as i64),
        clock: Duration::from_millis(ms),
    }
}

fn owner(pid: u32) -> Owner {
    Owner {
        kind: "RC",
        pid: Some(pid),
        process: "train".into(),
    }
}

fn to(state: &'static str) -> Attributes {
    Attributes {
        state: Some(state),
        ..Attributes::default()
    }
}

impl Host {
    fn event(&mut self, ms: u64, number: u32, what: What) -> &mut Self {
        let event = Event {
            moment: at(ms),
            device: "mlx5_0".into(),
            number,
            what,
        };
        let rows = self.pairs.report(vec![event], true, &"h".into());
        self.rows.extend(rows);
        self
    }

    fn created(&mut self, ms: u64, number: u32, identity: u64) -> &mut Self {
        self.event(ms, number, What::Created(Identity(identity), owner(9)))
    }

    fn modified(&mut self, ms: u64, number: u32, identity: u64, change: Attributes) -> &mut Self {
        self.event(ms, number, What::Modified(Identity(identity), owner(9), change))
    }

    fn ended(&mut self, ms: u64, number: u32, identity: u64) -> &mut Self {
        self.event(ms, number, What::Ended(Identity(identity)))
    }

    fn read(&mut self, ms: u64, pairs: Vec<(String, QueuePair)>) -> &mut Self {
        let rows = self.pairs.read(pairs, at(ms), Duration::from_secs(300), &"h".into());
        self.rows.extend(rows);
        self
    }

    /// Time, number, state and event of the rows since the last call.
    fn lines(&mut self) -> Vec<String> {
        let line = |row: QueuePairRow| {
            let event = row.event.as_deref().unwrap_or("-").to_owned();
            format!("{} {} {} {event}", row.time_ns, row.local_qpn, row.state)
        };
        std::mem::take(&mut self.rows).into_iter().map(line).collect()
    }
}

#[test]
fn a_queue_pair_that_no_read_lists_has_all_its_rows() {
    let mut host = Host::default();
    host.read(0, vec![]);
    let address = |last| Some([10, 0, 0, last].into());
    let connected = Attributes {
        remote_qpn: Some(0x2001),
        local_address: address(1),
        remote_address: address(2),
        flow: Some(Flow::Label(0)),
        traffic_class: Some(104),
        path_mtu_bytes: Some(4096),
        receive_psn: Some(7),
        ..to("RTR")
    };
    let ready = Attributes {
        send_psn: Some(8),
        timeout: Some(14),
        retries: Some(7),
        rnr_retries: Some(7),
        ..to("RTS")
    };
    let port = Attributes {
        port: Some(1),
        ..to("INIT")
    };
    host.created(10, 0x1001, 1).modified(11, 0x1001, 1, port);
    host.event(12, 0x1001, What::ByCm);
    host.modified(13, 0x1001, 1, connected).modified(14, 0x1001, 1, ready);
    host.ended(20, 0x1001, 1);
    let last = host.rows.last().unwrap().clone();
    host.read(1000, vec![]);
    let lines = [
        "10 4097 RESET first",
        "11 4097 INIT changed",
        "12 4097 INIT changed",
        "13 4097 RTR changed",
        "14 4097 RTS changed",
        "20 4097 RTS gone",
    ];
    assert_eq!(host.lines(), lines);
    assert_eq!(
        (last.created_ns, last.ended_ns, last.first_ns),
        (Some(10), Some(20), 10)
    );
    assert_eq!((last.port, last.remote_qpn, last.pid), (Some(1), Some(0x2001), Some(9)));
    assert_eq!((last.local_address, last.remote_address), (address(1), address(2)));
    // As `rdma_calc_flow_label` folds 0x1001 * 0x2001 = 0x2003001: 0x03001 ^ 0x20 = 0x3021.
    assert_eq!(last.udp_src_port, Some(0xf021));
    assert_eq!((last.traffic_class, last.path_mtu_bytes), (Some(104), Some(4096)));
    assert_eq!((last.send_psn, last.receive_psn), (Some(8), Some(7)));
    assert_eq!(
        (last.timeout, last.retries, last.rnr_retries),
        (Some(14), Some(7), Some(7))
    );
    assert_eq!((last.by_cm, &*last.source), (Some(true), "kernel events"));
}

#[test]
fn one_of_before_the_events_is_completed_when_it_changes() {
    let mut host = Host::default();
    host.read(0, vec![pair(17, "RTR", 5)]);
    let row = host.rows[0].clone();
    assert_eq!((&*row.source, row.created_ns, row.by_cm), ("netlink", None, None));
    host.modified(10, 17, 1, to("RTS")).read(1000, vec![pair(17, "RTS", 5)]);
    let row = host.rows.last().unwrap().clone();
    // A read names the thread, the event the process.
    assert_eq!(
        (row.pid, &*row.source, row.created_ns),
        (Some(9), "kernel events", None)
    );
    // Whether CM connected it was not seen.
    assert_eq!((row.remote_qpn, row.by_cm), (Some(18), None));
    host.ended(1500, 17, 1).read(2000, vec![]);
    assert_eq!(
        host.lines(),
        ["0 17 RTR first", "10 17 RTS changed", "1500 17 RTS gone"]
    );
}

#[test]
fn a_read_that_is_older_than_an_event_changes_nothing() {
    let mut host = Host::default();
    // Created, changed and ended while reads were taken.
    host.created(10, 17, 1).read(5, vec![]);
    host.modified(110, 17, 1, to("INIT"))
        .read(105, vec![pair(17, "RESET", 9)]);
    host.ended(210, 17, 1).read(205, vec![pair(17, "INIT", 9)]);
    // One that no event reported: its end is known before the read that lists it is taken.
    host.ended(310, 18, 2).read(305, vec![pair(18, "RTS", 9)]);
    host.read(400, vec![]);
    assert_eq!(
        host.lines(),
        ["10 17 RESET first", "110 17 INIT changed", "210 17 INIT gone"]
    );
}

#[test]
fn a_newer_read_tells_what_events_do_not() {
    let mut host = Host::default();
    host.created(10, 17, 1).modified(11, 17, 1, to("RTS"));
    let broken = (
        "mlx5_0".into(),
        QueuePair {
            remote_qpn: None,
            ..pair(17, "ERR", 5).1
        },
    );
    host.read(100, vec![broken.clone()]).read(200, vec![broken]);
    let row = host.rows.last().unwrap();
    assert_eq!((row.pid, row.port, &*row.source), (Some(9), Some(1), "kernel events"));
    assert_eq!(
        host.lines(),
        ["10 17 RESET first", "11 17 RTS changed", "100 17 ERR changed"]
    );
}

/// The kernel gives a number away before it reports that the queue pair before ended.
#[test]
fn an_end_that_is_reported_late_ends_the_right_one() {
    let mut host = Host::default();
    host.created(10, 17, 1)
        .created(20, 17, 2)
        .ended(21, 17, 1)
        .read(30, vec![pair(17, "RESET", 9)]);
    host.ended(40, 17, 2);
    let lines = [
        "10 17 RESET first",
        "20 17 RESET gone",
        "20 17 RESET first",
        "30 17 RESET changed",
        "40 17 RESET gone",
    ];
    assert_eq!(host.lines(), lines);
}

#[test]
fn a_read_ends_what_it_does_not_list_any_more() {
    let mut host = Host::default();
    // The end is not reported; and one that is newer than the read.
    host.created(10, 17, 1).created(310, 18, 2);
    host.read(300, vec![pair(1, "RTS", 9)]);
    let lines = [
        "10 17 RESET first",
        "310 18 RESET first",
        "300 1 RTS first",
        "300 17 RESET gone",
    ];
    assert_eq!(host.lines(), lines);
    // Its creation was lost.
    host.modified(400, 19, 3, to("RTS"))
        .read(500, vec![pair(1, "RTS", 9), pair(18, "RESET", 9), pair(19, "RTS", 9)]);
    let row = host.rows[0].clone();
    assert_eq!((row.created_ns, row.first_ns, row.by_cm), (None, 400, None));
    assert_eq!(
        host.lines(),
        ["400 19 RTS first", "500 18 RESET changed", "500 19 RTS changed"]
    );
    // Reads that do not show the device: of another namespace, or they fail.
    host.read(600, vec![]).read(700, vec![]);
    assert_eq!(host.lines(), ["600 1 RTS gone"]);
}

#[test]
fn a_reset_forgets_the_connection() {
    let mut host = Host::default();
    let connected = Attributes {
        remote_qpn: Some(5),
        remote_address: Some([10, 0, 0, 2].into()),
        flow: Some(Flow::Device),
        ..to("RTR")
    };
    host.created(1, 17, 1).modified(2, 17, 1, connected);
    let row = host.rows.last().unwrap();
    assert_eq!((row.by_cm, row.udp_src_port), (Some(false), None));
    host.modified(3, 17, 1, to("RESET"));
    let row = host.rows.last().unwrap();
    assert_eq!((row.remote_qpn, row.remote_address, row.by_cm), (None, None, None));
    // What changes nothing has no row.
    host.modified(4, 17, 1, to("RESET"));
    assert_eq!(host.rows.len(), 3);
}
