//! `capture --collectives`: from packets to the culprit, and the names of ranks from the log of NCCL.

use crate::collective::{diagnosed, document, run, text};
use rocescope_generate::{self as generate, Scenario, Truth};
use rocescope_model::{QueuePairRow, Row, StepRow, Time};
use rocescope_store::scan;
use serde_json::Value;
use std::fs::{self, File};
use std::net::IpAddr;
use std::path::PathBuf;
use tempfile::TempDir;

const RING: &str = "snaplen = 128\n[[collective]]\nranks = \"10.0.0.1-10.0.0.8\"\nchannels = 2\n";

/// Captures a ring with something slow; returns the dataset and the truth.
fn captured(folder: &TempDir, straggler: &str, more: &[&str]) -> (PathBuf, Truth) {
    let scenario = Scenario::parse(&format!("{RING}{straggler}")).unwrap();
    let (capture, dataset) = (folder.path().join("ring.pcap"), folder.path().join("dataset"));
    let truth = generate::write(&scenario, 5, File::create(&capture).unwrap()).unwrap();
    let output = run(&[
        &["capture", "--quiet", "-r", text(&capture), "--out", text(&dataset)],
        more,
    ]
    .concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (dataset, truth)
}

#[test]
fn the_culprit_of_a_capture_is_named() {
    for (kind, keys) in [
        ("slow_link", "rate = \"20Gbit/s\""),
        ("slow_rank", "delay = \"40us\""),
        ("late_start", "delay = \"1ms\""),
        ("lossy_qp", "loss = 0.02"),
    ] {
        let folder = TempDir::new().unwrap();
        let straggler = format!("[[collective.straggler]]\nkind = \"{kind}\"\n{keys}\n");
        let (dataset, truth) = captured(&folder, &straggler, &["--collectives"]);
        let found = document(&dataset, &[]);
        assert_eq!(found["steps"], truth.steps.len());
        let planted = &truth.stragglers[0];
        let first = &found["culprits"][0];
        assert_eq!(first["kind"], kind);
        assert_eq!(first["host"], planted.host.to_string(), "{first}");
        assert_eq!(first["dst_qpn"].as_u64(), planted.dst_qpn.map(u64::from), "{first}");
        let text = diagnosed(&dataset, &[]);
        assert!(text.contains(first["text"].as_str().unwrap()), "{text}");
    }
}

/// A capture that is not asked for steps leaves no empty table of them, and one that is has the table also if it is empty.
#[test]
fn steps_are_a_table_only_where_they_are_asked_for() {
    let folder = TempDir::new().unwrap();
    let (dataset, _) = captured(&folder, "", &[]);
    let tables = |dataset: &PathBuf| {
        let found = scan(dataset).unwrap();
        let mut tables: Vec<String> = found.segments.iter().map(|segment| segment.table.clone()).collect();
        tables.dedup();
        tables
    };
    assert!(
        !tables(&dataset).contains(&StepRow::TABLE.name.to_owned()),
        "{:?}",
        tables(&dataset)
    );
    let output = run(&["diagnose", "collective", text(&dataset)]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("has no rows in `steps` or `telemetry`"), "{message}");
    let none = folder.path().join("none");
    let capture = folder.path().join("demo.pcap");
    generate::write(
        &Scenario::parse(generate::DEMO).unwrap(),
        1,
        File::create(&capture).unwrap(),
    )
    .unwrap();
    let output = run(&[
        "capture",
        "-q",
        "-r",
        text(&capture),
        "--collectives",
        "--count",
        "50",
        "--out",
        text(&none),
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        tables(&none).contains(&StepRow::TABLE.name.to_owned()),
        "{:?}",
        tables(&none)
    );
}

/// The GID of an IPv4 address as NCCL prints it: halves as numbers of a little-endian processor.
fn gid(address: IpAddr) -> String {
    let IpAddr::V4(address) = address else {
        unreachable!("the ring has IPv4 addresses")
    };
    let [a, b, c, d] = address.octets();
    format!("(0/{:X})", u64::from_le_bytes([0, 0, 0xff, 0xff, a, b, c, d]))
}

/// A slice for each step, with the counters of the capture.
#[test]
fn a_captured_ring_is_a_trace() {
    let folder = TempDir::new().unwrap();
    let straggler = "[[collective.straggler]]\nkind = \"lossy_qp\"\nloss = 0.02\n";
    let (dataset, truth) = captured(&folder, straggler, &["--collectives"]);
    let path = folder.path().join("trace.json");
    document(&dataset, &["--trace", text(&path)]);
    let trace: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of_phase = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!(of_phase("X"), truth.steps.len());
    let counter = |name: &str| events.iter().any(|event| event["ph"] == "C" && event["name"] == name);
    for name in ["rate, Gbit/s", "round trips, us", "retransmitted packets so far"] {
        assert!(counter(name), "{name}");
    }
    let refused = run(&["diagnose", "collective", text(&dataset), "--trace", text(folder.path())]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("cannot write"));
}

/// Agents on all hosts report queue pairs of the ring, the rank of each host being the last number of its address less one.
#[test]
fn agents_name_the_jobs_and_ranks() {
    let folder = TempDir::new().unwrap();
    let straggler = "[[collective.straggler]]\nkind = \"slow_rank\"\nrank = 4\ndelay = \"40us\"\n";
    let (dataset, _) = captured(&folder, straggler, &["--collectives"]);
    let without = document(&dataset, &[]);
    let steps = scan(&dataset).unwrap().rows::<StepRow>().unwrap();
    let first_ns = steps.iter().map(|row| row.time_ns).min().unwrap() - 60_000_000_000;
    let pairs: Vec<QueuePairRow> = steps
        .iter()
        .filter_map(|row| {
            let (Some(IpAddr::V4(address)), Some(qpn)) = (row.dst, row.dst_qpn) else {
                return None;
            };
            let rank = u32::from(address.octets()[3]) - 1;
            Some(QueuePairRow {
                observer: format!("gpu-{rank}").into(),
                time: Time(first_ns),
                time_ns: first_ns,
                first_ns,
                device: "mlx5_0".into(),
                local_qpn: qpn,
                pid: Some(7),
                job_id: Some("4711".into()),
                rank: Some(rank),
                local_address: Some(address.into()),
                ..QueuePairRow::default()
            })
        })
        .collect();
    crate::owned::report(&dataset, &pairs);
    let found = document(&dataset, &[]);
    assert_eq!(without["culprits"][0]["host"], "10.0.0.5");
    assert_eq!(found["culprits"][0]["host"], "10.0.0.5 (job 4711, rank 4)");
    assert_eq!(found["critical_path"]["total_ns"], without["critical_path"]["total_ns"]);
    let printed = diagnosed(&dataset, &[]);
    assert!(
        printed.contains("Host 10.0.0.5 (job 4711, rank 4) is slow"),
        "{printed}"
    );
    // Places of incidents stay addresses: other analyses know no ranks.
    let output = run(&["diagnose", text(&dataset), "-o", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["incidents"][0]["place"]["name"], "10.0.0.5", "{found}");
}

/// The log has the queue pairs of the senders alone, and the analysis with it is the same as without: it only names hosts.
#[test]
fn the_log_of_nccl_names_the_ranks() {
    for slow in 0..8 {
        log_names(slow);
    }
}

fn log_names(slow: u32) {
    let folder = TempDir::new().unwrap();
    let straggler = format!("[[collective.straggler]]\nkind = \"slow_rank\"\nrank = {slow}\ndelay = \"40us\"\n");
    let (dataset, truth) = captured(&folder, &straggler, &["--collectives"]);
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for rank in 0..8 {
        // Ranks of the job are not in the order of the ring here.
        let named = (rank + 3) % 8;
        let mut log = format!("node{rank}:1:1 [0] NCCL INFO comm 0x5 rank {named} nranks 8 cudaDev 0 - Init START\n");
        for step in truth.steps.iter().filter(|step| step.rank == rank) {
            log += &format!(
                "node{rank}:1:1 [0] NCCL INFO NET/IB: ncclIbConnect: NCCL Dev 0 IbDev 0 Port 1 qp_num {} mtu 5 GID 3 {}\n",
                step.src_qpn,
                gid(step.host)
            );
        }
        fs::write(logs.join(format!("rank{rank}.log")), log).unwrap();
    }
    let found = document(&dataset, &["--nccl-debug", text(&logs)]);
    let host = format!("10.0.0.{}", slow + 1);
    assert_eq!(
        found["culprits"][0]["host"],
        format!("{host} (rank {})", (slow + 3) % 8)
    );
    let alone = document(&dataset, &[]);
    assert_eq!(found["culprits"][0]["cost_ns"], alone["culprits"][0]["cost_ns"]);
    let notes = |found: &Value| -> Vec<String> {
        let notes = found["complaints"].as_array().unwrap();
        notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect()
    };
    let about_the_log = |note: &String| note.contains("NCCL") || note.contains(".log");
    assert!(!notes(&found).iter().any(about_the_log), "{:?}", notes(&found));
    // A log without ranks is a note, and the hosts keep their addresses.
    let empty = folder.path().join("empty.log");
    fs::write(&empty, "nothing of NCCL\n").unwrap();
    let found = document(&dataset, &["--nccl-debug", text(&empty)]);
    assert_eq!(found["culprits"][0]["host"], host);
    let is_stated = |note: &String| note.contains("empty.log: no line of NCCL with a rank");
    assert!(notes(&found).iter().any(is_stated), "{:?}", notes(&found));
}
