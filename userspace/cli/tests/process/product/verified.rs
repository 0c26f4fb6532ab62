//! A flipped bit in a segment, a missing table and a capture stored twice: every command names them.

use crate::product::captures;
use crate::product::rocescope;
use rocescope_store::scan;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn dataset(root: &Path) -> PathBuf {
    let out = root.join("data");
    rocescope::json(&captures::named("rnr_nak").path, &["--out", out.to_str().unwrap()]);
    out
}

fn json(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = rocescope::run(arguments);
    assert_eq!(rocescope::text(&output.stderr), "");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_flipped_bit_is_named_by_verify_report_and_merge() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path());
    let root = out.to_str().unwrap();
    let (code, verified) = json(&["dataset", "verify", root, "-o", "json"]);
    assert_eq!((code, &verified["whole"]), (Some(0), &Value::Bool(true)));
    assert_eq!(json(&["report", root, "-o", "json"]).1["complete"], true);
    for (number, table) in ["opcodes", "flows", "events", "windows"].into_iter().enumerate() {
        let path = scan(&out).unwrap().table(table).next().unwrap().path.clone();
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[20] ^= 4;
        fs::write(&path, damaged).unwrap();
        let (code, verified) = json(&["dataset", "verify", root, "-o", "json"]);
        assert_eq!((code, &verified["whole"]), (Some(1), &Value::Bool(false)));
        assert_eq!(verified["damaged"][0]["path"], path.to_str().unwrap());
        let (code, report) = json(&["report", root, "-o", "json"]);
        assert_eq!((code, &report["complete"]), (Some(0), &Value::Bool(false)), "{table}");
        assert_eq!(report["unreadable"][0]["path"], path.to_str().unwrap(), "{table}");
        if table != "windows" {
            let merged = folder.path().join(format!("merged{number}"));
            let output = rocescope::run(&["dataset", "merge", root, "--out", merged.to_str().unwrap()]);
            assert_eq!(output.status.code(), Some(1), "{table}");
            assert!(
                rocescope::text(&output.stdout).contains(path.to_str().unwrap()),
                "{table}"
            );
        }
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_missing_table_is_no_complete_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path());
    fs::remove_dir_all(out.join("opcodes")).unwrap();
    let root = out.to_str().unwrap();
    assert_eq!(json(&["report", root, "-o", "json"]).1["complete"], false);
    let output = rocescope::run(&["dataset", "verify", root]);
    assert_eq!(output.status.code(), Some(1));
    let said = rocescope::text(&output.stdout);
    assert!(said.contains("whose opcodes do not sum to the window"), "{said}");
}

/// A dataset with each segment twice, as versions that did not refuse a capture file wrote it.
fn doubled(root: &Path) -> PathBuf {
    let out = dataset(root);
    for segment in scan(&out).unwrap().segments {
        let name = segment.path.to_str().unwrap().replace("-0000.parquet", "-0001.parquet");
        assert_ne!(segment.path, Path::new(&name));
        fs::copy(&segment.path, name).unwrap();
    }
    out
}

#[test]
fn a_capture_file_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path());
    let root = out.to_str().unwrap();
    let before = json(&["dataset", "verify", root, "-o", "json"]);
    let path = captures::named("rnr_nak").path;
    let path = path.to_str().unwrap();
    let pipe = || {
        let mut command = rocescope::command(&["capture", "-r", "-", "--out", root]);
        command.stdin(fs::File::open(path).unwrap()).output().unwrap()
    };
    let again = || rocescope::run(&["capture", "-r", path, "--out", root]);
    for refused in [again(), pipe()] {
        assert_eq!(refused.status.code(), Some(1));
        let said = rocescope::text(&refused.stderr);
        assert!(
            said.contains("already has the window of local at 2026-11-21T01:40:16.000Z with the same counts"),
            "{said}"
        );
        assert!(said.contains("write them to another directory"), "{said}");
        assert_eq!(rocescope::text(&refused.stdout), "");
    }
    assert_eq!(
        json(&["dataset", "verify", root, "-o", "json"]),
        before,
        "nothing was stored"
    );
    // Another place, and the rest of an interrupted file.
    rocescope::json(Path::new(path), &["--out", root, "--observer", "other"]);
    let half = folder.path().join("half");
    let half = half.to_str().unwrap();
    rocescope::json(Path::new(path), &["--out", half, "-c", "300"]);
    let refused = rocescope::run(&["capture", "-r", path, "--out", half]);
    assert!(rocescope::text(&refused.stderr).contains("already has the window of"));
    assert_eq!(json(&["dataset", "verify", half, "-o", "json"]).1["whole"], true);
}

/// The flows of a window belong to all its rows.
#[test]
fn groups_of_windows_with_several_rows_have_the_sums_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = doubled(folder.path());
    for by in ["src", "qp", "opcode"] {
        let (_, report) = json(&["report", out.to_str().unwrap(), "-o", "json", "--by", by]);
        let groups = report["groups"]["rows"].as_array().unwrap();
        let sum: u64 = groups.iter().map(|row| row["packets"].as_u64().unwrap()).sum();
        assert_eq!(report["totals"]["roce_packets"], sum, "{by}");
        assert!(
            groups.iter().all(|row| row["frame_ratio"].as_f64().unwrap() <= 1.0),
            "{by}"
        );
    }
}

#[test]
fn a_capture_stored_twice_is_named_and_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let out = doubled(folder.path());
    let root = out.to_str().unwrap();
    let (_, report) = json(&["report", root, "-o", "json"]);
    assert_eq!(report["complete"], false);
    assert!(
        report["findings"]
            .to_string()
            .contains("stored twice with the same counts")
    );
    assert_eq!(rocescope::run(&["dataset", "verify", root]).status.code(), Some(1));
    let once = folder.path().join("once");
    rocescope::json(&captures::named("rnr_nak").path, &["--out", once.to_str().unwrap()]);
    let once = once.to_str().unwrap();
    let merged = folder.path().join("merged");
    for datasets in [[root, once], [once, once]] {
        let merge = [
            &["dataset", "merge"],
            &datasets[..],
            &["--out", merged.to_str().unwrap()],
        ]
        .concat();
        let output = rocescope::run(&merge);
        assert!(!output.status.success(), "{datasets:?}");
        assert!(rocescope::text(&output.stderr).contains("stored twice"), "{datasets:?}");
        assert!(!merged.exists(), "nothing is written");
    }
}
