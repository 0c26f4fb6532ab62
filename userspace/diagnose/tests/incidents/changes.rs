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
        let found = changes.since_last(&document);
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

#[test]
fn a_change_is_a_line_and_an_object() {
    let document = Document {
        incidents: Vec::from([fault("a\u{1b}[2J", Certainty::Likely, true)]),
        ..Document::default()
    };
    let change = Changes::default().since_last(&document).remove(0);
    let line = change.to_string();
    assert!(line.contains(" opened: network_loss (likely) "), "{line}");
    assert!(line.ends_with("; to do: look") && !line.contains('\u{1b}'), "{line}");
    let json: serde_json::Value = serde_json::from_str(&rocescope_model::json::compact(&change)).unwrap();
    assert_eq!(
        (&json["change"], &json["incident"]["certainty"]),
        (&"opened".into(), &"likely".into())
    );
}
