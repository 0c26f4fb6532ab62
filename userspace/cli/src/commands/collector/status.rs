//! The status of the fleet as text.

use rocescope_collector::control::message::{
    AgentMessageTotals, ControllerStatus, DroppedRows, MemberStatus, RecordingTotals, Standing, WireCounts,
};
use rocescope_model::Time;
use rocescope_model::human::plural;
use std::fmt::Write;

const TITLES: [&str; 6] = ["NAME", "ROLE", "GROUP", "VERSION", "STATE", "CONNECTION"];

/// A line for the version in force, and one for each member.
pub(super) fn text(status: &ControllerStatus) -> String {
    let mut out = format!(
        "version {}{} in force since {:.0}, applied by {}; operators: {}\n",
        status.version,
        match status.text_of {
            Some(number) => format!(" (the text of version {number})"),
            None => String::new(),
        },
        Time(status.applied_ns),
        status.applied_by,
        status.operators.join(", ")
    );
    let count = |standing| {
        let members = status.members.iter();
        members
            .filter(|member| member.standing(status.version) == standing)
            .count()
    };
    let _ = writeln!(
        out,
        "{} of {} run it, {} refused it, {} away",
        count(Standing::Current),
        plural(status.members.len() as u64, "member"),
        count(Standing::Refused),
        count(Standing::Away)
    );
    for line in &status.unmatched {
        let _ = writeln!(out, "{line}");
    }
    let flows = &status.flows;
    if flows.named > 0 {
        let _ = writeln!(
            out,
            "small flows: {} named, {} requests for probes sent, {} without an agent at both ends, {} undelivered",
            flows.named, flows.requested, flows.without_agent, flows.undelivered
        );
    }
    let messages = &status.agent_messages;
    if *messages != AgentMessageTotals::default() {
        let _ = writeln!(
            out,
            "messages between agents: {} delivered, {} without an agent of that name, {} refused, {} undelivered",
            messages.delivered, messages.without_agent, messages.refused, messages.undelivered
        );
    }
    out += &pinglists(status);
    out += &recordings(status);
    out += &wire(status);
    if status.dropped != DroppedRows::default() {
        let _ = writeln!(
            out,
            "rows that agents dropped since the start of the controller: {}",
            reasons(&status.dropped)
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

/// Whom agents probe as the controller hands out, and how surely that crosses every link between switches.
fn pinglists(status: &ControllerStatus) -> String {
    let Some(coverage) = &status.pinglists else {
        return String::new();
    };
    let mut line = format!("pinglists: {} probed", plural(coverage.nics as u64, "NIC"));
    let _ = match coverage.switches {
        0 => write!(line, ", their switches unknown: no trace shows a router"),
        1 => write!(line, " at 1 switch"),
        switches => write!(line, " at {switches} switches"),
    };
    if coverage.switches > 0 && coverage.without_switch > 0 {
        let _ = write!(line, ", the switch of {} unknown", coverage.without_switch);
    }
    if let Some(least) = &coverage.least {
        let _ = write!(
            line,
            "; a way on from a switch is probed with a probability of {:.1} % at least ({} 5-tuples over {} from {})",
            100.0 * least.chance(),
            least.tuples,
            plural(least.ways as u64, "way"),
            least.switch
        );
    }
    line + "\n"
}

/// What agents asked capture boxes to record, and what these recorded.
fn recordings(status: &ControllerStatus) -> String {
    let totals = &status.recordings;
    if *totals == RecordingTotals::default() {
        return String::new();
    }
    let sum = |count: fn(&MemberStatus) -> u64| status.members.iter().map(count).sum::<u64>();
    format!(
        "recordings of slow steps: {} requested, {} without a capture box that records, {} refused, {} undelivered; boxes \
         recorded {}, left out {} of flows that did not pass them and {} beyond their budget\n",
        totals.requested,
        totals.without_box,
        totals.refused,
        totals.undelivered,
        sum(|member| member.state.recordings.recorded),
        sum(|member| member.state.recordings.elsewhere),
        sum(|member| member.state.recordings.over_budget),
    )
}

/// What capture boxes sent for the analysis of hosts, and what they left out.
fn wire(status: &ControllerStatus) -> String {
    let mut all = WireCounts::default();
    for member in &status.members {
        let WireCounts {
            sent,
            over_budget,
            quiet,
            unread,
            dropped,
        } = member.state.wire;
        all.sent += sent;
        all.over_budget += over_budget;
        all.quiet += quiet;
        all.unread += unread;
        all.dropped += dropped;
    }
    if all == WireCounts::default() {
        return String::new();
    }
    format!(
        "rows of capture boxes: {} sent; left out: {} with trouble and {} without beyond their budget, {} events that no \
         rule reads, {} dropped from a spool\n",
        all.sent, all.over_budget, all.quiet, all.unread, all.dropped
    )
}

/// The reasons for which rows were dropped, each with their number.
fn reasons(dropped: &DroppedRows) -> String {
    let met = dropped.reasons().into_iter().filter(|(_, rows)| *rows > 0);
    let met = met.map(|(why, rows)| format!("{rows} {}", why.replace('_', " ")));
    met.collect::<Vec<_>>().join(", ")
}

fn row(member: &MemberStatus, version: u64) -> [String; 6] {
    let state = &member.state;
    let mut words = Vec::new();
    let is_current = state.running == version;
    match (&state.refused, state.waiting) {
        (Some(refused), _) => words.push(format!("refused {}: {}", refused.version, refused.reason)),
        (None, Some(waiting)) => words.push(format!("takes {waiting} at the end of its window")),
        (None, None) if is_current && member.connected => words.push("current".to_owned()),
        (None, None) if is_current => words.push("current when it left".to_owned()),
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
    if state.dropped != DroppedRows::default() {
        words.push(format!("dropped rows since its start: {}", reasons(&state.dropped)));
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
        format!(
            "{} since {:.0}",
            if member.connected { "up" } else { "away" },
            Time(member.since_ns)
        ),
    ]
}
