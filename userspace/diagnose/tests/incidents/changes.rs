//! What opened, changed and closed since the last look.

use rocescope_diagnose::incidents::changes::{Changes, Kind};
use rocescope_diagnose::incidents::{Certainty, Document, Incident, Place, Source, ToldBy};
use std::string::ToString;
use std::vec::Vec;

fn fault(place: &str, certainty: Certainty, is_open: bool) -> Incident {
    let mut incident = Incident::new(
        "network_loss",
        Place::named("pair", place),
        ToldBy::Wire,
        Source::Capture,
    );
    (incident.certainty, incident.is_open) = (certainty, is_open);
    incident.meaning = "it fails".into();
    incident.action = "look".into();
    incident
}

#[test]
fn an_incident_opens_changes_and_closes_once() {
    let mut changes = Changes::default();
    let mut look = |incidents: &[Incident]| {
        let document = Document {
            incidents: incidents.to_vec(),
            ..Document::default()
        };
        let found = changes.since_last(&document, None);
        found
            .iter()
            .map(|change| (change.change, change.incident.place.name.clone()))
            .collect::<Vec<_>>()
    };
    let (a, b) = (|kind| (kind, "a".to_string()), |kind| (kind, "b".to_string()));
    assert_eq!(look(&[]), []);
    assert_eq!(look(&[fault("a", Certainty::Possible, true)]), [a(Kind::Opened)]);
    // It is known to have begun earlier: still the same one.
    let mut earlier = fault("a", Certainty::Possible, true);
    earlier.since_ns = -5_000_000_000;
    assert_eq!(look(&[earlier]), []);
    let both = [
        fault("a", Certainty::Certain, true),
        fault("b", Certainty::Likely, true),
    ];
    assert_eq!(look(&both), [a(Kind::Changed), b(Kind::Opened)]);
    assert_eq!(
        look(&[fault("a", Certainty::Certain, false)]),
        [a(Kind::Closed), b(Kind::Withdrawn)]
    );
    // What is over stays over.
    assert_eq!(look(&[fault("a", Certainty::Certain, false)]), []);
    assert_eq!(look(&both), [a(Kind::Opened), b(Kind::Opened)]);
}

/// Rows of connections come once a minute: an incident must not close and open between them.
#[test]
fn an_incident_that_pauses_stays_open_with_its_start_until_it_was_not_seen_for_long() {
    let mut changes = Changes::holding(100);
    let mut look = |since_ns: i64, until_ns: i64, now_ns: Option<i64>| {
        let mut one = fault("a", Certainty::Likely, false);
        (one.since_ns, one.until_ns) = (since_ns, until_ns);
        let document = Document {
            incidents: Vec::from([one]),
            ..Document::default()
        };
        let found = changes.since_last(&document, now_ns);
        let shown = |change: &rocescope_diagnose::incidents::changes::Change| {
            (change.change, change.incident.since_ns, change.incident.is_open)
        };
        found.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(look(50, 60, Some(100)), [(Kind::Opened, 50, true)]);
    assert_eq!(look(20, 60, Some(150)), []);
    assert_eq!(look(20, 130, Some(200)), []);
    assert_eq!(look(20, 130, Some(231)), [(Kind::Closed, 50, false)]);
    assert_eq!(look(20, 130, Some(240)), []);
    assert_eq!(look(235, 240, Some(240)), [(Kind::Opened, 235, true)]);
    assert_eq!(look(235, 240, None), [(Kind::Closed, 235, false)]);
}

#[test]
fn a_change_is_a_line_and_an_object() {
    let document = Document {
        incidents: Vec::from([fault("a\u{1b}[2J", Certainty::Likely, true)]),
        ..Document::default()
    };
    let change = Changes::default().since_last(&document, None).remove(0);
    let line = change.to_string();
    assert!(line.contains(" opened: network_loss (likely) "), "{line}");
    assert!(line.ends_with("; to do: look") && !line.contains('\u{1b}'), "{line}");
    let json: serde_json::Value = serde_json::from_str(&rocescope_model::json::compact(&change)).unwrap();
    assert_eq!(
        (&json["change"], &json["incident"]["certainty"]),
        (&"opened".into(), &"likely".into())
    );
}
