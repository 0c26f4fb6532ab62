//! Part b: the highest rate at which the whole path loses nothing.
//!
//! `BPF_PROG_TEST_RUN` feeds frames directly to the attached program on core 0, so no driver limits the rate. The other
//! core processes the program's records: windows, sketches and Parquet.

use super::super::figure::{Figure, Goal};
use super::bed::Bed;
use super::contender::{Built, ContenderKind};
use anyhow::{Context, Result, ensure};
use rocescope_capture::inject::{TestRun, pin};
use rocescope_generate::{Generator, Scenario};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::root;

const SCENARIO: &str = "lab/testbed/src/bench/capture/sends.toml";
/// Frames that are sent repeatedly: eight messages of each queue pair.
const LOOP: usize = 16_384;
/// The bisection ends when both ends are within this factor.
const CLOSE: f64 = 1.1;
/// Offset of the BTH, after Ethernet, IPv4 and UDP; it begins with the opcode.
const BTH_AT: usize = 14 + 20 + 8;
const STEPS: usize = 8;
const ARRIVE: Duration = Duration::from_millis(500);

struct Run {
    asked_pps: Option<f64>,
    offered: u64,
    pps: f64,
    seen: u64,
    lost: u64,
    /// Packets that connections left out.
    yielded: u64,
    /// Share of its core that the consumer was busy, and share that the producer got.
    busy: f64,
    producer: f64,
}

impl Run {
    /// Whether windows and connections saw every packet.
    fn is_lossless(&self) -> bool {
        self.lost == 0 && self.yielded == 0
    }
}

/// Measures the rows whose names contain `only`.
pub(super) fn run(seconds: f64, only: &str) -> Result<(String, String)> {
    let results = measure(seconds, only)?;
    Ok((table(&results), json(&results)))
}

/// The highest rates without loss, and what connections leave of them.
pub(super) fn figures(seconds: f64) -> Result<Vec<Figure>> {
    let results = measure(seconds, "")?;
    let rate = |name: &str| {
        let runs = results.iter().find(|(of, _)| *of == name);
        let best = runs.and_then(|(_, runs)| best(runs));
        best.map_or((f64::NAN, f64::NAN), |run| (run.pps / 1e6, 100.0 * run.busy))
    };
    let mut figures = Vec::new();
    for (name, with, rate_goal, ratio_goal) in [
        (ALONE, WITH, Goal::Stated, 0.95),
        (RUNS, RUNS_WITH, Goal::AtLeast(5.0), 0.7),
        (TURNS, TURNS_WITH, Goal::AtLeast(5.0), 0.7),
    ] {
        let ((alone, busy), (connections, busy_with)) = (rate(name), rate(with));
        figures.push(
            Figure::new(format!("lossless, {name}"), alone, "M/s", rate_goal)
                .beside(format!("consumer {busy:.0} % of a core")),
        );
        figures.push(
            Figure::new(
                format!("lossless, {with}"),
                connections / alone,
                "of the rate without",
                Goal::AtLeast(ratio_goal),
            )
            .beside(format!("{connections:.2} M/s, consumer {busy_with:.0} %")),
        );
    }
    Ok(figures)
}

const ALONE: &str = "rocescope";
const WITH: &str = "rocescope with connections";
const RUNS: &str = "rocescope, one run per packet";
const RUNS_WITH: &str = "rocescope with connections, one run per packet";
const TURNS: &str = "rocescope, 100,000 QPs in turn";
const TURNS_WITH: &str = "rocescope with connections, 100,000 QPs in turn";

fn measure(seconds: f64, only: &str) -> Result<Vec<(&'static str, Vec<Run>)>> {
    let built = Built::new()?;
    let whole = frames()?;
    // Only FIRST packets: none continues the one before, so that each is a run.
    let first = whole.first().map_or(0, |frame| frame[BTH_AT]);
    let broken: Vec<_> = whole.iter().filter(|frame| frame[BTH_AT] == first).cloned().collect();
    let turns = turns(&broken);
    let mut results = Vec::new();
    let (alone, connections) = (
        ContenderKind::Rocescope { drop: true },
        ContenderKind::RocescopeConnections,
    );
    let rows = [
        (ALONE, alone, &whole),
        (WITH, connections, &whole),
        (RUNS, alone, &broken),
        (RUNS_WITH, connections, &broken),
        (TURNS, alone, &turns),
        (TURNS_WITH, connections, &turns),
    ];
    for (name, kind, frames) in rows.into_iter().filter(|(name, ..)| name.contains(only)) {
        let mut runs = Vec::new();
        let mut once = |pps: Option<f64>| -> Result<(bool, f64)> {
            let run = once(&built, kind, frames, pps, seconds).with_context(|| name)?;
            eprintln!(
                "{}: {:.2} M/s: {} of {} seen, {} lost, {} left out of connections, consumer {:.0} %",
                name,
                run.pps / 1e6,
                run.seen,
                run.offered,
                run.lost,
                run.yielded,
                100.0 * run.busy
            );
            let answer = (run.is_lossless(), run.pps);
            runs.push(run);
            Ok(answer)
        };
        let (lossless, max) = once(None)?;
        if !lossless {
            let (mut good, mut bad) = (0.0, max);
            let mut next = max / 2.0;
            for _ in 0..STEPS {
                let (lossless, pps) = once(Some(next))?;
                if lossless {
                    good = pps.min(next);
                    if pps < next / CLOSE {
                        // The producer reaches no higher rate.
                        break;
                    }
                } else {
                    bad = next;
                }
                if good > 0.0 && bad / good < CLOSE {
                    break;
                }
                next = f64::midpoint(good, bad);
            }
        }
        results.push((name, runs));
    }
    Ok(results)
}

fn frames() -> Result<Vec<Vec<u8>>> {
    let text = std::fs::read_to_string(root().join(SCENARIO))?;
    let mut generator = Generator::new(&Scenario::parse(&text)?, 1);
    let (mut frames, mut frame) = (Vec::new(), Vec::new());
    while frames.len() < LOOP && generator.next_frame(&mut frame).is_some() {
        // Data only: `BPF_PROG_TEST_RUN` uses one packet length, and ACKs are shorter.
        if frames.first().is_none_or(|first: &Vec<u8>| first.len() == frame.len()) {
            frames.push(frame.clone());
        }
    }
    // Frames of one opcode would each be a run, which is the worst case and unlike real traffic.
    let opcodes: BTreeSet<u8> = frames.iter().map(|frame| frame[BTH_AT]).collect();
    ensure!(opcodes.len() >= 3, "the scenario yields opcodes {opcodes:?}");
    Ok(frames)
}

/// One frame for each of 100,000 queue pairs: none is followed by another of its own before the cache has forgotten it,
/// and its PSN repeats.
fn turns(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    const QPS: u32 = 100_000;
    let frames = frames.iter().cycle().zip(0..QPS);
    frames
        .map(|(frame, qp)| {
            let mut frame = frame.clone();
            frame[BTH_AT + 4..BTH_AT + 8].copy_from_slice(&(0x1000 + qp).to_be_bytes());
            frame
        })
        .collect()
}

fn once(built: &Built, kind: ContenderKind, frames: &[Vec<u8>], pps: Option<f64>, seconds: f64) -> Result<Run> {
    let bed = Bed::new()?;
    let running = built.start(kind, &bed)?;
    let program = bed.receiver()?["xdp"]["prog"]["id"].as_u64();
    let program = program.and_then(|id| u32::try_from(id).ok());
    let program = program.context("the attached program")?;
    let cpu_before = running.cpu_s();
    let (offered, elapsed, producer_s) = std::thread::scope(|scope| {
        let sender = scope.spawn(|| send(program, frames, pps, seconds));
        sender.join().unwrap_or_else(|_| anyhow::bail!("the sender panicked"))
    })?;
    let busy = (running.cpu_s() - cpu_before) / elapsed;
    sleep(ARRIVE);
    let counts = running.end()?;
    let (seen, lost) = (counts.frames - counts.lost, counts.lost);
    ensure!(
        seen + lost == offered,
        "{offered} frames sent, but {seen} seen + {lost} lost"
    );
    Ok(Run {
        asked_pps: pps,
        offered,
        pps: offered as f64 / elapsed,
        seen,
        lost,
        yielded: counts.yielded,
        busy,
        producer: producer_s / elapsed,
    })
}

fn send(program: u32, frames: &[Vec<u8>], pps: Option<f64>, seconds: f64) -> Result<(u64, f64, f64)> {
    pin(0)?;
    let mut test_run = TestRun::open(program, frames).context("frames into the program")?;
    let cpu_before = own_cpu_s();
    let begun = Instant::now();
    let deadline = begun + Duration::from_secs_f64(seconds);
    while Instant::now() < deadline {
        test_run.send(pps, u64::MAX, deadline)?;
    }
    let elapsed = begun.elapsed().as_secs_f64();
    Ok((test_run.offered(), elapsed, own_cpu_s() - cpu_before))
}

/// Processor seconds of this thread.
fn own_cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = stat.split(' ').next().and_then(|ns| ns.parse().ok());
    first.unwrap_or(0.0f64) / 1e9
}

/// The highest rate of a run without loss.
fn best(runs: &[Run]) -> Option<&Run> {
    let lossless = runs.iter().filter(|run| run.is_lossless());
    lossless.max_by(|a, b| a.pps.total_cmp(&b.pps))
}

fn table(results: &[(&str, Vec<Run>)]) -> String {
    let mut out = String::from(
        "| | highest lossless rate, million/s | its consumer, % of a core | at full speed: million/s | lost, % | left out of connections, % | share of its core that the producer got, % | million a second of the producer |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, runs) in results {
        let best = best(runs);
        let full = runs.iter().find(|run| run.asked_pps.is_none());
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {} | {:.2} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0} | {:.2} |",
            name,
            best.map_or(0.0, |run| run.pps / 1e6),
            best.map_or(f64::NAN, |run| 100.0 * run.busy),
            full.map_or(f64::NAN, |run| run.pps / 1e6),
            full.map_or(f64::NAN, |run| 100.0 * run.lost as f64 / run.offered as f64),
            full.map_or(f64::NAN, |run| 100.0 * run.yielded as f64 / run.offered as f64),
            full.map_or(f64::NAN, |run| 100.0 * run.producer),
            full.map_or(f64::NAN, |run| run.pps / run.producer / 1e6),
        );
    }
    out
}

fn json(results: &[(&str, Vec<Run>)]) -> String {
    let all = results
        .iter()
        .flat_map(|(name, runs)| runs.iter().map(move |run| (name, run)));
    let runs = all.map(|(name, run)| {
        json!({
            "program": name,
            "asked_pps": run.asked_pps,
            "pps": run.pps,
            "offered": run.offered,
            "seen": run.seen,
            "lost": run.lost,
            "yielded": run.yielded,
            "consumer_busy": run.busy,
            "producer_busy": run.producer,
        })
    });
    format!("{:#}\n", runs.collect::<Value>())
}
