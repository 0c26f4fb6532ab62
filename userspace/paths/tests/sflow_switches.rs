//! What sFlow datagrams say of switches: counters of ports, queues and dropped packets, as rows.

use rocescope_model::{Row, SwitchDropRow, SwitchPortRow, Text, Value};
use rocescope_paths::Topology;
use rocescope_paths::sflow::{Item, PfcRequests, Reader, Switches};
use rocescope_paths::switch::{Growth, Names, Source};
use rocescope_paths::topology::{Format, parse};
use rocescope_sketches::random::SplitMix64;

const SECOND: i64 = 1_000_000_000;
const UNKNOWN: u32 = u32::MAX;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A record or a sample: its format, its length and its content.
fn with_length(format: u32, body: &[u8]) -> Vec<u8> {
    [words(&[format, u32::try_from(body.len()).unwrap()]), body.to_vec()].concat()
}

/// `if_counters` of a port of 400 Gbit/s: bytes and unicast frames in and out, discards and errors in and out.
fn interface(
    index: u32,
    [in_bytes, out_bytes]: [u64; 2],
    frames: [u32; 2],
    drops: [u32; 2],
    errors: [u32; 2],
) -> Vec<u8> {
    let long = |number: u64| [(number >> 32) as u32, number as u32];
    let [speed_high, speed_low] = long(400_000_000_000);
    let [in_high, in_low] = long(in_bytes);
    let [out_high, out_low] = long(out_bytes);
    let body = [
        index, 6, speed_high, speed_low, 1, 3, in_high, in_low, frames[0], 0, 0, drops[0], errors[0], UNKNOWN,
        out_high, out_low, frames[1], 0, 0, drops[1], errors[1], 0,
    ];
    with_length(1, &words(&body))
}

fn port_name(name: &str) -> Vec<u8> {
    let mut body = words(&[u32::try_from(name.len()).unwrap()]);
    body.extend(name.as_bytes());
    body.resize(body.len().next_multiple_of(4), 0);
    with_length(1005, &body)
}

/// `ethernet_counters`: FCS errors and symbol errors.
fn ethernet(fcs: u32, symbol: u32) -> Vec<u8> {
    with_length(2, &words(&[0, fcs, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, symbol]))
}

/// `pfc_counters`: requests, indications, pause duration, storms and their ends.
fn pfc(counters: [u32; 5]) -> Vec<u8> {
    with_length(11, &words(&counters))
}

/// `sfp` at 41.5 degrees with lanes that send and receive these microwatts.
fn module(lanes: &[(u32, u32)]) -> Vec<u8> {
    let count = u32::try_from(lanes.len()).unwrap();
    let mut body = words(&[1, count, 3_300, 41_500, count]);
    for (number, (sent, received)) in (1..).zip(lanes) {
        body.extend(words(&[
            number, 7_000, *sent, 500, 2_000, 1_310, *received, 100, 2_000, 1_310,
        ]));
    }
    with_length(10, &body)
}

/// A counter sample of a port, in the plain or the expanded form.
fn counters(index: u32, records: &[Vec<u8>], is_expanded: bool) -> Vec<u8> {
    let count = u32::try_from(records.len()).unwrap();
    let head = match is_expanded {
        true => words(&[1, 0, index, count]),
        false => words(&[1, index, count]),
    };
    with_length(if is_expanded { 4 } else { 2 }, &[head, records.concat()].concat())
}

/// The first bytes of a RoCEv2 `SEND_ONLY` of 10.0.0.1 to queue pair 17 of 10.0.1.1.
fn header() -> Vec<u8> {
    let mut frame = vec![
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0x04, 0x2c, 0, 0, 0x40, 0, 64, 17, 0, 0,
    ];
    frame.extend([10, 0, 0, 1, 10, 0, 1, 1]);
    frame.extend(49_152_u16.to_be_bytes());
    frame.extend(4_791_u16.to_be_bytes());
    frame.extend(1_048_u16.to_be_bytes());
    frame.extend([0, 0, 0x04, 0x40, 0xff, 0xff, 0, 0, 0, 17, 0, 0, 0, 1]);
    frame.resize(128, 0);
    let record = [words(&[1, 1_086, 4, 128]), frame].concat();
    with_length(1, &record)
}

/// A flow sample of 1 of 1,000 packets, with records after the header.
fn flow(input: u32, output: u32, records: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(records.len() + 1).unwrap();
    let head = words(&[1, input, 1_000, 1_000, 0, input, output, count]);
    with_length(1, &[head, header(), records.concat()].concat())
}

/// A report of a dropped packet.
fn discarded(unreported: u32, ports: [u32; 2], reason: u32, records: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(records.len()).unwrap();
    let head = words(&[1, 0, ports[0], unreported, ports[0], ports[1], reason, count]);
    with_length(5, &[head, records.concat()].concat())
}

/// A datagram of the switch 192.0.2.10, which has been running for some seconds.
fn datagram(number: u32, uptime: u32, samples: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(samples.len()).unwrap();
    let head = words(&[5, 1, 0xc000_020a, 0, number, uptime * 1_000, count]);
    [head, samples.concat()].concat()
}

fn topology() -> Topology {
    let text = "[[node]]\nname = \"leaf1\"\nmanagement = \"192.0.2.10:22\"\n";
    parse(text, Format::Toml, "-").unwrap()
}

/// Receives datagrams at their times, and takes rows after each.
struct Receiver {
    reader: Reader,
    switches: Switches,
    growth: Growth,
    observer: Text,
}

impl Receiver {
    fn new(requests: PfcRequests) -> Self {
        Self {
            reader: Reader::new([4791; 4], requests),
            switches: Switches::new(Names::of(&topology()), 0),
            growth: Growth::default(),
            observer: "box".into(),
        }
    }

    fn rows(&mut self, seconds: i64, datagram: &[u8]) -> (Vec<SwitchPortRow>, Vec<SwitchDropRow>) {
        let now = seconds * SECOND;
        let switches = &mut self.switches;
        self.reader.datagram(datagram, |item| match item {
            Item::Packet(_) => {}
            Item::Port {
                switch,
                index,
                restarts,
                port,
            } => switches.port(now, switch, index, restarts, &port),
            Item::Queue(sample) => switches.queue(&sample),
            Item::Dropped(dropped, rate) => switches.dropped(now, dropped, rate),
        });
        let mut rows = Vec::new();
        let (growth, observer) = (&mut self.growth, &self.observer);
        switches.readings(now, &mut |reading| {
            rows.extend(growth.row(observer, Switches::NAME, &reading));
        });
        (rows, switches.drops(observer))
    }
}

#[test]
fn counters_of_a_port_become_its_growth() {
    for is_expanded in [false, true] {
        let mut receiver = Receiver::new(PfcRequests::Sent);
        let sample = |bytes, frames, drops, errors, fcs, pauses, light| {
            let records = [
                interface(49, bytes, frames, drops, errors),
                ethernet(fcs, UNKNOWN),
                pfc(pauses),
                module(light),
                port_name("Ethernet49"),
                // A kind that is not read.
                with_length(3, &[0; 12]),
            ];
            counters(49, &records, is_expanded)
        };
        let lanes = [(1_000, 800), (900, 400)];
        let first = sample([1_000, 2_000], [10, 20], [1, 2], [3, 4], 5, [6, 7, 8, 9, 10], &lanes);
        let (rows, _) = receiver.rows(100, &datagram(1, 1_000, &[first]));
        assert_eq!((rows.len(), rows[0].event.as_deref()), (1, Some("first")));
        let light = [(1_000, 800), (900, 0)];
        let next = sample(
            [2_000, 52_000],
            [15, 70],
            [1, 12],
            [4, 4],
            6,
            [106, 8, 9, 10, 10],
            &light,
        );
        let (rows, drops) = receiver.rows(130, &datagram(2, 1_030, &[next]));
        let row = &rows[0];
        assert_eq!((rows.len(), drops.len()), (1, 0));
        assert_eq!(
            (&*row.switch, &*row.port_name, row.port_index, row.up, row.speed_bps),
            ("leaf1", "Ethernet49", Some(49), Some(true), Some(4e11))
        );
        assert_eq!(
            (
                row.interval_ns,
                row.in_bytes,
                row.in_frames,
                row.out_bytes,
                row.out_frames
            ),
            (Some(30 * SECOND), Some(1_000), Some(5), Some(50_000), Some(50))
        );
        assert_eq!(row.out_bps, Some(50_000.0 * 8.0 / 30.0));
        assert_eq!(
            (
                row.in_dropped_frames,
                row.out_dropped_frames,
                row.in_errors,
                row.out_errors
            ),
            (Some(0), Some(10), Some(1), Some(0))
        );
        assert_eq!((row.fcs_errors, row.symbol_errors), (Some(1), None));
        assert_eq!((row.sent_pause_frames, row.received_pause_frames), (Some(100), Some(1)));
        assert_eq!((row.watchdog_storms, row.watchdog_restores), (Some(1), Some(0)));
        // The weakest lane that sends has 0.9 mW; one receives nothing.
        let sent = row.tx_power_dbm.unwrap();
        assert!((sent - -0.457_575).abs() < 1e-6, "{sent}");
        assert_eq!(
            (row.rx_power_dbm, row.dark_lanes, row.module_celsius),
            (None, Some(1), Some(41.5))
        );
        assert_eq!(receiver.reader.counts.other_records, 2);
        // What the source states not to have, no row has.
        for (column, reason) in Switches::LACKS {
            let at = SwitchPortRow::TABLE.position(column).unwrap();
            assert_eq!(row.value(at), Value::Null, "{column}: {reason}");
        }
    }
}

#[test]
fn agents_that_count_received_pauses_as_requests_are_read_so() {
    let mut receiver = Receiver::new(PfcRequests::Received);
    let sample = |pauses| counters(1, &[interface(1, [0, 0], [0, 0], [0, 0], [0, 0]), pfc(pauses)], false);
    receiver.rows(0, &datagram(1, 10, &[sample([5, 0, UNKNOWN, UNKNOWN, UNKNOWN])]));
    let (rows, _) = receiver.rows(30, &datagram(2, 40, &[sample([7, 1, UNKNOWN, UNKNOWN, UNKNOWN])]));
    let row = &rows[0];
    assert_eq!(
        (row.received_pause_frames, row.sent_pause_frames, row.watchdog_storms),
        (Some(2), Some(1), None)
    );
    // Without a name, a port has its index.
    assert_eq!(&*row.port_name, "if1");
}

#[test]
fn a_switch_that_starts_again_has_no_rates() {
    let mut receiver = Receiver::new(PfcRequests::Sent);
    let sample = |bytes| counters(1, &[interface(1, [bytes, 0], [0, 0], [0, 0], [0, 0])], false);
    let mut events = Vec::new();
    // Its number, the time it has been running, and its bytes. The third datagram was overtaken by the second.
    for (at, (number, uptime, bytes)) in (0..).zip([
        (100, 5_000, 1_000),
        (102, 5_031, 2_000),
        (101, 5_030, 1_500),
        (103, 5_060, 3_000),
        (1, 2, 4_000),
        (2, 32, 5_000),
    ]) {
        let (rows, _) = receiver.rows(at * 30, &datagram(number, uptime, &[sample(bytes)]));
        events.push(
            rows.first()
                .map(|row| (row.event.as_deref().unwrap_or("").to_owned(), row.in_bytes)),
        );
    }
    let event = |name: &str, bytes| Some((name.to_owned(), bytes));
    assert_eq!(
        events,
        [
            event("first", None),
            event("", Some(1_000)),
            None,
            event("", Some(1_000)),
            event("restart", None),
            event("", Some(1_000)),
        ]
    );
    let counts = &receiver.reader.counts;
    assert_eq!((counts.counter_samples, counts.other_counter_samples), (6, 1));
}

/// The numbers are those that the authors of the structures publish as a sample.
#[test]
fn packets_tell_the_depth_of_their_queue() {
    let mut receiver = Receiver::new(PfcRequests::Sent);
    let found = |queue: u32, depth: u32, delay: u32| {
        let records = [
            with_length(1036, &words(&[queue])),
            with_length(1040, &words(&[depth])),
            with_length(1039, &words(&[delay])),
        ];
        flow(2_215, 2_216, &records)
    };
    let samples = [
        found(7, 11_354_112, 839_660_224),
        found(7, 5_000, 900_000_000),
        found(0, 0, 800),
    ];
    let (rows, _) = receiver.rows(10, &datagram(1, 10, &samples));
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                &*row.port_name,
                row.queue,
                row.queue_bytes,
                row.queue_max_bytes,
                row.transit_max_ns,
                row.interval_ns,
            )
        })
        .collect();
    let span = Some(10 * SECOND);
    assert_eq!(
        shown,
        [
            ("if2216", Some(0), Some(0), Some(0), Some(800), span),
            (
                "if2216",
                Some(7),
                Some(5_000),
                Some(11_354_112),
                Some(900_000_000),
                span
            ),
        ]
    );
    // A row is about the samples since the row before.
    assert!(receiver.rows(20, &datagram(2, 20, &[])).0.is_empty());
}

#[test]
fn dropped_packets_have_their_reason_and_flow() {
    let mut receiver = Receiver::new(PfcRequests::Sent);
    let text = |text: &str| {
        let mut body = words(&[u32::try_from(text.len()).unwrap()]);
        body.extend(text.as_bytes());
        body.resize(body.len().next_multiple_of(4), 0);
        body
    };
    let trap = with_length(1041, &[text("buffer_drops"), text("tail_drop")].concat());
    let queue = with_length(1036, &words(&[3]));
    let samples = [
        discarded(40, [1, 2], 259, &[header(), queue.clone(), trap.clone()]),
        discarded(45, [1, 2], 259, &[header(), queue, trap]),
        // Dropped by a rule, without its frame; the egress port is not known.
        discarded(0, [5, 0], 258, &[]),
        // A sampled packet that was dropped: its egress is the reason.
        flow(6, 0x4000_0000 | 257, &[]),
    ];
    let (_, drops) = receiver.rows(10, &datagram(1, 10, &samples));
    let shown: Vec<_> = drops
        .iter()
        .map(|row| {
            let ports = (
                row.in_port.as_deref().unwrap_or(""),
                row.out_port.as_deref().unwrap_or(""),
            );
            let flow = row.src.zip(row.dst).map(|(src, dst)| format!("{src}>{dst}"));
            let of = flow.zip(row.dst_qpn).map(|(flow, qpn)| format!("{flow} {qpn}"));
            (
                ports,
                row.queue,
                &*row.reason,
                row.detail.as_deref(),
                of,
                row.dropped_frames,
                row.estimated_frames,
            )
        })
        .collect();
    let of = || Some("10.0.0.1>10.0.1.1 17".to_owned());
    assert_eq!(
        shown,
        [
            (
                ("if1", "if2"),
                Some(3),
                "no_buffer_space",
                Some("buffer_drops/tail_drop"),
                of(),
                2,
                None
            ),
            (("if5", ""), None, "acl", None, None, 1, None),
            (("if6", ""), None, "ttl_exceeded", None, of(), 1, Some(1_000)),
        ]
    );
    assert!(
        drops
            .iter()
            .all(|row| *row.switch == *"leaf1" && row.time_ns == 10 * SECOND)
    );
    let counts = &receiver.reader.counts;
    assert_eq!((counts.drops, counts.unreported_drops), (4, 5));
}

#[test]
fn damaged_samples_have_a_reason_and_lose_nothing_before_them() {
    let mut receiver = Receiver::new(PfcRequests::Sent);
    let whole = counters(1, &[interface(1, [0, 0], [0, 0], [0, 0], [0, 0])], false);
    let cut = [words(&[2, 16, 1, 2, 1]), words(&[1])].concat();
    let (rows, _) = receiver.rows(0, &datagram(1, 10, &[whole.clone(), cut]));
    assert_eq!((rows.len(), receiver.reader.counts.unreadable["short"]), (1, 1));
    // A module that claims four thousand million lanes.
    let lanes = with_length(10, &words(&[1, 4, 3_300, 41_500, UNKNOWN]));
    let (rows, _) = receiver.rows(30, &datagram(2, 40, &[whole, counters(2, &[lanes], false)]));
    assert_eq!((rows.len(), receiver.reader.counts.unreadable["short"]), (1, 2));
    // A sample of what is no port.
    let (rows, _) = receiver.rows(60, &datagram(3, 70, &[counters(3 << 24 | 1, &[port_name("p")], false)]));
    assert_eq!((rows.len(), receiver.reader.counts.other_counter_samples), (0, 1));
}

#[test]
fn mutated_datagrams_of_all_kinds_are_read_or_counted() {
    let records = [
        interface(1, [9, 9], [1, 1], [0, 0], [0, 0]),
        ethernet(1, 1),
        pfc([1; 5]),
        module(&[(9, 9)]),
        port_name("p"),
    ];
    let queue = [
        with_length(1036, &words(&[3])),
        with_length(1040, &words(&[9])),
        with_length(1039, &words(&[9])),
    ];
    let samples = [
        counters(1, &records, false),
        flow(1, 2, &queue),
        discarded(1, [1, 2], 259, &[header()]),
        counters(2, &records, true),
    ];
    let whole = datagram(1, 1, &samples);
    let mut random = SplitMix64::new(37);
    let mut receiver = Receiver::new(PfcRequests::Sent);
    let (mut rows, mut reported) = (0, 0);
    for at in 0..50_000 {
        let mut damaged = whole.clone();
        for _ in 0..=random.bits() % 3 {
            let place = usize::try_from(random.bits() >> 33).unwrap() % damaged.len();
            match random.bits() % 3 {
                0 => damaged[place] ^= 1 << (random.bits() % 8),
                1 => damaged[place] = 0xff,
                _ => damaged.truncate(place.max(1)),
            }
        }
        let (ports, drops) = receiver.rows(at, &damaged);
        rows += ports.len();
        reported += drops.iter().map(|row| row.dropped_frames).sum::<u64>();
    }
    let counts = &receiver.reader.counts;
    assert_eq!(reported + receiver.switches.overflow(), counts.drops);
    let unreadable: u64 = counts.unreadable.values().sum();
    assert!(
        rows > 25_000 && counts.drops > 12_500 && unreadable > 12_500,
        "{rows} {counts:?}"
    );
}
