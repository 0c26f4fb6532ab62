//! Times that a live capture delivers in any order: nothing panics, and no latency is longer than the input.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use bytemuck::Zeroable;
use proptest::prelude::*;
use rocescope_model::WindowRows;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::settings::LiveSource;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Counters, RunRecord};
use rocescope_wire::tunnel::NO_VNI;
use rocescope_wire::{FlowKey, Opcode};
use std::path::Path;

const SEND_MIDDLE: u8 = 0x01;
const SEND_ONLY: u8 = 0x04;
const READ_REQUEST: u8 = 0x0c;
const READ_RESPONSE_ONLY: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x11;
const ACK: u8 = 0x1f;
const NAK: u8 = 0x60;
const START_NS: u64 = 1_700_000_000_000_000_000;

/// One run of the exchange, and how the capture disturbs it.
#[derive(Clone, Debug)]
struct Event {
    opcode: u8,
    syndrome: u8,
    psn: u32,
    packets: u16,
    port: u16,
    /// After the run before.
    pause_ns: u64,
    /// From its time to its arrival: the ring of its CPU.
    ring_ns: u64,
    /// By how much the clock is behind while it passes.
    clock_ns: u64,
    /// Where it passes, which of two taps sees it, and whether a switch has trimmed it.
    place: (u8, u32, bool),
    /// A mirror has lost frames before it, by its own numbers.
    follows_loss: bool,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    // Requests mostly advance, so that gaps, late packets, repeats and NAKs follow each other.
    let kind = prop_oneof![
        10 => Just((SEND_ONLY, 0)),
        2 => Just((SEND_MIDDLE, 0)),
        2 => Just((ACKNOWLEDGE, ACK)),
        2 => Just((ACKNOWLEDGE, NAK)),
        1 => Just((READ_REQUEST, 0)),
        1 => Just((READ_RESPONSE_ONLY, ACK)),
    ];
    let disturbed = (
        prop_oneof![4 => Just(0), 1 => 0..40_000_000_u64],
        prop_oneof![8 => Just(0), 1 => 0..20_000_000_u64],
    );
    let step = prop_oneof![6 => 0..3_i64, 3 => -12..12_i64];
    let place = (
        prop_oneof![6 => Just(64), 2 => 60..64_u8],
        prop_oneof![9 => Just(0), 1 => Just(1)],
        prop::bool::weighted(0.2),
    );
    let seen = (place, prop::bool::weighted(0.02));
    let event = (kind, step, 1..4_u16, 0..4_u16, 0..200_000_u64, disturbed, seen);
    prop::collection::vec(event, 1..600).prop_map(|drawn| {
        let mut next = 100_i64;
        let events = drawn.into_iter().map(
            |(kind, step, packets, port, pause_ns, disturbed, (place, follows_loss))| {
                let is_request = matches!(kind.0, SEND_ONLY | SEND_MIDDLE);
                let psn = (next + step).max(0);
                if is_request {
                    next = next.max(psn + i64::from(packets));
                }
                Event {
                    opcode: kind.0,
                    syndrome: kind.1,
                    psn: psn as u32,
                    packets: if is_request { packets } else { 1 },
                    port: if is_request { port } else { 0 },
                    pause_ns,
                    ring_ns: disturbed.0,
                    clock_ns: disturbed.1,
                    place,
                    follows_loss,
                }
            },
        );
        events.collect()
    })
}

/// A run, when it arrives, and whether a mirror has lost frames before.
type Arrival = (u64, RunRecord, bool);

/// The runs in the order of their arrivals.
fn arrivals(events: &[Event]) -> Vec<Arrival> {
    let mut now_ns = START_NS;
    let mut runs: Vec<_> = events
        .iter()
        .map(|event| {
            now_ns += event.pause_ns;
            let is_answer = matches!(event.opcode, ACKNOWLEDGE | READ_RESPONSE_ONLY);
            let (src, dst, dst_qpn) = if is_answer { (2, 1, 9) } else { (1, 2, 7) };
            let (ttl, interface, is_trimmed) = event.place;
            let only = if event.opcode == SEND_MIDDLE { 0 } else { event.packets };
            let run = RunRecord {
                flow: FlowKey {
                    src: [src; 16],
                    dst: [dst; 16],
                    vni: NO_VNI,
                    dst_qpn,
                    udp_src_port: 50_000 + event.port,
                    vlan: 0xffff,
                    inner_vlan: 0xffff,
                    reserved: 0,
                },
                first_ns: now_ns - event.clock_ns,
                last_offset_ns: 100 * u32::from(event.packets - 1),
                opcode: event.opcode,
                stream: Opcode(event.opcode).stream() as u8,
                first_psn: event.psn,
                last_psn: event.psn + u32::from(event.packets) - 1,
                packets: event.packets,
                ttl,
                interface,
                segment_bytes: match event.opcode {
                    SEND_MIDDLE if is_trimmed => 12,
                    SEND_MIDDLE => 1_024,
                    _ => 0,
                },
                only,
                only_payload_bytes: 1_024 * u32::from(only),
                frame_bytes: 1_100 * u32::from(event.packets),
                only_frame_bytes: 1_100 * u32::from(only),
                msn_or_dma_length: 1_024,
                syndrome: event.syndrome,
                flags: RunRecord::EXACT_END,
                ..RunRecord::zeroed()
            };
            (now_ns + event.ring_ns, run, event.follows_loss)
        })
        .collect();
    runs.sort_by_key(|(at_ns, ..)| *at_ns);
    runs
}

fn play(runs: &[Arrival], steps: bool) -> WindowRows {
    let live = LiveSource {
        run_slack_ns: 4_000_000,
        drops_frames: false,
    };
    let connections = ConnectionSettings {
        steps,
        ..ConnectionSettings::default()
    };
    let mut pipeline = Pipeline::new(Settings {
        window_ns: 10_000_000,
        lateness_ns: 10_000_000,
        live: Some(live),
        connections: Some(connections),
        sketches: false,
        ..Settings::default()
    })
    .unwrap();
    let counters = Counters::default();
    let mut before_ns = START_NS;
    for (at_ns, run, follows_loss) in runs {
        if *follows_loss {
            pipeline.mirror_lost(before_ns, *at_ns);
        }
        before_ns = *at_ns;
        if !pipeline.is_current(*at_ns) {
            pipeline.turn(*at_ns, &counters);
        }
        pipeline.ingest(run);
    }
    pipeline.finish(&counters);
    std::mem::take(pipeline.rows())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Guards the panic of `sprayed.rs`, and its reaction time of 584 years.
    #[test]
    fn no_latency_is_longer_than_the_input(events in events(), steps in any::<bool>()) {
        let runs = arrivals(&events);
        let first_ns = runs.iter().map(|(_, run, _)| run.first_ns).min().unwrap();
        let last_ns = runs.iter().map(|(at_ns, run, _)| run.last_ns().max(*at_ns)).max().unwrap();
        let span_ns = last_ns - first_ns;
        let rows = play(&runs, steps);
        for row in &rows.connections {
            let latencies = [
                row.rtt_max_ns,
                row.rtt_p99_ns,
                row.response_p99_ns,
                row.reaction_p99_ns,
                row.completion_p99_ns,
                row.cnp_interval_p50_ns,
                row.late_time_max_ns,
            ];
            // A histogram rounds by less than an eighth.
            for ns in latencies.into_iter().flatten() {
                prop_assert!(ns <= span_ns + span_ns / 8, "{ns} ns in {span_ns} ns: {row:?}");
            }
        }
        for step in &rows.steps {
            for ns in [step.duration_ns, step.credit_wait_ns, step.send_wait_ns].into_iter().flatten() {
                prop_assert!((0..=span_ns as i64).contains(&ns), "{ns} in {span_ns} ns");
            }
        }
    }
}

/// Whether `line` subtracts one time from another.
fn subtracts_times(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.split(" - ").zip(code.split(" - ").skip(1)).any(|(before, after)| {
        let word = |text: &str| {
            text.chars()
                .all(|letter| letter.is_alphanumeric() || "_.*&".contains(letter))
        };
        let before = before.rsplit([' ', '(']).next().unwrap_or("");
        let after = after.split([')', ';', ',']).next().unwrap_or("").trim();
        before.ends_with("_ns") && after.ends_with("_ns") && word(before) && word(after)
    })
}

fn check_folder(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_folder(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter(|line| subtracts_times(line));
            found.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
}

/// A difference of times is [`since`](../src/time.rs), which cannot wrap.
#[test]
fn no_source_subtracts_times() {
    let mut found = Vec::new();
    check_folder(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.is_empty(), "{found:#?}");
}
