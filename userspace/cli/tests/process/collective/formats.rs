//! What jobs write: each `--format`, from files to the critical path, with damage.

use crate::collective::{diagnosed, document, imported, run, text};
use rocescope_model::StepRow;
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// `CoMMA`: two ranks in a ring of two, two steps each; step 2 of rank 0 takes long.
fn comma(folder: &Path) {
    let rank = |rank: u32, peer: u32, steps: [(u32, u32); 2]| {
        let [(a, b), (c, d)] = steps;
        format!(
            "[{{\"name\":\"all_reduce\",\"comm_hash\":\"0xabc\",\"rank\":{rank},\"seq_num\":7,\"proxyops\":[\n\
             {{\"is_send\":true,\"peer\":{peer},\"steps\":[{{\"step\":1,\"start_time\":{a},\"end_time\":{b},\"size\":1000}},\n\
             {{\"step\":2,\"start_time\":{c},\"end_time\":{d},\"size\":1000}}]}}]}}]"
        )
    };
    fs::write(folder.join("0.json"), rank(0, 1, [(100, 110), (112, 162)])).unwrap();
    fs::write(folder.join("1.json"), rank(1, 0, [(100, 112), (113, 123)])).unwrap();
}

/// The example profiler: a process of one rank, two steps.
fn profiler(folder: &Path) {
    let mut trace = String::from("[\n");
    let mut event = |name: &str, category: &str, phase: &str, us: u32, arguments: &str| {
        trace += &format!(
            "{{\"name\": \"{name}\", \"cat\": \"{category}\", \"ph\": \"{phase}\", \"id\": 0, \"pid\": 7, \"tid\": 1, \
             \"ts\": {us}.0{arguments}}},\n"
        );
    };
    event(
        "AllReduce",
        "COLL",
        "b",
        1,
        ", \"args\": {\"SeqNum\": 3, \"CommHash\": 99, \"Rank\": 5}",
    );
    event(
        "ProgressSend",
        "PROXY",
        "b",
        2,
        ", \"args\": {\"Channel\": 2, \"Peer\": 6, \"transSize\": 2048}",
    );
    for (first, last) in [(10, 20), (25, 65)] {
        for name in ["SendGpuWait", "SendPeerWait"] {
            event(name, "NET", "b", first - 1, "");
            event(name, "NET", "e", first, "");
        }
        event("SendWait", "NET", "b", first, "");
        event(
            "Qp",
            "NET_IB",
            "b",
            first,
            ", \"args\": {\"qp_num\": 4660, \"size\": 2000}",
        );
        event("SendWait", "NET", "e", last, "");
    }
    trace += "{}]\n";
    fs::write(folder.join("trace-1.txt"), trace).unwrap();
}

/// NCCL Inspector: a collective of two ranks.
fn inspector(folder: &Path) {
    for (rank, took_us) in [(0, 250), (1, 400)] {
        let line = format!(
            "{{\"header\":{{\"id\":\"0x7f\",\"rank\":{rank}}},\"metadata\":{{\"dump_timestamp_us\":1000}},\
             \"coll_perf\":{{\"coll\":\"AllReduce\",\"coll_sn\":4,\"coll_exec_time_us\":{took_us}}}}}\n"
        );
        fs::write(folder.join(format!("rank{rank}.log")), line).unwrap();
    }
}

/// The flight recorder: a collective of two ranks.
fn flight_recorder(folder: &Path) {
    for (rank, completed) in [(0, 9_000), (1, 12_000)] {
        let dump = format!(
            "{{\"entries\":[{{\"profiling_name\":\"nccl:all_reduce\",\"pg_id\":0,\"collective_seq_id\":3,\
             \"time_created_ns\":1000,\"time_discovered_started_ns\":2000,\"time_discovered_completed_ns\":{completed}}}]}}"
        );
        fs::write(folder.join(format!("dump_{rank}.json")), dump).unwrap();
    }
}

#[test]
fn every_format_gives_its_collective_and_states_what_it_lacks() {
    type Write = fn(&Path);
    let cases: [(&str, Write, &str, u64, u64, &str); 4] = [
        // Rank 0: step 1 of rank 1 ends at 112 and brings the data of step 2, which takes 50 µs.
        (
            "comma",
            comma,
            "4 steps",
            62_000,
            2,
            "no queue pairs, no channels and no waits",
        ),
        (
            "nccl-profiler",
            profiler,
            "2 steps",
            50_000,
            1,
            "those of different ranks cannot be compared",
        ),
        (
            "nccl-inspector",
            inspector,
            "2 steps",
            400_000,
            2,
            "no steps, receivers and queue pairs",
        ),
        (
            "flight-recorder",
            flight_recorder,
            "2 steps",
            10_000,
            2,
            "no steps, receivers and queue pairs",
        ),
    ];
    for (format, write, steps, total_ns, hosts, lack) in cases {
        let folder = TempDir::new().unwrap();
        let input = folder.path().join("input");
        fs::create_dir(&input).unwrap();
        write(&input);
        let (dataset, messages) = imported(format, &input, &folder);
        assert!(
            messages.contains(steps) && messages.contains(lack),
            "{format}: {messages}"
        );
        let found = document(&dataset, &[]);
        assert_eq!(found["critical_path"]["total_ns"], total_ns, "{format}: {found}");
        assert_eq!(found["hosts"], hosts, "{format}");
        // Times of several clocks name no culprit.
        assert_eq!(found["culprits"], json!([]), "{format}");
        let text = diagnosed(&dataset, &[]);
        assert!(
            text.contains("How long its steps take alone is unknown"),
            "{format}: {text}"
        );
        // The second steps were complaints of the diagnosis, and traffic was rated twice.
        let (dataset, input) = (crate::collective::text(&dataset), crate::collective::text(&input));
        let output = run(&["collective", "import", "--format", format, input, "--out", dataset]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && message.contains("rows already: nothing was written"),
            "{format}: {message}"
        );
        assert_eq!(document(Path::new(dataset), &[]), found, "{format}");
    }
}

/// A cut file of a rank is one line, and the ranks that are whole are analyzed.
#[test]
fn a_cut_file_is_a_line_and_the_other_ranks_are_analyzed() {
    for (format, write, cut, line) in [
        (
            "comma",
            comma as fn(&Path),
            "1.json",
            "1.json:1: no whole JSON object; skipped",
        ),
        (
            "nccl-inspector",
            inspector,
            "rank1.log",
            "rank1.log:1: no whole JSON object; skipped",
        ),
        (
            "flight-recorder",
            flight_recorder,
            "dump_1.json",
            "dump_1.json:1: no whole JSON object; skipped",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let input = folder.path().join("input");
        fs::create_dir(&input).unwrap();
        write(&input);
        let path = input.join(cut);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
        let (dataset, messages) = imported(format, &input, &folder);
        assert!(messages.contains(line), "{format}: {messages}");
        let found = document(&dataset, &[]);
        assert!(
            found["critical_path"]["total_ns"].as_u64().unwrap() > 0,
            "{format}: {found}"
        );
    }
}

#[test]
fn options_that_a_format_cannot_use_are_refused_in_a_line() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("dataset");
    let refused = |arguments: &[&str], why: &str| {
        let output = run(&[&["collective", "import", "--out", text(&out)], arguments].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && message.contains(why),
            "{arguments:?}: {message}"
        );
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    };
    let input = folder.path().join("input");
    fs::create_dir(&input).unwrap();
    comma(&input);
    refused(&["--format", "comma", "/nowhere"], "cannot read /nowhere");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    refused(
        &["--format", "comma", text(&empty)],
        "has no steps and no telemetry in this format",
    );
}

/// As the watchdog of `PyTorch` writes it: Python reads the same bytes.
#[test]
fn a_pickled_dump_of_the_flight_recorder_is_read() {
    const DUMP: &[u8] = b"\x80\x02}q\x00(X\x07\x00\x00\x00versionq\x01X\x03\x00\x00\x002.5q\x02X\x07\x00\x00\x00entriesq\x03]q\x04}q\x05(X\x0e\x00\x00\x00profiling_nameq\x06X\x0f\x00\x00\x00nccl:all_reduceq\x07X\r\x00\x00\x00process_groupq\x08X\x01\x00\x00\x000q\tX\x07\x00\x00\x00defaultq\n\x86q\x0bX\x11\x00\x00\x00collective_seq_idq\x0cK\x03X\x0f\x00\x00\x00time_created_nsq\r\x8a\x08\x00\x00\xc8|\xe3\xd4\xe9\x18X\x0b\x00\x00\x00duration_msq\x0eG?\xf8\x00\x00\x00\x00\x00\x00X\x05\x00\x00\x00stateq\x0fX\t\x00\x00\x00completedq\x10uau.";
    let (folder, damaged) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let rank = folder.path().join("rank_5");
    fs::write(&rank, DUMP).unwrap();
    let (dataset, messages) = imported("flight-recorder", &rank, &folder);
    assert!(
        messages.contains("1 step,") && !messages.contains("skipped"),
        "{messages}"
    );
    let steps = rocescope_store::scan(&dataset).unwrap().rows::<StepRow>().unwrap();
    let [step] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!((&*step.collective, step.rank), ("0:nccl:all_reduce:3", Some(5)));
    assert_eq!(
        (step.time_ns, step.duration_ns),
        (1_795_200_000_000_000_000, Some(1_500_000))
    );
    let cut = damaged.path().join("rank_5");
    fs::write(&cut, &DUMP[..100]).unwrap();
    let refused = run(&[
        "collective",
        "import",
        "--format",
        "flight-recorder",
        text(&cut),
        "--out",
        text(&damaged.path().join("d")),
    ]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && message.contains("damaged pickle, byte "),
        "{message}"
    );
}
