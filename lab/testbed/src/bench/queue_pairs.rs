//! What a capture of a million queue pairs takes in memory, for `bench all`.

use super::cost::timed;
use super::figure::{Figure, Goal};
use anyhow::Result;
use std::fs;
use std::path::Path;
use xtask::process::{command, run as run_command};
use xtask::product::{build, directory, text};

const QUEUE_PAIRS: f64 = 1e6;
/// Two messages and their acknowledgements on each queue pair, in order.
const SCENARIO: &str = r#"
name = "a million queue pairs"
frames = 4_000_000
snaplen = 128

[truth]
connections = 1
series = 1

[[flows]]
count = 1_000_000
src = "10.64.0.0/12"
dst = "10.96.0.0/12"
group_rate = "8Gbit/s"
message = 512
"#;
const BYTES_MAX: f64 = 1_024.0;
/// Above the default of `--connection-memory`, so that the state of all of them is kept.
const ALL: [&str; 2] = ["--connection-memory", "16GiB"];

pub(super) fn figures() -> Result<Vec<Figure>> {
    let (rocescope, file) = (text(&build()?), directory()?.join("million-queue-pairs.pcap"));
    if !file.exists() {
        let (scenario, unfinished) = (file.with_extension("toml"), file.with_extension("unfinished"));
        fs::write(&scenario, SCENARIO)?;
        let write = ["generate", &text(&scenario), "--write", &text(&unfinished)];
        run_command(&mut command(&rocescope, &write))?;
        fs::rename(unfinished, &file)?;
    }
    let without = peak(&rocescope, &file, &["--no-connections"])?;
    let bounded = peak(&rocescope, &file, &[])?;
    let all = peak(&rocescope, &file, &ALL)?;
    // The file holds no more; it is in the page cache, not in the program.
    fs::remove_file(&file)?;
    let work = "memory of a capture of a million queue pairs";
    Ok(vec![
        Figure::new(format!("{work}, without connections"), without, "MiB", Goal::Stated),
        Figure::new(format!("{work}, as started by default"), bounded, "MiB", Goal::Stated),
        Figure::new(
            "connections in order: memory of a queue pair",
            (all - without) * 1_048_576.0 / QUEUE_PAIRS,
            "bytes",
            Goal::AtMost(BYTES_MAX),
        )
        .beside(format!("{all:.0} MiB in all, `{}`", ALL.join(" "))),
    ])
}

/// Peak of resident memory, in MiB.
fn peak(rocescope: &str, file: &Path, options: &[&str]) -> Result<f64> {
    let file = text(file);
    let mut arguments = vec!["capture", "-q", "-o", "json", "-r", &file];
    arguments.extend(options);
    Ok(timed(rocescope, &arguments)?.1 / 1_024.0)
}
