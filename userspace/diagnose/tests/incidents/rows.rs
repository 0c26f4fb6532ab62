//! What connections and events become.

use rocescope_diagnose::incidents::{Certainty, Incident, Wire};
use rocescope_model::{ConnectionRow, EventRow, IncidentRow, Text, WindowRow};
use std::net::IpAddr;
use std::vec::Vec;

pub(super) const SECOND: i64 = 1_000_000_000;

pub(super) fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

pub(super) fn connection(src: u8, dst: u8, qpn: u32) -> ConnectionRow {
    ConnectionRow {
        observer: "tap".into(),
        connection: i64::from(qpn),
        role: "a_to_b".into(),
        src: address(src),
        dst: address(dst),
        dst_qpn: Some(qpn),
        packets: 1_000,
        first_ns: Some(SECOND),
        last_ns: 9 * SECOND,
        other_direction_seen: Some(true),
        ..ConnectionRow::default()
    }
}

pub(super) fn lost(src: u8, dst: u8, at: i64, count: u64) -> EventRow {
    EventRow {
        observer: "tap".into(),
        kind: "loss".into(),
        time_ns: at * SECOND,
        src: Some(address(src)),
        dst: Some(address(dst)),
        count,
        ..EventRow::default()
    }
}

pub(super) fn find(wire: &Wire) -> Vec<Incident> {
    wire.find().incidents
}

#[test]
fn a_later_row_of_a_direction_replaces_the_earlier_one() {
    let mut wire = Wire::default();
    for lost in [2, 5] {
        wire.connection(&ConnectionRow {
            fabric_lost_upstream_packets: lost,
            ..connection(1, 2, 7)
        });
    }
    let found = find(&wire);
    assert_eq!((found.len(), found[0].victims.lost_packets), (1, Some(5)));
    assert_eq!(found[0].certainty, Certainty::Certain);
}

#[test]
fn losses_an_hour_apart_are_two_incidents_and_the_first_is_over() {
    let mut wire = Wire::default();
    wire.connection(&ConnectionRow {
        fabric_lost_upstream_packets: 7,
        last_ns: 3_700 * SECOND,
        ..connection(1, 2, 7)
    });
    for (at, count) in [(10, 2), (40, 1), (3_699, 4)] {
        wire.event(&lost(1, 2, at, count));
    }
    let found = find(&wire);
    let short = |one: &Incident| {
        (
            one.since_ns / SECOND,
            one.until_ns / SECOND,
            one.is_open,
            one.victims.lost_packets,
        )
    };
    assert_eq!(
        found.iter().map(short).collect::<Vec<_>>(),
        [(10, 40, false, Some(3)), (3_699, 3_699, true, Some(4))]
    );
    let rows: Vec<IncidentRow> = found.iter().map(|one| one.row(&Text::from("d"), 5)).collect();
    assert_eq!((rows[0].until_ns, rows[1].until_ns), (Some(40 * SECOND), None));
    assert_ne!(rows[0].id, rows[1].id);
}

#[test]
fn a_tap_that_lost_packets_makes_losses_doubtful() {
    let mut wire = Wire::default();
    wire.connection(&ConnectionRow {
        fabric_lost_downstream_packets: 7,
        ..connection(1, 2, 7)
    });
    wire.window(&WindowRow {
        observer: "tap".into(),
        window_ns: SECOND,
        roce_packets: 1_000,
        capture_lost_packets: 3,
        ..WindowRow::default()
    });
    let found = find(&wire);
    let classes: Vec<&str> = found.iter().map(|one| &*one.class).collect();
    assert_eq!(classes, ["network_loss", "capture_loss"]);
    assert_eq!(found[0].certainty, Certainty::Possible);
    assert!(found[0].reason.contains("the tap lost packets too"));
}

#[test]
fn damaged_packets_are_told_and_without_icrc_it_is_said_what_tells() {
    let lossy = ConnectionRow {
        fabric_lost_downstream_packets: 7,
        ..connection(1, 2, 7)
    };
    let mut wire = Wire::default();
    wire.connection(&lossy);
    assert!(find(&wire)[0].unknown[0].contains("--verify-icrc"));
    wire.window(&WindowRow {
        observer: "tap".into(),
        icrc_bad_packets: Some(7),
        ..WindowRow::default()
    });
    let found = find(&wire);
    assert!(
        found
            .iter()
            .any(|one| one.class == "corruption" && one.place.name == "10.0.0.1 > 10.0.0.2")
    );
    assert!(found.iter().all(|one| one.unknown.is_empty()));
}

#[test]
fn without_connections_naks_are_proof_and_loss_is_unknown() {
    let mut wire = Wire::default();
    wire.window(&WindowRow {
        observer: "tap".into(),
        roce_packets: 100,
        nak_packets: 12,
        ..WindowRow::default()
    });
    let found = wire.find();
    assert!(found.incidents.is_empty());
    assert!(
        found.notes[0].contains("12 NAKs prove that packets were lost or reordered"),
        "{:?}",
        found.notes
    );
}

/// A sender that repeats only what is missing may take several paths.
#[test]
fn reordering_is_no_fault_where_senders_repeat_selectively() {
    let late = |scheme: &'static str| {
        let mut wire = Wire::default();
        wire.connection(&ConnectionRow {
            out_of_order_packets: 40,
            retransmitted_packets: 90,
            retransmission_scheme: Some(scheme.into()),
            ..connection(1, 2, 7)
        });
        wire.event(&EventRow {
            kind: "nak".into(),
            ..lost(2, 1, 5, 1)
        });
        find(&wire).len()
    };
    assert_eq!((late("go_back_n"), late("selective_repeat")), (1, 0));
}

/// An outage of a moment leaves nothing but timers that expired, of all pairs.
#[test]
fn timers_of_many_pairs_are_one_incident_and_those_of_one_a_note() {
    let wire = |pairs: &[(u8, u8)]| {
        let mut wire = Wire::default();
        for ((src, dst), qpn) in pairs.iter().zip(1..) {
            wire.connection(&ConnectionRow {
                retransmitted_packets: 20,
                timeouts: 2,
                ..connection(*src, *dst, qpn)
            });
        }
        wire.find()
    };
    let many = wire(&[(1, 4), (1, 5), (2, 4), (2, 5), (3, 6), (3, 7)]);
    let [one] = many.incidents.as_slice() else {
        panic!("{:#?}", many.incidents)
    };
    assert_eq!((&*one.class, one.certainty), ("timeouts", Certainty::Possible));
    assert!(one.meaning.contains("120 packets after 12 timeouts"), "{}", one.meaning);
    let few = wire(&[(1, 4)]);
    assert!(few.incidents.is_empty() && few.notes[0].contains("20 packets repeated after 2 timeouts"));
}

/// A part of the time has only what happened in it, however long its connections live.
#[test]
fn losses_from_before_the_time_are_none_of_it() {
    const MINUTE: i64 = 60 * SECOND;
    let row = |minute: i64, lost: u64| ConnectionRow {
        time_ns: minute * MINUTE,
        last_ns: minute * MINUTE,
        fabric_lost_upstream_packets: lost,
        ..connection(1, 2, 7)
    };
    let since = |from: i64| {
        let mut wire = Wire::within(Some(from * MINUTE), None);
        for (minute, total) in [(1, 4), (20, 4), (40, 9), (60, 9)] {
            wire.connection(&row(minute, total));
        }
        for (minute, count) in [(1, 4), (39, 5)] {
            if minute >= from {
                wire.event(&lost(1, 2, 60 * minute, count));
            }
        }
        find(&wire)
            .iter()
            .map(|one| one.victims.lost_packets)
            .collect::<Vec<_>>()
    };
    assert_eq!(since(30), [Some(5)]);
    assert_eq!(since(50), []);
}

/// Victims of what another analysis saw are of the time asked for too.
#[test]
fn victims_of_another_analysis_are_those_of_the_time() {
    use rocescope_diagnose::incidents::{Place, Source, ToldBy, join};
    let victims = |from: Option<i64>| {
        let mut wire = Wire::within(from, None);
        for (second, total) in [(10, 6), (100, 6)] {
            wire.connection(&ConnectionRow {
                time_ns: second * SECOND,
                last_ns: second * SECOND,
                fabric_lost_upstream_packets: total,
                ..connection(1, 2, 7)
            });
        }
        let mut seen = Incident::new("loss", Place::address(address(2)), ToldBy::Mesh, Source::Mesh);
        seen.is_open = true;
        join(Vec::from([seen]), &wire)[0].victims.connections
    };
    assert_eq!((victims(None), victims(Some(50 * SECOND))), (1, 0));
}

/// Two capture boxes on one way see each packet twice.
#[test]
fn two_taps_count_a_loss_once() {
    let mut wire = Wire::default();
    for (tap, packets, lost) in [("a", 1_000, 11), ("b", 990, 8)] {
        wire.connection(&ConnectionRow {
            observer: tap.into(),
            packets,
            fabric_lost_upstream_packets: lost,
            ..connection(1, 2, 7)
        });
    }
    let found = find(&wire);
    assert_eq!(
        (found.len(), found[0].victims.connections, found[0].victims.lost_packets),
        (1, 1, Some(11))
    );
}

/// A sender that was answered before, and then by no one.
#[test]
fn a_sender_that_all_receivers_stop_to_answer_is_one_incident() {
    let mut wire = Wire::default();
    for (dst, qpn) in [(2, 1), (3, 2), (4, 3)] {
        wire.connection(&ConnectionRow {
            timeouts: 7,
            retransmitted_packets: 70,
            ..connection(1, dst, qpn)
        });
        wire.event(&EventRow {
            kind: "retry_exhausted".into(),
            ..lost(1, dst, 5, 1)
        });
    }
    let found = find(&wire);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((&*one.class, &*one.place.name), ("no_answer", "10.0.0.1 or its link"));
    assert_eq!((one.since_ns, one.victims.connections), (5 * SECOND, 3));
}

#[test]
fn what_one_sided_taps_do_not_see_is_a_note_and_no_black_hole() {
    let mut wire = Wire::default();
    for qpn in 1..=3 {
        wire.connection(&ConnectionRow {
            retransmitted_packets: 700,
            other_direction_seen: Some(false),
            ..connection(1, 2, qpn)
        });
    }
    let mut other = connection(3, 4, 9);
    other.other_direction_seen = Some(false);
    wire.connection(&other);
    let found = wire.find();
    // Repeats are a sign of a loss, and no more than that.
    let [one] = found.incidents.as_slice() else {
        panic!("{:#?}", found.incidents)
    };
    assert_eq!((&*one.class, one.certainty), ("network_loss", Certainty::Possible));
    assert!(one.meaning.contains("the tap does not see why"), "{}", one.meaning);
    assert!(
        found.notes[0].starts_with("one direction only: of 4 of 4"),
        "{:?}",
        found.notes
    );
}

/// A lost packet of another pair made the place of 58 losses an address, and each quiet fabric had an incident.
#[test]
fn a_trace_of_loss_is_a_note_and_does_not_widen_the_place_of_a_fault() {
    let sender = |src: u8, dst: u8, packets: u64, lost: u64| ConnectionRow {
        packets,
        fabric_lost_upstream_packets: lost,
        ..connection(src, dst, u32::from(src) * 256 + u32::from(dst))
    };
    let found = |rows: &[ConnectionRow]| {
        let mut wire = Wire::default();
        rows.iter().for_each(|row| wire.connection(row));
        let found = wire.find();
        let places: Vec<_> = found.incidents.iter().map(|one| one.place.name.clone()).collect();
        (places, found.notes.len())
    };
    let (fault, trace) = (sender(2, 1, 1_000, 58), sender(3, 1, 1_200, 1));
    assert_eq!(found(&[fault.clone(), trace.clone()]).0, ["10.0.0.2 > 10.0.0.1"]);
    assert_eq!(found(std::slice::from_ref(&trace)), (Vec::new(), 1));
    // More, or a larger share, or many pairs: a fault.
    assert_eq!(found(&[sender(3, 1, 100_000, 6)]).0.len(), 1);
    assert_eq!(found(&[sender(3, 1, 400, 1)]).0.len(), 1);
    let many: Vec<ConnectionRow> = (2..7).map(|src| sender(src, 1, 2_000, 1)).collect();
    assert_eq!(found(&many).0, ["10.0.0.1 or its link"]);
    assert_eq!(found(&many[1..]), (Vec::new(), 1));
}

#[test]
fn a_few_rnr_naks_are_a_note_unless_a_sender_gives_up() {
    let found = |naks: u64, gives_up: bool| {
        let mut wire = Wire::default();
        wire.connection(&ConnectionRow {
            rnr_nak: naks,
            ..connection(1, 2, 7)
        });
        wire.event(&EventRow {
            kind: "rnr_nak".into(),
            ..lost(1, 2, 5, naks)
        });
        if gives_up {
            wire.event(&EventRow {
                kind: "retry_exhausted".into(),
                ..lost(2, 1, 6, 1)
            });
        }
        let found = wire.find();
        (found.incidents.len(), found.notes.len())
    };
    assert_eq!((found(15, false), found(16, false)), ((0, 1), (1, 0)));
    assert_eq!(found(9, true).0, 1);
}

#[test]
fn a_request_without_an_answer_lost_it_where_answers_are_lost() {
    let rows = |located: u64, of_requests: u64| {
        let mut wire = Wire::default();
        wire.connection(&ConnectionRow {
            unanswered_packets: 9,
            fabric_lost_downstream_packets: of_requests,
            ..connection(2, 3, 7)
        });
        wire.connection(&ConnectionRow {
            role: "b_to_a".into(),
            fabric_lost_upstream_packets: located,
            ..connection(3, 2, 8)
        });
        let incidents = find(&wire);
        let places = incidents.iter().map(|incident| incident.place.name.clone());
        places.collect::<Vec<_>>()
    };
    assert_eq!(rows(35, 0), ["10.0.0.3 > 10.0.0.2"]);
    // Too few, or requests are lost too.
    assert_eq!(rows(8, 0), ["10.0.0.2 <> 10.0.0.3"]);
    assert_eq!(rows(35, 9), ["10.0.0.2 <> 10.0.0.3"]);
    assert_eq!(rows(0, 0), ["10.0.0.2 > 10.0.0.3"]);
}

#[test]
fn a_port_that_pauses_its_link_for_long_is_named() {
    let found = |paused_ns: f64| {
        let mut wire = Wire::default();
        for second in 1..=4 {
            wire.window(&WindowRow {
                observer: "tap".into(),
                window_start_ns: second * SECOND,
                window_ns: SECOND,
                ..WindowRow::default()
            });
        }
        for second in 1..=2 {
            wire.event(&EventRow {
                observer: "tap".into(),
                kind: EventRow::PAUSE.into(),
                time_ns: second * SECOND,
                syndrome: Some("02:00:00:00:00:01 priority 3".into()),
                value: Some(paused_ns),
                count: 500,
                ..EventRow::default()
            });
        }
        find(&wire)
    };
    let storm = found(2.5e8);
    assert_eq!((storm.len(), &*storm[0].class), (1, "pause_storm"));
    assert_eq!(storm[0].place.name, "02:00:00:00:00:01 priority 3");
    let meaning = "it pauses its link: 1,000 frames, for 500 ms or less of 2 windows with pauses (25 %)";
    assert_eq!(storm[0].meaning, meaning);
    // Microseconds in a second are how a lossless fabric works.
    assert!(found(5e6).is_empty());
}
