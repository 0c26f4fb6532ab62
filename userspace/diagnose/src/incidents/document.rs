//! Incidents as text and as JSON: what, where, since when and what to do come first.

use super::incident::{Incident, Victims};
use crate::second;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{Result, Write};
use rocescope_model::human::{plural, visible};
use rocescope_model::json;
use serde::Serialize;

/// Effects and victims that the text names.
const NAMED: usize = 4;

/// The incidents of some rows, and what a reader must know of them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Document {
    /// The faults, the worst first.
    pub incidents: Vec<Incident>,
    /// What was analyzed: rows by source.
    pub judged: Vec<String>,
    /// What was not judged, and why; and what makes figures doubtful.
    pub notes: Vec<String>,
}

impl Document {
    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut out, self);
        out
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json::pretty(self) + "\n"
    }

    /// The worst of them as text, at most `max`, to stand before other figures.
    #[must_use]
    pub fn brief(&self, max: usize) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = brief(&mut out, self, max);
        out
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

fn write(out: &mut String, document: &Document) -> Result {
    writeln!(out, "{}", document.headline())?;
    for incident in &document.incidents {
        writeln!(out)?;
        one(out, incident)?;
    }
    if !document.judged.is_empty() || !document.notes.is_empty() {
        writeln!(out)?;
    }
    if !document.judged.is_empty() {
        writeln!(out, "judged    {}", document.judged.join(", "))?;
    }
    for note in &document.notes {
        writeln!(out, "note      {}", visible(note))?;
    }
    Ok(())
}

fn brief(out: &mut String, document: &Document, max: usize) -> Result {
    writeln!(out, "{}", document.headline())?;
    for incident in document.incidents.iter().take(max) {
        writeln!(out)?;
        one(out, incident)?;
    }
    if document.incidents.len() > max {
        let more = plural((document.incidents.len() - max) as u64, "more incident");
        writeln!(out, "\n{more}: `rocescope diagnose` lists all")?;
    }
    for note in &document.notes {
        writeln!(out, "note: {}", visible(note))?;
    }
    Ok(())
}

/// An incident: the sentence, then since when, who suffers, and what to do.
fn one(out: &mut String, incident: &Incident) -> Result {
    writeln!(out, "{}  {}", incident.class, visible(&incident.sentence()))?;
    let seen = match incident.is_open {
        true => format!("last seen {}", second(incident.until_ns)),
        false => format!("until {}", second(incident.until_ns)),
    };
    writeln!(out, "  since   {}, {seen}", second(incident.since_ns))?;
    if incident.victims.connections > 0 {
        writeln!(out, "  flows   {}", visible(&victims(&incident.victims)))?;
    }
    writeln!(out, "  do      {}", visible(&incident.action))?;
    let sources: Vec<&str> = incident.sources.iter().map(|source| source.name()).collect();
    writeln!(
        out,
        "  why     {}: {} (seen by {}) [{}]",
        incident.certainty.name(),
        visible(&incident.reason),
        sources.join(", "),
        incident.id()
    )?;
    for effect in incident.explains.iter().take(NAMED) {
        writeln!(
            out,
            "  also    {} ({}): {}",
            effect.class,
            effect.source.name(),
            visible(&effect.sentence)
        )?;
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
        writeln!(out, "  unknown {}", visible(unknown))?;
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
