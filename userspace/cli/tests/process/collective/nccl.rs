//! What NCCL itself reports: transfers that failed, in its log, and its RAS.

use super::{diagnosed, document, imported, text};
use rocescope_testkit::run;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A dataset of a capture of soft-RoCE in which the receiver's answers stop.
fn black_hole(folder: &TempDir) -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/blackhole_retry_exceeded.pcap.gz");
    let dataset = folder.path().join("dataset");
    let output = run(&["capture", "-r", text(&file), "--out", text(&dataset)]);
    assert!(output.status.success());
    dataset
}

fn warning(time: &str, remote: &str) -> String {
    format!(
        "[{time}] node1:10:11 [1] transport/net_ib.cc:2453 NCCL WARN NET/IB: Got completion from peer 10.9.0.2<51161> with \
         status=12 opcode=129 len=65536 vendor err 129 (Send) localGid ::ffff:10.77.0.1 remoteGids::ffff:{remote} hca rxe0\n"
    )
}

#[test]
fn error_12_has_its_flow() {
    let folder = TempDir::new().unwrap();
    let dataset = black_hole(&folder);
    let log = folder.path().join("nccl.log");
    fs::write(&log, warning("2026-11-21 03:45:07", "10.77.0.2")).unwrap();
    let local = ["--nccl-debug", text(&log), "--nccl-utc-offset", "+02:00"];
    let found = document(&dataset, &local);
    let failure = &found["failed_transfers"][0];
    assert_eq!(
        (&failure["status"], &failure["unknown"]),
        (&12.into(), &serde_json::Value::Null)
    );
    let seen = &failure["seen"][0];
    assert_eq!((&seen["src"], &seen["dst_qpn"]), (&"10.77.0.1".into(), &273.into()));
    assert_eq!(
        (&seen["packets"], &seen["retransmitted_packets"]),
        (&4.into(), &3.into())
    );
    let reported = diagnosed(&dataset, &local);
    let reported = reported.lines().nth(1).unwrap();
    assert_eq!(
        reported,
        "Error 12, packets were not acknowledged in all retries: 10.77.0.1 to 10.77.0.2, reported by node1, process 10, NIC rxe0, \
         at 2026-11-21T01:45:07Z. 10.77.0.1 > 10.77.0.2, QP 273: 4 packets at local, 3 of them retransmitted, 3 timeouts, 4 sent \
         since the last answer, 3 lost downstream of the tap, or their acknowledgements, nothing of the other direction was seen. \
         Check the GID index, routes and access lists in both directions, and the MTU."
    );
    // In UTC that is two hours off, and the capture has no other address.
    let unknown = |more: &[&str]| document(&dataset, more)["failed_transfers"][0]["unknown"].to_string();
    assert!(unknown(&local[..2]).contains("from 2026-11-21T01:45:06Z to 2026-11-21T01:45:06Z only"));
    fs::write(&log, warning("2026-11-21 03:45:07", "10.77.0.9")).unwrap();
    assert!(unknown(&local).contains("no capture of the dataset saw packets between these addresses"));
    let refused = run(&[
        "diagnose",
        "collective",
        text(&dataset),
        "--nccl-debug",
        text(&log),
        "--nccl-utc-offset",
        "2",
    ]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("expected an offset such as +02:00"));
}

#[test]
fn the_rank_that_ras_misses_is_named() {
    let folder = TempDir::new().unwrap();
    let report = |second: u32, reduces: u32| {
        let rank = |rank: u32, reduces: u32| {
            format!(
                "{{\"rank\": {rank}, \"host\": \"10.0.0.{rank}\", \"status\": {{\"init_state\": 0, \"async_error\": 0}},\n\
                 \"collective_counts\": {{\"AllGather\": 0, \"AllReduce\": {reduces}}}}}"
            )
        };
        format!(
            "{{\"timestamp\": \"2026-06-19 06:51:{second:02}\", \"communicators\": [{{\"hash\": \"0x51\", \"size\": 2, \"ranks\": [\n\
             {}, {}], \"missing_ranks\": []}}]}}\n",
            rank(0, 6),
            rank(1, reduces)
        )
    };
    let files = folder.path().join("ras");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("first.json"), report(0, 5)).unwrap();
    fs::write(files.join("second.json"), report(45, 5)).unwrap();
    let (dataset, messages) = imported("nccl-ras", &files, &folder);
    assert!(messages.contains("counts of 4 ranks of communicators"), "{messages}");
    let sentence = "Collective 6 of group 0x51 hangs: rank 1 never called it (last: 5), rank 0 did (AllReduce); no rank called \
                    another in the 45.0 s between two reports; rank 1 is at 10.0.0.1.\n";
    assert_eq!(
        diagnosed(&dataset, &[])
            .split_once('\n')
            .map(|(line, _)| format!("{line}\n"))
            .as_deref(),
        Some(sentence)
    );
    let incident = run(&["diagnose", text(&dataset)]);
    let incident = String::from_utf8_lossy(&incident.stdout).into_owned();
    assert!(
        incident.contains("rank_missing  rank 1") && incident.contains("why     likely"),
        "{incident}"
    );
    // A job that goes on has no hang, and that is stated.
    let going = TempDir::new().unwrap();
    fs::write(files.join("second.json"), report(45, 6)).unwrap();
    let (dataset, _) = imported("nccl-ras", &files, &going);
    let found = diagnosed(&dataset, &[]);
    assert!(
        found.contains("reports of RAS: no rank is missing, behind, or called something else"),
        "{found}"
    );
}
