//! `cargo xtask fabric accuracy`: agents on every host, one fault after another, and whether the product names them.
//!
//! Every fault starts at a random (seeded) place and time in the first half of a window, and stays until the end of the
//! next window. It is named in time if a verdict of one of these two windows has the right class and place.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | the sequence and places of faults |
//! | `agents` | `rocescope probe` on every host, and `rocescope diagnose hostmesh` over the rows |
//! | `paths` | compares the paths that agents found with those that the kernel chooses |
//! | `score` | which verdicts are right, and which name a wrong place |
//! | `report` | the table and the JSON |

mod agents;
mod paths;
mod plan;
mod report;
mod score;

use super::fault::Fault;
use super::live::{Fabric, Kept};
use agents::{Agents, Ended};
use anyhow::{Context, Result, bail, ensure};
use paths::Paths;
use report::Report;
use rocescope_fabric::Rails;
use rocescope_fabric::random::Draws;
use score::{BAR, Injected, Quiet};
use serde::{Deserialize, Serialize};
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
    /// Faults by name; all if empty.
    only: Vec<String>,
    ipv6: bool,
}

/// The injected faults, and the agents' summaries.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    options: Options,
    quiet: Quiet,
    injected: Vec<Injected>,
    agents: Vec<Ended>,
    paths: Paths,
}

/// Windows before the first fault: by then every 5-tuple has been traced and has a history.
const WARM_UP: u64 = 4;
/// Windows from one fault to the next: the one in which it begins, the next, and one without faults.
const STRIDE: u64 = 3;
/// Faults between two of the same NIC or link: two outages within six windows mean that it flaps.
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

/// `fabric record DIRECTORY`: agents, and one fault after another.
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
    let mut fabric = Kept::up(Rails {
        ipv6: options.ipv6,
        ..Rails::two_tiers(4, 4, 2)
    })?;
    fs::create_dir_all(directory)?;
    fs::write(directory.join(TOPOLOGY), fabric.size.build()?.to_toml())?;
    let dataset = directory.join(DATASET);
    let agents = Agents::start(&fabric, &rocescope, &options, &dataset)?;
    let mut random = Draws::new(options.seed);
    let plan = plan::plan(&mut random, &options);
    let mut goes_on = clock.wait(clock.start(clock.window_now() + 1 + WARM_UP));
    let from_ns = clock.now_ns();
    goes_on &= clock.wait(from_ns + i64::try_from(options.quiet)? * 1_000_000_000);
    let until_ns = clock.now_ns();
    // Before any fault: a link that recovers may get another position among the next hops of a route.
    let paths = paths::compare(&fabric, &dataset, &directory.join(TRACED))?;
    let mut injected = Vec::new();
    let mut drawn: Vec<String> = Vec::new();
    for kind in plan {
        if !goes_on {
            println!("ended by a signal: earlier faults count");
            break;
        }
        let phase = (random.unit() * 0.5 * clock.window_ns as f64) as i64;
        // Finding a 5-tuple may take longer than a window.
        let (place, fault) = loop {
            let (place, fault) = plan::draw(kind, &mut random, &fabric, &rocescope, &options)?;
            let about = fault.about(&place);
            if !drawn.iter().rev().take(APART).any(|other| other == about) {
                drawn.push(about.to_owned());
                break (place, fault);
            }
        };
        let window = clock.window_now() + 1;
        println!("{kind} at {place}");
        injected.extend(suffer(&mut fabric, &clock, (window, phase), &place, fault)?);
        goes_on = clock.wait(clock.start(window + STRIDE) - clock.window_ns / 10);
    }
    ensure!(
        goes_on || !injected.is_empty(),
        "ended by a signal before the first fault"
    );
    let agents = agents.end()?;
    let recorded = Recorded {
        options,
        quiet: Quiet { from_ns, until_ns },
        injected,
        agents,
        paths,
    };
    let file = directory.join(RUN);
    Ok(fs::write(file, serde_json::to_vec_pretty(&recorded)?)?)
}

/// Injects a fault at an offset into a window, and heals it at the end of the next. `None` if a signal came first.
fn suffer(
    fabric: &mut Fabric,
    clock: &Clock,
    (window, phase): (u64, i64),
    place: &str,
    fault: Fault,
) -> Result<Option<Injected>> {
    if !clock.wait(clock.start(window) + phase) {
        return Ok(None);
    }
    let mut one = Injected::new(fabric, place, &fault, clock.now_ns(), clock.window_ns)?;
    fabric.inject(place, fault)?;
    let is_whole = clock.wait(clock.start(window + 2));
    fabric.heal(None)?;
    one.until_ns = clock.now_ns();
    Ok(is_whole.then_some(one))
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
    let verdicts = agents::diagnose(&rocescope, directory, recorded.options.scale)?;
    let Recorded {
        options,
        quiet,
        injected,
        agents,
        paths,
    } = recorded;
    let report = Report {
        scored: score::score(injected, quiet, &verdicts),
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
        "fewer than {BAR} % were named in time, or something was named on a quiet fabric"
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
        ipv6: false,
    };
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        if *option == "--ipv6" {
            options.ipv6 = true;
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
            option => bail!("no such option: {option}"),
        }
    }
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
