//! `cargo xtask bench capture [--part a|b|c] [--soak SECONDS] [OPTION...]`.
//!
//! The cost of a packet in the kernel, and the product on a veth pair next to programs that do a part of its work.
//! There the sender has core 0 and the capture has core 1; the driver of a veth pair runs on the sender's core.
//!
//! | module | what it does |
//! |---|---|
//! | `test_run` | part a: nanoseconds per packet in the kernel, compared with other programs |
//! | `lossless` | part b: the highest rate without any loss on the whole path |
//! | `veth` | part c: the share of packets captured while a generator sends at full speed |
//! | `soak` | memory, descriptors and identity over a long time |
//! | `bed` | a namespace with a veth pair |
//! | `contender` | a program that captures: starting it, reading its counts, ending it |
//! | `machine` | the machine of the measurement |

mod bed;
mod contender;
mod lossless;
mod machine;
mod soak;
mod test_run;
mod veth;

use super::figure::Figure;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::time::Duration;
use xtask::product::text;

/// The options.
struct Options {
    part: Option<char>,
    soak: Option<Duration>,
    seconds: f64,
    only: String,
    rounds: usize,
    frames: u64,
    pps: u32,
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &[&str]) -> Result<()> {
    if let ["--part", "a", arguments @ ..] = arguments {
        return test_run::run(arguments);
    }
    let options = options(arguments)?;
    let (table, json) = match (options.soak, options.part) {
        (Some(time), _) => soak::run(time, options.pps)?,
        (None, Some('b')) => lossless::run(options.seconds, &options.only)?,
        (None, Some('c')) => veth::run(options.rounds, options.frames)?,
        _ => bail!("expected --part a, --part b, --part c or --soak SECONDS"),
    };
    print!("{table}\n{}", machine::described());
    println!("\nRepeat: cargo xtask bench capture {}", arguments.join(" "));
    if let Some(path) = options.json {
        std::fs::write(&path, json).with_context(|| text(&path))?;
    }
    Ok(())
}

fn options(arguments: &[&str]) -> Result<Options> {
    let mut options = Options {
        part: None,
        soak: None,
        seconds: 10.0,
        only: String::new(),
        rounds: 5,
        frames: 2_000_000,
        pps: 20_000,
        json: None,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{argument} what?"))?;
        match *argument {
            "--part" => options.part = value.chars().next(),
            "--soak" => options.soak = Some(Duration::from_secs(value.parse().context("seconds")?)),
            "--seconds" => options.seconds = value.parse().context("seconds")?,
            "--only" => options.only = (*value).to_owned(),
            "--rounds" => options.rounds = value.parse().context("rounds")?,
            "--frames" => options.frames = value.parse().context("frames")?,
            "--pps" => options.pps = value.parse().context("packets per second")?,
            "--json" => options.json = Some(value.into()),
            option => bail!("no such option: {option}"),
        }
    }
    Ok(options)
}

/// Figures of the kernel and of the whole path, for `bench all`.
pub(super) fn figures() -> Result<Vec<Figure>> {
    let mut figures = test_run::figures(5)?;
    figures.extend(lossless::figures(3.0)?);
    Ok(figures)
}

/// The machine of the measurement.
pub(super) fn machine() -> String {
    machine::described()
}

/// The median.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
