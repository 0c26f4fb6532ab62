//! What changed since the last look: incidents that opened, changed or closed.

use super::document::Document;
use super::incident::{Certainty, Incident};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use rocescope_model::human::visible;
use serde::Serialize;

/// What happened to an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It was not there before.
    Opened,
    /// It is surer or less sure than before.
    Changed,
    /// It was not seen any more.
    Closed,
    /// Later rows do not show it.
    Withdrawn,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Changed => "changed",
            Self::Closed => "closed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A change, as a line of a log or as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What happened.
    pub change: Kind,
    /// The incident, as it is now; of one that was withdrawn, as it was.
    pub incident: Incident,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, incident } = self;
        let sentence = visible(&incident.sentence());
        write!(
            f,
            "incident {} {}: {} ({}) {sentence}",
            incident.id(),
            change.name(),
            incident.class,
            incident.certainty.name()
        )?;
        match change {
            Kind::Opened => write!(f, "; to do: {}", visible(&incident.action)),
            _ => Ok(()),
        }
    }
}

/// Remembers the open incidents.
#[derive(Debug, Default)]
pub struct Changes {
    /// By class, place and, as one place may fail twice, whether it is over: an incident that starts earlier than was
    /// known is the same one.
    open: BTreeMap<String, Incident>,
}

impl Changes {
    /// What changed since the last call.
    pub fn since_last(&mut self, now: &Document) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut open = BTreeMap::new();
        for incident in now.incidents.iter().filter(|incident| incident.is_open) {
            let key = key(incident);
            let change = match self.open.remove(&key) {
                None => Some(Kind::Opened),
                Some(before) => (before.certainty != incident.certainty).then_some(Kind::Changed),
            };
            changes.extend(change.map(|change| Change {
                change,
                incident: incident.clone(),
            }));
            open.insert(key, incident.clone());
        }
        for (key, before) in core::mem::replace(&mut self.open, open) {
            // The last of several that ended at this place.
            let ended = now.incidents.iter().rev().find(|incident| self::key(incident) == key);
            changes.push(match ended {
                Some(incident) => Change {
                    change: Kind::Closed,
                    incident: incident.clone(),
                },
                None => Change {
                    change: Kind::Withdrawn,
                    incident: before,
                },
            });
        }
        changes
    }

    /// The open incidents: class, place and certainty of each.
    pub fn open(&self) -> impl Iterator<Item = (&str, &str, Certainty)> {
        let all = self.open.values();
        all.map(|one| (one.class.as_str(), one.place.name.as_str(), one.certainty))
    }
}

fn key(incident: &Incident) -> String {
    format!("{}|{}", incident.class, incident.place.name)
}
