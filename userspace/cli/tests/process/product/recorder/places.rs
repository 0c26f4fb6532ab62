//! Where files go, and what they must not contain.

use super::{files, keep};
use crate::product::{captures, rocescope};
use std::path::PathBuf;

#[test]
fn existing_files_of_the_same_name_stay() {
    let capture = captures::named("error_naks");
    let folder = tempfile::tempdir().unwrap();
    let more = keep("1", folder.path());
    for times in 1..=3 {
        rocescope::json(&capture.path, &more);
        assert_eq!(files(folder.path()).len(), times);
    }
    let names: Vec<String> = files(folder.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let name = names.iter().find(|name| name.ends_with("-qp226.pcapng"));
    assert_eq!(
        name.unwrap(),
        "20261121T014036.193070000Z-local-nak-10.77.0.2-10.77.0.1-qp226.pcapng"
    );
}

#[test]
fn hidden_addresses_are_not_recorded() {
    let capture = captures::named("error_naks");
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (capture.path.to_str().unwrap(), folder.path().to_str().unwrap());
    let key = "0123456789abcdeffedcba98765432101032547698badcfeefcdab8967452301";
    let basic = ["capture", "-r", path, "--keep-frames", "1"];
    let output = rocescope::run(&[&basic[..], &["--keep-frames-dir", place, "--anonymize", key]].concat());
    assert!(!output.status.success());
    assert!(rocescope::text(&output.stderr).contains("cannot be combined with --anonymize"));
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    // Files also need a directory.
    let output = rocescope::run(&basic);
    assert!(!output.status.success());
    assert!(rocescope::text(&output.stderr).contains("--keep-frames-dir or --out"));
}
