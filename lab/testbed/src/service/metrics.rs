//! Compares the service's metrics, journal and dataset with the frames that were sent.

use super::machine::{Machine, output};
use super::unit::until;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The address of the service's metrics.
pub(super) const ADDRESS: &str = "127.0.0.1:9464";

/// The metrics page of the capture for an `Accept` header.
pub(super) fn page(machine: &Machine, accept: &str) -> Result<String> {
    page_at(machine, ADDRESS, accept)
}

fn page_at(machine: &Machine, address: &str, accept: &str) -> Result<String> {
    let mut curl = machine.network("curl");
    let accept = format!("Accept: {accept}");
    curl.args(["--silent", "--show-error", "--fail", "--header", &accept]);
    output(curl.arg(format!("http://{address}/metrics")))
}

/// The value of a series without labels of its own; 0 if it is missing.
pub(super) fn value(machine: &Machine, series: &str) -> Result<u64> {
    value_at(machine, ADDRESS, series)
}

fn value_at(machine: &Machine, address: &str, series: &str) -> Result<u64> {
    let page = page_at(machine, address, "*/*")?;
    let line = page.lines().find_map(|line| line.strip_prefix(series));
    let value = line.and_then(|line| line.rsplit(' ').next());
    Ok(value.map(str::parse).transpose()?.unwrap_or(0))
}

/// Waits until the series of another endpoint is not 0; returns its value.
pub(super) fn some(machine: &Machine, address: &str, series: &str) -> Result<u64> {
    until(series, || {
        let value = value_at(machine, address, series)?;
        Ok((value > 0).then_some(value))
    })
}

/// Waits until the series has exactly this value.
pub(super) fn wait(machine: &Machine, series: &str, expected: u64) -> Result<u64> {
    let value = until(series, || {
        let value = value(machine, series)?;
        Ok((value >= expected).then_some(value))
    })?;
    ensure!(value == expected, "{series} is {value}, not {expected}");
    Ok(value)
}

/// The line of the last summary that accounts for every frame; checks it.
pub(super) fn identity(journal: &str, sent: u64) -> Result<String> {
    let frames = journal.lines().rfind(|line| line.starts_with("Frames "));
    let frames = frames.context("no summary in the journal")?;
    let (all, parts) = frames.split_once('=').context("no identity")?;
    let number = |words: &str| -> Result<u64> {
        let number = words
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let number = number.context("no number")?.replace(',', "");
        number.parse().with_context(|| words.to_owned())
    };
    let parts: u64 = parts.split('+').map(number).sum::<Result<_>>()?;
    let all = number(all)?;
    ensure!(all == sent && parts == sent, "{frames}, but {sent} were sent");
    if !journal.contains(" in runs + 0 capture loss") {
        bail!("frames were lost: {journal}");
    }
    Ok(frames.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the number of windows of the dataset, which must be whole, closed and complete. Members of the service's
/// group may read it.
pub(super) fn dataset(machine: &Machine, sent: u64) -> Result<u64> {
    let mut report = machine.command("setpriv");
    report.args(["--reuid=65534", "--regid=rocescope", "--clear-groups"]);
    let report = output(report.args(["rocescope", "report", "/var/lib/rocescope", "-o", "json"]))?;
    let report: Value = serde_json::from_str(&report)?;
    let open = machine.run("find /var/lib/rocescope -name '*.tmp'")?;
    ensure!(open.is_empty() && report["open_segments"] == 0, "open: {open}");
    ensure!(
        report["unreadable"] == Value::Array(Vec::new()),
        "{}",
        report["unreadable"]
    );
    ensure!(
        report["totals"]["frames"] == sent && report["unaccounted_frames"] == 0,
        "{}, but {sent} were sent",
        report["totals"]
    );
    let others = machine.run("find /var/lib/rocescope ! -user rocescope")?;
    ensure!(others.is_empty(), "of other users: {others}");
    report["windows"].as_u64().context("windows")
}
