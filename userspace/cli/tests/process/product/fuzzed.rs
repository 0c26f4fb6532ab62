//! Runs the fuzz targets over the kept inputs: those with the highest coverage, and those that once broke a promise, by
//! name.

#[expect(unreachable_pub, reason = "the fuzzer uses it as a library")]
#[path = "../../../../../fuzz/src/lib.rs"]
mod targets;

use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
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

#[test]
fn trace_keeps_its_promises() {
    replay("trace", targets::trace::run);
}

/// A few damaged files of every format; `cargo xtask fuzz --mutated COUNT` runs as many as wanted, and measures memory and time.
#[test]
fn damaged_files_of_every_format_keep_the_promises() {
    const FILES: u64 = 40;
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds.tar.gz");
    let mut formats = 0;
    for (target, run, kept) in targets::mutated::TARGETS {
        let prefix = format!("{target}/");
        let named = seeds(&archive, target).into_iter();
        let files = named.map(|(name, file)| (name.trim_start_matches(&prefix).to_owned(), file));
        for (format, files) in targets::mutated::formats(target, files.collect()) {
            formats += 1;
            for number in 0..FILES {
                println!("{target}/{format} {number}");
                run(&targets::mutated::file(&files, kept, number));
            }
        }
    }
    assert!(formats > 30, "{formats}");
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
    let mut inputs = seeds(&fuzz.join("seeds.tar.gz"), target);
    assert!(!inputs.is_empty(), "no inputs for {target}");
    if let Ok(regressions) = fs::read_dir(fuzz.join("regressions").join(target)) {
        for entry in regressions {
            let path = entry.unwrap().path();
            inputs.push((path.display().to_string(), fs::read(path).unwrap()));
        }
    }
    for (name, input) in inputs {
        // Names the input of a broken promise; the test harness shows it only on failure.
        println!("{name}");
        run(&input);
    }
}

/// The files of a target in the archive, a tar file: headers of 512 bytes, content padded to as many.
fn seeds(archive: &Path, target: &str) -> Vec<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let packed = fs::File::open(archive).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let mut seeds = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((header, after)) = rest.split_at_checked(512).filter(|(header, _)| header[0] != 0) {
        let field = |at: std::ops::Range<usize>| std::str::from_utf8(&header[at]).unwrap().trim_end_matches('\0');
        let (name, length) = (field(0..100), usize::from_str_radix(field(124..135), 8).unwrap());
        if name.starts_with(&format!("{target}/")) && length > 0 {
            seeds.push((name.to_owned(), after[..length].to_vec()));
        }
        rest = &after[length.next_multiple_of(512)..];
    }
    seeds
}
