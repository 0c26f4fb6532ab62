//! `cargo xtask fabric lasting`: faults that are older than the agents, or that outlast three renewals of source ports.
//!
//! Each kind has a fabric of its own, of 2, 3 or 4 NICs a host and 2 or 12 spines, whose agents send to a collector that
//! analyzes. Meanwhile one agent is killed and starts again, and so does the collector. A fault that comes right after
//! another one begins when that one ends, in the middle.
//!
//! | module | what it does |
//! |---|---|
//! | `site` | the fabric, its collector and its agents |
//! | `score` | which windows name the faults, and which name another place |

mod score;
mod site;

use super::kinds::{At, Kind};
use super::plan::{self, Drawn};
use super::score::{BAR, Injected, Trouble};
use super::{Clock, Options};
use anyhow::{Context, Result, bail, ensure};
use rocescope_fabric::Rails;
use rocescope_fabric::random::{Draws, mix};
use serde::{Deserialize, Serialize};
use site::Site;
use std::fs;
use std::path::{Path, PathBuf};

const HOSTS: u32 = 4;
/// The sizes: NICs a host, and spines.
const NICS: [u32; 3] = [2, 3, 4];
const SPINES: [u32; 2] = [2, 12];
/// Windows until a source port is renewed.
const RENEWAL: u64 = 3;
/// Windows with a fault: of an old one, and of one that outlasts three renewals.
const OLD: u64 = 6;
const LASTING: u64 = 3 * RENEWAL + 1;
/// Windows from the start of the agents until a lasting fault: all of the first ports are traced.
const BEFORE: u64 = 4;
/// Windows with a fault until an agent is killed and starts again, and until the collector is.
const AGENT: u64 = 2;
const COLLECTOR: u64 = 4;
const CASE: &str = "case.json";

/// What was done in a case.
#[derive(Debug, Serialize, Deserialize)]
struct Case {
    kind: String,
    is_old: bool,
    nics: u32,
    spines: u32,
    scale: u32,
    /// The agent that was killed and started again.
    restarted: String,
    faults: Vec<Injected>,
    /// When all agents ran, and when they ended.
    from_ns: i64,
    until_ns: i64,
}

struct Wanted<'a> {
    options: Options,
    is_old: bool,
    /// A part of the kinds: its number, and the number of parts.
    part: (usize, usize),
    rocescope: PathBuf,
    directory: &'a Path,
}

/// `fabric lasting DIRECTORY [OPTION...]`.
pub(in crate::fabric) fn run(arguments: &[&str]) -> Result<()> {
    let [directory, arguments @ ..] = arguments else {
        bail!("fabric lasting requires a directory");
    };
    ensure!(
        !directory.starts_with('-'),
        "{directory} is an option: the directory comes first"
    );
    let (wanted, judges_only) = wanted(Path::new(directory), arguments)?;
    if !judges_only {
        record(&wanted)?;
    }
    let scored = score::judge(wanted.directory, &wanted.rocescope)?;
    scored.print();
    ensure!(
        scored.is_good(),
        "fewer than {BAR} % of the cases are right, or a window with loss has no verdict"
    );
    Ok(())
}

fn wanted<'a>(directory: &'a Path, arguments: &[&str]) -> Result<(Wanted<'a>, bool)> {
    let (mut is_old, mut judges_only, mut part, mut binary) = (false, false, (1, 1), None);
    let mut rest = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--old" => is_old = true,
            "--judge" => judges_only = true,
            "--part" => {
                let value = words.next().and_then(|value| value.split_once('/'));
                let (one, of) = value.context("--part requires K/N")?;
                part = (one.parse()?, of.parse()?);
                ensure!((1..=part.1).contains(&part.0), "--part requires K/N, K from 1 to N");
            }
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary which?")?)),
            other => rest.push(other),
        }
    }
    let wanted = Wanted {
        options: super::options(&rest)?,
        is_old,
        part,
        rocescope: binary.map_or_else(xtask::product::build, Ok)?,
        directory,
    };
    ensure!(
        wanted.options.size.is_empty(),
        "the sizes are drawn: no {:?}",
        wanted.options.size
    );
    Ok((wanted, judges_only))
}

fn record(wanted: &Wanted<'_>) -> Result<()> {
    let Wanted { options, part, .. } = wanted;
    let clock = Clock::new(options.scale)?;
    let plan = plan::plan(&mut Draws::new(options.seed), options);
    let mine = plan.into_iter().enumerate().skip(part.0 - 1).step_by(part.1);
    for (number, kind) in mine {
        // No case depends on those before it.
        let mut random = Draws::new(mix(&[options.seed, number as u64, u64::from(wanted.is_old)]));
        let Some(case) = suffer(wanted, kind, number, &mut random, &clock)? else {
            println!("ended by a signal: earlier cases count");
            break;
        };
        let directory = directory(wanted, number);
        fs::write(directory.join(CASE), serde_json::to_vec_pretty(&case)?)?;
        println!("{}: {} NICs, {} spines", case.kind, case.nics, case.spines);
    }
    Ok(())
}

fn directory(wanted: &Wanted<'_>, number: usize) -> PathBuf {
    let when = if wanted.is_old { "old" } else { "lasting" };
    wanted
        .directory
        .join(format!("{when}-{}-{number}", wanted.options.seed))
}

/// What changes at a time of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Ends(usize),
    Begins(usize),
    Agent,
    Collector,
}

/// One case; `None` if a signal came first.
fn suffer(wanted: &Wanted<'_>, kind: &Kind, number: usize, random: &mut Draws, clock: &Clock) -> Result<Option<Case>> {
    let Wanted { options, is_old, .. } = wanted;
    let spines = SPINES[random.below(2) as usize];
    // Where a spine has two links, whatever crosses the one crosses the other.
    let are_two = kind.parts.iter().any(|part| part.at == At::SameUpper);
    let nics = match random.below(3) as usize {
        0 if are_two => NICS[1],
        drawn => NICS[drawn],
    };
    let directory = directory(wanted, number);
    let size = Rails::two_tiers(HOSTS, nics, spines);
    let mut site = Site::up(size, &wanted.rocescope, options, &directory)?;
    let (mut drawn, _) = plan::draw(kind, random, &site.fabric, None, options, &[])?;
    if *is_old {
        // No one misses an agent that never ran.
        drawn.retain(|one| !matches!(one.trouble, Trouble::Silence));
    }
    let restarted = restarted(&site, &drawn, random);
    let mut faults: Vec<Option<Injected>> = drawn.iter().map(|_| None).collect();
    let first = clock.window_now() + 1;
    let mut changes = changes(*is_old, first, &drawn, random, clock);
    let is_before =
        |(_, change): &(i64, Change)| *is_old && matches!(change, Change::Begins(at) if drawn[*at].after == 0);
    let (before, rest) = changes.drain(..).partition::<Vec<_>, _>(is_before);
    for (_, change) in before {
        apply(change, &mut site, &drawn, &mut faults, &restarted, clock)?;
    }
    for host in site.hosts() {
        site.start_agent(&host)?;
    }
    for (time, change) in rest {
        if !clock.wait(time) {
            return Ok(None);
        }
        apply(change, &mut site, &drawn, &mut faults, &restarted, clock)?;
    }
    let end = first + if *is_old { OLD } else { BEFORE + LASTING };
    if !clock.wait(clock.start(end)) {
        return Ok(None);
    }
    let until_ns = clock.now_ns();
    for fault in faults
        .iter_mut()
        .flatten()
        .filter(|fault| fault.until_ns <= fault.from_ns)
    {
        fault.until_ns = until_ns;
    }
    site.end()?;
    Ok(Some(Case {
        kind: kind.name.to_owned(),
        is_old: *is_old,
        nics,
        spines,
        scale: options.scale,
        restarted,
        faults: faults.into_iter().flatten().collect(),
        from_ns: clock.start(first),
        until_ns,
    }))
}

/// A host whose agent no fault touches.
fn restarted(site: &Site, drawn: &[Drawn], random: &mut Draws) -> String {
    let mut hosts = site.hosts();
    let is_of = |one: &Drawn, host: &str| one.place == host || one.place.starts_with(&format!("{host}n"));
    hosts.retain(|host| !drawn.iter().any(|one| is_of(one, host)));
    let at = random.below(u32::try_from(hosts.len()).unwrap_or(1));
    hosts.swap_remove(at as usize)
}

/// When what changes. `first` is the first window that is whole.
fn changes(is_old: bool, first: u64, drawn: &[Drawn], random: &mut Draws, clock: &Clock) -> Vec<(i64, Change)> {
    let (begin, windows) = if is_old {
        (first, OLD)
    } else {
        (first + BEFORE, LASTING)
    };
    let has_second = drawn.iter().any(|one| one.after > 0);
    let middle = clock.start(begin + windows / 2);
    let phase = (random.unit() * 0.5 * clock.window_ns as f64) as i64;
    let mut changes = Vec::new();
    for (at, one) in drawn.iter().enumerate() {
        let from = if one.after > 0 {
            middle + clock.window_ns
        } else {
            clock.start(begin) + phase
        };
        changes.push((from, Change::Begins(at)));
        if has_second && one.after == 0 {
            changes.push((middle, Change::Ends(at)));
        }
    }
    changes.push((clock.start(begin + AGENT) + phase, Change::Agent));
    changes.push((clock.start(begin + COLLECTOR) + phase, Change::Collector));
    changes.sort_unstable();
    changes
}

fn apply(
    change: Change,
    site: &mut Site,
    drawn: &[Drawn],
    faults: &mut [Option<Injected>],
    restarted: &str,
    clock: &Clock,
) -> Result<()> {
    match change {
        Change::Begins(at) => {
            let Drawn { place, trouble, .. } = &drawn[at];
            faults[at] = Some(Injected::new(
                &site.fabric,
                place,
                trouble,
                clock.now_ns(),
                clock.window_ns,
            )?);
            match trouble {
                Trouble::Fault(fault) => site.fabric.inject(place, fault.clone()),
                Trouble::Silence => site.kill_agent(place),
            }
        }
        Change::Ends(at) => {
            if let Some(fault) = &mut faults[at] {
                fault.until_ns = clock.now_ns();
            }
            site.fabric.heal(Some(&drawn[at].place)).map(drop)
        }
        Change::Agent => {
            site.kill_agent(restarted)?;
            site.start_agent(restarted)
        }
        Change::Collector => {
            site.kill_collector()?;
            site.start_collector()
        }
    }
}
