//! Memory, descriptors and identity over a long time.

use super::bed::Bed;
use super::contender::{Built, ContenderKind};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const SAMPLES: u32 = 60;
/// Limit of the growth between the medians of the second and of the last quarter: a leak of one byte per ten frames at
/// 10,000 frames per second is 1.7 MiB in half an hour. The maximum does not show a leak: while segments are sealed,
/// once a minute, about 20 MiB come and go.
const GROWTH_KIB: u64 = 4 * 1024;

struct Sample {
    seconds: f64,
    resident_kib: u64,
    descriptors: usize,
}

pub(super) fn run(time: Duration, pps: u32) -> Result<(String, String)> {
    let built = Built::new()?;
    let bed = Bed::new()?;
    let dropped_before = bed.dropped()?;
    let running = built.start(ContenderKind::Rocescope { drop: true }, &bed)?;
    let pid = running.pid();
    let (seconds, rate) = (format!("{}s", time.as_secs()), pps.to_string());
    let begun = Instant::now();
    let arguments = ["--pps", &rate, "--duration", &seconds];
    let (sent, samples) = scope(|scope| {
        let sender = scope.spawn(|| bed.generate(&built.rocescope, &arguments));
        let mut samples = Vec::new();
        while !sender.is_finished() {
            sleep(time / SAMPLES);
            samples.extend(sample(pid, begun));
        }
        let sent = sender.join();
        (sent, samples)
    });
    let sent = sent.ok().context("the sender panicked")??;
    sleep(Duration::from_secs(1));
    let cpu_s = running.cpu_s();
    let seen = running.end()?;
    let refused = sent["dropped"].as_u64().context("dropped")?;
    let accepted = sent["accepted"].as_u64().context("accepted")?;
    let frames = accepted - (bed.dropped()? - dropped_before).saturating_sub(refused);
    // In the first quarter, tables grow to their size.
    let quarter = samples.len() / 4;
    let settled = &samples[quarter..];
    let first = settled.first().context("no sample")?;
    let max = settled.iter().map(|sample| sample.resident_kib).max();
    let max = max.unwrap_or(first.resident_kib);
    let early = middle(&samples[quarter..2 * quarter]);
    let late = middle(&samples[samples.len() - quarter..]);
    let max_descriptors = settled.iter().map(|sample| sample.descriptors).max();
    let max_descriptors = max_descriptors.unwrap_or(first.descriptors);
    let last = samples.last().context("no sample")?;
    let table = format!(
        "| | |\n|---|---|\n| time | {:.0} s at {pps} frames/s |\n| frames accepted by the sender's kernel | {frames} |\n| frames seen | {} |\n| in lost runs | {} |\n| anonymous memory, median of the second and of the last quarter, maximum | {early} KiB, {late} KiB, {max} KiB |\n| descriptors after a quarter, maximum after it, at the end | {}, {max_descriptors}, {} |\n| processor | {:.2} % of a core |\n",
        last.seconds,
        seen.frames,
        seen.lost,
        first.descriptors,
        last.descriptors,
        100.0 * cpu_s / last.seconds,
    );
    eprint!("{table}");
    ensure!(
        seen.frames == frames,
        "{frames} frames sent, but {} seen or lost",
        seen.frames
    );
    ensure!(late <= early + GROWTH_KIB, "memory grew from {early} to {late} KiB");
    // A segment and its journal are both open while it is sealed.
    ensure!(
        max_descriptors <= first.descriptors + 16,
        "descriptors grew from {} to {max_descriptors}",
        first.descriptors
    );
    Ok((table, json(&samples, frames)))
}

/// The median of resident memory.
fn middle(samples: &[Sample]) -> u64 {
    let mut sizes: Vec<u64> = samples.iter().map(|sample| sample.resident_kib).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or(0)
}

/// Anonymous memory: the rings belong to the kernel and have a fixed size, but their two mappings both count as
/// resident once written.
fn sample(pid: u32, begun: Instant) -> Option<Sample> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some(Sample {
        seconds: begun.elapsed().as_secs_f64(),
        resident_kib: resident.trim().split(' ').next()?.parse().ok()?,
        descriptors,
    })
}

fn json(samples: &[Sample], frames: u64) -> String {
    let samples = samples.iter().map(|sample| {
        json!({
            "seconds": sample.seconds as u64,
            "resident_kib": sample.resident_kib,
            "descriptors": sample.descriptors,
        })
    });
    format!(
        "{:#}\n",
        json!({ "frames": frames, "samples": samples.collect::<Value>() })
    )
}
