//! Part a: nanoseconds per packet, measured by `BPF_PROG_TEST_RUN`.
//!
//! `--against OBJECT` compares another build of the XDP program with the committed one.
//!
//! Every program runs in the same wrapper, which rewrites QPN and PSN in the frame. Each case is sampled nine times, in
//! turn with all others, and the median counts.

mod cases;
mod report;

use super::super::figure::{Figure, Goal};
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

/// What a packet of IPv4 costs above the wrapper.
pub(super) fn figures(rounds: usize) -> Result<Vec<Figure>> {
    let object = build::object(&Toolchain::find()?, build::BENCH)?;
    let [bpf, admin, raw] = privileges::XDP;
    let rows = cases::rows("IPv4", false);
    let plain = measured(&object, None, &[bpf, admin, raw], &rows, rounds)?;
    let trusted = measured(&object, None, &[bpf, admin, raw, privileges::TRUST], &rows, rounds)?;
    let report = Report::new(&rows, &plain, &trusted);
    let above = |name: &str, with| report.above(&format!("IPv4 {name}"), with);
    let mut figures = Vec::new();
    for (with, capabilities) in ["", ", with CAP_PERFMON"].iter().enumerate() {
        let (each, parse) = (above("one ring record per packet", with), above("parse as ours", with));
        let beside = format!("a ring record a packet: {each:.0} ns; the headers alone: {parse:.0} ns");
        let run = above("ours, 1,024 flows", with);
        let work = format!("kernel, a packet that continues a run, 1,024 flows{capabilities}");
        figures.extend([
            Figure::new(work.clone(), run, "ns", Goal::AtMost(20.0)).beside(beside),
            Figure::new(
                format!("{work}: share of a ring record"),
                run / each,
                "",
                Goal::AtMost(0.25),
            ),
            Figure::new(
                format!("kernel, a packet of 100,000 flows in turn{capabilities}"),
                above("ours, 100 k flows", with),
                "ns",
                Goal::AtMost(80.0),
            ),
        ]);
    }
    Ok(figures)
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
