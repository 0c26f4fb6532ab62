//! The form of all faults.

use super::history::Note;
use super::place::Place;
use crate::owners::Owner;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
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

/// A connection that suffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Queue pair at the source.
    pub src_qpn: Option<u32>,
    /// Queue pair at the destination.
    pub dst_qpn: Option<u32>,
    /// Packets lost.
    pub lost_packets: u64,
    /// Packets retransmitted.
    pub retransmitted_packets: u64,
    /// Time of its traffic, if it is known: its queue pairs had their owners then.
    #[serde(skip)]
    pub first_ns: Option<i64>,
    /// The end of that time.
    #[serde(skip)]
    pub last_ns: Option<i64>,
    /// Whose the queue pair at the source is, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src_owner: Option<Owner>,
    /// Whose the queue pair at the destination is, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_owner: Option<Owner>,
}

impl Victim {
    /// Traffic from one address to another that lost nothing.
    #[must_use]
    pub const fn between(src: IpAddr, dst: IpAddr) -> Self {
        Self {
            src,
            dst,
            src_qpn: None,
            dst_qpn: None,
            lost_packets: 0,
            retransmitted_packets: 0,
            first_ns: None,
            last_ns: None,
            src_owner: None,
            dst_owner: None,
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.src, self.dst)?;
        match self.dst_qpn {
            Some(qpn) => write!(f, " QP {qpn}"),
            None => Ok(()),
        }
    }
}

/// The connections that suffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Victims {
    /// Their number.
    pub connections: u64,
    /// Those that suffer most, at most [`Victims::WORST`].
    pub worst: Vec<Victim>,
    /// Packets that they lost; null if unknown.
    pub lost_packets: Option<u64>,
    /// Packets that they retransmitted; null if unknown.
    pub retransmitted_packets: Option<u64>,
}

impl Victims {
    /// Connections that are listed.
    pub const WORST: usize = 8;

    /// These connections, with the packets that all of them lost and retransmitted.
    #[must_use]
    pub fn of(mut all: Vec<Victim>) -> Self {
        all.sort_by_key(|victim| {
            let Victim { src, dst, dst_qpn, .. } = *victim;
            let worst_first = core::cmp::Reverse((victim.lost_packets, victim.retransmitted_packets));
            (worst_first, src, dst, dst_qpn)
        });
        let lost = all.iter().map(|victim| victim.lost_packets).sum();
        let retransmitted = all.iter().map(|victim| victim.retransmitted_packets).sum();
        let connections = all.len() as u64;
        all.truncate(Self::WORST);
        Self {
            connections,
            worst: all,
            lost_packets: Some(lost),
            retransmitted_packets: Some(retransmitted),
        }
    }

    /// Adds those of an effect of the same cause. A connection in both lists counts once, as far as the lists go.
    pub(super) fn add(&mut self, other: &Self) {
        if other.connections == 0 {
            return;
        }
        let key = |victim: &Victim| (victim.src, victim.dst, victim.dst_qpn);
        let known: BTreeSet<_> = self.worst.iter().map(key).collect();
        let new: Vec<Victim> = other
            .worst
            .iter()
            .filter(|v| !known.contains(&key(v)))
            .cloned()
            .collect();
        let both = (other.worst.len() - new.len()) as u64;
        self.connections += other.connections - both;
        let sum = |a: Option<u64>, b: u64| Some(a.unwrap_or(0) + b);
        // Totals of what is new: all of the other, less what both lists have.
        let of_both = |of: fn(&Victim) -> u64| -> u64 {
            let both = other.worst.iter().filter(|v| known.contains(&key(v)));
            both.map(of).sum()
        };
        if let Some(lost) = other.lost_packets {
            self.lost_packets = sum(self.lost_packets, lost.saturating_sub(of_both(|v| v.lost_packets)));
        }
        if let Some(again) = other.retransmitted_packets {
            let new = again.saturating_sub(of_both(|v| v.retransmitted_packets));
            self.retransmitted_packets = sum(self.retransmitted_packets, new);
        }
        self.worst.extend(new);
        self.worst
            .sort_by_key(|v| core::cmp::Reverse((v.lost_packets, v.retransmitted_packets)));
        self.worst.truncate(Self::WORST);
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
