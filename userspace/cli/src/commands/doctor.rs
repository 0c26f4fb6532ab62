//! `rocescope doctor`: what prevents a capture, and how to fix it.

use crate::arguments::{DoctorArguments, Output};
use anyhow::{Context, Result};
use rocescope_capture::doctor;
use rocescope_host::doctor::{Finding, Level, host};
use rocescope_host::interface::{Interface, State};
use rocescope_model::human::plural;
use rocescope_model::json;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(arguments: &DoctorArguments) -> Result<ExitCode> {
    let interfaces = if arguments.interfaces.is_empty() {
        Interface::all().context("the interfaces")?
    } else {
        let find = |name: &String| {
            Interface::find(name).with_context(|| format!("{name}: no such interface (`ip link` lists them)"))
        };
        arguments.interfaces.iter().map(find).collect::<Result<_>>()?
    };
    let mut findings = host();
    findings.extend(doctor::program());
    findings.push(doctor::queue_pairs(arguments.attempt));
    let is_named = !arguments.interfaces.is_empty();
    let is_down = |interface: &&Interface| !is_named && interface.state() == State::Down;
    let down: Vec<&str> = interfaces.iter().filter(is_down).map(|one| one.name.as_str()).collect();
    if !down.is_empty() {
        let message = format!("Down, so not checked: {}. `-i IFACE` checks one.", down.join(", "));
        findings.push(Finding::ok("links", message));
    }
    for interface in interfaces.iter().filter(|interface| !is_down(interface)) {
        match interface.in_use() {
            Some(reason) if !is_named => findings.push(in_use(interface, &reason)),
            _ => findings.extend(doctor::port(interface, arguments.attempt)),
        }
    }
    crate::print(&match arguments.output {
        Output::Table => text(&findings),
        Output::Json => json(&findings),
    })?;
    Ok(if worst(&findings) == Level::Fail {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// A port that cannot be meant: advice for a mirror port would cut off its users.
fn in_use(interface: &Interface, reason: &str) -> Finding {
    let message = format!(
        "Not checked as a mirror port: {reason}. `rocescope doctor -i {}` checks it.",
        interface.name
    );
    Finding {
        interface: Some(interface.name.clone()),
        ..Finding::ok("use", message)
    }
}

fn worst(findings: &[Finding]) -> Level {
    let levels = findings.iter().map(|finding| finding.level);
    levels.max().unwrap_or(Level::Ok)
}

fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    let mut interface = None;
    for finding in findings {
        if finding.interface != interface {
            interface.clone_from(&finding.interface);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\n{}", interface.as_deref().unwrap_or_default());
        }
        let (level, topic) = (finding.level.name(), finding.topic);
        let _ = writeln!(out, "{level:<4}  {topic:<12}  {}", finding.message);
        if let Some(command) = &finding.remedy {
            let _ = writeln!(out, "      {:<12}  $ {command}", "");
        }
    }
    let _ = writeln!(out, "\n{}", conclusion(findings));
    out
}

/// The findings in a line: whether this machine is ready, and what works if it is not.
fn conclusion(findings: &[Finding]) -> String {
    let count = |level| findings.iter().filter(|finding| finding.level == level).count() as u64;
    let fails = findings.iter().filter(|finding| finding.level == Level::Fail);
    let places: BTreeSet<Option<&str>> = fails.map(|finding| finding.interface.as_deref()).collect();
    let failed = match count(Level::Fail) {
        1 => "1 check fails".to_owned(),
        count => format!("{count} checks fail"),
    };
    let warnings = match count(Level::Warn) {
        0 => String::new(),
        count => format!(" ({})", plural(count, "warning")),
    };
    if places.contains(&None) {
        return format!("not ready: {failed}{warnings}, so this user cannot capture live; capture files work");
    }
    let places: Vec<&str> = places.into_iter().flatten().collect();
    match places.is_empty() {
        true => format!("ready{warnings}"),
        false => format!("ready, except {}: {failed}{warnings}", places.join(", ")),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    verdict: &'a str,
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    interface: Option<&'a str>,
    topic: &'a str,
    level: &'a str,
    message: &'a str,
    remedy: Option<&'a str>,
}

fn json(findings: &[Finding]) -> String {
    let documents = findings.iter().map(|finding| FindingDocument {
        interface: finding.interface.as_deref(),
        topic: finding.topic,
        level: finding.level.name(),
        message: &finding.message,
        remedy: finding.remedy.as_deref(),
    });
    json::pretty(&Document {
        verdict: worst(findings).name(),
        findings: documents.collect(),
    }) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_what_works() {
        let of = |interface: &str, finding: Finding| Finding {
            interface: Some(interface.into()),
            ..finding
        };
        let mut findings = vec![Finding::ok("kernel", "")];
        assert_eq!(conclusion(&findings), "ready");
        findings.push(of("eth2", Finding::warn("mtu", "")));
        assert_eq!(conclusion(&findings), "ready (1 warning)");
        findings.push(of("eth3", Finding::fail("link", "")));
        assert_eq!(conclusion(&findings), "ready, except eth3: 1 check fails (1 warning)");
        findings.push(Finding::fail("capabilities", ""));
        assert_eq!(
            conclusion(&findings),
            "not ready: 2 checks fail (1 warning), so this user cannot capture live; capture files work"
        );
    }
}
