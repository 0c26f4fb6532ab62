//! `cargo xtask bench truth [CLASS]`: what connections report about generated traffic, against its truth.

use anyhow::Result;
use xtask::process::{command, run as run_command};

/// Seeds of each class.
const SEEDS: &str = "40";

/// The table goes to standard output. With a class, each difference of it is a line before the table.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let cargo = ["test", "--quiet", "--package", "rocescope", "--test", "evaluations"];
    let mut bench = command("cargo", &cargo);
    bench.args(["--", "--nocapture", "every_class_reaches_its_floor"]);
    bench.env("TRUTH_SEEDS", std::env::var("TRUTH_SEEDS").as_deref().unwrap_or(SEEDS));
    if let [class, ..] = options {
        bench.env("TRUTH_CLASS", class);
    }
    run_command(&mut bench)
}
