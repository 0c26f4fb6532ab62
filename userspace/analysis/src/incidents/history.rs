//! Incidents that a dataset keeps, and notes about them.

use crate::Error;
use rocescope_diagnose::incidents::history::{History, Note, Places};
use rocescope_diagnose::incidents::{Document, Incident};
use rocescope_model::{INCIDENT_NOTE_TABLES, IncidentNoteRow, IncidentRow, Row, Text, Time};
use rocescope_store::{Options, Query, TimeRange, Writer};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

/// A note is this long at most, in characters.
const MAX_NOTE: usize = 1_000;

/// The places of the incidents of a time, with the notes about them; `None` if the dataset keeps no incident of it.
///
/// # Errors
/// The dataset cannot be read.
pub fn by_place(root: &Path, time: TimeRange) -> Result<Option<Places>, Error> {
    let found = Query::default().tables(&[IncidentRow::TABLE]).within(time).open(root)?;
    let mut history = History::default();
    let mut rows = 0_u64;
    found.select::<IncidentRow>().within(time).for_each(|row| {
        rows += 1;
        history.incident(row);
    })?;
    if rows == 0 {
        return Ok(None);
    }
    notes(root)?.into_iter().for_each(|row| history.note(row));
    Ok(Some(history.places()))
}

/// The incidents of a time that a dataset keeps, as they were stored last.
pub(crate) fn stored(root: &Path, time: TimeRange) -> Result<Vec<Incident>, Error> {
    let found = Query::default().tables(&[IncidentRow::TABLE]).within(time).open(root)?;
    let mut latest: HashMap<(Text, Text), IncidentRow> = HashMap::new();
    found.select::<IncidentRow>().within(time).for_each(|row| {
        let key = (row.observer.clone(), row.id.clone());
        match latest.get(&key) {
            Some(known) if known.time_ns > row.time_ns => {}
            _ => drop(latest.insert(key, row)),
        }
    })?;
    let rows = latest.values().filter(|row| &*row.state != IncidentRow::WITHDRAWN);
    let mut incidents: Vec<Incident> = rows.map(Incident::resumed).collect();
    incidents.sort_by_key(|incident| (!incident.is_open, Reverse(incident.until_ns), incident.id()));
    Ok(incidents)
}

/// All notes of a dataset: there are few, and a note may be older than what it is read for.
fn notes(root: &Path) -> Result<Vec<IncidentNoteRow>, Error> {
    let found = Query::default().tables(&[IncidentNoteRow::TABLE]).open(root)?;
    Ok(found.rows::<IncidentNoteRow>()?)
}

/// Adds the notes of a dataset to the incidents that they are about, or that are at the same place.
pub(super) fn annotate(root: &Path, document: &mut Document) -> Result<(), Error> {
    let all = notes(root)?;
    for incident in &mut document.incidents {
        let id = incident.id();
        let is_of = |row: &&IncidentNoteRow| *row.id == *id || *row.place == *incident.place.name;
        let mut of: Vec<Note> = all.iter().filter(is_of).map(Note::of).collect();
        of.sort_by_key(|note| note.time_ns);
        incident.notes = of;
    }
    Ok(())
}

/// Stores a note about an incident that the dataset keeps; returns the incident in a sentence.
///
/// # Errors
/// The dataset keeps no such incident, the note is empty or too long, or the dataset cannot be read or written.
pub fn note(root: &Path, id: &str, note: &str, observer: &str, now: Time) -> Result<String, Error> {
    let note = note.trim();
    if note.is_empty() || note.chars().count() > MAX_NOTE {
        return Err(Error::Note(MAX_NOTE));
    }
    let found = Query::default().tables(&[IncidentRow::TABLE]).open(root)?;
    let mut last: Option<IncidentRow> = None;
    let mut kept = 0_u64;
    found.select::<IncidentRow>().for_each(|row| {
        kept += 1;
        if *row.id == *id && last.as_ref().is_none_or(|known| known.time_ns <= row.time_ns) {
            last = Some(row);
        }
    })?;
    let Some(incident) = last else {
        return Err(Error::NoIncident(id.to_owned(), kept));
    };
    let options = Options {
        tables: INCIDENT_NOTE_TABLES,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options)?;
    let row = IncidentNoteRow {
        observer: Text::from(observer.to_owned()),
        time: now,
        time_ns: now.0,
        id: incident.id.clone(),
        class: incident.class.clone(),
        place: incident.place.clone(),
        note: Text::from(note.to_owned()),
    };
    writer.append_cells(&vec![row], Instant::now())?;
    writer.finish()?;
    Ok(Incident::resumed(&incident).sentence())
}
