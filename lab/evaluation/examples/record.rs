//! Records the dataset `examples/fabric`, which `rocescope demo` brings along, and its topology `examples/fabric.toml`:
//! `cargo run -p rocescope-lab --example record -- examples/fabric`.
#![expect(clippy::unwrap_used, reason = "it stops where it fails")]

use rocescope_lab::recorded;
use rocescope_store::{Options, Writer};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// The name in the names of files.
const OBSERVER: &str = "fabric";

fn main() {
    let root: PathBuf = std::env::args_os().nth(1).unwrap().into();
    for table in ["paths", "probes", "counters"] {
        let _ = fs::remove_dir_all(root.join(table));
    }
    let options = Options {
        tables: &[],
        ..Options::new(OBSERVER)
    };
    let mut writer = Writer::create(&root, options).unwrap();
    let (paths, probes) = recorded::mesh();
    writer
        .append_tables(&[&paths, &probes, &recorded::counters()], Instant::now())
        .unwrap();
    writer.finish().unwrap();
    fs::remove_dir_all(root.join(".open")).unwrap();
    fs::write(root.with_extension("toml"), recorded::topology().to_toml()).unwrap();
}
