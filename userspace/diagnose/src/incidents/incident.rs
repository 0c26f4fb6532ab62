//! The form of all faults.

use super::history::Note;
use super::place::Place;
use super::victims::Victims;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use rocescope_model::IncidentRow;
use serde::{Serialize, Serializer};

/// How sure an incident is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// One side shows it, and nothing contradicts.
    Possible,
    /// Several rows show it; another cause is unlikely.
    Likely,
    /// The rows leave no other cause.
    Certain,
}

impl Certainty {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }

    /// Splits `likely: both ends count it` into the certainty and the reason.
    pub(super) fn split(text: &str) -> (Self, String) {
        let (word, reason) = text.split_once(':').unwrap_or((text, ""));
        let certainty = match word {
            "certain" => Self::Certain,
            "likely" => Self::Likely,
            _ => Self::Possible,
        };
        (certainty, reason.trim().to_string())
    }
}

/// An analysis that sees faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Captured connections.
    Capture,
    /// Counters of hosts, with the traffic that a capture saw of them.
    Counters,
    /// Probes between NICs.
    Mesh,
    /// Loopback tests inside hosts.
    Loopback,
    /// Steps of collectives.
    Collectives,
    /// Paths of flows over the links of the fabric.
    Paths,
    /// What switches report of themselves.
    Switches,
}

impl Source {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Counters => "counters",
            Self::Mesh => "mesh",
            Self::Loopback => "loopback",
            Self::Collectives => "collectives",
            Self::Paths => "paths",
            Self::Switches => "switches",
        }
    }
}

/// An analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// Totals of captured connections.
    Wire,
    /// Windows of counters and captured traffic.
    Hosts,
    /// Windows of probes.
    Mesh,
    /// Loopback tests.
    Loopback,
    /// Steps of collectives.
    Collectives,
    /// Counters of switches.
    Switches,
}

/// A row that an incident rests on, or what several rows add up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The table.
    pub table: &'static str,
    /// What the row is of: a connection, a port, a link.
    pub of: String,
    /// The column, or the name of the counter.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, of, name, .. } = self;
        let decimals = match self.value == libm::trunc(self.value) || self.value.abs() >= 1e4 {
            true => 0,
            false => 2,
        };
        write!(f, "{table} {name} {:.decimals$}", self.value)?;
        if !self.unit.is_empty() {
            write!(f, " {}", self.unit)?;
        }
        write!(f, " ({of})")
    }
}

/// An effect that an incident explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The class that it would have as an incident.
    pub class: String,
    /// Who saw it.
    pub source: Source,
    /// What was seen.
    pub sentence: String,
}

/// A fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// Its class.
    pub class: String,
    /// Where it is.
    pub place: Place,
    /// When it began, in nanoseconds since 1970.
    pub since_ns: i64,
    /// When it was seen last.
    pub until_ns: i64,
    /// Whether it goes on at the end of the data.
    pub is_open: bool,
    /// How sure it is.
    pub certainty: Certainty,
    /// Why it is as sure as that.
    pub reason: String,
    /// Who saw it.
    pub sources: BTreeSet<Source>,
    /// The analysis that reported it: what one analysis keeps apart is not one fault.
    pub told_by: ToldBy,
    /// The rows that it rests on.
    pub evidence: Vec<Evidence>,
    /// Who suffers.
    pub victims: Victims,
    /// What it explains.
    pub explains: Vec<Explained>,
    /// What is unknown or contradicts, and what would separate it.
    pub unknown: Vec<String>,
    /// What operators noted about it, or about its place before, the oldest first.
    pub notes: Vec<Note>,
    /// What happens there, without the place.
    pub meaning: String,
    /// What to do.
    pub action: String,
}

impl Incident {
    /// An incident that one analysis saw.
    #[must_use]
    pub fn new(class: impl Into<String>, place: Place, told_by: ToldBy, source: Source) -> Self {
        Self {
            class: class.into(),
            place,
            since_ns: 0,
            until_ns: 0,
            is_open: false,
            certainty: Certainty::Possible,
            reason: String::new(),
            sources: [source].into(),
            told_by,
            evidence: Vec::new(),
            victims: Victims::default(),
            explains: Vec::new(),
            unknown: Vec::new(),
            notes: Vec::new(),
            meaning: String::new(),
            action: String::new(),
        }
    }

    /// A name that every analysis of the same rows gives it: eight hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        const SECOND_NS: i64 = 1_000_000_000;
        let second = self.since_ns.div_euclid(SECOND_NS);
        let text = format!("{}|{}|{second}", self.class, self.place.name);
        // FNV-1a.
        let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        format!("{hash:08x}")
    }

    /// What happens where, in a sentence without a stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.place.name, self.meaning)
    }

    /// Whether it is about the tap and not about the fabric.
    #[must_use]
    pub fn is_of_the_tap(&self) -> bool {
        matches!(self.place.kind.as_str(), "mirror" | "capture")
    }

    /// Adds a row that it rests on.
    pub fn rests_on(&mut self, table: &'static str, of: impl Into<String>, name: &str, value: f64, unit: &str) {
        self.evidence.push(Evidence {
            table,
            of: of.into(),
            name: name.into(),
            value,
            unit: unit.into(),
        });
    }
}

/// The state in rows.
pub(super) const fn state(is_open: bool) -> &'static str {
    match is_open {
        true => IncidentRow::OPEN,
        false => IncidentRow::ENDED,
    }
}

impl Serialize for Incident {
    /// The fields of the row by their names, with victims and evidence as objects.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            id: String,
            state: &'static str,
            class: &'a str,
            place: &'a Place,
            since_ns: i64,
            until_ns: Option<i64>,
            last_seen_ns: i64,
            certainty: Certainty,
            reason: &'a str,
            sources: &'a BTreeSet<Source>,
            victims: &'a Victims,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            owners: Vec<String>,
            evidence: &'a [Evidence],
            explains: &'a [Explained],
            unknown: &'a [String],
            #[serde(skip_serializing_if = "<[Note]>::is_empty")]
            notes: &'a [Note],
            sentence: String,
            action: &'a str,
        }
        let document = Document {
            id: self.id(),
            state: state(self.is_open),
            class: &self.class,
            place: &self.place,
            since_ns: self.since_ns,
            until_ns: (!self.is_open).then_some(self.until_ns),
            last_seen_ns: self.until_ns,
            certainty: self.certainty,
            reason: &self.reason,
            sources: &self.sources,
            victims: &self.victims,
            owners: self.victims.owners(),
            evidence: &self.evidence,
            explains: &self.explains,
            unknown: &self.unknown,
            notes: &self.notes,
            sentence: self.sentence(),
            action: &self.action,
        };
        document.serialize(serializer)
    }
}
