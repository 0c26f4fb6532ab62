//! Keys and values of the JSON, for every form of the file.

use crate::product::{captures, rocescope, traffic};
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use std::fs;
use std::io::Write;

/// Every key that programs may rely on.
const KEYS: [&str; 22] = [
    "frames",
    "roce_packets",
    "not_roce",
    "malformed",
    "fragments",
    "filtered",
    "icrc_bad",
    "flows",
    "messages",
    "opcodes",
    "aeth",
    "windows",
    "top_flows",
    "lost",
    "capture_lost_frames",
    "fabric_lost_packets",
    "retransmitted_packets",
    "mirror_lost_packets",
    "exact",
    "snapped",
    "dataset",
    "recorder",
];
const SYNDROMES: [&str; 6] = [
    "ack",
    "rnr_nak",
    "nak_psn_sequence_error",
    "nak_invalid_request",
    "nak_remote_access_error",
    "nak_remote_operational_error",
];
const FLOW: [&str; 8] = [
    "src",
    "dst",
    "udp_src_port",
    "dst_qpn",
    "packets",
    "frame_bytes",
    "payload_bytes",
    "messages",
];

#[test]
fn every_key_is_there_and_the_identity_holds() {
    for capture in captures::all(&captures::ours()) {
        let found = rocescope::json(&capture.path, &[]);
        let object = found.as_object().unwrap();
        for key in KEYS {
            assert!(object.contains_key(key), "{key}");
        }
        for syndrome in SYNDROMES {
            assert!(found["aeth"][syndrome].is_u64(), "{syndrome}");
        }
        for flow in found["top_flows"].as_array().unwrap() {
            for key in FLOW {
                assert!(!flow[key].is_null(), "{key}");
            }
        }
        assert_eq!(found["icrc_bad"], Value::Null, "not requested");

        let count = |key: &str| found[key].as_u64().unwrap();
        let parts = [
            "roce_packets",
            "not_roce",
            "malformed",
            "fragments",
            "filtered",
            "snapped",
        ];
        assert_eq!(count("frames"), parts.map(count).iter().sum::<u64>());
        assert_eq!(count("lost"), 0);
        for key in ["packets", "frame_bytes", "payload_bytes"] {
            let opcodes = found["opcodes"].as_object().unwrap().values();
            let sum: u64 = opcodes.map(|totals| totals[key].as_u64().unwrap()).sum();
            let whole = if key == "packets" { "roce_packets" } else { key };
            assert_eq!(count(whole), sum, "{}: {key}", capture.name);
        }
    }
}

#[test]
fn compressed_piped_and_pcapng_files_equal_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["opmix_rc_all", "vlan100_write_bw", "ipv6_cm_rping"] {
        let capture = captures::named(name);
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&capture.pcap).unwrap();
        let forms = [
            ("plain", capture.pcap.clone()),
            ("gzip", gzip.finish().unwrap()),
            (
                "zstd",
                compress_to_vec(capture.pcap.as_slice(), CompressionLevel::Fastest),
            ),
            ("pcapng", traffic::pcapng(&capture, usize::MAX)),
        ];
        let mut expected = None;
        for (form, bytes) in forms {
            let path = folder.path().join(form);
            fs::write(&path, bytes).unwrap();
            let mut piped = rocescope::command(&["capture", "-r", "-", "-o", "json"]);
            let output = piped.stdin(fs::File::open(&path).unwrap()).output().unwrap();
            for found in [rocescope::json(&path, &[]), rocescope::parse(&output)] {
                let found = without_source(found);
                let expected = expected.get_or_insert_with(|| found.clone());
                assert_eq!(&found, expected, "{name} as {form}");
            }
        }
    }
}

/// Only names may differ between two forms of a file.
fn without_source(mut found: Value) -> Value {
    found["source"].take();
    found["files"].take();
    found
}

#[test]
fn a_dataset_equals_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let capture = captures::named("rnr_nak");
    let found = rocescope::json(&capture.path, &["--out", root]);
    let rows = |table: &str| found["dataset"]["tables"][table]["rows"].as_u64().unwrap();
    let scan = rocescope_store::scan(folder.path()).unwrap();
    for table in rocescope_model::CAPTURE_TABLES {
        assert_eq!(scan.row_count(table.name), rows(table.name));
    }
    assert_eq!(scan.unreadable, []);
    assert_eq!(rows("windows"), found["windows"].as_u64().unwrap());
    assert_eq!(rows("events"), found["events"].as_u64().unwrap());
}

#[test]
fn old_segments_are_deleted_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dataset");
    let capture = captures::ours().join("rnr_nak.pcap.gz");
    // The same frames are stored again only as those of another observer.
    let run = |observer: &str, more: &[&str]| {
        let out = out.to_str().unwrap();
        let arguments = ["--out", out, "--window", "100ms", "--observer", observer];
        rocescope::json(&capture, &[&arguments, more].concat())
    };
    let bytes = |found: &Value| {
        let tables = found["dataset"]["tables"].as_object().unwrap();
        let sizes = tables.values().map(|table| table["bytes"].as_u64().unwrap());
        sizes.sum::<u64>()
    };
    let first = run("first", &["--segment-bytes", "1", "--keep-bytes", "1G"]);
    assert_eq!(first["dataset"]["deleted_segments"], 0);
    let written = bytes(&first);
    // A second capture: together they exceed the limit, so old segments are deleted.
    let second = run("second", &["--keep-bytes", &written.to_string()]);
    let deleted = second["dataset"]["deleted_bytes"].as_u64().unwrap();
    assert!(deleted > 0 && written + bytes(&second) - deleted <= written);
}

/// A box keeps a week, by its configuration; a file of last month is read on it.
#[test]
fn the_age_of_a_live_dataset_deletes_nothing_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("rocescope.toml");
    fs::write(&configuration, "[capture]\nkeep-age = \"1h\"\n").unwrap();
    let out = folder.path().join("dataset");
    let capture = captures::ours().join("rnr_nak.pcap.gz");
    let arguments = [
        "--config",
        configuration.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    let found = rocescope::json(&capture, &arguments);
    assert_eq!(found["dataset"]["deleted_segments"], 0, "{found:#}");
    let segments = walkdir(&out);
    let is_segment = |file: &&std::path::PathBuf| file.extension().is_some_and(|kind| kind == "parquet");
    assert!(segments.iter().any(|file| is_segment(&file)), "{segments:?}");
}

/// Every file below a folder.
fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walkdir(&path));
        } else {
            files.push(path);
        }
    }
    files
}
