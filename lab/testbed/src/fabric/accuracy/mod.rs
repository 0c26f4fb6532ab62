//! `cargo xtask fabric accuracy`: agents on every host, one case after another, and whether the product names its faults.
//!
//! Every fault starts at a random (seeded) place and time in the first half of a window, and stays until the end of the
//! next window. It is named in time if a verdict of one of these two windows has the right class and place. A case is
//! right if all of its faults are named in time, and nothing else.
//!
//! | module | what it does |
//! |---|---|
//! | `kinds` | the kinds of cases |
//! | `plan` | the sequence of cases and the places of their faults |
//! | `agents` | `rocescope probe` on every host, and `rocescope diagnose mesh` over the rows |
//! | `paths` | compares the paths that agents found with those that the kernel chooses |
//! | `score` | which verdicts are right, and which name a wrong place |
//! | `report` | the table and the JSON |
//! | `lasting` | `fabric lasting`: faults that are older than the agents, and faults that last |

mod agents;
mod kinds;
pub(super) mod lasting;
mod paths;
mod plan;
mod report;
mod score;

use super::live::{Fabric, Kept};
use agents::{Agents, Ended};
use anyhow::{Context, Result, bail, ensure};
use paths::Paths;
use plan::Drawn;
use report::Report;
use rocescope_fabric::Rails;
use rocescope_fabric::random::Draws;
use score::{BAR, Case, Injected, Quiet, Trouble};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The options.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Options {
    /// Divides all times of the product.
    scale: u32,
    rounds: u32,
    seed: u64,
    /// Seconds without any fault, after the warm-up.
    quiet: u64,
    /// Parts of names of kinds; all kinds if empty.
    only: Vec<String>,
    /// The options of the fabric's size.
    size: Vec<String>,
}

/// The cases, and the agents' summaries.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    options: Options,
    quiet: Quiet,
    cases: Vec<Case>,
    agents: Vec<Ended>,
    paths: Paths,
}

/// Windows before the first fault: by then every 5-tuple has been traced and has a history.
const WARM_UP: u64 = 4;
/// Windows of a case after the start of its last fault: this one, the next, and one without faults.
const STRIDE: u64 = 3;
/// Cases between two at the same NIC or link: two outages within six windows mean that it flaps.
const APART: usize = 2;
/// Files in the directory of a run.
const DATASET: &str = "dataset";
/// A copy of the dataset from before the first fault.
const TRACED: &str = "traced";
const TOPOLOGY: &str = "topology.toml";
const RUN: &str = "run.json";

/// `fabric accuracy`: both steps, one after the other.
pub(super) fn run(arguments: &[&str]) -> Result<()> {
    let directory = xtask::product::directory()?.join("accuracy");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let directory = xtask::product::text(&directory);
    let at = arguments.iter().position(|word| *word == "--json");
    let (words, json) = match at {
        Some(at) => (&arguments[..at], &arguments[at..]),
        None => (arguments, &[][..]),
    };
    record(&[&[directory.as_str()], words].concat())?;
    judge(&[&[directory.as_str()], json].concat())
}

/// `fabric record DIRECTORY`: agents, and one case after another.
pub(super) fn record(arguments: &[&str]) -> Result<()> {
    let [directory, arguments @ ..] = arguments else {
        bail!("fabric record requires a directory, which it creates");
    };
    ensure!(
        !directory.starts_with('-'),
        "{directory} is an option: the directory comes first"
    );
    let directory = Path::new(directory);
    let options = options(arguments)?;
    let clock = Clock::new(options.scale)?;
    let rocescope = xtask::product::build()?;
    let words: Vec<&str> = options.size.iter().map(String::as_str).collect();
    let mut fabric = Kept::up(super::size(Rails::two_tiers(4, 4, 4), &words)?)?;
    fs::create_dir_all(directory)?;
    fs::write(directory.join(TOPOLOGY), fabric.size.build()?.to_toml())?;
    let dataset = directory.join(DATASET);
    let mut agents = Agents::start(&fabric, &rocescope, &options, &dataset)?;
    let mut random = Draws::new(options.seed);
    let plan = plan::plan(&mut random, &options);
    let mut goes_on = clock.wait(clock.start(clock.window_now() + 1 + WARM_UP));
    let from_ns = clock.now_ns();
    goes_on &= clock.wait(from_ns + i64::try_from(options.quiet)? * 1_000_000_000);
    let until_ns = clock.now_ns();
    // Before any fault: a link that recovers may get another position among the next hops of a route.
    let paths = paths::compare(&fabric, &dataset, &directory.join(TRACED))?;
    let mut cases = Vec::new();
    let mut used: Vec<BTreeSet<String>> = Vec::new();
    for kind in plan {
        if !goes_on {
            println!("ended by a signal: earlier cases count");
            break;
        }
        let recent = &used[used.len().saturating_sub(APART)..];
        let (drawn, places) = plan::draw(kind, &mut random, &fabric, Some(&rocescope), &options, recent)?;
        used.push(places);
        // Finding a 5-tuple may have taken longer than a window.
        let window = clock.window_now() + 1;
        let length = drawn.iter().map(|one| one.after).max().unwrap_or(0) + STRIDE;
        println!(
            "{} at {}",
            kind.name,
            drawn
                .iter()
                .map(|one| one.place.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        );
        let faults = suffer(&mut fabric, &mut agents, &clock, &mut random, window, &drawn)?;
        let kind = kind.name.to_owned();
        cases.extend(faults.map(|faults| Case { kind, faults }));
        goes_on = clock.wait(clock.start(window + length) - clock.window_ns / 10);
    }
    ensure!(goes_on || !cases.is_empty(), "ended by a signal before the first case");
    let agents = agents.end()?;
    let recorded = Recorded {
        options,
        quiet: Quiet { from_ns, until_ns },
        cases,
        agents,
        paths,
    };
    let file = directory.join(RUN);
    Ok(fs::write(file, serde_json::to_vec_pretty(&recorded)?)?)
}

/// Lets each fault of a case begin in the first half of its window, and end with the next window. `None` if a signal came
/// first.
fn suffer(
    fabric: &mut Fabric,
    agents: &mut Agents<'_>,
    clock: &Clock,
    random: &mut Draws,
    window: u64,
    drawn: &[Drawn],
) -> Result<Option<Vec<Injected>>> {
    let mut changes = Vec::new();
    for (at, one) in drawn.iter().enumerate() {
        let phase = (random.unit() * 0.5 * clock.window_ns as f64) as i64;
        changes.push((clock.start(window + one.after) + phase, at, true));
        changes.push((clock.start(window + one.after + 2), at, false));
    }
    // What ends at a time does so before something else begins.
    changes.sort_unstable_by_key(|(time, at, begins)| (*time, *begins, *at));
    let mut injected: Vec<Option<Injected>> = drawn.iter().map(|_| None).collect();
    let mut is_whole = true;
    for (time, at, begins) in changes {
        is_whole &= clock.wait(time);
        let Drawn { place, trouble, .. } = &drawn[at];
        if begins && is_whole {
            injected[at] = Some(Injected::new(fabric, place, trouble, clock.now_ns(), clock.window_ns)?);
            match trouble {
                Trouble::Fault(fault) => fabric.inject(place, fault.clone())?,
                Trouble::Silence => agents.kill(place)?,
            }
        } else if let (false, Some(one)) = (begins, &mut injected[at]) {
            match trouble {
                Trouble::Fault(_) => drop(fabric.heal(Some(place))?),
                Trouble::Silence => agents.start_one(fabric, place)?,
            }
            one.until_ns = clock.now_ns();
        }
    }
    Ok(if is_whole { injected.into_iter().collect() } else { None })
}

/// `fabric judge DIRECTORY`: the product's verdicts.
pub(super) fn judge(arguments: &[&str]) -> Result<()> {
    let (directory, json) = match arguments {
        [directory] => (directory, None),
        [directory, "--json", file] => (directory, Some(file)),
        _ => bail!("usage: cargo xtask fabric judge DIRECTORY [--json FILE]"),
    };
    let directory = Path::new(directory);
    let read = fs::read(directory.join(RUN)).context("the directory has no recorded run")?;
    let recorded: Recorded = serde_json::from_slice(&read)?;
    let rocescope = xtask::product::build()?;
    let found = agents::diagnose(&rocescope, directory, recorded.options.scale)?;
    let verdicts = agents::rows(&found, "verdicts")?;
    let Recorded {
        options,
        quiet,
        cases,
        agents,
        paths,
    } = recorded;
    let report = Report {
        scored: score::score(cases, quiet, &verdicts),
        options,
        agents,
        paths,
    };
    report.print();
    if let Some(file) = json {
        fs::write(file, serde_json::to_vec_pretty(&report.json())?)?;
    }
    let Report { scored, paths, .. } = &report;
    ensure!(
        paths.differing.is_empty() && paths.equal > 0,
        "agents found other paths than the kernel chooses"
    );
    ensure!(
        scored.is_good(),
        "fewer than {BAR} % of the cases are right, or something was named without a fault"
    );
    Ok(())
}

fn options(arguments: &[&str]) -> Result<Options> {
    let mut options = Options {
        scale: 10,
        rounds: 1,
        seed: 1,
        quiet: 0,
        only: Vec::new(),
        size: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        if *option == "--ipv6" {
            options.size.push((*option).to_owned());
            continue;
        }
        let value = arguments.next();
        let value = value.with_context(|| format!("{option} what?"))?;
        match *option {
            "--scale" => options.scale = value.parse().context("--scale requires a number")?,
            "--rounds" => options.rounds = value.parse().context("--rounds requires a number")?,
            "--seed" => options.seed = value.parse().context("--seed requires a number")?,
            "--quiet" => options.quiet = value.parse().context("--quiet requires seconds")?,
            "--only" => options.only = value.split(',').map(str::to_owned).collect(),
            option => options.size.extend([option, value].map(|word| (*word).to_owned())),
        }
    }
    // A misspelt option ends the command here.
    let words: Vec<&str> = options.size.iter().map(String::as_str).collect();
    super::size(Rails::two_tiers(4, 4, 4), &words)?;
    ensure!((1..=100).contains(&options.scale), "--scale must be from 1 to 100");
    Ok(options)
}

/// Windows of the analysis, on the clock of the machine.
struct Clock {
    window_ns: i64,
    /// Set by a signal that ends the run.
    ended: Arc<AtomicBool>,
}

impl Clock {
    fn new(scale: u32) -> Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&ended))?;
        }
        Ok(Self {
            window_ns: 20_000_000_000 / i64::from(scale),
            ended,
        })
    }

    /// Nanoseconds since 1970.
    fn now_ns(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_nanos() as i64)
    }

    fn window_now(&self) -> u64 {
        (self.now_ns() / self.window_ns) as u64
    }

    fn start(&self, window: u64) -> i64 {
        window as i64 * self.window_ns
    }

    /// Waits until a time; returns false after a signal.
    #[must_use]
    fn wait(&self, until_ns: i64) -> bool {
        while !self.ended.load(Ordering::Relaxed) {
            let left = until_ns - self.now_ns();
            if left <= 0 {
                return true;
            }
            let left = Duration::from_nanos(left.cast_unsigned());
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
        false
    }
}
