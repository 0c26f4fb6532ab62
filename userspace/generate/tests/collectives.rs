//! Steps from the wire against the generator's, and the culprit against what was planted.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use bytemuck::Zeroable;
use rocescope_collective::culprit::{Culprit, culprits};
use rocescope_collective::read::{File, comma, nccl_profiler};
use rocescope_collective::steps::{Builder, Steps};
use rocescope_collective::waiting::{Shape, critical_path};
use rocescope_generate::truth::StepTruth;
use rocescope_generate::{Generator, Scenario, Truth};
use rocescope_model::StepRow;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};
use std::collections::BTreeMap;

const SEEDS: u64 = 20;

/// The seeds: from 1, or from the number in the variable `COLLECTIVE_SEED`.
fn seeds() -> std::ops::Range<u64> {
    let first = std::env::var("COLLECTIVE_SEED")
        .ok()
        .and_then(|first| first.parse().ok());
    let first = first.unwrap_or(1);
    first..first + SEEDS
}

/// The rows of `steps` of a scenario, and its truth.
fn capture(scenario: &str, seed: u64) -> (Vec<StepRow>, Truth) {
    let scenario = Scenario::parse(scenario).unwrap();
    let mut generator = Generator::new(&scenario, seed);
    let settings = Settings {
        sketches: false,
        connections: Some(ConnectionSettings {
            steps: true,
            ..ConnectionSettings::default()
        }),
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let mut observer = Observer::new(config, vec![[Slot::zeroed(); 2]; 4_096]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut rows = Vec::new();
    let mut frame = Vec::new();
    while let Some(next) = generator.next_frame(&mut frame) {
        if !pipeline.is_current(next.at_ns) {
            observer.flush(Some(next.at_ns), &mut pipeline);
            pipeline.turn(next.at_ns, observer.counters());
            rows.append(&mut pipeline.rows().steps);
        }
        let lengths = FrameLengths {
            captured: frame.len() as u32,
            original: next.original_bytes,
        };
        let clock = FrameTime(next.at_ns);
        observer.observe(&frame, LinkType::Ethernet, lengths, 0, &clock, &mut pipeline);
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    rows.append(&mut pipeline.rows().steps);
    (rows, generator.truth())
}

/// Eight ranks and two channels; only headers are captured.
fn ring(more: &str, straggler: &str) -> String {
    let straggler = match straggler {
        "" => String::new(),
        keys => format!("[[collective.straggler]]\n{keys}\n"),
    };
    format!("snaplen = 128\n[[collective]]\nranks = \"10.0.0.1-10.0.0.8\"\nchannels = 2\n{more}\n{straggler}")
}

/// How many steps of the truth have a row that is equal in all: numbers, size, waits, times to the nanosecond.
fn right(rows: &[StepRow], truth: &[StepTruth]) -> usize {
    let mut names: Vec<&str> = rows.iter().map(|row| &*row.collective).collect();
    names.sort_unstable();
    names.dedup();
    let collective = |row: &StepRow| names.iter().position(|name| **name == *row.collective).unwrap() + 1;
    let key = |row: &StepRow| (collective(row), row.src, row.src_qpn, row.dst_qpn, row.step);
    let found: BTreeMap<_, &StepRow> = rows.iter().map(|row| (key(row), row)).collect();
    assert_eq!(found.len(), rows.len(), "no step is there twice");
    let mut ordered: Vec<&StepTruth> = truth.iter().collect();
    ordered.sort_by_key(|step| (step.collective, step.step));
    let mut ends = BTreeMap::new();
    let mut right = 0;
    for step in ordered {
        let numbers = (Some(step.host), Some(step.src_qpn), Some(step.dst_qpn), step.step);
        let (host, src_qpn, dst_qpn, number) = numbers;
        // Two hosts may have the same QP number.
        let before = ends.insert((step.collective, host, src_qpn), step.last_ns);
        let ready = before.unwrap_or(0).max(step.credit_ns);
        let Some(row) = found.get(&(step.collective.into(), host, src_qpn, dst_qpn, number)) else {
            continue;
        };
        let signed = |ns: u64| Some(ns as i64);
        let is_right = (row.time_ns as u64, row.bytes, row.likelihood) == (step.first_ns, Some(step.bytes), Some(1.0))
            && row.duration_ns == signed(step.last_ns - step.first_ns)
            && row.send_wait_ns == signed(step.first_ns.saturating_sub(ready))
            && row.credit_wait_ns == before.and_then(|before| signed(ready - before))
            && row.retransmitted_packets == Some(step.retransmitted_packets);
        if !is_right {
            println!("{row:?}\nfor {step:?}, ready {ready}, before {before:?}");
        }
        right += usize::from(is_right);
    }
    right
}

fn steps(rows: &[StepRow]) -> Steps {
    let mut builder = Builder::default();
    for row in rows {
        builder.add(row);
    }
    builder.finish()
}

/// The culprit in the words of the truth: kind, host, receiver, queue pair there.
fn named(rows: &[StepRow]) -> Option<(String, String, Option<String>, Option<u32>)> {
    let steps = steps(rows);
    let found = culprits(&steps, &critical_path(&steps, Shape::Paper));
    let host = |host: u32| steps.hosts[host as usize].to_string();
    found.first().map(|delay| {
        let (from, to, qpn) = match delay.culprit {
            Culprit::SlowLink { from, to } => (from, Some(to), None),
            Culprit::LossyQp { from, to, qpn } => (from, Some(to), qpn),
            Culprit::SlowRank { host } | Culprit::LateStart { host } => (host, None, None),
        };
        (delay.culprit.name().to_owned(), host(from), to.map(host), qpn)
    })
}

#[test]
fn steps_are_right_and_the_culprit_is_named() {
    let mut table = String::new();
    let mut is_good = true;
    for (kind, straggler) in [
        ("none", ""),
        ("slow_link", "kind = \"slow_link\"\nrate = \"20Gbit/s\""),
        ("slow_rank", "kind = \"slow_rank\"\ndelay = \"40us\""),
        ("late_start", "kind = \"late_start\"\ndelay = \"1ms\""),
        ("lossy_qp", "kind = \"lossy_qp\"\nloss = 0.02"),
    ] {
        let (mut good, mut all, mut rows_seen, mut hits) = (0, 0, 0, 0);
        for seed in seeds() {
            let (rows, truth) = capture(&ring("", straggler), seed);
            good += right(&rows, &truth.steps);
            all += truth.steps.len();
            rows_seen += rows.len();
            let planted = truth.stragglers.first().map(|one| {
                let to = one.dst_host.map(|host| host.to_string());
                (one.kind.to_owned(), one.host.to_string(), to, one.dst_qpn)
            });
            let found = named(&rows);
            if found != planted && kind != "none" {
                let steps = steps(&rows);
                let path = critical_path(&steps, Shape::Paper);
                println!(
                    "{:?} of {:?}, {:?}",
                    culprits(&steps, &path),
                    path.total_ns,
                    steps.hosts
                );
            }
            if found != planted {
                println!("{kind}, seed {seed}: {found:?} for {planted:?}");
            }
            hits += u64::from(found == planted);
        }
        table += &format!("{kind}: {good} of {all} steps right, {rows_seen} rows, culprit in {hits} of {SEEDS}\n");
        is_good &= rows_seen == all && good * 100 >= all * 99 && hits * 100 >= SEEDS * 95;
    }
    println!("{table}");
    assert!(is_good, "{table}");
}

#[test]
fn several_queue_pairs_in_turn_loops_and_collectives_are_told_apart() {
    for more in [
        "",
        "qps = 2",
        "loops = 3\nrepeat = 3",
        "slots = 1",
        "algorithm = \"halving_doubling\"",
        "operation = \"all_gather\"",
    ] {
        let (rows, truth) = capture(&ring(more, ""), 1);
        let right = right(&rows, &truth.steps);
        let all = truth.steps.len();
        assert!(
            right * 100 >= all * 99 && rows.len() == all,
            "{more}: {right} of {all}, {} rows",
            rows.len()
        );
    }
}

/// What the example profiler and `CoMMA` of every rank write about the steps: times of the rank, half a path earlier than at the tap.
fn profiled(truth: &Truth, half_path_ns: u64) -> (Vec<File>, Vec<File>) {
    let origin = truth.first_ns - 1_000_000;
    let us = |tap_ns: u64| (tap_ns - half_path_ns - origin) as f64 / 1e3;
    let mut ranks: BTreeMap<u32, BTreeMap<u16, Vec<&StepTruth>>> = BTreeMap::new();
    for step in &truth.steps {
        ranks
            .entry(step.rank)
            .or_default()
            .entry(step.channel)
            .or_default()
            .push(step);
    }
    let all = ranks.len() as u32;
    ranks
        .into_iter()
        .map(|(rank, channels)| {
            let peer = (rank + 1) % all;
            let mut trace = format!(
                "[\n{{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"ph\": \"b\", \"id\": 0, \"pid\": {rank}, \"tid\": 1, \
                 \"ts\": 0.0, \"args\": {{\"SeqNum\": 0, \"CommHash\": 9, \"Rank\": {rank}}}}},\n"
            );
            let mut proxies = Vec::new();
            for (channel, steps) in channels {
                let mut event = |name: &str, category: &str, phase: &str, us: f64, args: String| {
                    trace += &format!(
                        "{{\"name\": \"{name}\", \"cat\": \"{category}\", \"ph\": \"{phase}\", \"id\": 0, \"pid\": {rank}, \
                         \"tid\": 1, \"ts\": {us:.6}{args}}},\n"
                    );
                };
                let place = format!(", \"args\": {{\"Channel\": {channel}, \"Peer\": {peer}, \"transSize\": 0}}");
                event("ProgressSend", "PROXY", "b", 1.0, place);
                let mut own = Vec::new();
                for step in steps {
                    let (first, last) = (us(step.first_ns), us(step.last_ns));
                    for name in ["SendGpuWait", "SendPeerWait"] {
                        event(name, "NET", "b", first, String::new());
                        event(name, "NET", "e", first, String::new());
                    }
                    event("SendWait", "NET", "b", first, String::new());
                    let qp = format!(", \"args\": {{\"qp_num\": {}, \"size\": {}}}", step.src_qpn, step.bytes);
                    event("Qp", "NET_IB", "b", first, qp);
                    event("SendWait", "NET", "e", last, String::new());
                    own.push(format!(
                        "{{\"step\":{},\"start_time\":{},\"end_time\":{},\"size\":{}}}",
                        step.step, first as u64, last as u64, step.bytes
                    ));
                }
                proxies.push(format!("{{\"is_send\":true,\"peer\":{peer},\"steps\":[{}]}}", own.join(",")));
            }
            trace += "{}]\n";
            let comma = format!(
                "[{{\"name\":\"all_reduce\",\"comm_hash\":\"0x9\",\"rank\":{rank},\"seq_num\":0,\"proxyops\":[{}]}}]",
                proxies.join(",")
            );
            let file = |text| File {
                name: rank.to_string(),
                text,
            };
            (file(trace), file(comma))
        })
        .unzip()
}

/// The same run seen by the capture, by NCCL's example profiler and by `CoMMA`.
#[test]
fn steps_of_profilers_and_of_the_wire_agree_by_queue_pair_and_time() {
    const HALF_PATH_NS: u64 = 2_000;
    let (rows, truth) = capture(&ring("", "kind = \"slow_rank\"\ndelay = \"40us\""), 3);
    let (traces, commas) = profiled(&truth, HALF_PATH_NS);
    let profiler = nccl_profiler::read(&traces, "import").steps;
    let comma = comma::read(&commas, "import").steps;
    assert_eq!((profiler.len(), comma.len()), (rows.len(), rows.len()));
    let origin = truth.first_ns as i64 - 1_000_000 + HALF_PATH_NS as i64;
    let wire: BTreeMap<_, &StepRow> = rows.iter().map(|row| ((row.src_qpn, row.step), row)).collect();
    assert_eq!(wire.len(), rows.len(), "a queue pair number is of one rank here");
    let rank_of = |qpn| {
        truth
            .steps
            .iter()
            .find(|step| Some(step.src_qpn) == qpn)
            .map(|step| step.rank)
    };
    let mut by_place = BTreeMap::new();
    for row in &profiler {
        let own = wire[&(row.src_qpn, row.step)];
        assert_eq!(row.rank, rank_of(row.src_qpn));
        assert_eq!(row.bytes, own.bytes);
        assert_eq!((row.time_ns + origin, row.duration_ns), (own.time_ns, own.duration_ns));
        by_place.insert((row.rank, row.channel, row.step), own);
    }
    // CoMMA has no queue pairs, and whole microseconds.
    for row in &comma {
        let own = by_place[&(row.rank, row.channel, row.step)];
        assert_eq!(row.bytes, own.bytes);
        let early = own.time_ns - (row.time_ns + origin);
        assert!((0..1_000).contains(&early), "{early}");
        let longer = row.duration_ns.unwrap() - own.duration_ns.unwrap();
        assert!(longer.abs() < 1_000, "{longer}");
    }
}

/// Whichever rank is slow is named, and not its neighbour that waits for it.
#[test]
fn a_slow_rank_is_named_wherever_it_is() {
    for rank in 0..8_usize {
        for more in ["", "qps = 2", "slots = 1"] {
            let straggler = format!("kind = \"slow_rank\"\ndelay = \"40us\"\nrank = {rank}");
            let (rows, _) = capture(&ring(more, &straggler), 5);
            let expected = ("slow_rank".to_owned(), format!("10.0.0.{}", rank + 1), None, None);
            assert_eq!(named(&rows), Some(expected), "rank {rank}, {more}");
        }
    }
}
