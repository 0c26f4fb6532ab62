//! The status of the fleet as text.

use rocescope_collector::control::message::{ControllerStatus, MemberStatus};
use rocescope_model::Time;
use rocescope_model::human::plural;
use std::fmt::Write;

const TITLES: [&str; 6] = ["NAME", "ROLE", "GROUP", "VERSION", "STATE", "SINCE"];

/// A line for the version in force, and one for each member.
pub(super) fn text(status: &ControllerStatus) -> String {
    let mut out = format!(
        "version {} in force since {:.0}, applied by {}; operators: {}\n",
        status.version,
        Time(status.applied_ns),
        status.applied_by,
        status.operators.join(", ")
    );
    let current = status
        .members
        .iter()
        .filter(|member| is_current(member, status.version));
    let (current, all) = (current.count(), status.members.len());
    let refused = status.members.iter().filter(|member| member.state.refused.is_some());
    let away = status.members.iter().filter(|member| !member.connected);
    let _ = writeln!(
        out,
        "{current} of {} run it, {} refused it, {} away",
        plural(all as u64, "member"),
        refused.count(),
        away.count()
    );
    let flows = &status.flows;
    if flows.named > 0 {
        let _ = writeln!(
            out,
            "small flows: {} named, {} requests for probes sent, {} without an agent at both ends, {} undelivered",
            flows.named, flows.requested, flows.without_agent, flows.undelivered
        );
    }
    let rows: Vec<[String; 6]> = status
        .members
        .iter()
        .map(|member| row(member, status.version))
        .collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([TITLES[at].len()]).max().unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    for row in std::iter::once(&TITLES.map(str::to_owned)).chain(&rows) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<String>>().join("  ");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn is_current(member: &MemberStatus, version: u64) -> bool {
    member.state.running == version
}

fn row(member: &MemberStatus, version: u64) -> [String; 6] {
    let state = &member.state;
    let mut words = Vec::new();
    if !member.connected {
        words.push("away".to_owned());
    }
    match (&state.refused, state.waiting) {
        (Some(refused), _) => words.push(format!("refused {}: {}", refused.version, refused.reason)),
        (None, Some(waiting)) => words.push(format!("takes {waiting} at the end of its window")),
        (None, None) if is_current(member, version) => words.push("current".to_owned()),
        (None, None) => words.push("not current".to_owned()),
    }
    if !state.restart.is_empty() {
        words.push(format!("restart it for {}", state.restart.join(", ")));
    }
    if state.flows.over_budget > 0 {
        words.push(format!(
            "refused probes of {} flows above its budget",
            state.flows.over_budget
        ));
    }
    [
        member.name.clone(),
        state.role.to_string(),
        member.group.clone().unwrap_or_else(|| "-".into()),
        match state.running {
            0 => "own".into(),
            version => version.to_string(),
        },
        words.join("; "),
        format!("{:.0}", Time(member.since_ns)),
    ]
}
