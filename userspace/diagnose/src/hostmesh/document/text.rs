//! The diagnosis as text: the problems first, then the state of the mesh.

use super::{Document, FewDrops, Finding};
use crate::hostmesh::problem::evidence;
use crate::second;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Result, Write};
use rocescope_model::{SlaRow, Unit, Value, human, render};

/// Number of windows in the table: the last ones.
const MAX_WINDOWS: usize = 12;
/// Maximum number of flows or links in a line.
const MAX_NAMES: usize = 4;

pub(super) fn write(out: &mut String, diagnosis: &Document) -> Result {
    let windows = &diagnosis.windows;
    let few = FewDrops::of(windows).sentence();
    if diagnosis.findings.is_empty() {
        match &few {
            Some(few) => writeln!(out, "no problems found; {few}")?,
            None => writeln!(out, "no problems found")?,
        }
    }
    for finding in &diagnosis.findings {
        problem(out, finding, diagnosis.has_flows)?;
    }
    writeln!(out)?;
    let sum = |of: fn(&SlaRow) -> u64| human::grouped(windows.iter().map(of).sum());
    if let (Some(first), Some(last)) = (windows.first(), windows.last()) {
        let length = human::readable(&Value::I64(first.window_ns), Unit::Nanoseconds);
        let (from, to) = (
            second(first.window_start_ns),
            second(last.window_start_ns + last.window_ns),
        );
        writeln!(out, "windows   {} of {length}, {from} to {to}", windows.len())?;
        let hosts = windows.iter().map(|window| window.hosts).max().unwrap_or(0);
        writeln!(
            out,
            "probes    {} from {hosts} hosts: {} timeouts, {} corrupt; {} could not be sent, {} late rows",
            sum(|w| w.probes),
            sum(|w| w.timeouts),
            sum(|w| w.corrupt),
            sum(|w| w.unsent),
            sum(|w| w.late),
        )?;
        writeln!(
            out,
            "drops     {} at NICs, {} in the network, {} not located; by the rule of Hostmesh {} at anomalous NICs",
            sum(|w| w.nic_drops.unwrap_or(0)),
            sum(|w| w.network_drops.unwrap_or(0)),
            sum(|w| w.unlocated_drops.unwrap_or(0)),
            sum(|w| w.rnic_drops),
        )?;
        if let Some(few) = few.filter(|_| !diagnosis.findings.is_empty()) {
            writeln!(out, "few       {few}")?;
        }
        if last.silent_hosts > 0 {
            writeln!(
                out,
                "silent    {} hosts sent no probes in the last window",
                last.silent_hosts
            )?;
        }
    }
    let (crossed, learnt) = (diagnosis.links_crossed, diagnosis.links_learnt);
    write!(
        out,
        "coverage  {crossed} of {learnt} known links probed in the last window"
    )?;
    list(out, ", except", &diagnosis.uncrossed)?;
    if let Some(ratio) = diagnosis.asymmetric_ratio {
        write!(
            out,
            "; {:.0} % of 5-tuples have no return path over the same links, which is normal with ECMP",
            ratio * 100.0
        )?;
    }
    writeln!(out)?;
    if let Some(unprobed) = diagnosis.unprobed.as_deref().filter(|unprobed| !unprobed.is_empty()) {
        list(out, "unprobed  links of the topology that no probe crossed:", unprobed)?;
        writeln!(out)?;
    }
    if let Some(classes) = &diagnosis.unprobed_classes {
        writeln!(out, "class     {classes}")?;
    }
    if diagnosis.paths == 0 {
        writeln!(out, "paths     none: links and switches cannot be identified")?;
    }
    if diagnosis.unreadable_rows > 0 {
        writeln!(out, "rows      {} invalid", diagnosis.unreadable_rows)?;
    }
    for file in &diagnosis.unreadable {
        writeln!(out, "skipped   {file}")?;
    }
    if diagnosis.open_segments > 0 {
        let open = diagnosis.open_segments;
        writeln!(
            out,
            "left      {open} open segments: in use, or need `rocescope dataset repair`"
        )?;
    }
    let unjudged: BTreeSet<&str> = windows
        .iter()
        .map(|window| window.unjudged.as_str())
        .filter(|why| !why.is_empty())
        .collect();
    for why in unjudged {
        let number = windows.iter().filter(|window| &*window.unjudged == why).count();
        writeln!(out, "unjudged  {number} windows: {why}")?;
    }
    let shown = windows[windows.len().saturating_sub(MAX_WINDOWS)..].to_vec();
    let options = render::Options {
        human: true,
        ..render::Options::default()
    };
    write!(out, "\n{}", render::table(&shown, options))
}

fn problem(out: &mut String, finding: &Finding, has_flows: bool) -> Result {
    let problem = &finding.problem;
    let worst = &problem.worst;
    let number = worst.problem.map_or_else(String::new, |number| format!(" (#{number})"));
    writeln!(out, "{}{number}  {}", worst.class, worst.sentence)?;
    writeln!(
        out,
        "    from {} to {}, {} windows; {} of {} probes in total",
        second(worst.since_ns),
        second(problem.until_ns),
        problem.windows,
        human::grouped(problem.anomalous),
        human::grouped(problem.probes),
    )?;
    writeln!(out, "    evidence: {}", evidence(worst, problem.score))?;
    if let Some(hostping) = &finding.hostping {
        writeln!(out, "    hostping: {hostping}")?;
    }
    if let Some(counters) = &finding.counters {
        writeln!(out, "    {counters}")?;
    }
    if let Some(tuples) = &worst.worst_tuples {
        let tuples: Vec<String> = tuples.split(' ').map(String::from).collect();
        write!(out, "    worst 5-tuples")?;
        list(out, ":", &tuples)?;
        writeln!(out)?;
    }
    if !finding.flows.is_empty() {
        write!(out, "    captured flows that cross it")?;
        let flows: Vec<String> = finding.flows.iter().cloned().collect();
        list(out, ":", &flows)?;
        writeln!(out)?;
    } else if has_flows {
        writeln!(out, "    no captured flow is known to cross it")?;
    }
    writeln!(out, "    do: {}", worst.action)
}

fn list(out: &mut String, lead: &str, names: &[String]) -> Result {
    if names.is_empty() {
        return Ok(());
    }
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    write!(out, "{lead} {shown}")?;
    match names.len().saturating_sub(MAX_NAMES) {
        0 => Ok(()),
        more => write!(out, " and {more} more"),
    }
}
