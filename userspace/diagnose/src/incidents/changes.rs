//! What changed since the last look: incidents that opened, changed or closed.
//!
//! A fault that pauses is one incident: it closes when it was not seen for [`Changes::HOLD_NS`]. As long as it is open it
//! keeps its start, and so its ID, even if a later look finds an earlier start.

use super::document::Document;
use super::incident::Incident;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use rocescope_model::human::visible;
use rocescope_model::{IncidentRow, Text};
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

impl Change {
    /// Its row, written at `time_ns` by `observer`.
    #[must_use]
    pub fn row(&self, observer: &Text, time_ns: i64) -> IncidentRow {
        let mut row = self.incident.row(observer, time_ns);
        if self.change == Kind::Withdrawn {
            row.state = IncidentRow::WITHDRAWN.into();
        }
        row
    }

    /// Whether the incident is open after it.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.change, Kind::Opened | Kind::Changed)
    }
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
#[derive(Debug)]
pub struct Changes {
    hold_ns: i64,
    /// By class and place.
    open: BTreeMap<String, Incident>,
}

impl Default for Changes {
    fn default() -> Self {
        Self::holding(Self::HOLD_NS)
    }
}

impl Changes {
    /// How long after its last sign an incident is open: rows of connections come once a minute, and late.
    pub const HOLD_NS: i64 = 120_000_000_000;

    /// With another time than [`HOLD_NS`](Self::HOLD_NS).
    #[must_use]
    pub const fn holding(hold_ns: i64) -> Self {
        Self {
            hold_ns,
            open: BTreeMap::new(),
        }
    }

    /// Goes on with an incident that an earlier process reported as open.
    pub fn resume(&mut self, incident: Incident) {
        self.open.insert(key(&incident), incident);
    }

    /// What changed since the last call. `now_ns` is the time up to which rows came; without it there are no more rows, and
    /// what does not go on is closed.
    pub fn since_last(&mut self, now: &Document, now_ns: Option<i64>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut open = BTreeMap::new();
        let is_recent =
            |incident: &Incident| now_ns.is_some_and(|now| incident.until_ns >= now.saturating_sub(self.hold_ns));
        for found in now.incidents.iter().filter(|found| found.is_open || is_recent(found)) {
            let mut incident = found.clone();
            incident.is_open = true;
            let key = key(&incident);
            // Of two at one place the first is the worse one.
            if open.contains_key(&key) {
                continue;
            }
            let change = match self.open.remove(&key) {
                None => Some(Kind::Opened),
                Some(before) => {
                    incident.since_ns = before.since_ns;
                    (before.certainty != incident.certainty).then_some(Kind::Changed)
                }
            };
            changes.extend(change.map(|change| Change {
                change,
                incident: incident.clone(),
            }));
            open.insert(key, incident);
        }
        for (key, before) in core::mem::replace(&mut self.open, open) {
            // The last of several that ended at this place.
            let ended = now.incidents.iter().rev().find(|incident| self::key(incident) == key);
            changes.push(match ended {
                Some(incident) => Change {
                    change: Kind::Closed,
                    incident: Incident {
                        since_ns: before.since_ns,
                        is_open: false,
                        ..incident.clone()
                    },
                },
                None => Change {
                    change: Kind::Withdrawn,
                    incident: Incident {
                        is_open: false,
                        ..before
                    },
                },
            });
        }
        changes
    }

    /// The open incidents.
    pub fn open(&self) -> impl Iterator<Item = &Incident> {
        self.open.values()
    }
}

fn key(incident: &Incident) -> String {
    format!("{}|{}", incident.class, incident.place.name)
}
