//! `rocescope report` over datasets with known content.
//!
//! | module | what it holds |
//! |---|---|
//! | `documents` | snapshots of text, markdown, JSON and CSV |
//! | `totals` | a report equals its capture |
//! | `choice` | times, observers and filters |
//! | `mesh` | the mesh of probes |
//! | `paths` | paths of flows over a fabric |
//! | `damage` | datasets that are empty, torn or missing |
//! | `names` | names with markup stay text |
//! | `browser` | Chromium opens the page: it draws charts and requests nothing |
//! | `png` | pixels of a screenshot |

mod browser;
mod choice;
mod damage;
mod documents;
mod mesh;
mod names;
mod paths;
mod png;
mod totals;

use rocescope_generate::{self as generate, Scenario};
use rocescope_testkit::run_in;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A directory with the demo scenario as a capture file. Commands run there, so that no path of this machine gets into
/// their output.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// The capture alone.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scenario = Scenario::parse(generate::DEMO).unwrap();
        let mut capture = Vec::new();
        generate::write(&scenario, 7, &mut capture).unwrap();
        fs::write(folder.path().join("demo.pcap"), capture).unwrap();
        Self { folder }
    }

    /// The capture and its dataset `data`, connections included.
    fn with_dataset() -> Self {
        let bench = Self::new();
        bench.capture("data", &["--observer", "rail3"]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run_in(arguments, self.folder.path())
    }

    /// The output of `capture -o json`, which also writes a dataset.
    fn capture(&self, out: &str, options: &[&str]) -> Value {
        let fixed = [
            "capture",
            "-q",
            "-r",
            "demo.pcap",
            "--no-sketches",
            "-o",
            "json",
            "--out",
        ];
        let output = self.run(&[&fixed, &[out][..], options].concat());
        serde_json::from_str(&printed(&output)).unwrap()
    }

    /// The output of `report` over the dataset `data`.
    fn report(&self, options: &[&str]) -> String {
        printed(&self.run(&[&["report", "data"], options].concat()))
    }

    fn json(&self, options: &[&str]) -> Value {
        let options = [&["-o", "json"], options].concat();
        serde_json::from_str(&self.report(&options)).unwrap()
    }

    fn html(&self, options: &[&str]) -> String {
        let options = [&["--html", "page.html"], options].concat();
        assert_eq!(self.report(&options), "", "only the page was requested");
        fs::read_to_string(self.path("page.html")).unwrap()
    }

    /// The one segment of a table of `data`.
    fn segment(&self, table: &str) -> PathBuf {
        let scan = rocescope_store::scan(&self.path("data")).unwrap();
        let mut segments = scan.table(table);
        let path = segments.next().unwrap().path.clone();
        assert!(segments.next().is_none());
        path
    }
}

/// The output of a successful run.
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "");
    assert!(output.status.success());
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The error of a failed run: one line.
fn refused(output: &Output) -> String {
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Cuts a file in half.
fn tear(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}
