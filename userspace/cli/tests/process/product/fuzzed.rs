//! Runs the fuzz targets over the kept inputs: those with the highest coverage, and those that once broke a promise, by
//! name.

#[expect(unreachable_pub, reason = "the fuzzer uses it as a library")]
#[path = "../../../../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn decode_keeps_its_promises() {
    replay("decode", targets::decode::run);
}

#[test]
fn reader_keeps_its_promises() {
    replay("reader", targets::reader::run);
}

/// Its seeds are the trees and the measurements of the tests, whole and cut anywhere.
#[test]
fn hostping_keeps_its_promises() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/hostping");
    let mut topologies = Vec::new();
    for entry in fs::read_dir(files.join("trees")).unwrap() {
        topologies.push(fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(topologies.len() >= 8, "{}", topologies.len());
    let mut inputs = topologies.clone();
    for entry in fs::read_dir(files.join("measured")).unwrap() {
        let measured = fs::read_to_string(entry.unwrap().path()).unwrap();
        let joined = topologies.iter().map(|tree| format!("{tree}\n=====\n{measured}"));
        inputs.extend(joined);
        inputs.push(measured);
    }
    for input in &inputs {
        targets::hostping::run(input.as_bytes());
        for part in 1..16 {
            targets::hostping::run(&input.as_bytes()[..input.len() * part / 16]);
        }
    }
    replay("hostping", targets::hostping::run);
}

#[test]
fn observe_keeps_its_promises() {
    replay("observe", targets::observe::run);
}

#[test]
fn collective_keeps_its_promises() {
    replay("collective", targets::collective::run);
}

#[test]
fn texts_keep_their_promises() {
    replay("texts", targets::texts::run);
}

/// Its inputs have the format of `observe`.
#[test]
fn connections_keep_their_promises() {
    replay("observe", targets::connections::run);
}

/// The suite finds sums that overflow only where they panic.
#[test]
fn overflow_checks_and_debug_assertions_are_on() {
    let debug_assertions = std::hint::black_box(cfg!(debug_assertions));
    assert!(debug_assertions, "test without --release");
    let overflow = std::panic::catch_unwind(|| std::hint::black_box(u8::MAX) + std::hint::black_box(1));
    assert!(overflow.is_err());
}

fn replay(target: &str, run: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut inputs = 0;
    for kind in ["seeds", "regressions"] {
        let Ok(directory) = fs::read_dir(fuzz.join(kind).join(target)) else {
            continue;
        };
        for entry in directory {
            let path = entry.unwrap().path();
            // Names the input of a broken promise; the test harness shows it only on failure.
            println!("{}", path.display());
            run(&fs::read(path).unwrap());
            inputs += 1;
        }
    }
    assert!(inputs > 0, "no inputs for {target}");
}
