//! `rocescope doctor`: what prevents a capture, and how to fix it.

use crate::arguments::{DoctorArguments, Output};
use anyhow::{Context, Result};
use rocescope_capture::doctor;
use rocescope_host::doctor::{Finding, Level, host};
use rocescope_host::interface::Interface;
use rocescope_model::json;
use serde::Serialize;
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
    let is_named = !arguments.interfaces.is_empty();
    for interface in &interfaces {
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
    out
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
