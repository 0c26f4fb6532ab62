//! What the analyses of a mesh and of a collective take, for `bench all`: the examples of their crates, run and read.

use super::figure::{Figure, Goal};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use xtask::process::{command, run as run_command};
use xtask::product::{directory, target, text};

/// 10,000 hosts of eight NICs for 20 seconds: 16 million probes.
const HOSTS: &str = "10000";
const MESH_S_MAX: f64 = 20.0;
/// 1,024 ranks that take 2,046 steps each.
const COLLECTIVE: [&str; 2] = ["1024", "2046"];
const STEPS: &str = "2095104 steps;";
const COLLECTIVE_S_MAX: f64 = 0.9;
const COLLECTIVE_MIB_MAX: f64 = 418.0;

pub(super) fn figures() -> Result<Vec<Figure>> {
    let mut figures = mesh()?;
    figures.extend(collective()?);
    Ok(figures)
}

fn mesh() -> Result<Vec<Figure>> {
    let example = example("mesh")?;
    let (dataset, unfinished) = (directory()?.join("mesh-10000"), directory()?.join("mesh-unfinished"));
    if !dataset.exists() {
        // A run that was ended left a part of it.
        let _ = fs::remove_dir_all(&unfinished);
        run_command(&mut command(&text(&example), &[&text(&unfinished), "make", HOSTS]))?;
        fs::rename(&unfinished, &dataset)?;
    }
    // "16000000 probes: 23.2 s (32.4 s CPU); peak resident 900 MiB; ..."
    let printed = printed(&example, &[&text(&dataset)])?;
    let (probes, rest) = printed.split_once(" probes: ").with_context(|| printed.clone())?;
    let (seconds, rest) = rest.split_once(" s").with_context(|| printed.clone())?;
    let beside = rest.split(';').take(2).collect::<Vec<_>>().join(",");
    let work = format!("mesh analysis of {probes} probes from Parquet, with paths");
    Ok(vec![
        Figure::new(work, seconds.parse()?, "s", Goal::AtMost(MESH_S_MAX)).beside(beside.trim()),
    ])
}

fn collective() -> Result<Vec<Figure>> {
    // A line for each number of steps, with words and numbers in this order.
    let printed = printed(&example("speed")?, &COLLECTIVE)?;
    let line = printed.lines().find(|line| line.starts_with(STEPS));
    let line = line.with_context(|| printed.clone())?;
    let after = |words: &str| -> Result<f64> {
        let (_, rest) = line.split_once(words).with_context(|| line.to_owned())?;
        let number = rest.split_whitespace().next().with_context(|| line.to_owned())?;
        number.parse().with_context(|| line.to_owned())
    };
    let seconds = after("rows to steps ")? + after("analysis ")?;
    let work = "collective of 2.1 million steps";
    Ok(vec![
        Figure::new(work, seconds, "s", Goal::AtMost(COLLECTIVE_S_MAX)),
        // The peak of all sizes until then, which grow.
        Figure::new(
            format!("{work}: peak memory"),
            after("peak ")?,
            "MiB",
            Goal::AtMost(COLLECTIVE_MIB_MAX),
        ),
    ])
}

/// Builds an example, optimized; returns its path.
fn example(name: &str) -> Result<PathBuf> {
    // Of the workspace, which has the features that the product has: nothing is compiled twice.
    let build = ["build", "--quiet", "--release", "--workspace", "--example", name];
    run_command(&mut command("cargo", &build))?;
    Ok(target()?.join("release/examples").join(name))
}

fn printed(program: &Path, arguments: &[&str]) -> Result<String> {
    let shown = text(program);
    let output = command(&shown, arguments).output().with_context(|| shown.clone())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {stderr}");
    Ok(String::from_utf8(output.stdout)?)
}
