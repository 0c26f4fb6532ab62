//! Part c: the share of a generator's packets at full speed that each program captures.

use super::bed::Bed;
use super::contender::{Built, ContenderKind};
use super::median;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fmt::Write;
use std::thread::sleep;
use std::time::Duration;

/// Frames in flight at the generator's end arrive within this time.
const ARRIVE: Duration = Duration::from_millis(500);

struct Run {
    /// Accepted by the sender's kernel and not dropped by the pair.
    frames: u64,
    seen: u64,
    lost: u64,
    /// Not in `frames = seen + lost`.
    unaccounted: i64,
    cpu_s: f64,
    sent_pps: f64,
}

pub(super) fn run(rounds: usize, frames: u64) -> Result<(String, String)> {
    let built = Built::new()?;
    let bed = Bed::new()?;
    let mut runs: Vec<(ContenderKind, Vec<Run>)> = ContenderKind::ALL.map(|kind| (kind, Vec::new())).into();
    for round in 0..rounds {
        for at in 0..runs.len() {
            // A different order in every round.
            let at = (at + round) % ContenderKind::ALL.len();
            let (kind, runs) = &mut runs[at];
            let run = once(*kind, &built, &bed, frames).with_context(|| kind.name())?;
            eprintln!(
                "{}: {} of {} seen, {} lost",
                kind.name(),
                run.seen,
                run.frames,
                run.lost
            );
            runs.push(run);
        }
    }
    Ok((table(&runs), json(&runs)))
}

fn once(kind: ContenderKind, built: &Built, bed: &Bed, frames: u64) -> Result<Run> {
    let dropped_before = bed.dropped()?;
    let running = built.start(kind, bed)?;
    let cpu_before = running.cpu_s();
    let count = frames.to_string();
    let sent = bed.generate(&built.rocescope, &["--full-speed", "--count", &count])?;
    sleep(ARRIVE);
    let cpu_s = running.cpu_s() - cpu_before;
    let seen = running.end()?;
    let dropped = bed.dropped()? - dropped_before;
    // The pair counts what its ring refused, which the sender's kernel has not accepted either.
    let refused = sent["dropped"].as_u64().context("dropped")?;
    let accepted = sent["accepted"].as_u64().context("accepted")?;
    let frames = accepted - dropped.saturating_sub(refused);
    // Our count of captured frames includes those of lost runs.
    let (seen_frames, lost) = match kind {
        ContenderKind::Rocescope { .. } | ContenderKind::RocescopeConnections => (seen.frames - seen.lost, seen.lost),
        _ => (seen.frames, seen.lost),
    };
    Ok(Run {
        frames,
        seen: seen_frames,
        lost,
        unaccounted: frames.cast_signed() - (seen_frames + lost).cast_signed(),
        cpu_s,
        sent_pps: sent["accepted_pps"].as_f64().context("rate")?,
    })
}

fn table(runs: &[(ContenderKind, Vec<Run>)]) -> String {
    let mut out = String::from(
        "| | sent, million/s | seen, % | reported lost, % | unaccounted, all rounds | CPU of the program, s per million sent |\n|---|---|---|---|---|---|\n",
    );
    for (kind, runs) in runs {
        let share = |of: fn(&Run) -> u64| median(runs.iter().map(|run| 100.0 * of(run) as f64 / run.frames as f64));
        let unaccounted: i64 = runs.iter().map(|run| run.unaccounted).sum();
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {} | {:.2} | {:.2} | {:.2} | {unaccounted} | {:.3} |",
            kind.name(),
            median(runs.iter().map(|run| run.sent_pps / 1e6)),
            share(|run| run.seen),
            share(|run| run.lost),
            median(runs.iter().map(|run| run.cpu_s * 1e6 / run.frames as f64)),
        );
    }
    out
}

fn json(runs: &[(ContenderKind, Vec<Run>)]) -> String {
    let all = runs
        .iter()
        .flat_map(|(kind, runs)| runs.iter().map(move |run| (kind, run)));
    let runs = all.map(|(kind, run)| {
        json!({
            "program": kind.name(),
            "frames": run.frames,
            "seen": run.seen,
            "lost": run.lost,
            "unaccounted": run.unaccounted,
            "cpu_s": run.cpu_s,
            "sent_pps": run.sent_pps,
        })
    });
    format!("{:#}\n", runs.collect::<Value>())
}
