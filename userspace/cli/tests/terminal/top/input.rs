//! Captures and datasets for the view.

use rocescope_testkit::{run, text};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Runs the binary to completion; it must succeed.
pub(crate) fn rocescope(arguments: &[&str]) -> String {
    text(&run(arguments))
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

/// Four seconds of a hundred flows: loss, marks, an elephant. The seed is fixed, and so is every number.
pub(crate) fn capture() -> &'static str {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = folder().join("demo.pcap");
        let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/demo.toml");
        let path = file.to_str().unwrap();
        rocescope(&["generate", scenario, "--write", path, "--snaplen", "128"]);
        file
    });
    file.to_str().unwrap()
}

/// The capture as a dataset, in windows of 100 ms.
pub(crate) fn dataset() -> &'static str {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let root = folder().join("dataset");
        let path = root.to_str().unwrap();
        let capture = ["capture", "-q", "-r", capture(), "--out", path];
        rocescope(&[&capture[..], &["--window", "100ms"]].concat());
        root
    });
    root.to_str().unwrap()
}
