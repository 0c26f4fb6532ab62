//! `cargo xtask bench all [--quick] [--only NAME]`: one table of what the product costs, each figure beside its goal.
//!
//! It is kept as `docs/bench/table.md`, unless a part of it alone was asked for. `--quick` counts instructions, as the checks
//! of a change do. The other benches say more of each figure.

use super::figure::{Figure, table};
use super::{agent, analyses, capture, file, instructions, queue_pairs, reading};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use xtask::process::root;
use xtask::product::text;

const PAGE: &str = "docs/bench/table.md";

/// A part of the table.
struct Part {
    name: &'static str,
    figures: fn() -> Result<Vec<Figure>>,
}

const PARTS: [Part; 6] = [
    Part {
        name: "capture",
        figures: capture::figures,
    },
    Part {
        name: "file",
        figures: file::figures,
    },
    Part {
        name: "analyses",
        figures: analyses::figures,
    },
    Part {
        name: "queue-pairs",
        figures: queue_pairs::figures,
    },
    Part {
        name: "reading",
        figures: reading::figures,
    },
    Part {
        name: "agent",
        figures: agent::figures,
    },
];

pub(super) fn run(options: &[&str]) -> Result<()> {
    let only = match options {
        ["--quick"] => return instructions::run(&[]),
        [] => None,
        ["--only", name] => Some(*name),
        _ => bail!("usage: cargo xtask bench all [--quick | --only NAME]"),
    };
    let names = PARTS.map(|part| part.name).join(", ");
    let parts = PARTS.iter().filter(|part| only.is_none_or(|only| only == part.name));
    let parts: Vec<_> = parts.collect();
    ensure!(!parts.is_empty(), "the parts are {names}");
    let mut figures = Vec::new();
    let mut failed = Vec::new();
    for part in parts {
        eprintln!("{} ...", part.name);
        // One that fails, without root or without a rival, does not lose the others.
        match (part.figures)() {
            Ok(of_part) => {
                // At once: a later part may take long, or be stopped.
                eprintln!("{}", table(&of_part));
                figures.extend(of_part);
            }
            Err(error) => failed.push(format!("{}: {error:#}", part.name)),
        }
    }
    let table = table(&figures);
    println!("{table}");
    ensure!(failed.is_empty(), "not measured: {}", failed.join("; "));
    if only.is_none() {
        let path = root().join(PAGE);
        fs::write(&path, page(&table)).with_context(|| text(&path))?;
    }
    Ok(())
}

fn page(table: &str) -> String {
    format!(
        "# What rocescope costs\n\nWritten by `cargo xtask bench all` (as root, on a quiet machine), on {}. \
         Rivals run in the same minutes. Why a goal is missed is in [the journal](../journal/2026-11-29-limits.md).\n\n{table}",
        capture::machine()
    )
}
