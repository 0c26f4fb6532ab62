//! Incidents of both sides: new, gone, worse, better or the same.

use super::{Side, Span};
use rocescope_diagnose::incidents::{Document, Incident, ToldBy};
use serde::Serialize;
use std::collections::BTreeMap;

/// A count has to change by this ratio to be worse or better: less is the noise of two spans.
const RATIO: f64 = 1.25;

/// What happened to an incident; the order is that of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// Only B has it.
    New,
    /// Its connections lose or retransmit more packets for each second in B, or it is surer.
    Worse,
    /// B has it, and A could not be judged.
    UnknownBefore,
    /// As in A.
    Same,
    /// Its connections lose or retransmit fewer packets for each second in B.
    Better,
    /// A has it, and B could not be judged.
    UnknownNow,
    /// Only A has it.
    Gone,
}

impl Became {
    /// The words of the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worse => "worse",
            Self::UnknownBefore => "unknown before",
            Self::Same => "same",
            Self::Better => "better",
            Self::UnknownNow => "unknown now",
            Self::Gone => "gone",
        }
    }
}

/// An incident on both sides: one of a class and a place.
#[derive(Debug, Serialize)]
pub struct IncidentChange {
    /// What happened to it.
    pub change: Became,
    /// In A: null where A does not have it.
    pub a: Option<Seen>,
    /// In B.
    pub b: Option<Seen>,
}

/// An incident of one side.
#[derive(Debug, Serialize)]
pub struct Seen {
    /// The incident; of several of one place, the worst.
    pub incident: Incident,
    /// Packets that its connections lost, for each second of the windows; null if unknown.
    pub lost_per_second: Option<f64>,
    /// Packets that they retransmitted.
    pub retransmitted_per_second: Option<f64>,
}

impl IncidentChange {
    /// The incident as it was last.
    #[must_use]
    pub fn latest(&self) -> Option<&Incident> {
        let latest = self.b.as_ref().or(self.a.as_ref());
        latest.map(|seen| &seen.incident)
    }
}

/// What one side found.
pub(super) struct Found<'a> {
    pub(super) document: &'a Document,
    pub(super) span: &'a Span,
    /// Whether connections were followed: without them, losses are not looked for.
    pub(super) is_tracked: bool,
}

impl<'a> Found<'a> {
    /// What the report of a side has; `none` is for a side without incidents.
    pub(super) fn of(side: &'a Side, span: &'a Span, none: &'a Document) -> Self {
        Self {
            document: side.report.incidents.as_ref().unwrap_or(none),
            span,
            is_tracked: side.connections.is_tracked(),
        }
    }

    /// Whether this side would have found such an incident.
    fn judges(&self, incident: &Incident) -> bool {
        !self.document.judged.is_empty() && (self.is_tracked || incident.told_by != ToldBy::Wire)
    }
}

/// All incidents of both sides, the new ones first.
pub(super) fn changes(a: &Found<'_>, b: &Found<'_>) -> Vec<IncidentChange> {
    let mut in_a = by_place(a.document, a.span);
    let mut changes: Vec<IncidentChange> = Vec::new();
    for (key, of_b) in by_place(b.document, b.span) {
        let of_a = in_a.remove(&key);
        changes.push(IncidentChange {
            change: match &of_a {
                None if !a.judges(&of_b.incident) => Became::UnknownBefore,
                None => Became::New,
                Some(of_a) => became(of_a, &of_b),
            },
            a: of_a,
            b: Some(of_b),
        });
    }
    changes.extend(in_a.into_values().map(|of_a| IncidentChange {
        change: match b.judges(&of_a.incident) {
            true => Became::Gone,
            false => Became::UnknownNow,
        },
        a: Some(of_a),
        b: None,
    }));
    let harm = |change: &IncidentChange| change.b.as_ref().or(change.a.as_ref()).map_or(0.0, Seen::harm);
    changes.sort_by(|one, other| {
        let by_change = one.change.cmp(&other.change);
        by_change.then(harm(other).total_cmp(&harm(one)))
    });
    changes
}

/// The incidents by class and place. A place that failed twice is one: its counts add up.
fn by_place(document: &Document, span: &Span) -> BTreeMap<(String, String), Seen> {
    let mut all: BTreeMap<(String, String), Seen> = BTreeMap::new();
    for incident in &document.incidents {
        let seen = Seen::of(incident, span);
        let key = (incident.class.clone(), incident.place.name.clone());
        match all.get_mut(&key) {
            None => {
                all.insert(key, seen);
            }
            Some(known) => known.add(&seen),
        }
    }
    all
}

impl Seen {
    fn of(incident: &Incident, span: &Span) -> Self {
        let seconds = span.covered_ns as f64 / 1e9;
        let victims = &incident.victims;
        let rate = |count: Option<u64>| {
            let is_known = victims.connections > 0 && seconds > 0.0;
            count.filter(|_| is_known).map(|count| count as f64 / seconds)
        };
        Self {
            lost_per_second: rate(victims.lost_packets),
            retransmitted_per_second: rate(victims.retransmitted_packets),
            incident: incident.clone(),
        }
    }

    fn add(&mut self, other: &Self) {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b).or(a).or(b);
        self.lost_per_second = sum(self.lost_per_second, other.lost_per_second);
        self.retransmitted_per_second = sum(self.retransmitted_per_second, other.retransmitted_per_second);
    }

    /// What orders incidents of one kind of change.
    fn harm(&self) -> f64 {
        self.lost_per_second.or(self.retransmitted_per_second).unwrap_or(0.0)
    }
}

/// Losses decide; without any, retransmissions; without these, how sure the incident is.
fn became(a: &Seen, b: &Seen) -> Became {
    let pairs = [
        (a.lost_per_second, b.lost_per_second),
        (a.retransmitted_per_second, b.retransmitted_per_second),
    ];
    for (a, b) in pairs.into_iter().filter_map(|(a, b)| a.zip(b)) {
        if b > a * RATIO {
            return Became::Worse;
        }
        if a > b * RATIO {
            return Became::Better;
        }
        if a > 0.0 {
            return Became::Same;
        }
    }
    match b.incident.certainty > a.incident.certainty {
        true => Became::Worse,
        false => Became::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::{Became, Found, changes};
    use crate::compare::Span;
    use rocescope_diagnose::incidents::{Certainty, Document, Incident, Place, Source, ToldBy, Victim, Victims};

    fn incident(class: &str, dst: [u8; 4], lost_packets: u64) -> Incident {
        let (src, dst) = ([10, 0, 0, 1].into(), dst.into());
        let mut incident = Incident::new(class, Place::pair(src, dst), ToldBy::Wire, Source::Capture);
        incident.victims = Victims::of(vec![Victim {
            dst_qpn: Some(17),
            lost_packets,
            retransmitted_packets: lost_packets * 2,
            ..Victim::between(src, dst)
        }]);
        incident
    }

    fn span(seconds: i64) -> Span {
        Span {
            dataset: String::new(),
            from: None,
            to: None,
            covered_ns: seconds * 1_000_000_000,
            windows: 1,
            observers: Vec::new(),
        }
    }

    fn document(incidents: Vec<Incident>) -> Document {
        Document {
            incidents,
            judged: vec!["2 connections".into()],
            notes: Vec::new(),
            sampled_one_of: None,
        }
    }

    fn found<'a>(document: &'a Document, span: &'a Span) -> Found<'a> {
        Found {
            document,
            span,
            is_tracked: true,
        }
    }

    fn kinds(a: &Found<'_>, b: &Found<'_>) -> Vec<(Became, String)> {
        let changes = changes(a, b);
        let named = changes.iter().map(|change| {
            let latest = change.latest().unwrap();
            (change.change, latest.class.clone())
        });
        named.collect()
    }

    #[test]
    fn rates_decide_what_became_of_an_incident() {
        let to = |last: u8| [10, 0, 0, last];
        let a = document(vec![
            incident("network_loss", to(2), 100),
            incident("reordering", to(3), 100),
            incident("corruption", to(4), 10),
            incident("duplicates", to(5), 10),
        ]);
        // Half the time: the same counts are twice the rate.
        let b = document(vec![
            incident("network_loss", to(2), 100),
            incident("reordering", to(3), 50),
            incident("corruption", to(4), 1),
            incident("congestion", to(9), 0),
        ]);
        let all = kinds(&found(&a, &span(10)), &found(&b, &span(5)));
        let expected = [
            (Became::New, "congestion"),
            (Became::Worse, "network_loss"),
            (Became::Same, "reordering"),
            (Became::Better, "corruption"),
            (Became::Gone, "duplicates"),
        ];
        assert_eq!(all, expected.map(|(change, class)| (change, class.to_owned())));
    }

    #[test]
    fn a_side_that_was_not_judged_is_no_proof_of_health() {
        let judged = document(vec![incident("network_loss", [10, 0, 0, 2], 1)]);
        let (none, span) = (Document::default(), span(1));
        let (none, judged) = (found(&none, &span), found(&judged, &span));
        assert_eq!(kinds(&none, &judged)[0].0, Became::UnknownBefore);
        assert_eq!(kinds(&judged, &none)[0].0, Became::UnknownNow);
        // Windows without connections are judged, and not for losses.
        let healthy = document(Vec::new());
        let untracked = Found {
            is_tracked: false,
            ..found(&healthy, &span)
        };
        assert_eq!(kinds(&untracked, &judged)[0].0, Became::UnknownBefore);
        assert_eq!(kinds(&found(&healthy, &span), &judged)[0].0, Became::New);
    }

    #[test]
    fn an_incident_that_becomes_surer_is_worse() {
        let surer = |certainty| {
            let mut incident = incident("timeouts", [10, 0, 0, 2], 0);
            incident.certainty = certainty;
            document(vec![incident])
        };
        let (a, b, span) = (surer(Certainty::Possible), surer(Certainty::Certain), span(1));
        let (a, b) = (found(&a, &span), found(&b, &span));
        assert_eq!(kinds(&a, &b)[0].0, Became::Worse);
        assert_eq!(kinds(&b, &a)[0].0, Became::Same);
    }
}
