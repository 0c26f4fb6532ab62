//! Incidents as text and as JSON: what, where, since when and what to do come first.

use super::incident::Incident;
use super::victims::Victims;
use crate::second;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{Result, Write};
use rocescope_model::human::{plural, visible, wrap};
use rocescope_model::{IncidentRow, Text, json};
use serde::Serialize;

/// Effects and victims that the text names.
const NAMED: usize = 4;
/// Lines are never shorter.
const MIN_WIDTH: usize = 60;

/// The incidents of some rows, and what a reader must know of them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Document {
    /// The faults, the worst first.
    pub incidents: Vec<Incident>,
    /// What was analyzed: rows by source.
    pub judged: Vec<String>,
    /// What was not judged, and why; and what makes figures doubtful.
    pub notes: Vec<String>,
    /// The number of packets for each that the tap of a capture has, if its mirror samples: losses are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_one_of: Option<u64>,
}

impl Document {
    /// As text, in lines of at most `width` characters; `None` does not wrap them.
    #[must_use]
    pub fn text(&self, width: Option<usize>) -> String {
        let mut out = String::new();
        let width = width.unwrap_or(usize::MAX).max(MIN_WIDTH);
        // Writing to a string cannot fail.
        let _ = write(&mut out, self, width);
        out
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json::pretty(self) + "\n"
    }

    /// As rows, written at `time_ns` by `observer`; the worst first.
    #[must_use]
    pub fn rows(&self, observer: &str, time_ns: i64) -> Vec<IncidentRow> {
        let observer = Text::from(observer.to_string());
        let incidents = self.incidents.iter();
        incidents.map(|incident| incident.row(&observer, time_ns)).collect()
    }

    /// The worst of them as text, at most `max`, to stand before other figures.
    #[must_use]
    pub fn brief(&self, max: usize, width: Option<usize>) -> String {
        let mut out = String::new();
        let width = width.unwrap_or(usize::MAX).max(MIN_WIDTH);
        // Writing to a string cannot fail.
        let _ = brief(&mut out, self, max, width);
        out
    }

    /// The worst of them in a line, to stand after other figures; `None` if there are none.
    #[must_use]
    pub fn closing(&self) -> Option<String> {
        let worst = self.incidents.first()?;
        let more = match self.incidents.len() {
            1 => String::new(),
            all => format!(", and {} more", all - 1),
        };
        Some(format!("{}  {}{more}", worst.class, visible(&worst.sentence())))
    }

    /// How many there are, in a line.
    #[must_use]
    pub fn headline(&self) -> String {
        if self.incidents.is_empty() {
            return match self.judged.is_empty() {
                true => "nothing could be judged".to_string(),
                false if self.notes.is_empty() => "no incidents".to_string(),
                false => "no incidents in what could be judged".to_string(),
            };
        }
        let open = self.incidents.iter().filter(|incident| incident.is_open).count();
        let all = plural(self.incidents.len() as u64, "incident");
        match open {
            0 => format!("{all}, over"),
            open if open == self.incidents.len() => format!("{all}, seen up to the end of the data"),
            open => format!("{all}, {open} of them seen up to the end of the data"),
        }
    }
}

fn write(out: &mut String, document: &Document, width: usize) -> Result {
    writeln!(out, "{}", document.headline())?;
    for incident in &document.incidents {
        writeln!(out)?;
        one(out, incident, width)?;
    }
    if !document.judged.is_empty() || !document.notes.is_empty() {
        writeln!(out)?;
    }
    if !document.judged.is_empty() {
        line(out, "judged    ", &document.judged.join(", "), width)?;
    }
    for note in &document.notes {
        line(out, "note      ", note, width)?;
    }
    Ok(())
}

fn brief(out: &mut String, document: &Document, max: usize, width: usize) -> Result {
    writeln!(out, "{}", document.headline())?;
    for incident in document.incidents.iter().take(max) {
        writeln!(out)?;
        one(out, incident, width)?;
    }
    if document.incidents.len() > max {
        let more = plural((document.incidents.len() - max) as u64, "more incident");
        writeln!(out, "\n{more}: `rocescope diagnose` lists all")?;
    }
    for note in &document.notes {
        line(out, "note: ", note, width)?;
    }
    Ok(())
}

/// A text after its label; further lines are indented.
fn line(out: &mut String, label: &str, text: &str, width: usize) -> Result {
    let indent = label.chars().count();
    let mut before = label.to_string();
    for part in wrap(&visible(text), width.saturating_sub(indent)) {
        writeln!(out, "{before}{part}")?;
        before = " ".repeat(indent);
    }
    Ok(())
}

/// An incident: the sentence, then since when, who suffers, and what to do.
fn one(out: &mut String, incident: &Incident, width: usize) -> Result {
    line(out, &format!("{}  ", incident.class), &incident.sentence(), width)?;
    let (since, until) = (second(incident.since_ns), second(incident.until_ns));
    let seen = match incident.is_open {
        _ if since == until => String::new(),
        true => format!(", last seen {until}"),
        false => format!(", until {until}"),
    };
    writeln!(out, "  since   {since}{seen}")?;
    if incident.victims.connections > 0 {
        line(out, "  flows   ", &victims(&incident.victims), width)?;
    }
    if let Some(owners) = incident.victims.whose() {
        line(out, "  whose   ", &owners, width)?;
    }
    line(out, "  do      ", &incident.action, width)?;
    let sources: Vec<&str> = incident.sources.iter().map(|source| source.name()).collect();
    let why = format!(
        "{}: {} (seen by {}) [{}]",
        incident.certainty.name(),
        incident.reason,
        sources.join(", "),
        incident.id()
    );
    line(out, "  why     ", &why, width)?;
    for effect in incident.explains.iter().take(NAMED) {
        let also = format!("{} ({}): {}", effect.class, effect.source.name(), effect.sentence);
        line(out, "  also    ", &also, width)?;
    }
    if incident.explains.len() > NAMED {
        writeln!(out, "  also    {} more", incident.explains.len() - NAMED)?;
    }
    for note in incident.notes.iter().rev().take(NAMED).rev() {
        let (time, text) = (second(note.time_ns), visible(&note.note));
        match note.id == incident.id() {
            true => writeln!(out, "  note    {time} {text}")?,
            false => writeln!(out, "  note    {time} about {}: {text}", note.id)?,
        }
    }
    for unknown in &incident.unknown {
        line(out, "  unknown ", unknown, width)?;
    }
    Ok(())
}

fn victims(victims: &Victims) -> String {
    let mut before = None;
    let worst = victims.worst.iter().take(NAMED).map(|victim| {
        let pair = (victim.src, victim.dst);
        let qp = victim.dst_qpn.filter(|_| before == Some(pair));
        before = Some(pair);
        let name = qp.map_or_else(|| victim.to_string(), |qpn| format!("QP {qpn}"));
        let counts = [
            (victim.lost_packets, "lost"),
            (victim.retransmitted_packets, "retransmitted"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match counts.is_empty() {
            true => name,
            false => format!("{name} ({})", counts.join(", ")),
        }
    });
    let mut text = format!("{}: {}", victims.connections, worst.collect::<Vec<_>>().join("; "));
    let named = victims.worst.len().min(NAMED) as u64;
    if victims.connections > named {
        text += &format!("; and {} more", victims.connections - named);
    }
    text
}
