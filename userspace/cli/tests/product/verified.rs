//! A flipped bit in a segment, a missing table and a capture stored twice: every command names them.

use crate::captures;
use crate::rocescope;
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
    let (code, verified) = json(&["verify", root, "-o", "json"]);
    assert_eq!((code, &verified["whole"]), (Some(0), &Value::Bool(true)));
    assert_eq!(json(&["report", root, "-o", "json"]).1["complete"], true);
    for (number, table) in ["opcodes", "flows", "events", "windows"].into_iter().enumerate() {
        let path = scan(&out).unwrap().table(table).next().unwrap().path.clone();
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[20] ^= 4;
        fs::write(&path, damaged).unwrap();
        let (code, verified) = json(&["verify", root, "-o", "json"]);
        assert_eq!((code, &verified["whole"]), (Some(1), &Value::Bool(false)));
        assert_eq!(verified["damaged"][0]["path"], path.to_str().unwrap());
        let (code, report) = json(&["report", root, "-o", "json"]);
        assert_eq!((code, &report["complete"]), (Some(0), &Value::Bool(false)), "{table}");
        assert_eq!(report["unreadable"][0]["path"], path.to_str().unwrap(), "{table}");
        if table != "windows" {
            let merged = folder.path().join(format!("merged{number}"));
            let output = rocescope::run(&["merge", root, "--out", merged.to_str().unwrap()]);
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
    let output = rocescope::run(&["verify", root]);
    assert_eq!(output.status.code(), Some(1));
    let said = rocescope::text(&output.stdout);
    assert!(said.contains("whose opcodes do not sum to the window"), "{said}");
}

#[test]
fn a_capture_stored_twice_is_named_and_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path());
    dataset(folder.path());
    let root = out.to_str().unwrap();
    let (_, report) = json(&["report", root, "-o", "json"]);
    assert_eq!(report["complete"], false);
    assert!(
        report["findings"]
            .to_string()
            .contains("stored twice with the same counts")
    );
    assert_eq!(rocescope::run(&["verify", root]).status.code(), Some(1));
    let once = folder.path().join("once");
    rocescope::json(&captures::named("rnr_nak").path, &["--out", once.to_str().unwrap()]);
    let once = once.to_str().unwrap();
    let merged = folder.path().join("merged");
    for datasets in [[root, once], [once, once]] {
        let merge = [&["merge"], &datasets[..], &["--out", merged.to_str().unwrap()]].concat();
        let output = rocescope::run(&merge);
        assert!(!output.status.success(), "{datasets:?}");
        assert!(rocescope::text(&output.stderr).contains("stored twice"), "{datasets:?}");
        assert!(!merged.exists(), "nothing is written");
    }
}
