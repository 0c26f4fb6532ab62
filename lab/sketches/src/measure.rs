//! Measures rounds, interleaved so that a slow minute affects every contender, and errors.

use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use crate::contender::{Contender, Entry};
use crate::streams::Stream;
use crate::{contenders, memory};

/// How often the keys are fed.
const KEYED_TIMES: usize = 128;
/// The number of flows that the third question requests.
const TOP: usize = 1_000;
/// A flow within this share of the last one may replace it.
const TIE: f64 = 0.005;

/// Options of the command line.
pub struct Options {
    /// Packets per stream.
    pub packets: usize,
    /// Rounds of throughput.
    pub rounds: usize,
    /// Zipf streams for the errors.
    pub seeds: u64,
    /// The path of the JSON.
    pub json: Option<String>,
}

impl Options {
    /// Reads `--packets N --rounds N --seeds N --json FILE`, in any order.
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self {
            packets: 10_000_000,
            rounds: 7,
            seeds: 20,
            json: None,
        };
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--packets" => options.packets = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--seeds" => options.seeds = value.parse()?,
                "--json" => options.json = Some(value),
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        if options.packets == 0 || options.rounds == 0 || options.seeds == 0 {
            return Err("packets, rounds and seeds must be at least 1".into());
        }
        Ok(options)
    }
}

/// The three questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// How many flows?
    Distinct,
    /// How large is this flow?
    Sizes,
    /// Which are largest?
    Top,
}

/// One table.
pub struct Group {
    /// Its question.
    pub question: Question,
    /// One row per contender.
    pub rows: Vec<Row>,
}

/// The measurements of one contender.
#[derive(Default)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Million updates per second for each round: Zipf by hash, RoCE-like by hash, RoCE-like by key.
    pub zipf: Vec<f64>,
    /// RoCE-like stream by hash.
    pub roce: Vec<f64>,
    /// RoCE-like stream by 48-byte key; empty if unsupported.
    pub keyed: Vec<f64>,
    /// Bytes in use after the Zipf stream.
    pub bytes: usize,
    /// Allocations during the Zipf stream.
    pub allocations: usize,
    /// For each seed: relative error of the number of flows; or mean error of a flow's size, in packets; or mean
    /// relative error of the sizes of the top flows.
    pub errors: Vec<f64>,
    /// For each seed: share of the top flows that were found.
    pub recalls: Vec<f64>,
}

/// Pins this process to the last core that it may use. `None` if that is not permitted.
pub fn pin() -> Option<usize> {
    let core = std::thread::available_parallelism().ok()?.get() - 1;
    // SAFETY: an all-zero cpu_set_t is the empty set; the kernel reads exactly the size given.
    let pinned = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    (pinned == 0).then_some(core)
}

/// Measures all contenders.
pub fn run(options: &Options) -> Result<Vec<Group>, Box<dyn Error>> {
    let asked = [
        (Question::Distinct, contenders::DISTINCT),
        (Question::Sizes, contenders::SIZES),
        (Question::Top, contenders::TOP),
    ];
    let named = |entry: &Entry| Row {
        name: entry.name,
        ..Row::default()
    };
    let mut groups: Vec<Group> = asked
        .iter()
        .map(|(question, entries)| Group {
            question: *question,
            rows: entries.iter().map(named).collect(),
        })
        .collect();
    let (zipf, roce) = (Stream::zipf(options.packets, 0), Stream::roce(options.packets, 0));
    for round in 0..options.rounds {
        for (group, (_, entries)) in groups.iter_mut().zip(&asked) {
            for (row, entry) in group.rows.iter_mut().zip(*entries) {
                throughput(row, entry, &zipf, &roce)?;
            }
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    for seed in 1..=options.seeds {
        let stream = Stream::zipf(options.packets, seed);
        for (group, (question, entries)) in groups.iter_mut().zip(&asked) {
            for (row, entry) in group.rows.iter_mut().zip(*entries) {
                let mut contender = (entry.make)()?;
                contender.feed(&stream.hashes);
                errors(row, *question, &*contender, &stream);
            }
        }
        eprintln!("seed {seed} of {}", options.seeds);
    }
    Ok(groups)
}

fn throughput(row: &mut Row, entry: &Entry, zipf: &Stream, roce: &Stream) -> Result<(), Box<dyn Error>> {
    let before = memory::now();
    let mut contender = (entry.make)()?;
    let made = memory::now();
    let speed = timed(zipf.hashes.len(), || contender.feed(black_box(&zipf.hashes)));
    let fed = memory::now();
    row.zipf.push(speed);
    (row.bytes, row.allocations) = (fed.live - before.live, fed.calls - made.calls);
    black_box(&contender);

    let mut contender = (entry.make)()?;
    row.roce
        .push(timed(roce.hashes.len(), || contender.feed(black_box(&roce.hashes))));
    black_box(&contender);

    let mut contender = (entry.make)()?;
    let mut offered = true;
    let keyed = timed(KEYED_TIMES * roce.keys.len(), || {
        for _ in 0..KEYED_TIMES {
            offered = contender.feed_keys(black_box(&roce.keys));
        }
    });
    if offered {
        row.keyed.push(keyed);
    }
    black_box(&contender);
    Ok(())
}

/// Millions per second.
fn timed(updates: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    updates as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn errors(row: &mut Row, question: Question, contender: &dyn Contender, stream: &Stream) {
    match question {
        Question::Distinct => {
            let flows = stream.truth.len() as f64;
            row.errors.push((contender.flows() / flows - 1.0).abs());
        }
        Question::Sizes => {
            let off = |&(hash, size): &(u64, u64)| contender.size(hash).abs_diff(size) as f64;
            row.errors
                .push(stream.truth.iter().map(off).sum::<f64>() / stream.truth.len() as f64);
        }
        Question::Top => {
            let truth: HashMap<u64, u64> = stream.truth.iter().copied().collect();
            let last = stream.truth.get(TOP - 1).map_or(0, |flow| flow.1) as f64;
            let top = contender.top(TOP);
            let size = |hash: &u64| truth.get(hash).copied().unwrap_or_default() as f64;
            let found = top.iter().filter(|(hash, _)| size(hash) >= (1.0 - TIE) * last).count();
            row.recalls.push(found as f64 / TOP as f64);
            // A false positive would have an infinite error: it counts as 100 %.
            let off = |(hash, estimate): &(u64, u64)| match size(hash) {
                0.0 => 1.0,
                size => (*estimate as f64 - size).abs() / size,
            };
            row.errors
                .push(top.iter().map(off).sum::<f64>() / top.len().max(1) as f64);
        }
    }
}
