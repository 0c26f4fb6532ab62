//! Places that are named again and again: incidents of weeks by where they were, with what was noted about them.

use crate::second;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::{Result, Write};
use rocescope_model::human::{plural, readable, visible};
use rocescope_model::{IncidentNoteRow, IncidentRow, Unit, Value, json};
use serde::Serialize;

/// Places that the text lists.
const LISTED: usize = 30;
/// Notes that the text lists of a place, the latest.
const NOTES: usize = 3;

/// A note about an incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// When it was noted, in nanoseconds since 1970.
    pub time_ns: i64,
    /// The incident.
    pub id: String,
    /// What was found or done.
    pub note: String,
}

impl Note {
    /// The note of a row.
    #[must_use]
    pub fn of(row: &IncidentNoteRow) -> Self {
        Self {
            time_ns: row.time_ns,
            id: row.id.to_string(),
            note: row.note.to_string(),
        }
    }
}

/// A place with its incidents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceHistory {
    /// Kind of the place.
    pub kind: String,
    /// The place.
    pub place: String,
    /// Its incidents. Those of one class at the same time are one, even if several analyses reported them.
    pub incidents: u64,
    /// How long one or more of them were open, in nanoseconds.
    pub open_ns: i64,
    /// Incidents by class.
    pub classes: BTreeMap<String, u64>,
    /// When the first began.
    pub first_ns: i64,
    /// When one was seen last.
    pub last_ns: i64,
    /// Whether one of them is open.
    pub is_open: bool,
    /// Incidents that began after the last note; null without a note.
    pub since_note: Option<u64>,
    /// What was noted about them, the oldest first.
    pub notes: Vec<Note>,
}

/// Incidents and notes of a time.
#[derive(Debug, Default)]
pub struct History {
    /// The latest row of each incident, by observer and ID.
    incidents: BTreeMap<(String, String), IncidentRow>,
    notes: Vec<IncidentNoteRow>,
}

/// All places, those with most incidents first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Places {
    /// The places.
    pub places: Vec<PlaceHistory>,
}

/// An incident, or several of one class at the same time.
struct Span<'a> {
    class: &'a str,
    since_ns: i64,
    until_ns: i64,
    is_open: bool,
}

impl History {
    /// Adds a row of `incidents`; a later row of an incident replaces an earlier one.
    pub fn incident(&mut self, row: IncidentRow) {
        let key = (row.observer.to_string(), row.id.to_string());
        match self.incidents.get_mut(&key) {
            Some(known) if known.time_ns > row.time_ns => {}
            Some(known) => *known = row,
            None => {
                self.incidents.insert(key, row);
            }
        }
    }

    /// Adds a row of `incident_notes`.
    pub fn note(&mut self, row: IncidentNoteRow) {
        self.notes.push(row);
    }

    /// Ranks the places.
    #[must_use]
    pub fn places(&self) -> Places {
        let mut groups: BTreeMap<(&str, &str), Vec<&IncidentRow>> = BTreeMap::new();
        let valid = self
            .incidents
            .values()
            .filter(|row| &*row.state != IncidentRow::WITHDRAWN);
        for row in valid {
            groups.entry(place_of(row)).or_default().push(row);
        }
        let of_group = |((kind, place), rows): ((&str, &str), Vec<&IncidentRow>)| self.place(kind, place, &rows);
        let mut places: Vec<PlaceHistory> = groups.into_iter().map(of_group).collect();
        places.sort_by_key(|place| {
            (
                Reverse((place.incidents, place.open_ns, place.last_ns)),
                place.place.clone(),
            )
        });
        Places { places }
    }

    fn place(&self, kind: &str, place: &str, rows: &[&IncidentRow]) -> PlaceHistory {
        let spans = spans(rows);
        let mut classes: BTreeMap<String, u64> = BTreeMap::new();
        for span in &spans {
            *classes.entry(span.class.to_string()).or_default() += 1;
        }
        let ids: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.place.as_str()).collect();
        let is_of = |note: &&IncidentNoteRow| ids.contains(note.id.as_str()) || names.contains(note.place.as_str());
        let mut notes: Vec<Note> = self.notes.iter().filter(is_of).map(Note::of).collect();
        notes.sort_by_key(|note| note.time_ns);
        let after = |note: &Note| spans.iter().filter(|span| span.since_ns > note.time_ns).count() as u64;
        PlaceHistory {
            kind: kind.to_string(),
            place: place.to_string(),
            incidents: spans.len() as u64,
            open_ns: open_ns(&spans),
            classes,
            first_ns: spans.iter().map(|span| span.since_ns).min().unwrap_or(0),
            last_ns: spans.iter().map(|span| span.until_ns).max().unwrap_or(0),
            is_open: spans.iter().any(|span| span.is_open),
            since_note: notes.last().map(after),
            notes,
        }
    }
}

/// Where to look for what fails again and again: the NIC, switch, link or host if there is one, else the place itself.
fn place_of(row: &IncidentRow) -> (&str, &str) {
    let parts = [
        ("nic", &row.nic),
        // A switch comes with those of its links that may be at fault.
        ("switch", &row.switch),
        ("link", &row.link),
        ("host", &row.host),
    ];
    let part = parts
        .into_iter()
        .find_map(|(kind, part)| Some((kind, part.as_deref()?)));
    part.unwrap_or((row.place_kind.as_str(), row.place.as_str()))
}

/// The incidents of a place. A collector and a later `diagnose --write` report the same one: of one class at the same time.
fn spans<'a>(rows: &[&'a IncidentRow]) -> Vec<Span<'a>> {
    let mut spans: Vec<Span<'a>> = Vec::new();
    let mut rows: Vec<&IncidentRow> = rows.to_vec();
    rows.sort_by_key(|row| row.since_ns);
    for row in rows {
        // An open one was seen up to its row.
        let until_ns = row.until_ns.unwrap_or(row.time_ns).max(row.since_ns);
        let is_open = &*row.state == IncidentRow::OPEN;
        let same = spans
            .iter_mut()
            .find(|span| span.class == row.class.as_str() && row.since_ns <= span.until_ns);
        match same {
            Some(span) => {
                span.until_ns = span.until_ns.max(until_ns);
                span.is_open |= is_open;
            }
            None => spans.push(Span {
                class: row.class.as_str(),
                since_ns: row.since_ns,
                until_ns,
                is_open,
            }),
        }
    }
    spans
}

/// The length of the union, of spans in the order of their starts.
fn open_ns(spans: &[Span<'_>]) -> i64 {
    let (mut sum, mut covered_ns) = (0_i64, i64::MIN);
    for span in spans {
        let from_ns = span.since_ns.max(covered_ns);
        sum = sum.saturating_add(span.until_ns.saturating_sub(from_ns).max(0));
        covered_ns = covered_ns.max(span.until_ns);
    }
    sum
}

impl Places {
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
}

fn write(out: &mut String, all: &Places) -> Result {
    let incidents = all.places.iter().map(|place| place.incidents).sum();
    let places = plural(all.places.len() as u64, "place");
    writeln!(out, "{} at {places}", plural(incidents, "incident"))?;
    for place in all.places.iter().take(LISTED) {
        writeln!(out)?;
        one(out, place)?;
    }
    if all.places.len() > LISTED {
        let more = plural((all.places.len() - LISTED) as u64, "more place");
        writeln!(out, "\n{more}: `-o json` has all")?;
    }
    Ok(())
}

fn one(out: &mut String, place: &PlaceHistory) -> Result {
    writeln!(
        out,
        "{} {}: {}",
        place.kind,
        visible(&place.place),
        plural(place.incidents, "incident")
    )?;
    let classes = place.classes.iter().map(|(class, count)| format!("{class} {count}"));
    writeln!(out, "  classes {}", classes.collect::<Vec<_>>().join(", "))?;
    let open = readable(&Value::I64(place.open_ns), Unit::Nanoseconds);
    let now = if place.is_open { "; one is open" } else { "" };
    writeln!(out, "  open    {open} in total{now}")?;
    writeln!(
        out,
        "  time    first {}, last seen {}",
        second(place.first_ns),
        second(place.last_ns)
    )?;
    for note in place.notes.iter().rev().take(NOTES).rev() {
        writeln!(
            out,
            "  note    {} [{}] {}",
            second(note.time_ns),
            note.id,
            visible(&note.note)
        )?;
    }
    match place.since_note {
        Some(0) => writeln!(out, "          none since the last note"),
        Some(count) => writeln!(out, "          {count} since the last note"),
        None => Ok(()),
    }
}
