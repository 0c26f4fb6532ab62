use super::*;
use crate::telemetry::Source;
use alloc::vec;
use alloc::vec::Vec;

fn key(switch: &'static str, port: &'static str) -> PortKey {
    PortKey {
        switch: Text::from_static(switch),
        port: Text::from_static(port),
    }
}

fn tap(switch: &'static str, port: &'static str, direction: Direction) -> Tap {
    Tap {
        port: key(switch, port),
        direction,
        peer: None,
        peer_is_host: None,
    }
}

fn flow(number: u8) -> FlowKey {
    FlowKey {
        src: [10, 0, 0, number].into(),
        dst: [10, 0, 0, 9].into(),
        src_port: Some(49_152),
    }
}

/// A packet of a flow with a number, at a time.
fn packet(number: u8, count: u64, time_ns: i64) -> Passed {
    Passed {
        time_ns,
        identity: u64::from(number) << 32 | count,
        flow: flow(number),
        bytes: 1_000,
    }
}

/// Packets of two flows every 100 ns by two ports, which leave by one that needs 80 ns for each. Returns what passed, and how many
/// packets each found in the queue: those that had not begun to leave before.
fn contention(offset_ns: i64) -> (Vec<Capture>, Vec<u64>) {
    const STAY_NS: i64 = 500;
    const SEND_NS: i64 = 80;
    let (mut one, mut two, mut out, mut found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut leaving: Vec<i64> = Vec::new();
    let mut free_ns = 0;
    for count in 0..1_000_u64 {
        for number in [1, 2] {
            // Its first packet finds the queue empty.
            let time_ns = 10_000 + count as i64 * 100 + if number == 2 { 90 } else { 0 };
            // The second flow comes for a while only.
            if number == 2 && !(200..300).contains(&count) {
                continue;
            }
            if number == 1 {
                one.push(packet(1, count, time_ns));
            } else {
                two.push(packet(2, count, time_ns));
            }
            let arrived_ns = time_ns + STAY_NS;
            let begins_ns = free_ns.max(arrived_ns);
            free_ns = begins_ns + SEND_NS;
            found.push(leaving.iter().filter(|leaves_ns| **leaves_ns >= arrived_ns).count() as u64);
            leaving.push(begins_ns);
            out.push(packet(number, count, begins_ns + offset_ns));
        }
    }
    let captures = vec![
        Capture {
            tap: tap("leaf", "1", Direction::In),
            packets: one,
        },
        Capture {
            tap: tap("leaf", "2", Direction::In),
            packets: two,
        },
        Capture {
            tap: tap("leaf", "3", Direction::Out),
            packets: out,
        },
    ];
    (captures, found)
}

#[test]
fn a_queue_is_counted_packet_by_packet_whatever_the_clocks() {
    for offset_ns in [0, 7_000_000, -3_000_000] {
        let (captures, found) = contention(offset_ns);
        let (rows, complaints) = reports(&captures, "import");
        assert!(complaints.is_empty(), "{:?}", complaints.lines());
        let ports: Vec<&TelemetryRow> = rows.iter().filter(|row| *row.kind == *"port").collect();
        let flows: Vec<&TelemetryRow> = rows.iter().filter(|row| *row.kind == *"flow").collect();
        let sum =
            |rows: &[&TelemetryRow], count: fn(&TelemetryRow) -> u64| rows.iter().map(|row| count(row)).sum::<u64>();
        assert_eq!(sum(&ports, |row| row.packets), 1_100);
        assert_eq!(sum(&flows, |row| row.packets), 1_100);
        assert_eq!(
            sum(&ports, |row| row.queued_packets),
            found.iter().sum::<u64>(),
            "{offset_ns}"
        );
        assert!(sum(&ports, |row| row.queued_packets) > 1_000);
        // They are reports that the analysis reads.
        let telemetry = rows.as_slice().telemetry();
        assert!(telemetry.complaints.is_empty());
        assert_eq!(telemetry.reports.len(), 1);
        assert_eq!(
            (
                &*telemetry.reports[0].switch,
                telemetry.reports[0].time_ns.rem_euclid(2_000_000)
            ),
            ("leaf", 1_999_999)
        );
    }
}

#[test]
fn a_queue_that_is_empty_is_no_report() {
    let (mut captures, _) = contention(0);
    captures.remove(1);
    captures[1]
        .packets
        .retain(|packet| packet.flow == flow(1) && packet.time_ns < 20_000);
    captures[0].packets.retain(|packet| packet.time_ns < 20_000);
    let (rows, complaints) = reports(&captures, "import");
    assert_eq!(
        (rows.len(), complaints.is_empty()),
        (0, true),
        "{:?}",
        complaints.lines()
    );
}

#[test]
fn what_cannot_be_known_is_a_line() {
    let (mut captures, _) = contention(0);
    captures.remove(1);
    captures.push(Capture {
        tap: tap("spine", "1", Direction::Out),
        packets: vec![packet(1, 1, 5)],
    });
    captures.push(Capture {
        tap: tap("spare", "1", Direction::In),
        packets: vec![packet(1, 1, 5)],
    });
    captures.push(Capture {
        tap: tap("spare", "2", Direction::Out),
        packets: vec![packet(3, 1, 5)],
    });
    let (_, complaints) = reports(&captures, "import");
    assert_eq!(
        complaints.lines(),
        [
            "switch leaf, port 3: packets out of this port were not captured before (100 of 1100): their waits are unknown",
            "switch spare, port 2: no packet out of this port was captured before: its queue is unknown",
            "switch spine, port 1: no capture of what enters this switch: its queue is unknown",
        ]
    );
}

/// The other end of a link is a place where packets enter too; a packet that was captured twice there ties nothing.
#[test]
fn the_port_upstream_is_an_entry_and_ambiguous_packets_are_left_out() {
    let (mut captures, _) = contention(0);
    for (capture, port) in captures.iter_mut().zip(["7", "8"]) {
        capture.tap = Tap {
            peer: Some(key("leaf", port)),
            ..tap("spine", port, Direction::Out)
        };
    }
    let again = captures[0].packets[10];
    captures[0].packets.insert(11, again);
    let (rows, complaints) = reports(&captures, "import");
    let leaf: Vec<_> = rows
        .iter()
        .filter(|row| *row.node == *"leaf" && *row.kind == *"port")
        .collect();
    assert_eq!(leaf.iter().map(|row| row.packets).sum::<u64>(), 1_099);
    let lines = complaints.lines();
    assert!(
        lines[0].starts_with("switch leaf, port 3: packets out of this port were not captured before (1 of"),
        "{lines:?}"
    );
}
