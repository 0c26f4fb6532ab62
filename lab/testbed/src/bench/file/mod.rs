//! `cargo xtask bench file [FILE] [--rounds N] [--full] [--cores LIST] [--json FILE]`.
//!
//! The whole path, from frames to a dataset, next to tcpdump, which only copies, and tshark, which only prints three
//! fields. Rounds are interleaved, so that a slow minute affects every contender. Every contender may
//! use all cores, or those of `--cores` (as `taskset -c` reads them), and finds the file in the page cache.
//!
//! | module | what it does |
//! |---|---|
//! | `input` | the file: recorded captures, repeated, with advancing times |
//! | `contender` | one program that processes the file: wall and processor time |
//! | `report` | the table and the JSON |

mod contender;
mod input;
mod report;

use super::figure::Figure;
use anyhow::{Context, Result, bail};
use contender::Contender;
use std::path::{Path, PathBuf};
use xtask::product::{build, directory, text};

/// The options.
pub(super) struct Options {
    file: Option<PathBuf>,
    /// The cores that every contender may use; all by default.
    cores: Option<String>,
    rounds: usize,
    /// tshark takes part in every round, not only in one.
    full: bool,
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &[&str]) -> Result<()> {
    let options = options(arguments)?;
    let rocescope = text(&build()?);
    let directory = directory()?;
    let file = match &options.file {
        Some(file) => file.canonicalize().with_context(|| text(file))?,
        None => input::make(&directory)?,
    };
    measure(&options, &rocescope, &file, &directory.join("file-dataset"))
}

/// Measures all contenders with a file, and prints the table. `dataset` is what rocescope writes.
pub(super) fn measure(options: &Options, rocescope: &str, file: &Path, dataset: &Path) -> Result<()> {
    let (contenders, frames) = contend(options, rocescope, file, dataset)?;
    print!("{}", report::table(&contenders, file, frames));
    if let Some(json) = &options.json {
        std::fs::write(json, report::json(&contenders, frames)).with_context(|| text(json))?;
    }
    Ok(())
}

/// How much faster than tcpdump and tshark the whole path is, with connections.
pub(super) fn figures() -> Result<Vec<Figure>> {
    let (rocescope, directory) = (text(&build()?), directory()?);
    let file = input::make(&directory)?;
    let (contenders, _) = contend(&options(&[])?, &rocescope, &file, &directory.join("file-dataset"))?;
    Ok(report::figures(&contenders))
}

fn contend(options: &Options, rocescope: &str, file: &Path, dataset: &Path) -> Result<(Vec<Contender>, u64)> {
    let frames = input::warm(file)?;
    let mut contenders = Contender::all(rocescope, file, dataset)?;
    for round in 0..options.rounds {
        for contender in &mut contenders {
            if round == 0 || options.full || !contender.is_slow() {
                contender.run(options.cores.as_deref())?;
            }
        }
    }
    Ok((contenders, frames))
}

pub(super) fn options(arguments: &[&str]) -> Result<Options> {
    let mut options = Options {
        file: None,
        cores: None,
        rounds: 5,
        full: false,
        json: None,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} what?"));
        match *argument {
            "--full" => options.full = true,
            "--cores" => options.cores = Some(value()?.to_string()),
            "--rounds" => options.rounds = value()?.parse().context("rounds")?,
            "--json" => options.json = Some(value()?.into()),
            option if option.starts_with('-') => bail!("no such option: {option}"),
            file => options.file = Some(file.into()),
        }
    }
    if options.rounds == 0 {
        bail!("--rounds must be at least 1");
    }
    Ok(options)
}
