//! Steps of collectives: a live capture with `--collectives` has those of its file, over XDP and over packet sockets.

use crate::live::namespace::Namespace;
use crate::live::replay::replay;
use crate::live::rows::rows;
use crate::live::running::Live;
use rocescope_generate::{self as generate, Scenario};
use rocescope_model::StepRow;
use rocescope_testkit::binary;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;

const RING: &str = "[[collective]]\nranks = \"10.0.0.1-10.0.0.4\"\nchannels = 2\nchunk = \"16KiB\"\n";

/// What does not depend on times, which a replay does not keep.
type Place = (Option<u32>, Option<u32>, u32, Option<u64>, String);

fn places(root: &Path) -> BTreeSet<Place> {
    let rows = rows::<StepRow>(root);
    let place = |row: &StepRow| {
        let likelihood = format!("{:?} of {:?}", row.likelihood, row.channel);
        (row.src_qpn, row.dst_qpn, row.step, row.bytes, likelihood)
    };
    let places: BTreeSet<Place> = rows.iter().map(place).collect();
    assert_eq!(places.len(), rows.len(), "no step is there twice");
    let collectives: BTreeSet<&str> = rows.iter().map(|row| &*row.collective).collect();
    assert_eq!(collectives.len(), 1, "{collectives:?}");
    places
}

fn steps(mode: &str) {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (path, of_file) = (folder.path().join("ring.pcap"), folder.path().join("file"));
    let truth = generate::write(&Scenario::parse(RING).unwrap(), 1, File::create(&path).unwrap()).unwrap();
    let mut file = Command::new(binary());
    file.args(["capture", "-q", "--collectives", "-r"])
        .arg(&path)
        .arg("--out")
        .arg(&of_file);
    assert!(file.output().unwrap().status.success());
    let live = folder.path().join("live");
    let arguments = ["--mode", mode, "--collectives", "--out", live.to_str().unwrap()];
    let capture = Live::begin(&namespace, &arguments);
    replay(&namespace, &path);
    capture.stop();
    let (found, wanted) = (places(&live), places(&of_file));
    assert_eq!(wanted.len(), truth.steps.len());
    assert_eq!(found, wanted, "{mode}");
}

#[test]
fn native() {
    steps("native");
}

#[test]
fn generic() {
    steps("generic");
}

#[test]
fn packet_socket() {
    steps("af-packet");
}
