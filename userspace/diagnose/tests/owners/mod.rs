//! Whose the queue pairs of captured traffic are.

mod naming;

use rocescope_diagnose::owners::{Answer, End, Owners};
use rocescope_model::{QueuePairRow, Text, Time};

const SECOND_NS: i64 = 1_000_000_000;

/// Tenths of a second.
fn at(tenths: i64) -> i64 {
    tenths * SECOND_NS / 10
}

/// A row of a queue pair of a process on `10.0.0.HOST`, connected to QP 9 of 10.0.0.9. `first` and `time` are in tenths of a
/// second.
pub(crate) fn row(host: u8, qpn: u32, pid: u32, first: i64, time: i64) -> QueuePairRow {
    QueuePairRow {
        observer: format!("gpu-{host}").into(),
        time: Time(at(time)),
        time_ns: at(time),
        first_ns: at(first),
        device: "mlx5_0".into(),
        port: Some(1),
        local_qpn: qpn,
        remote_qpn: Some(9),
        qp_type: "RC".into(),
        state: "RTS".into(),
        pid: Some(pid),
        process: "python".into(),
        port_addresses: Some(format!("10.0.0.{host},fe80::{host}").into()),
        source: "netlink".into(),
        ..QueuePairRow::default()
    }
}

fn gone(host: u8, qpn: u32, pid: u32, first: i64, time: i64) -> QueuePairRow {
    QueuePairRow {
        ended_ns: Some(at(time)),
        event: Some(Text::from_static("gone")),
        ..row(host, qpn, pid, first, time)
    }
}

/// The same as the kernel's events report it.
fn of_events(row: QueuePairRow) -> QueuePairRow {
    QueuePairRow {
        created_ns: Some(row.first_ns),
        source: "kernel events".into(),
        ..row
    }
}

fn owners(rows: &[QueuePairRow]) -> Owners {
    let mut owners = Owners::default();
    rows.iter().for_each(|row| owners.row(row));
    owners
}

fn end(host: u8, qpn: u32, first: i64, last: i64) -> End {
    End {
        address: [10, 0, 0, host].into(),
        qpn,
        peer: [10, 0, 0, 9].into(),
        peer_qpn: Some(9),
        first_ns: at(first),
        last_ns: at(last),
    }
}

/// The process that an end has; 0 if that is ambiguous.
fn pid(owners: &Owners, end: &End) -> Option<u32> {
    match owners.of(end) {
        Answer::Unknown => None,
        Answer::Ambiguous => Some(0),
        Answer::Owner(owner) => owner.pid,
    }
}

#[test]
fn an_end_has_the_owner_of_its_address_and_number() {
    let owners = owners(&[
        row(1, 17, 42, 100, 100),
        row(2, 17, 43, 100, 100),
        row(1, 18, 44, 100, 100),
    ]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 200)), Some(42));
    assert_eq!(pid(&owners, &end(2, 17, 110, 200)), Some(43));
    assert_eq!(pid(&owners, &end(1, 18, 110, 200)), Some(44));
    assert_eq!(pid(&owners, &end(2, 18, 110, 200)), None);
    assert_eq!(pid(&owners, &end(3, 17, 110, 200)), None);
    let by_other_address = End {
        address: "fe80::1".parse().unwrap(),
        ..end(1, 17, 110, 200)
    };
    assert_eq!(pid(&owners, &by_other_address), Some(42));
}

/// A capture may have begun before the agent did.
#[test]
fn a_queue_pair_may_be_older_than_the_agent() {
    let owners = owners(&[row(1, 17, 42, 100, 100)]);
    assert_eq!(pid(&owners, &end(1, 17, 0, 200)), Some(42));
    // Nothing shows that it was the same one.
    assert_eq!(pid(&owners, &end(1, 17, 0, 80)), None);
    // Netlink is asked once a second: it was created up to a second before it was seen.
    assert_eq!(pid(&owners, &end(1, 17, 85, 90)), Some(42));
}

#[test]
fn a_number_that_is_used_again_has_the_owner_of_its_time() {
    let rows = [
        of_events(gone(1, 17, 42, 100, 200)),
        of_events(row(1, 17, 43, 205, 205)),
    ];
    let owners = owners(&rows);
    assert_eq!(pid(&owners, &end(1, 17, 100, 200)), Some(42));
    assert_eq!(pid(&owners, &end(1, 17, 207, 300)), Some(43));
    // Traffic of both, which the capture took for that of one.
    assert_eq!(pid(&owners, &end(1, 17, 150, 250)), Some(0));
    // More than what the first one can have sent.
    assert_eq!(pid(&owners, &end(1, 17, 100, 203)), Some(0));
    assert_eq!(pid(&owners, &end(1, 17, 50, 99)), Some(0));
    assert_eq!(pid(&owners, &end(1, 17, 10, 20)), None);
}

/// Between two reads of netlink a number may change its owner, and no one knows when.
#[test]
fn what_happened_between_two_reads_is_ambiguous() {
    let owners = owners(&[gone(1, 17, 42, 100, 200), row(1, 17, 43, 200, 200)]);
    assert_eq!(pid(&owners, &end(1, 17, 150, 180)), Some(42));
    assert_eq!(pid(&owners, &end(1, 17, 192, 198)), Some(0));
    assert_eq!(pid(&owners, &end(1, 17, 202, 300)), Some(43));
    // The same process again: it is one owner, whichever queue pair it was.
    let owners = self::owners(&[gone(1, 17, 42, 100, 200), row(1, 17, 42, 200, 200)]);
    assert_eq!(pid(&owners, &end(1, 17, 192, 198)), Some(42));
    assert_eq!(pid(&owners, &end(1, 17, 150, 300)), Some(42));
}

/// Hosts and capture boxes have clocks of their own, which differ by up to a tenth of a second.
#[test]
fn clocks_may_differ_a_little() {
    let owners = owners(&[of_events(gone(1, 17, 42, 100, 200))]);
    assert_eq!(pid(&owners, &end(1, 17, 99, 201)), Some(42));
    assert_eq!(pid(&owners, &end(1, 17, 98, 200)), Some(0));
    assert_eq!(pid(&owners, &end(1, 17, 100, 202)), Some(0));
}

#[test]
fn rows_may_come_in_any_order() {
    let rows = [
        of_events(row(1, 17, 42, 100, 100)),
        of_events(gone(1, 17, 42, 100, 200)),
        of_events(row(1, 17, 43, 205, 205)),
        of_events(gone(1, 17, 43, 205, 300)),
    ];
    let mut other = rows.clone();
    other.reverse();
    for rows in [rows, other] {
        let owners = owners(&rows);
        assert_eq!(pid(&owners, &end(1, 17, 110, 190)), Some(42));
        assert_eq!(pid(&owners, &end(1, 17, 210, 290)), Some(43));
        assert_eq!(pid(&owners, &end(1, 17, 310, 320)), None);
    }
}

/// A late row of the owner before is about the time before.
#[test]
fn a_late_row_makes_ambiguous_what_was_not() {
    let mut owners = owners(&[row(1, 17, 43, 200, 200)]);
    assert_eq!(pid(&owners, &end(1, 17, 150, 250)), Some(43));
    owners.row(&gone(1, 17, 42, 100, 195));
    assert_eq!(pid(&owners, &end(1, 17, 150, 250)), Some(0));
    assert_eq!(pid(&owners, &end(1, 17, 150, 180)), Some(42));
}

/// An agent that was killed writes no end; the next row of the number ends what was before.
#[test]
fn a_queue_pair_without_an_end_ends_with_the_next_and_is_not_believed_for_long() {
    let owners = owners(&[row(1, 17, 42, 100, 150), row(1, 17, 43, 300, 300)]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 140)), Some(42));
    assert_eq!(pid(&owners, &end(1, 17, 310, 400)), Some(43));
    assert_eq!(pid(&owners, &end(1, 17, 140, 310)), Some(0));
    let hour = 36_000;
    assert_eq!(pid(&owners, &end(1, 17, 310, 300 + hour)), Some(43));
    assert_eq!(pid(&owners, &end(1, 17, 310 + hour, 320 + hour)), None);
    // The agent started again, and the process still lives.
    let owners = self::owners(&[row(1, 17, 42, 100, 150), row(1, 17, 42, 300, 300)]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 400)), Some(42));
}

/// Private rails have the same addresses, and numbers are those of a device.
#[test]
fn places_with_the_same_address_are_told_apart_by_the_peer_or_not_at_all() {
    let other = QueuePairRow {
        observer: "gpu-2".into(),
        pid: Some(43),
        remote_qpn: Some(8),
        ..row(1, 17, 42, 100, 100)
    };
    let owners = owners(&[row(1, 17, 42, 100, 100), other.clone()]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 200)), Some(42));
    let eighth = End {
        peer_qpn: Some(8),
        ..end(1, 17, 110, 200)
    };
    assert_eq!(pid(&owners, &eighth), Some(43));
    let any = End {
        peer_qpn: None,
        ..end(1, 17, 110, 200)
    };
    assert_eq!(pid(&owners, &any), Some(0));
    // What the kernel's events report of addresses decides too.
    let of_events = |address: [u8; 4], row: QueuePairRow| QueuePairRow {
        remote_address: Some(address.into()),
        remote_qpn: Some(9),
        ..row
    };
    let rows = [
        of_events([10, 0, 0, 9], row(1, 17, 42, 100, 100)),
        of_events([10, 0, 0, 8], other),
    ];
    assert_eq!(pid(&self::owners(&rows), &any), Some(42));
    let on_other_address = QueuePairRow {
        local_address: "fe80::1".parse().ok(),
        ..row(1, 17, 42, 100, 100)
    };
    assert_eq!(pid(&self::owners(&[on_other_address]), &any), None);
}

/// A queue pair may be connected again: each of its peers is possible then.
#[test]
fn a_queue_pair_that_changed_its_peer_may_have_either() {
    let changed = QueuePairRow {
        remote_qpn: Some(8),
        ..row(1, 17, 42, 100, 150)
    };
    let owners = owners(&[row(1, 17, 42, 100, 100), changed]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 140)), Some(42));
    // What no row reports contradicts nothing.
    let unconnected = QueuePairRow {
        remote_qpn: None,
        qp_type: "UD".into(),
        ..row(1, 18, 42, 100, 100)
    };
    assert_eq!(pid(&self::owners(&[unconnected]), &end(1, 18, 110, 140)), Some(42));
}

/// The first row of a process that was read too late has no names.
#[test]
fn names_that_come_later_are_those_of_the_whole_life() {
    let named = QueuePairRow {
        job_id: Some("4711".into()),
        rank: Some(3),
        ..row(1, 17, 42, 100, 150)
    };
    let mut last = gone(1, 17, 42, 100, 200);
    last.process = Text::default();
    for rows in [
        [row(1, 17, 42, 100, 100), named.clone(), last.clone()],
        [last, named, row(1, 17, 42, 100, 100)],
    ] {
        let Answer::Owner(owner) = owners(&rows).of(&end(1, 17, 110, 140)) else {
            panic!("{rows:?}")
        };
        assert_eq!((owner.job.as_deref(), owner.rank), (Some("4711"), Some(3)));
    }
}

#[test]
fn rows_without_an_address_complete_others_and_name_nothing_alone() {
    let without = QueuePairRow {
        port_addresses: None,
        port: None,
        state: "INIT".into(),
        remote_qpn: None,
        ..row(1, 17, 42, 100, 100)
    };
    assert_eq!(
        pid(&owners(std::slice::from_ref(&without)), &end(1, 17, 110, 140)),
        None
    );
    let owners = owners(&[without, row(1, 17, 42, 100, 105)]);
    assert_eq!(pid(&owners, &end(1, 17, 110, 140)), Some(42));
    let damaged = QueuePairRow {
        port_addresses: Some("10.0.0.1,,x".into()),
        ..row(1, 17, 42, 100, 100)
    };
    assert_eq!(pid(&self::owners(&[damaged]), &end(1, 17, 110, 140)), Some(42));
}

/// Memory follows from the room, not from the rows: those that ended first leave.
#[test]
fn a_hundred_thousand_queue_pairs_need_the_room_of_a_thousand() {
    let mut owners = Owners::with_room(1_000);
    for number in 0..100_000_u32 {
        let first = i64::from(number);
        owners.row(&row(1, number, number, first, first));
        owners.row(&gone(1, number, number, first, first + 20));
    }
    assert_eq!(pid(&owners, &end(1, 99_999, 100_000, 100_010)), Some(99_999));
    assert_eq!(pid(&owners, &end(1, 5, 6, 7)), None);
    assert!(owners.crowded_out() >= 99_000, "{}", owners.crowded_out());
    // Those that live stay, and others find no room.
    let mut owners = Owners::with_room(10);
    (0..20).for_each(|qpn| owners.row(&row(1, qpn, qpn, 100, 100)));
    assert_eq!(owners.crowded_out(), 10);
    assert_eq!(pid(&owners, &end(1, 3, 110, 120)), Some(3));
    assert_eq!(pid(&owners, &end(1, 15, 110, 120)), None);
    // A row of one that is known needs no room.
    owners.row(&gone(1, 3, 3, 100, 130));
    assert_eq!(owners.crowded_out(), 10);
}

#[test]
fn only_what_is_asked_is_kept() {
    let mut owners = Owners::of_these([([10, 0, 0, 1].into(), 17)]);
    for qpn in 0..1_000 {
        owners.row(&row(1, qpn, qpn, 100, 100));
        owners.row(&row(2, qpn, qpn, 100, 100));
    }
    assert_eq!(pid(&owners, &end(1, 17, 110, 120)), Some(17));
    assert_eq!(pid(&owners, &end(1, 18, 110, 120)), None);
    assert_eq!(pid(&owners, &end(2, 17, 110, 120)), None);
}

#[test]
fn what_ended_is_forgotten() {
    let mut owners = owners(&[gone(1, 17, 42, 100, 200), row(1, 18, 43, 100, 100)]);
    owners.forget(at(300));
    assert_eq!(pid(&owners, &end(1, 17, 110, 120)), None);
    assert_eq!(pid(&owners, &end(1, 18, 110, 120)), Some(43));
    owners.forget(at(100_000));
    assert!(owners.is_empty());
}
