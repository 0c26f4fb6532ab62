//! Part a: nanoseconds a packet, by `BPF_PROG_TEST_RUN`.
//!
//! Every program stands behind the same wrapper, which rewrites QPN and PSN in the frame. Each case is
//! sampled nine times, in turn with all others, and the median counts.

mod cases;
mod report;

use crate::ebpf::build::{self, Toolchain};
use anyhow::{Context, Result, bail};
use cases::Row;
use report::Report;
use rocescope_capture::privileges;
use rocescope_capture::xdp::measure::{self, Sample};
use rocescope_record::Config;
use std::path::PathBuf;

const ROUNDS: usize = 9;

pub(super) fn run(options: &[&str]) -> Result<()> {
    let (mut json, mut save, mut rounds, mut only) = (None, false, ROUNDS, "");
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--json" => json = Some(PathBuf::from(options.next().context("--json FILE")?)),
            "--save" => save = true,
            "--only" => only = options.next().context("--only WORDS")?,
            "--rounds" => rounds = options.next().context("--rounds N")?.parse()?,
            other => bail!("{other}: there are --json FILE, --save, --rounds N and --only WORDS"),
        }
    }
    let object = build::object(&Toolchain::find()?, build::BENCH)?;
    let [bpf, admin, raw] = privileges::XDP;
    let rows = cases::rows(only);
    let plain = measured(&object, &[bpf, admin, raw], &rows, rounds)?;
    let trusted = measured(
        &object,
        &[bpf, admin, raw, privileges::TRUST],
        &rows,
        rounds,
    )?;
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

/// The samples of every case.
fn measured(
    object: &[u8],
    capabilities: &[privileges::Capability],
    rows: &[Row],
    rounds: usize,
) -> Result<Vec<Vec<Sample>>> {
    let config = Config {
        mark_mask: 15,
        tick_ns: 4_000_000,
        verdict: 1,
        ..Config::exact(1_000_000_000)
    };
    let samples = measure::with(object, capabilities, config, |bench| {
        let mut samples = vec![Vec::new(); rows.len()];
        for _ in 0..rounds {
            for (row, samples) in rows.iter().zip(&mut samples) {
                bench.prepare(&row.case)?;
                samples.push(bench.sample(&row.case)?);
            }
        }
        Ok(samples)
    });
    samples.context("BPF_PROG_TEST_RUN takes root")
}
