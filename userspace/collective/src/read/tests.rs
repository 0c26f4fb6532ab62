use super::*;
use crate::names::{Hosts, Names};
use crate::steps::Builder;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use core::net::IpAddr;

fn file(name: &str, text: &str) -> File {
    File {
        name: name.to_string(),
        text: text.to_string(),
    }
}

/// Rank 0 sends two chunks to rank 1 over one operation, one over the next.
const COMMA: &str = r#"[
{"name":"all_reduce","cat":"COLL","ph":"X","comm_hash":"0xabc","rank":0,"seq_num":7,"ts":90,"dur":90,"args":{"size":3000},
 "proxyops":[
  {"name":"ProxyOp","is_send":false,"peer":1,"n_steps":1,"chunk_size":1000,"steps":[{"step":1,"start_time":1,"end_time":2,"size":5}]},
  {"name":"ProxyOp","is_send":true,"peer":1,"n_steps":2,"chunk_size":1000,
   "steps":[{"step":1,"start_time":100,"end_time":110,"size":1000},{"step":2,"start_time":112,"end_time":125,"size":900}]},
  {"name":"ProxyOp","is_send":true,"peer":1,"n_steps":1,"chunk_size":1000,"steps":[{"step":1,"start_time":101,"size":800}]}]},
{"name":"send","cat":"P2P","comm_hash":"0xabc","rank":0,"peer":1}
]"#;

#[test]
fn steps_of_comma() {
    let all = comma::read(&[file("0.json", COMMA)], "import");
    let rows: Vec<_> = all
        .steps
        .iter()
        .map(|row| (row.channel, row.step, row.time_ns, row.duration_ns, row.bytes))
        .collect();
    assert_eq!(
        rows,
        [
            (Some(0), 1, 100_000, Some(10_000), Some(1_000)),
            (Some(0), 2, 112_000, Some(13_000), Some(900)),
            (Some(1), 1, 101_000, None, Some(800)),
        ]
    );
    let first = &all.steps[0];
    assert_eq!(
        (&*first.collective, &*first.host, &*first.dst_host, first.rank),
        ("0xabc:all_reduce:7", "0", "1", Some(0))
    );
    let lines = all.complaints.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("0.json: 1: objects without"), "{lines:?}");
    assert!(lines[1].contains("no queue pairs"), "{lines:?}");
}

#[test]
fn a_cut_file_of_comma_gives_what_it_has_and_one_line() {
    let whole = r#"{"name":"a","comm_hash":"1","rank":0,"seq_num":1,"proxyops":[{"is_send":true,"peer":1,"steps":[{"step":1,"start_time":1,"end_time":3,"size":5}]}]}"#;
    let text = format!("[\n{whole},\n{}", &whole[..60]);
    let all = comma::read(&[file("cut.json", &text)], "import");
    assert_eq!(all.steps.len(), 1);
    assert_eq!(all.complaints.lines()[0], "cut.json:3: no whole JSON object; skipped");
}

/// Unquoted values, a typographic quote, and an end that no reader of JSON accepts.
const PROFILER: &str = "[
{\"name\": \"AllReduce\", \"cat\": \"COLL_API\", \"ph\": \"b\", \"id\": 0, \"pid\": 7, \"tid\": 1, \"ts\": 0.5, \"args\": {\"count\": 4, \"datatype\": ncclFloat32, \"Stream\": 0x50}},
{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"ph\": \"b\", \"id\": 0, \"pid\": 7, \"tid\": 1, \"ts\": 1.0, \"args\": {\"SeqNum\": 3, \"CommHash\": 99, \"Rank\": 5, \"Algorithm\": \"RING\"}},
{\"name\": \"ProgressSend\", \"cat\": \"PROXY\", \"ph\": \"b\", \"id\": 1, \"pid\": 7, \"tid\": 1, \"ts\": 2.0, \"args\": {\"Channel\": 2, \"Peer\": 6, \"Steps\": 2, \"ChunkSize\": 4096, \"transSize\": 2048}},
{\u{201c}name\": \"SendGpuWait\", \"cat\": \"NET\", \"ph\": \"b\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 10.0, \"args\": {\"Step\": 0}},
{\"name\": \"SendGpuWait\", \"cat\": \"NET\", \"ph\": \"e\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 12.5},
{\"name\": \"SendPeerWait\", \"cat\": \"NET\", \"ph\": \"b\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 12.5, \"args\": {\"Step\": 0}},
{\"name\": \"SendPeerWait\", \"cat\": \"NET\", \"ph\": \"e\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 13.0},
{\"name\": \"SendWait\", \"cat\": \"NET\", \"ph\": \"b\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 13.000001, \"args\": {\"Step\": 0}},
{\"name\": \"Qp\", \"cat\": \"NET_IB\", \"ph\": \"b\", \"id\": 0, \"pid\": 7, \"tid\": 1, \"ts\": 13.5, \"args\": {\"device\": 0, \"qp_num\": 4660, \"opcode\": 1, \"wr_id\": 0, \"size\": 2000}},
{\"name\": \"Qp\", \"cat\": \"NET_IB\", \"ph\": \"e\", \"id\": 0, \"pid\": 7, \"tid\": 1, \"ts\": 20.0},
{\"name\": \"SendWait\", \"cat\": \"NET\", \"ph\": \"e\", \"id\": 4, \"pid\": 7, \"tid\": 1, \"ts\": 21.0},
nonsense
{}]
";

#[test]
fn steps_of_the_example_profiler_whose_trace_is_no_json() {
    let all = nccl_profiler::read(&[file("trace-host-1.txt", PROFILER)], "import");
    let [row] = &all.steps[..] else {
        panic!("{:?}", all.steps)
    };
    assert_eq!((&*row.collective, &*row.operation), ("99:AllReduce:3", "AllReduce"));
    assert_eq!((&*row.host, &*row.dst_host, row.channel), ("5", "6", Some(2)));
    assert_eq!((row.step, row.bytes, row.src_qpn), (1, Some(2_000), Some(4_660)));
    assert_eq!((row.time_ns, row.duration_ns), (13_000, Some(8_000)));
    assert_eq!((row.send_wait_ns, row.credit_wait_ns), (Some(2_500), Some(500)));
    let lines = all.complaints.lines();
    assert!(lines[0].starts_with("trace-host-1.txt:13: no event"), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("cannot be compared")),
        "{lines:?}"
    );
    // The send is still open at the end of a cut trace.
    let cut = PROFILER
        .split("{\"name\": \"SendWait\", \"cat\": \"NET\", \"ph\": \"e\"")
        .next()
        .unwrap();
    let all = nccl_profiler::read(&[file("cut", cut)], "import");
    assert_eq!(all.steps.iter().map(|row| row.duration_ns).collect::<Vec<_>>(), [None]);
}

#[test]
fn collectives_of_the_inspector() {
    let line = |verbose: &str| {
        format!(
            r#"{{"header":{{"id":"0x7f","rank":2,"n_ranks":8}},"metadata":{{"dump_timestamp_us":1000,"pid":1}},"coll_perf":{{"coll":"AllReduce","coll_sn":4,"coll_msg_size_bytes":64,"coll_exec_time_us":250{verbose}}}}}"#
        )
    };
    let verbose =
        r#","event_trace_ts":{"kernel_events":[{"channel_id":1,"kernel_start_ts":100,"kernel_stop_ts":130}]}"#;
    let text = format!("{}\n{}\n{{\"header\":{{}}}}\n{{\"cut", line(""), line(verbose));
    let all = nccl_inspector::read(&[file("a.log", &text)], "import");
    let rows: Vec<_> = all
        .steps
        .iter()
        .map(|row| (row.channel, row.time_ns, row.duration_ns, row.rank, row.step))
        .collect();
    assert_eq!(
        rows,
        [
            (None, 750_000, Some(250_000), Some(2), 1),
            (Some(1), 100_000, Some(30_000), Some(2), 1),
        ]
    );
    assert_eq!(&*all.steps[0].collective, "0x7f:AllReduce:4");
    let lines = all.complaints.lines();
    assert_eq!(lines[0], "a.log:4: no whole JSON object; skipped");
    assert!(lines[1].starts_with("a.log: 1: objects without"), "{lines:?}");
}

#[test]
fn collectives_of_the_flight_recorder() {
    let text = r#"{"version":"2.5","entries":[
      {"profiling_name":"nccl:all_reduce","process_group":["0","default"],"collective_seq_id":3,"time_created_ns":1000,
       "time_discovered_started_ns":2000,"time_discovered_completed_ns":9000,"state":"completed","is_p2p":false},
      {"profiling_name":"nccl:all_reduce","pg_id":0,"collective_seq_id":4,"time_created_ns":9500,
       "time_discovered_started_ns":null,"time_discovered_completed_ns":null,"state":"scheduled"},
      {"record_id":5}]}"#;
    let files = [file("dump_rank_3.json", text), file("none.json", "{}")];
    let all = flight_recorder::read(&files, "import");
    let rows: Vec<_> = all
        .steps
        .iter()
        .map(|row| (&*row.collective, &*row.host, row.time_ns, row.duration_ns))
        .collect();
    assert_eq!(
        rows,
        [
            ("0:nccl:all_reduce:3", "3", 2_000, Some(7_000)),
            ("0:nccl:all_reduce:4", "3", 9_500, None),
        ]
    );
    let lines = all.complaints.lines();
    for (line, start) in lines.iter().zip(["dump_rank_3.json: 1: entries", "none.json: no rank"]) {
        assert!(line.starts_with(start), "{lines:?}");
    }
}

#[test]
fn the_log_of_nccl_ties_queue_pairs_to_ranks() {
    let log = "\
a:10:11 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 3 nranks 8 cudaDev 0 busId 100 - Init START
a:10:12 [0] NCCL INFO NET/IB: ncclIbConnect: NCCL Dev 0 IbDev 0 Port 1 qp_num 4660 mtu 5 GID 3 (0/100000AFFFF0000) fifoRkey=0x1
b:20:21 [0] NCCL INFO comm 0x6 rank 4 nranks 8 cudaDev 0 - Init COMPLETE
b:20:22 [0] NCCL INFO NET/IB: ncclIbAccept: NCCL Dev 0 IbDev 0 Port 1 qp_num 4660 mtu 5 GID 3 (0/200000AFFFF0000)
b:20:22 [0] NCCL INFO NET/IB: f: QP created: port=1 dev=0 devName=mlx5_0 ndevs=1 nmdevs=1 qp_num=77 pkey=0
c:30:31 [0] NCCL INFO NET/IB: f: QP created: port=1 dev=0 qp_num=78 pkey=0
not a line of NCCL
";
    let ranks = nccl_debug::read(&[file("log", log), file("empty", "")]);
    let [a, b]: [IpAddr; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
    assert_eq!((ranks.of(Some(a), 4_660), ranks.of(Some(b), 4_660)), (Some(3), Some(4)));
    // Without the address, two ranks have this number.
    assert_eq!(
        (ranks.of(None, 4_660), ranks.of(Some(b), 77), ranks.of(None, 78)),
        (None, Some(4), None)
    );
    let row = StepRow {
        step: 1,
        host: "10.0.0.1".to_string().into(),
        dst_host: "10.0.0.2".to_string().into(),
        src: Some(a),
        dst: Some(b),
        src_qpn: Some(4_660),
        dst_qpn: Some(77),
        ..StepRow::default()
    };
    // The other end of this step has a queue pair that is not in the log, and its host the same name nevertheless.
    let back = StepRow {
        host: row.dst_host.clone(),
        dst_host: row.host.clone(),
        src: Some(b),
        dst: Some(a),
        src_qpn: Some(4_660),
        dst_qpn: Some(5),
        ..row.clone()
    };
    let names = Names {
        ranks,
        ..Names::default()
    };
    let (mut hosts, mut builder) = (Hosts::default(), Builder::default());
    for row in [row, back] {
        names.learn(&row, &mut hosts);
        builder.add(&row);
    }
    let mut steps = builder.finish();
    hosts.name(&mut steps);
    assert_eq!(
        steps.hosts,
        ["10.0.0.1 (rank 3)", "10.0.0.2 (rank 4)"].map(Text::from_static)
    );
    let lines = names.ranks.complaints.lines();
    assert!(lines[0].starts_with("log: c:30: queue pairs of a process"), "{lines:?}");
    assert!(lines[1].starts_with("empty: no line"), "{lines:?}");
}

#[test]
fn no_input_stops_a_reader() {
    for text in [
        "",
        "[",
        "{",
        "\"name\"",
        "{\"name\": }",
        "\u{0}",
        "[[[[[[[[1",
        "{\"ts\": nan, \"name\": \"a\", \"ph\": \"b\", \"pid\": 1}",
    ] {
        let files = vec![file("0", text)];
        for all in [
            comma::read(&files, "o"),
            nccl_profiler::read(&files, "o"),
            nccl_inspector::read(&files, "o"),
            flight_recorder::read(&files, "o"),
        ] {
            assert!(all.steps.is_empty(), "{text}");
        }
        let _ = nccl_debug::read(&files);
    }
}
