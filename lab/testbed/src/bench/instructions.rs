//! `cargo xtask bench instructions [--save]`: what a frame, a probe and a step cost in instructions.
//!
//! Times depend on what else a machine does; instructions do not, so every change can be held to them. Callgrind counts those
//! of `rocescope-hot-paths` (`lab/hot-paths`) and this compares them with `docs/bench/instructions.md`, which `--save`
//! writes. Another compiler makes other instructions: then nothing is compared.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use xtask::process::{command, root, run as run_command};
use xtask::product::{target, text};

const PROGRAM: &str = "rocescope-hot-paths";
/// How much dearer a path may become without a word about it.
const MAX_MORE: f64 = 0.05;
/// The C library copies memory in the way of this processor; these are those that all have.
const PLAIN_COPIES: &str = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM";
const COUNTED_BY: &str = "Counted by the code of ";

/// What one path costs.
pub(super) struct Count {
    pub(super) name: String,
    unit: String,
    pub(super) per_unit: f64,
}

pub(super) fn run(options: &[&str]) -> Result<()> {
    let is_saved = match options {
        [] => false,
        ["--save"] => true,
        _ => bail!("usage: cargo xtask bench instructions [--save]"),
    };
    let compiler = compiler()?;
    let counts = count()?;
    if is_saved {
        fs::write(page(), written(&counts, &compiler)).with_context(|| text(&page()))?;
        print!("{}", written(&counts, &compiler));
        return Ok(());
    }
    let before = fs::read_to_string(page()).with_context(|| text(&page()))?;
    let is_comparable = before.contains(&format!("{COUNTED_BY}{compiler}"));
    let dearer = compare(&counts, &read(&before));
    if !is_comparable {
        println!("docs/bench/instructions.md is of another compiler than {compiler}: nothing is compared");
        return Ok(());
    }
    ensure!(
        dearer.is_empty(),
        "more instructions than in docs/bench/instructions.md: {}; if they are worth it, `cargo xtask bench instructions --save`",
        dearer.join(", ")
    );
    Ok(())
}

fn page() -> PathBuf {
    root().join("docs/bench/instructions.md")
}

/// Counts all paths.
pub(super) fn count() -> Result<Vec<Count>> {
    run_command(&mut command(
        "cargo",
        &["build", "--quiet", "--release", "--package", PROGRAM],
    ))?;
    let program = text(&target()?.join("release").join(PROGRAM));
    let names = command(&program, &[]).output().with_context(|| program.clone())?;
    let names = String::from_utf8(names.stdout)?;
    names.lines().map(|name| count_one(&program, name)).collect()
}

fn count_one(program: &str, name: &str) -> Result<Count> {
    let options = [
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        // Only what happens within this function of the program.
        "--toggle-collect=*measured*",
        program,
        name,
    ];
    let mut valgrind = command("valgrind", &options);
    let output = valgrind.env("GLIBC_TUNABLES", PLAIN_COPIES).output();
    let output = output.context("valgrind (apt install valgrind)")?;
    let (stdout, stderr) = (
        String::from_utf8(output.stdout)?,
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(output.status.success(), "{name}: {stderr}");
    let (units, unit) = stdout
        .trim()
        .split_once(' ')
        .with_context(|| format!("{name}: {stdout}"))?;
    let units: f64 = units.parse().with_context(|| format!("{name}: {stdout}"))?;
    let collected = stderr.lines().find_map(|line| line.split_once("Collected : "));
    let (_, instructions) = collected.with_context(|| format!("{name}: {stderr}"))?;
    let instructions: f64 = instructions.trim().parse().context(stderr.to_string())?;
    ensure!(instructions > 0.0, "{name}: nothing was counted");
    Ok(Count {
        name: name.to_owned(),
        unit: unit.to_owned(),
        per_unit: instructions / units,
    })
}

/// The compiler that makes the instructions.
fn compiler() -> Result<String> {
    let output = command("rustc", &["--version"]).output().context("rustc")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Prints each path beside what it cost before; returns those that became dearer.
fn compare(counts: &[Count], before: &BTreeMap<String, f64>) -> Vec<String> {
    let mut dearer = Vec::new();
    for Count { name, unit, per_unit } in counts {
        let Some(former) = before.get(name) else {
            println!("{name}: {per_unit:.1} a {unit}, not counted before");
            dearer.push(format!("{name} (not in the page)"));
            continue;
        };
        let more = per_unit / former - 1.0;
        println!(
            "{name}: {per_unit:.1} a {unit}, {former:.1} before ({:+.1} %)",
            100.0 * more
        );
        if more > MAX_MORE {
            dearer.push(format!("{name} {:+.1} %", 100.0 * more));
        }
    }
    dearer
}

fn written(counts: &[Count], compiler: &str) -> String {
    let mut out = format!(
        "# Instructions of the hot paths\n\n\
         **Repeat:** `cargo xtask bench instructions`; the checks of a change do, and fail where a path takes {:.0} % more. \
         `--save` writes this page.\n\n\
         {COUNTED_BY}{compiler} under callgrind, with the inputs of `lab/hot-paths`.\n\n\
         | path | one | instructions a unit |\n|---|---|---|\n",
        100.0 * MAX_MORE
    );
    for Count { name, unit, per_unit } in counts {
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {name} | {unit} | {per_unit:.1} |");
    }
    out
}

/// The counts of a page, by path.
fn read(page: &str) -> BTreeMap<String, f64> {
    page.lines()
        .filter_map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let name = cells.next()?.to_owned();
            Some((name, cells.nth(1)?.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Count, compare, read, written};

    fn count(per_unit: f64) -> [Count; 1] {
        [Count {
            name: "windows".into(),
            unit: "frame".into(),
            per_unit,
        }]
    }

    #[test]
    fn a_path_that_takes_more_than_the_page_allows_is_named() {
        let page = read(&written(&count(200.0), "rustc 1.95.0"));
        assert_eq!(page.get("windows"), Some(&200.0));
        assert!(compare(&count(209.9), &page).is_empty());
        assert!(compare(&count(100.0), &page).is_empty());
        assert_eq!(compare(&count(212.0), &page), ["windows +6.0 %"]);
        assert_eq!(compare(&count(1.0), &read("")), ["windows (not in the page)"]);
    }
}
