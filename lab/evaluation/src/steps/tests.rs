//! Steps of other shapes, from profilers, and of every slow rank.

use super::{capture, named, right, ring, shapes};
use crate::table::{Line, Size};
use rocescope_collective::read::{File, comma, nccl_profiler};
use rocescope_generate::Truth;
use rocescope_generate::truth::StepTruth;
use rocescope_model::StepRow;
use std::collections::BTreeMap;

#[test]
fn steps_are_right_and_the_culprit_is_named() {
    let size = Size {
        full: false,
        details: true,
    };
    let lines = super::evaluate(size);
    assert!(lines.iter().all(Line::is_met), "{lines:#?}");
}

#[test]
fn every_shape_names_what_is_slow_and_nothing_beside_it() {
    let size = Size {
        full: false,
        details: true,
    };
    let lines = shapes::evaluate(size);
    assert!(lines.iter().all(Line::is_met), "{lines:#?}");
}

#[test]
fn traffic_between_the_same_hosts_is_no_step_and_a_late_rank_ends_no_collective() {
    let tree = "[[collective]]\nranks = \"10.0.0.1-10.0.0.8\"\nalgorithm = \"tree\"\nloops = 32\n\
        [[collective.straggler]]\nkind = \"late_start\"\nrank = 7\ndelay = \"1ms\"\n";
    for scenario in [ring("", ""), tree.to_owned()] {
        let (rows, truth) = capture(&format!("{scenario}{}", shapes::BACKGROUND), 1);
        assert_eq!(rows.len(), truth.steps.len(), "{scenario}");
        assert!(
            rows.iter().all(|row| row.collective == rows[0].collective),
            "{scenario}"
        );
    }
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
