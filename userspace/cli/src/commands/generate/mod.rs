//! `rocescope generate`: a scenario to a capture file with its ground truth, or to an interface.

mod interface;

use crate::arguments::GenerateArguments;
use anyhow::{Context, Result, ensure};
use rocescope_generate::{self as generate, Scenario};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(arguments: &GenerateArguments) -> Result<ExitCode> {
    let path = &arguments.scenario;
    let mut scenario = Scenario::parse(&text(path)?).with_context(|| not(path))?;
    if let Some(snaplen) = arguments.snaplen {
        scenario.snaplen = snaplen;
    }
    let Some(out) = &arguments.write else {
        return interface::run(arguments, &scenario);
    };
    ensure!(
        path.canonicalize().ok() != out.canonicalize().ok() || !out.exists(),
        "{} is both input and output",
        path.display()
    );
    let file = File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    let truth = generate::write(&scenario, arguments.seed, file).with_context(|| out.display().to_string())?;
    let beside = truth_path(out);
    let truth_json = serde_json::to_string_pretty(&truth).context("the truth")?;
    fs::write(&beside, truth_json).with_context(|| beside.display().to_string())?;
    crate::print(&format!(
        "{}: {} frames, {} of them RoCEv2\n{}: ground truth\n",
        out.display(),
        truth.frames,
        truth.roce_packets,
        beside.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The text of a scenario file, or of the built-in class of traffic with this name.
fn text(path: &Path) -> Result<String> {
    let class = path.to_str().and_then(generate::class);
    if let Some(class) = class.filter(|_| !path.exists()) {
        return Ok(class.to_owned());
    }
    let bytes =
        fs::read(path).with_context(|| format!("cannot read {}: name a file or a class of traffic", path.display()))?;
    let text = String::from_utf8(bytes).ok().context("it is not text");
    text.with_context(|| not(path))
}

fn not(path: &Path) -> String {
    format!("{} is not a scenario (docs/scenarios.md)", path.display())
}

/// `FILE.truth.json`.
fn truth_path(capture: &Path) -> PathBuf {
    let mut name = OsString::from(capture);
    name.push(".truth.json");
    name.into()
}
