//! The fuzzer's inputs through what it drives: those that reach furthest, and those that once broke
//! a promise, by name.

#[expect(unreachable_pub, reason = "it is a library where it is fuzzed")]
#[path = "../../../../fuzz/src/lib.rs"]
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

#[test]
fn observe_keeps_its_promises() {
    replay("observe", targets::observe::run);
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
            // Names the input when a promise is broken; shown only then.
            println!("{}", path.display());
            run(&fs::read(path).unwrap());
            inputs += 1;
        }
    }
    assert!(inputs > 0, "no inputs for {target}");
}
