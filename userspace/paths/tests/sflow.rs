//! sFlow datagrams: whole ones, and a million damaged ones.

use rocescope_paths::sflow::{Item, PfcRequests, Reader, SampledFlows};
use rocescope_sketches::random::SplitMix64;
use std::time::Duration;

/// A RoCEv2 `SEND_ONLY` with 1,024 bytes of payload, of which the first 128 bytes of the frame are sampled.
fn frame(port: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let udp = 8 + 12 + 1024 + 4_u16;
    let ip = udp + 20;
    frame.extend([0x45, 0]);
    frame.extend(ip.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 1]);
    frame.extend(port.to_be_bytes());
    frame.extend(4791_u16.to_be_bytes());
    frame.extend(udp.to_be_bytes());
    frame.extend([0, 0]);
    // BTH: SEND_ONLY, QP 17, PSN 1.
    frame.extend([0x04, 0x40, 0xff, 0xff, 0, 0, 0, 17, 0, 0, 0, 1]);
    frame.resize(128, 0);
    frame
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A sample of a frame, in the plain or the expanded form, with a record of another kind before it.
fn sample(frame: &[u8], rate: u32, is_expanded: bool) -> Vec<u8> {
    let mut record = words(&[1, 1082 + 4, 4, u32::try_from(frame.len()).unwrap()]);
    record.extend(frame);
    let mut body = match is_expanded {
        true => words(&[1, 0, 7, rate, 1000, 0, 0, 1, 0, 2, 2]),
        false => words(&[1, 7, rate, 1000, 0, 1, 2, 2]),
    };
    body.extend(words(&[1001, 16, 0, 0, 0, 0]));
    body.extend(words(&[1, u32::try_from(record.len()).unwrap()]));
    body.extend(record);
    let mut sample = words(&[if is_expanded { 3 } else { 1 }, u32::try_from(body.len()).unwrap()]);
    sample.extend(body);
    sample
}

fn datagram(number: u32, samples: &[Vec<u8>]) -> Vec<u8> {
    datagram_of(1, number, samples)
}

/// A datagram of agent 10.0.0.`agent`.
fn datagram_of(agent: u32, number: u32, samples: &[Vec<u8>]) -> Vec<u8> {
    let mut datagram = words(&[
        5,
        1,
        0x0a00_0000 + agent,
        0,
        number,
        1000,
        u32::try_from(samples.len()).unwrap(),
    ]);
    samples.iter().for_each(|sample| datagram.extend(sample));
    datagram
}

const PORTS: [u16; 4] = [4791; 4];

fn add(flows: &mut SampledFlows, item: &Item) {
    if let Item::Packet(sampled) = item {
        flows.add(sampled);
    }
}

/// They counted as exact.
#[test]
fn samples_without_a_sampling_rate_are_counted_and_left_out() {
    let mut reader = Reader::new(PORTS, PfcRequests::Sent);
    let samples = [sample(&frame(49_152), 0, false), sample(&frame(49_153), 0, true)];
    let mut taken = 0;
    reader.datagram(&datagram(1, &samples), |_| taken += 1);
    let counts = &reader.counts;
    assert_eq!(
        (
            taken,
            counts.frames,
            counts.packets,
            counts.not_roce["no_sampling_rate"]
        ),
        (0, 2, 0, 2)
    );
}

#[test]
fn flows_are_found_in_plain_and_expanded_samples() {
    let mut reader = Reader::new(PORTS, PfcRequests::Sent);
    let mut flows = SampledFlows::default();
    let counters = words(&[2, 12, 0, 0, 0]);
    let arp = vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1];
    for number in [1, 2, 5] {
        let samples = [
            sample(&frame(49_152), 1000, false),
            sample(&frame(49_153), 1000, true),
            sample(&arp, 1000, false),
            counters.clone(),
        ];
        reader.datagram(&datagram(number, &samples), |item| add(&mut flows, &item));
    }
    let counts = &reader.counts;
    assert_eq!(
        (counts.datagrams, counts.missing_datagrams, counts.flow_samples),
        (3, 2, 9)
    );
    assert_eq!(
        (counts.counter_samples, counts.packets, counts.not_roce["not_ip"]),
        (3, 6, 3)
    );
    assert!(counts.unreadable.is_empty(), "{counts:?}");
    let found = flows.flows(Duration::from_secs(1));
    let names: Vec<String> = found.iter().map(|found| found.flow.to_string()).collect();
    assert_eq!(names, ["10.0.0.1:49152>10.0.1.1:4791", "10.0.0.1:49153>10.0.1.1:4791"]);
    assert_eq!(
        (found[0].samples, found[0].packets, found[0].flow.dst_qpn),
        (3, 3000, Some(17))
    );
    assert_eq!(found[0].frame_bytes, 3000 * 1082);
}

/// Runs a flow of 40,000 packets 200 times past agents with these sampling rates; each sees the packets that `sees` states.
/// Returns how many estimates are within their stated error, and their mean.
fn estimates(rates: &[usize], sees: impl Fn(usize, u64) -> bool) -> (u32, f64) {
    let mut random = SplitMix64::new(7);
    let (mut within, mut sum, runs, sent) = (0, 0.0, 200, 40_000);
    let datagrams = (1..).zip(rates).map(|(agent, rate)| {
        let rate = u32::try_from(*rate).unwrap();
        datagram_of(agent, 1, &[sample(&frame(49_152), rate, false)])
    });
    let datagrams: Vec<Vec<u8>> = datagrams.collect();
    for _ in 0..runs {
        let mut reader = Reader::new(PORTS, PfcRequests::Sent);
        let mut flows = SampledFlows::default();
        for packet in 0..sent {
            for (agent, rate) in rates.iter().enumerate() {
                if sees(agent, packet) && below(&mut random, *rate) == 0 {
                    reader.datagram(&datagrams[agent], |item| add(&mut flows, &item));
                }
            }
        }
        let found = &flows.flows(Duration::from_secs(1))[0];
        let error = f64::from(u32::try_from(found.packets.abs_diff(sent)).unwrap());
        let packets = f64::from(u32::try_from(found.packets).unwrap());
        within += u32::from(error <= found.error_percent / 100.0 * packets);
        sum += packets;
        assert_eq!(found.points, rates.len());
    }
    (within, sum / f64::from(runs))
}

/// A flow of which one of 200 packets is sampled: the estimate is within its stated error in 95 of 100 cases.
#[test]
fn the_stated_error_holds() {
    let (within, _) = estimates(&[200], |_, _| true);
    assert!((180..=200).contains(&within), "{within}");
}

/// Three switches on the path, and switches with other sampling rates: the flow counts once, and the error holds.
#[test]
fn a_flow_that_several_switches_sample_counts_once() {
    for rates in [&[200, 200, 200][..], &[40, 800], &[20, 200, 2_000]] {
        let (within, mean) = estimates(rates, |_, _| true);
        assert!((180..=200).contains(&within), "{rates:?}: {within}");
        assert!((mean / 40_000.0 - 1.0).abs() < 0.01, "{rates:?}: {mean}");
    }
}

/// A leaf sprays over two spines, each of which sees half.
#[test]
fn a_switch_that_sees_a_part_of_a_flow_does_not_lower_its_estimate() {
    let (_, mean) = estimates(&[100, 100, 100], |agent, packet| {
        agent == 0 || agent % 2 == usize::from(packet % 2 == 0)
    });
    assert!((mean / 40_000.0 - 1.0).abs() < 0.02, "{mean}");
}

/// An agent that changes its rate: few samples of a large one weigh more than the number of samples suggests.
#[test]
fn samples_of_several_rates_state_the_error_of_the_largest() {
    let mut reader = Reader::new(PORTS, PfcRequests::Sent);
    let mut flows = SampledFlows::default();
    for (count, rate) in [(100, 10), (4, 10_000)] {
        let datagram = datagram(1, &[sample(&frame(49_152), rate, false)]);
        (0..count).for_each(|_| reader.datagram(&datagram, |item| add(&mut flows, &item)));
    }
    let found = &flows.flows(Duration::from_secs(1))[0];
    assert_eq!((found.packets, found.samples, found.points), (41_000, 104, 1));
    // 196 % of the root of (100 * 10² + 4 * 10,000²), less 41,000, over 41,000; and not 196 % / root of 104 = 19 %.
    assert!((found.error_percent - 95.6).abs() < 0.1, "{}", found.error_percent);
    // One of one is exact.
    let mut exact = SampledFlows::default();
    let datagram = datagram(1, &[sample(&frame(49_152), 1, true)]);
    reader.datagram(&datagram, |item| add(&mut exact, &item));
    assert_eq!(exact.flows(Duration::from_secs(1))[0].error_percent, 0.0);
}

fn below(random: &mut SplitMix64, limit: usize) -> usize {
    usize::try_from(random.bits() >> 32).unwrap() % limit
}

#[test]
fn a_million_mutated_datagrams_are_read_or_counted_by_reason() {
    let whole = datagram(
        1,
        &[
            sample(&frame(49_152), 1000, false),
            sample(&frame(49_153), 512, true),
            words(&[2, 12, 0, 0, 0]),
        ],
    );
    let mut random = SplitMix64::new(42);
    let mut reader = Reader::new(PORTS, PfcRequests::Sent);
    let mut flows = SampledFlows::default();
    let rounds = 1_000_000;
    for _ in 0..rounds {
        let mut damaged = whole.clone();
        for _ in 0..=below(&mut random, 4) {
            let at = below(&mut random, damaged.len());
            match below(&mut random, 4) {
                0 => damaged[at] = u8::try_from(below(&mut random, 256)).unwrap(),
                1 => damaged[at] ^= 1 << below(&mut random, 8),
                2 => damaged[at] = 0xff,
                _ => damaged.truncate(at.max(1)),
            }
        }
        reader.datagram(&damaged, |item| add(&mut flows, &item));
    }
    let counts = &reader.counts;
    assert_eq!(counts.datagrams, rounds);
    let unreadable: u64 = counts.unreadable.values().sum();
    // Both kinds occur, every reason occurs, and every frame is a packet or has a reason.
    assert!(unreadable > 100_000 && unreadable < rounds, "{counts:?}");
    for reason in [
        "short",
        "version",
        "agent_address",
        "sample_length",
        "record_length",
        "header_length",
    ] {
        assert!(counts.unreadable.contains_key(reason), "{reason}: {counts:?}");
    }
    let not_roce: u64 = counts.not_roce.values().sum();
    assert!(counts.packets + not_roce <= counts.frames);
    assert!(counts.frames - counts.packets - not_roce <= unreadable, "{counts:?}");
    assert!(counts.packets > 500_000 && not_roce > 10_000, "{counts:?}");
}
