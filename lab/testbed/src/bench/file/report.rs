//! The table and the JSON.

use super::super::figure::{Figure, Goal};
use super::contender::{CONNECTIONS, Contender, Run};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Minimum, median and maximum.
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    fn of(contender: &Contender, number: fn(&Run) -> f64) -> Self {
        let mut numbers: Vec<f64> = contender.runs.iter().map(number).collect();
        numbers.sort_by(f64::total_cmp);
        let at = |index: usize| numbers.get(index).copied().unwrap_or(f64::NAN);
        Self {
            min: at(0),
            median: at(numbers.len() / 2),
            max: at(numbers.len().saturating_sub(1)),
        }
    }
}

/// The results as a Markdown table, with the commands that repeat them.
pub(super) fn table(contenders: &[Contender], file: &Path, frames: u64) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_table(&mut out, contenders, file, frames);
    out
}

fn write_table(out: &mut String, contenders: &[Contender], file: &Path, frames: u64) -> std::fmt::Result {
    let wall = |contender: &Contender| Spread::of(contender, |run| run.wall_s);
    let cpu = |contender: &Contender| Spread::of(contender, |run| run.cpu_s);
    // The product comes first.
    let first = contenders.first();
    let our_wall_s = first.map_or(f64::NAN, |first| wall(first).median);
    let our_cpu_s = first.map_or(f64::NAN, |first| cpu(first).median);
    writeln!(
        out,
        "| | runs | wall, s: min / median / max | CPU, s: min / median / max | million frames per CPU second | wall / rocescope's | CPU / rocescope's |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for contender in contenders {
        let (wall, cpu) = (wall(contender), cpu(contender));
        writeln!(
            out,
            "| {} | {} | {:.3} / **{:.3}** / {:.3} | {:.3} / **{:.3}** / {:.3} | {:.2} | {:.2} | {:.2} |",
            contender.name,
            contender.runs.len(),
            wall.min,
            wall.median,
            wall.max,
            cpu.min,
            cpu.median,
            cpu.max,
            frames as f64 / cpu.median / 1e6,
            wall.median / our_wall_s,
            cpu.median / our_cpu_s,
        )?;
    }
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    writeln!(out, "\n{frames} frames, {bytes} bytes. The commands:\n")?;
    for contender in contenders {
        writeln!(out, "    {}", contender.line())?;
    }
    writeln!(out, "\nRepeat: cargo xtask bench file --full")
}

/// Ratios of medians.
pub(super) fn figures(contenders: &[Contender]) -> Vec<Figure> {
    let spread = |name: &str, number: fn(&Run) -> f64| {
        let contender = contenders.iter().find(|contender| contender.name == name);
        contender.map_or(f64::NAN, |contender| Spread::of(contender, number).median)
    };
    let wall = |name| spread(name, |run| run.wall_s);
    let ours = wall(CONNECTIONS);
    let beside = format!(
        "{ours:.3} s ({:.3} s of processor time); without connections {:.3} s",
        spread(CONNECTIONS, |run| run.cpu_s),
        wall("rocescope")
    );
    [("tcpdump", 1.6), ("tshark", 150.0)]
        .map(|(rival, goal)| {
            let beside = format!("{rival}: {:.3} s; rocescope with connections: {beside}", wall(rival));
            let work = format!("file, whole path with connections: {rival}'s time by ours");
            Figure::new(work, wall(rival) / ours, "×", Goal::AtLeast(goal)).beside(beside)
        })
        .into()
}

/// Every run.
pub(super) fn json(contenders: &[Contender], frames: u64) -> String {
    let contenders = contenders.iter().map(|contender| {
        json!({
            "name": contender.name,
            "command": contender.line(),
            "wall_s": contender.runs.iter().map(|run| run.wall_s).collect::<Value>(),
            "cpu_s": contender.runs.iter().map(|run| run.cpu_s).collect::<Value>(),
        })
    });
    format!(
        "{:#}\n",
        json!({ "frames": frames, "contenders": contenders.collect::<Value>() })
    )
}
