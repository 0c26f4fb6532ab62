//! Part a: nanoseconds per packet, measured by `BPF_PROG_TEST_RUN`.
//!
//! `--against OBJECT` compares another build of the XDP program with the committed one.
//!
//! Every program runs in the same wrapper, which rewrites QPN and PSN in the frame. Each case is sampled nine times, in
//! turn with all others, and the median counts.

mod cases;
mod report;

use anyhow::{Context, Result, bail};
use cases::Row;
use report::Report;
use rocescope_capture::xdp::measure::{self, Sample};
use rocescope_host::privileges;
use rocescope_record::Config;
use std::path::PathBuf;
use xtask::ebpf::build::{self, Toolchain};

const ROUNDS: usize = 9;

pub(super) fn run(options: &[&str]) -> Result<()> {
    let (mut json, mut save, mut rounds, mut only, mut against) = (None, false, ROUNDS, "", None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--json" => json = Some(PathBuf::from(options.next().context("--json FILE")?)),
            "--save" => save = true,
            "--only" => only = options.next().context("--only WORDS")?,
            "--against" => against = Some(options.next().context("--against OBJECT")?),
            "--rounds" => rounds = options.next().context("--rounds N")?.parse()?,
            other => bail!("{other}: expected --json FILE, --save, --rounds N, --only WORDS and --against OBJECT"),
        }
    }
    let object = build::object(&Toolchain::find()?, build::BENCH)?;
    let [bpf, admin, raw] = privileges::XDP;
    let other = against.map(|path| std::fs::read(path).with_context(|| (*path).to_owned()));
    let other = other.transpose()?;
    let rows = cases::rows(only, other.is_some());
    let measured =
        |capabilities: &[privileges::Capability]| measured(&object, other.as_deref(), capabilities, &rows, rounds);
    let plain = measured(&[bpf, admin, raw])?;
    let trusted = measured(&[bpf, admin, raw, privileges::TRUST])?;
    let report = Report::new(&rows, &plain, &trusted);
    report.print();
    if let Some(path) = json {
        report.write_json(&path)?;
    }
    if save {
        report.save()?;
    }
    Ok(())
}

/// Samples every case.
fn measured(
    object: &[u8],
    other: Option<&[u8]>,
    capabilities: &[privileges::Capability],
    rows: &[Row],
    rounds: usize,
) -> Result<Vec<Vec<Sample>>> {
    let config = Config {
        mark_mask: 15,
        tick_ns: 4_000_000,
        // The budget of exact times is asked for each packet, and soon used up.
        exact_burst: 1,
        exact_a_tick: 1,
        verdict: 1,
        ..Config::exact(1_000_000_000)
    };
    let samples = measure::with(object, other, capabilities, config, |bench| {
        let mut samples = vec![Vec::new(); rows.len()];
        for _ in 0..rounds {
            for (row, samples) in rows.iter().zip(&mut samples) {
                bench.prepare(&row.case)?;
                samples.push(bench.sample(&row.case)?);
            }
        }
        Ok(samples)
    });
    samples.context("BPF_PROG_TEST_RUN requires root")
}
